"""How the MCP server is reached: over stdin and stdout of its process, or over HTTP.

Source: Model Context Protocol specification, "Transports", https://modelcontextprotocol.io/specification.
"""

import hmac
import logging
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import SecretStr
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from rag_assets.core.settings import SERVER_TOKEN_VARIABLE, ServerSettings
from rag_assets.faces.listening import MAX_CONNECTIONS, address_of, listening_socket, required_token

PATH = "/mcp"
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
_BYTES_PER_KB = 1000
_SHUTDOWN_S = 5


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve the process that started this one, until it closes stdin. Nothing else may be written to stdout."""
    anyio.run(server.run_stdio_async)


def serve_http(server: MCPServer[Any], limits: ServerSettings, announce: Callable[[str], None]) -> None:
    """Serve streamable HTTP at /mcp until SIGINT or SIGTERM, without sessions: each request stands alone.

    announce: called with the address once it listens. Raises InvalidSettings for a missing or weak token,
    ServerUnavailable when the address is taken.
    """
    token = required_token(limits)
    with listening_socket(limits) as listening:
        address = address_of(limits, listening.getsockname()[1])
        app: ASGIApp = server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            max_request_body_size=limits.max_body_kb * _BYTES_PER_KB,
            transport_security=_host_and_origin_checks(limits, address),
        )
        config = uvicorn.Config(
            app if token is None else TokenCheck(app, token),
            lifespan="on",
            log_config=None,
            log_level=logging.WARNING,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=_SHUTDOWN_S,
        )
        announce(address + PATH)
        uvicorn.Server(config).run([listening])


class TokenCheck:
    """ASGI middleware: lets through requests that carry the token; it is compared in constant time, never logged."""

    def __init__(self, app: ASGIApp, token: SecretStr) -> None:
        self._app = app
        self._expected = f"Bearer {token.get_secret_value()}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get("authorization", "") if scope["type"] == "http" else ""
        if scope["type"] == "lifespan" or hmac.compare_digest(given.encode("latin-1"), self._expected):
            await self._app(scope, receive, send)
            return
        refusal = PlainTextResponse(
            f"A token is needed: send the value of {SERVER_TOKEN_VARIABLE} as Authorization: Bearer TOKEN.",
            HTTPStatus.UNAUTHORIZED,
            {"WWW-Authenticate": "Bearer"},
        )
        await refusal(scope, receive, send)


def _host_and_origin_checks(limits: ServerSettings, address: str) -> TransportSecuritySettings:
    """What keeps out pages of other sites that a browser on this machine shows.

    A server that others reach is known by names that only `server.allowed_hosts` can tell. Without them, its token
    alone protects it: no page of another site has it.
    """
    names = {*_LOOPBACK_NAMES, limits.host, *limits.allowed_hosts}
    port = address.rpartition(":")[2]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=limits.is_loopback or bool(limits.allowed_hosts),
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*limits.cors_origins, *(f"http://{name}:{port}" for name in names)],
    )
