"""Limits against clients that send too much, too slowly or too often.

Uvicorn waits without end for headers and for clients that do not read: where strangers reach the
server, a reverse proxy stands before it. h11 takes headers up to 64 kB.
"""

import asyncio
from collections import OrderedDict
from http import HTTPStatus
from math import ceil
from threading import Lock
from time import monotonic

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_assets.core.settings import ServerSettings
from rag_assets.faces.server.problems import ProblemError

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


class RequestRate:
    """ASGI middleware: counts every request against a rate."""

    def __init__(self, app: ASGIApp, rate: Rate) -> None:
        self._app = app
        self._rate = rate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                self._rate.count(scope["client"][0] if scope["client"] else "")
            except ProblemError as problem:
                await problem.response(scope, receive, send)
                return
        await self._app(scope, receive, send)
