"""Where a server listens and whom it lets in: the same for the HTTP API, for MCP over HTTP
and for the Dagster UI."""

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import h11
import uvicorn
from pydantic import SecretStr
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from rag_assets.core.errors import InvalidSettings, ServerUnavailable
from rag_assets.core.settings import SERVER_TOKEN_VARIABLE, ServerSettings, environment
from rag_assets.faces.server.middleware import (
    GUARDED,
    MAX_BODY_BYTES,
    PROTECTIVE_HEADERS,
    REQUEST_ID_HEADER,
    AccessCheck,
    BodyLimits,
    Checked,
    RequestLog,
)

MIN_TOKEN_CHARS = 16
MAX_CONNECTIONS = 512
"""Connections that are open at once; more are refused."""
HEADERS_TIMEOUT_S = 10.0
"""Seconds a client may take to send the headers of a request."""
_ENDINGS = (signal.SIGINT, signal.SIGTERM)


def required_token(settings: ServerSettings) -> SecretStr | None:
    """The token that clients must show; None where none is set and only this machine can reach the
    server.

    Raises InvalidSettings when others could reach the server and no token is set, or it is easily
    guessed.
    """
    token = environment().get(SERVER_TOKEN_VARIABLE, "").strip()
    if not token:
        if settings.is_loopback:
            return None
        raise InvalidSettings(
            f"server.host = {settings.host} can be reached from other machines, so clients must show a token. Set "
            f"{SERVER_TOKEN_VARIABLE} in the environment or in .env to {MIN_TOKEN_CHARS} random characters or more "
            "(openssl rand -hex 32 makes some), or use 127.0.0.1."
        )
    if (
        len(token) < MIN_TOKEN_CHARS
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise InvalidSettings(
            f"{SERVER_TOKEN_VARIABLE} must have at least {MIN_TOKEN_CHARS} characters: letters, digits and signs "
            "without blanks (openssl rand -hex 32 makes some)."
        )
    return SecretStr(token)


def listening_socket(limits: ServerSettings) -> socket.socket:
    """Bound to the address of the settings. Raises ServerUnavailable when that cannot be."""
    host = limits.host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, limits.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ServerUnavailable(
            f"server.host = {limits.host} is no address of this machine ({error.strerror}). Use 127.0.0.1."
        ) from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ServerUnavailable(
            f"Port {limits.port} is taken by another program, or needs more rights ({error.strerror}). End that "
            "program or choose another port: --port N (make serve PORT=N, make ui PORT=N)."
        ) from error
    return listening


def address_of(limits: ServerSettings, port: int) -> str:
    """ "http://127.0.0.1:8000", "http://[::1]:8000"."""
    host = limits.host.strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def guards(
    settings: ServerSettings,
    token: SecretStr | None,
    *,
    paths: tuple[str, ...] = GUARDED,
    headers: Mapping[str, str] = PROTECTIVE_HEADERS,
) -> list[Middleware]:
    """The layers around an application, from the inside out.

    token: what clients must show, see `required_token`. paths: beginnings of the paths that need
    the token, and that pages of other sites may not ask. headers: of every reply, unless the
    application sets another value.
    """
    layers = [
        Middleware(BodyLimits, settings=settings),
        Middleware(Checked, check=AccessCheck(settings, token, paths)),
    ]
    if settings.cors_origins:
        layers.append(
            Middleware(
                CORSMiddleware,
                allow_origins=settings.cors_origins,
                allow_methods=["GET", "POST", "DELETE"],
                allow_headers=["Authorization", "Content-Type"],
                expose_headers=[REQUEST_ID_HEADER, "Retry-After"],
            )
        )
    return [*layers, Middleware(RequestLog, headers=headers)]


def guarded(app: ASGIApp, layers: list[Middleware]) -> ASGIApp:
    """`app` within the layers."""
    for layer in layers:
        app = layer.cls(app, *layer.args, **layer.kwargs)
    return app


class PromptHeaders(H11Protocol):
    """Closes connections that wait too long for the headers of a request, and the oldest of them if
    many wait: half-sent headers of one client would take all connections."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._since_s = self.loop.time()
        waiting = [
            one for one in self.connections if isinstance(one, PromptHeaders) and one._is_waiting
        ]
        if len(waiting) > MAX_CONNECTIONS // 2:
            min(waiting, key=lambda one: one._since_s).transport.close()
        self.loop.call_later(HEADERS_TIMEOUT_S, self._look)

    @property
    def _is_waiting(self) -> bool:
        return self.conn.their_state is h11.IDLE and not self.transport.is_closing()

    def _look(self) -> None:
        if self._is_waiting:
            self.transport.close()
        elif not self.transport.is_closing():
            self.loop.call_later(HEADERS_TIMEOUT_S, self._look)


def server_config(app: ASGIApp, *, shutdown_s: int, websockets: str = "none") -> uvicorn.Config:
    """How uvicorn serves an application that is behind the guards: with a bound for connections.

    shutdown_s: seconds that requests under way may take at the end. websockets: uvicorn's name of
    what serves them.
    """
    return uvicorn.Config(
        app,
        http=PromptHeaders,
        ws=websockets,
        ws_max_size=MAX_BODY_BYTES,
        lifespan="on",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        # who comes through a proxy is counted by its address; headers can be forged
        proxy_headers=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=shutdown_s,
    )


@contextmanager
def signals_left_to_uvicorn() -> Iterator[None]:
    """Uvicorn raises the signals that ended it once more when it is done; here, they have done
    their work."""
    before = {number: signal.signal(number, lambda *_: None) for number in _ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
