"""The layers around every request: access checks, and around them an id, protective headers and a
line of log.

A page of another site, open in a browser on this machine, can send requests and open websockets to
the server. It is kept out by three checks: the Host header must name the server (a site can point a
name of its own at 127.0.0.1: DNS rebinding), the Origin header must be the server's own or an
allowed one, and requests that the browser marks as coming from another site are refused. A link may
be followed: the page that holds it does not see the reply. The token keeps out other people; it is
compared in constant time and never logged.

Limits against clients that send too much, too slowly or too often.

Uvicorn waits without end for clients that do not read: where strangers reach the server, a reverse
proxy stands before it. h11 takes headers up to 64 kB, `listening` limits the time for them.
"""

import asyncio
import hmac
import logging
import secrets
from asyncio import sleep
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from math import ceil
from threading import Lock
from time import monotonic, perf_counter

from pydantic import SecretStr
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_assets.core.settings import SERVER_TOKEN_VARIABLE, ServerSettings
from rag_assets.faces.server.problems import ProblemError, request_id, unexpected

UPLOADS = ("POST", "/api/papers")
_FORM_ROOM = 64_000
"""Bytes that a form adds around an uploaded file."""
MAX_BODY_BYTES = 1_000_000
"""Largest request, uploads aside."""
RECEIVE_TIMEOUT_S = 30.0
"""Seconds a client may take to send the body of a request."""
_MAX_CLIENTS = 10_000
"""Clients that a rate remembers; those not seen for longest are forgotten first."""


class BodyLimits:
    """ASGI middleware: refuses bodies that are too large or too slow, by their header or as they
    come in."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._max_bytes = MAX_BODY_BYTES
        self._max_upload_bytes = int(settings.max_upload_mb * 1_000_000) + _FORM_ROOM
        self._timeout_s = RECEIVE_TIMEOUT_S

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = (scope["method"], scope["path"]) == UPLOADS
        body = _Body(
            receive, self._max_upload_bytes if is_upload else self._max_bytes, self._timeout_s
        )
        announced = Headers(scope=scope).get("content-length", "")
        if announced.isdecimal() and int(announced[:20]) > body.max_bytes:
            await body.too_large().response(scope, receive, send)
            return
        await self._app(scope, body.receive, send)


class _Body:
    """The body of one request, counted while it is received."""

    def __init__(self, receive: Receive, max_bytes: int, timeout_s: float) -> None:
        self.max_bytes = max_bytes
        self._receive = receive
        self._timeout_s = timeout_s
        self._deadline = asyncio.get_running_loop().time() + timeout_s
        self._n_bytes = 0
        self._is_whole = False

    async def receive(self) -> Message:
        """The next part. Raises ProblemError for a body that is too large or too slow."""
        if self._is_whole:  # what comes now is the news that the client has left
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise ProblemError(
                HTTPStatus.REQUEST_TIMEOUT,
                "too-slow",
                "The request came in too slowly",
                f"Send the whole of it within {self._timeout_s:g} seconds.",
                {"Connection": "close"},
            ) from None
        self._n_bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._n_bytes > self.max_bytes:
            raise self.too_large()
        return message

    def too_large(self) -> ProblemError:
        return ProblemError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            "too-large",
            "The request is too large",
            f"At most {self.max_bytes:,} bytes are taken here.",
            {"Connection": "close"},
        )


class Rate:
    """At most `per_minute` of something for each client; safe to use from several threads."""

    def __init__(self, per_minute: int, what: str) -> None:
        """what: in the plural, for the message."""
        self._per_minute = per_minute
        self._what = what
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By client, how many are left and when that was so, in seconds."""
        self._counting = Lock()

    def count(self, client: str) -> None:
        """Count one. Raises ProblemError (429) when the client has none left."""
        with self._counting:
            now = monotonic()
            left, since = self._left.pop(client, (float(self._per_minute), now))
            left = min(self._per_minute, left + (now - since) * self._per_minute / 60)
            self._left[client] = (max(left - 1, 0) if left >= 1 else left, now)
            if len(self._left) > _MAX_CLIENTS:
                self._left.popitem(last=False)
        if left < 1:
            wait_s = ceil((1 - left) * 60 / self._per_minute)
            raise ProblemError(
                HTTPStatus.TOO_MANY_REQUESTS,
                "rate-limited",
                f"Too many {self._what} in a minute",
                f"Send the next in {wait_s} seconds; {self._per_minute} are allowed in a minute.",
                {"Retry-After": str(wait_s)},
            )


class Checked:
    """ASGI middleware: a request or websocket that the check refuses is answered with its
    problem."""

    def __init__(self, app: ASGIApp, check: Callable[[Scope], Awaitable[None]]) -> None:
        """check: raises ProblemError."""
        self._app = app
        self._check = check

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            try:
                await self._check(scope)
            except ProblemError as problem:
                if scope["type"] == "http":
                    await problem.response(scope, receive, send)
                else:  # a connection that is closed before it is accepted is answered with 403
                    await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
                return
        await self._app(scope, receive, send)


def client_of(scope: Scope) -> str:
    return scope["client"][0] if scope["client"] else ""


logger = logging.getLogger(__name__)
REQUEST_ID_HEADER = "X-Request-ID"
PROTECTIVE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""On every reply, unless its route sets another value."""
GUARDED = ("/api", "/mcp")
"""Paths that need the token; the page and its files hold nothing of the corpus."""
_WRONG_TOKENS_PER_MINUTE = 20
_SLOWED_S = 1.0
"""Seconds that each further wrong token waits for its reply; the right one, from the same address,
does not."""
_LOOPBACK_NAMES = {"localhost", "127.0.0.1", "[::1]"}
_BEARER = "bearer "
_OTHER_SITES = ("cross-site", "same-site")
"""Values of Sec-Fetch-Site (W3C Fetch Metadata); another port of this machine is another page of
the same site."""
_POLICY_VIOLATION = 1008
"""Code with which a websocket is closed (RFC 6455)."""


class AccessCheck:
    """For `Checked`: lets through requests to the server's own name, from its own pages, with the
    token."""

    def __init__(
        self, settings: ServerSettings, token: SecretStr | None, paths: tuple[str, ...]
    ) -> None:
        """paths: beginnings of the paths whose requests must come from own pages and have the
        token."""
        self._paths = paths
        self._hosts = _LOOPBACK_NAMES | {settings.host, *settings.allowed_hosts}
        self._checks_host = token is None or bool(settings.allowed_hosts)
        self._origins = set(settings.cors_origins)
        self._token = token
        self._wrong_tokens = Rate(_WRONG_TOKENS_PER_MINUTE, "wrong tokens")

    async def __call__(self, scope: Scope) -> None:
        try:
            self._check(scope)
        except ProblemError as problem:
            if problem.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                await sleep(_SLOWED_S)  # only wrong tokens are counted here
            raise

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self._check_host(headers)
        if scope["path"].startswith(self._paths):
            self._check_origin(
                headers, is_link=scope.get("method") == "GET" and _is_followed(headers)
            )
            self._check_token(headers, client_of(scope))

    def _check_host(self, headers: Headers) -> None:
        named = headers.getlist("host")
        host = _without_port(named[0]).lower() if len(named) == 1 else ""
        if not host or (self._checks_host and host not in self._hosts):
            raise ProblemError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "wrong-host",
                "The server is not called that",
                "Use the address that the server printed when it started, or add the name to server.allowed_hosts.",
            )

    def _check_origin(self, headers: Headers, *, is_link: bool) -> None:
        origins = headers.getlist("origin")
        own = {f"{scheme}://{headers['host'].lower()}" for scheme in ("http", "https")}
        is_foreign = any(origin.lower() not in own | self._origins for origin in origins)
        is_of_other_page = (
            not origins and not is_link and headers.get("sec-fetch-site") in _OTHER_SITES
        )
        if is_foreign or is_of_other_page:
            raise ProblemError(
                HTTPStatus.FORBIDDEN,
                "foreign-origin",
                "Pages of other sites may not ask",
                "Use the server's own page, or add the site's origin to server.cors_origins.",
            )

    def _check_token(self, headers: Headers, client: str) -> None:
        if self._token is None:
            return
        given = headers.get("authorization", "")
        is_bearer = given.lower().startswith(_BEARER)
        expected = self._token.get_secret_value().encode()
        if is_bearer and hmac.compare_digest(
            given[len(_BEARER) :].strip().encode("latin-1"), expected
        ):
            return
        if is_bearer:
            self._wrong_tokens.count(client)
        raise ProblemError(
            HTTPStatus.UNAUTHORIZED,
            "wrong-token" if is_bearer else "token-missing",
            "The token is wrong" if is_bearer else "A token is needed",
            f"Send the value of {SERVER_TOKEN_VARIABLE} as Authorization: Bearer TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )


def _is_followed(headers: Headers) -> bool:
    """Whether the browser opens a page, in a tab of its own or in place of the one before."""
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == (
        "navigate",
        "document",
    )


def _without_port(host: str) -> str:
    """ "localhost:8000" -> "localhost", "[::1]:8000" -> "[::1]"."""
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


class RequestLog:
    """ASGI middleware: gives each request an id, logs how it ended, and answers errors that nothing
    else caught.

    The id is made here, never taken from the client: it goes into headers and into the log.
    """

    def __init__(self, app: ASGIApp, headers: Mapping[str, str]) -> None:
        """headers: of every reply that does not set another value."""
        self._app = app
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 0
        request_id.set(secrets.token_hex(8))

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID_HEADER] = request_id.get()
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except (
            Exception
        ) as error:  # the last resort: anything else would show as a bare 500 of the web server
            logger.exception("Request %s failed", request_id.get())
            if status:
                raise
            await unexpected(error).response(scope, receive, send_with_headers)
        finally:
            path = scope.get("raw_path", b"").decode(
                "ascii", "replace"
            )  # still escaped, so it cannot break the line
            seconds = perf_counter() - started
            logger.info(
                "%s %s %s %d %.3f s", request_id.get(), scope["method"], path, status, seconds
            )
