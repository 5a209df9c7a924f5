"""The outermost layer: an id for every request, one line of log, headers that protect browsers, and the last resort."""

import logging
import secrets
from time import perf_counter

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_assets.faces.server.problems import request_id, unexpected

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


class RequestLog:
    """ASGI middleware: gives each request an id, logs how it ended, and answers errors that nothing else caught.

    The id is made here, never taken from the client: it goes into headers and into the log.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

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
                for name, value in PROTECTIVE_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:  # the last resort: anything else would show as a bare 500 of the web server
            logger.exception("Request %s failed", request_id.get())
            if status:
                raise
            await unexpected().response(scope, receive, send_with_headers)
        finally:
            path = scope.get("raw_path", b"").decode("ascii", "replace")  # still escaped, so it cannot break the line
            seconds = perf_counter() - started
            logger.info("%s %s %s %d %.3f s", request_id.get(), scope["method"], path, status, seconds)
