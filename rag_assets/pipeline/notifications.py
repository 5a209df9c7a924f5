"""Tells people what went wrong: by email, in Slack, to a webhook. `assets.health` decides what is told, and when.

Addresses of Slack and of a webhook are secrets, as the password of a mail server is: they come from the environment or
`.env`, and no message of an error repeats them.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import unquote, urlsplit

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import environment

logger = logging.getLogger(__name__)
SLACK_VARIABLE, WEBHOOK_VARIABLE, SMTP_VARIABLE = "SLACK_WEBHOOK_URL", "ALERT_WEBHOOK_URL", "SMTP_URL"
_TIMEOUT_S = 10.0
_SMTP_PORT, _SMTPS_PORT = 587, 465
_ADDRESS = re.compile(r"[^@\s<>,;:]+@[^@\s<>,;:]+")


@dataclass(frozen=True)
class Notice:
    """What people are told of one run."""

    title: str
    lines: tuple[str, ...]
    run_id: str
    status: str
    """failed or warned."""

    @property
    def text(self) -> str:
        return "\n".join([self.title, *(f"- {line}" for line in self.lines), f"Run {self.run_id} in the Dagster UI."])


def tell(notice: Notice, targets: Sequence[str]) -> list[str]:
    """Send a notice to every target of the setting `automation.notify`; the targets that could not be reached.

    Raises InvalidSettings, before anything is sent, for an unknown target or one whose variable is not set.
    """
    sends = [(target, _sender(target, environment())) for target in targets]
    missed = []
    for target, send in sends:
        try:
            send(notice)
        except Exception as error:  # whatever a server does: the others are told all the same
            logger.warning("%s could not be told of run %s: %s", target, notice.run_id, type(error).__name__)
            missed.append(target)
    return missed


def _sender(target: str, variables: Mapping[str, str]) -> Callable[[Notice], None]:
    kind, _, address = target.partition(":")
    if target == "slack":
        url = _url(target, SLACK_VARIABLE, variables, ("http", "https"))
        return lambda notice: _post(url, {"text": notice.text})
    if target == "webhook":
        url = _url(target, WEBHOOK_VARIABLE, variables, ("http", "https"))
        return lambda notice: _post(url, {**asdict(notice), "text": notice.text})
    if kind == "email" and _ADDRESS.fullmatch(address):
        url = _url(target, SMTP_VARIABLE, variables, ("smtp", "smtps"))
        return lambda notice: _mail(url, address, notice)
    raise InvalidSettings(f"automation.notify: {target!r} is none of slack, webhook and email:NAME@HOST.")


def _url(target: str, variable: str, variables: Mapping[str, str], schemes: Sequence[str]) -> str:
    url = variables.get(variable, "")
    try:
        scheme = urlsplit(url).scheme
    except ValueError:  # "http://[bad"
        scheme = ""
    if scheme not in schemes:
        example = f"{schemes[-1]}://..."
        raise InvalidSettings(
            f"automation.notify names {target}: set {variable} in the environment or .env ({example})."
        )
    return url


def _post(url: str, content: Mapping[str, object]) -> None:
    import httpx2

    httpx2.post(url, json=dict(content), timeout=_TIMEOUT_S, follow_redirects=False).raise_for_status()


def _mail(url: str, address: str, notice: Notice) -> None:
    """smtp://user:password@host:port; the password is sent over an encrypted connection only."""
    import smtplib
    import ssl
    from email.message import EmailMessage

    place = urlsplit(url)
    message = EmailMessage()
    message["Subject"] = " ".join(notice.title.split())
    message["From"] = unquote(place.username) if place.username and "@" in unquote(place.username) else address
    message["To"] = address
    message.set_content(notice.text)
    host, secure = place.hostname or "", ssl.create_default_context()
    if place.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(host, place.port or _SMTPS_PORT, timeout=_TIMEOUT_S, context=secure)
    else:
        server = smtplib.SMTP(host, place.port or _SMTP_PORT, timeout=_TIMEOUT_S)
    with server:
        if place.scheme == "smtp":
            server.ehlo()
            if place.username or server.has_extn("starttls"):
                server.starttls(context=secure)
        if place.username:
            server.login(unquote(place.username), unquote(place.password or ""))
        server.send_message(message)
