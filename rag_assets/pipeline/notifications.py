"""Sensors of Dagster that tell people of runs that fail, by email or in Slack, as
`automation.notify` says.

The settings are read when the definitions load. Passwords and tokens are secrets, in the
environment or `.env`.
"""

from collections.abc import Sequence
from html import escape
from urllib.parse import unquote, urlsplit

import dagster as dg

from rag_assets.core.errors import InvalidSettings, MissingExtra
from rag_assets.core.settings import environment

SMTP_VARIABLE, SLACK_VARIABLE = "SMTP_URL", "SLACK_TOKEN"
_TYPES = {"smtp": "STARTTLS", "smtps": "SSL"}


def failure_sensors(targets: Sequence[str]) -> list[dg.SensorDefinition]:
    """One sensor for all email addresses and one for each channel of Slack.

    Raises InvalidSettings for an unknown target, or one whose secret is not set; MissingExtra for
    Slack without dagster-slack.
    """
    named = [target.partition(":")[::2] for target in targets]
    if wrong := [kind for kind, place in named if kind not in ("email", "slack") or not place]:
        raise InvalidSettings(
            f"automation.notify: {wrong[0]!r} is neither email:NAME@HOST nor slack:CHANNEL."
        )
    addresses = [place for kind, place in named if kind == "email"]
    channels = [place for kind, place in named if kind == "slack"]
    return [*([_email_sensor(addresses)] if addresses else []), *map(_slack_sensor, channels)]


def _email_sensor(addresses: Sequence[str]) -> dg.SensorDefinition:
    server = urlsplit(environment().get(SMTP_VARIABLE, ""))
    user, password = unquote(server.username or ""), unquote(server.password or "")
    if server.scheme not in _TYPES or not (server.hostname and user and password):
        raise InvalidSettings(
            f"automation.notify names an email address: set {SMTP_VARIABLE} in the environment or .env "
            "(smtps://user:password@host, or smtp:// with STARTTLS)."
        )
    return dg.make_email_on_run_failure_sensor(
        email_from=user if "@" in user else addresses[0],
        email_password=password,
        email_to=addresses,
        email_body_fn=lambda context: escape(context.failure_event.message or "The run failed."),
        smtp_host=server.hostname,
        smtp_type=_TYPES[server.scheme],
        smtp_port=server.port,
        smtp_user=user,
        name="email_on_run_failure",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )


def _slack_sensor(channel: str) -> dg.SensorDefinition:
    try:
        from dagster_slack import make_slack_on_run_failure_sensor
    except ModuleNotFoundError:
        raise MissingExtra.named("slack", purpose=f"automation.notify = slack:{channel}") from None
    token = environment().get(SLACK_VARIABLE, "")
    if not token:
        raise InvalidSettings(
            f"automation.notify names slack:{channel}: set {SLACK_VARIABLE} to the token of a bot."
        )
    named = "".join(char if char.isalnum() else "_" for char in channel.strip("#"))
    sensor: dg.SensorDefinition = make_slack_on_run_failure_sensor(
        channel=channel,
        slack_token=token,
        name=f"slack_{named}_on_run_failure",
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    return sensor
