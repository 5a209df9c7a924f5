"""How large the body of a request may be, and how long it may take to arrive."""

import asyncio
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_assets.core.settings import ServerSettings
from rag_assets.faces.server.problems import ProblemError

UPLOADS = ("POST", "/api/papers")
_FORM_ROOM = 64_000
"""Bytes that a form adds around an uploaded file."""


class BodyLimits:
    """ASGI middleware: refuses bodies that are too large or too slow, by their header or as they come in."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._max_bytes = settings.max_body_kb * 1000
        self._max_upload_bytes = int(settings.max_upload_mb * 1_000_000) + _FORM_ROOM
        self._timeout_s = settings.receive_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = (scope["method"], scope["path"]) == UPLOADS
        body = _Body(receive, self._max_upload_bytes if is_upload else self._max_bytes, self._timeout_s)
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
