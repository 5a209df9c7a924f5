"""Where a server listens, and the token its clients must show: the same for the HTTP API and for MCP over HTTP."""

import socket

from pydantic import SecretStr

from rag_assets.core.errors import InvalidSettings, ServerUnavailable
from rag_assets.core.settings import SERVER_TOKEN_VARIABLE, ServerSettings, environment

MIN_TOKEN_CHARS = 16
MAX_CONNECTIONS = 512
"""Connections that are open at once; more are refused."""


def required_token(settings: ServerSettings) -> SecretStr | None:
    """The token that clients must show; None where none is set and only this machine can reach the server.

    Raises InvalidSettings when others could reach the server and no token is set, or it is easily guessed.
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
    if len(token) < MIN_TOKEN_CHARS or not token.isascii() or not token.isprintable() or " " in token:
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
            f"{address_of(limits, limits.port)} cannot be listened at ({error.strerror}). End the program that uses "
            "the port, or choose another: --port N (make serve PORT=N)."
        ) from error
    return listening


def address_of(limits: ServerSettings, port: int) -> str:
    """ "http://127.0.0.1:8000", "http://[::1]:8000"."""
    host = limits.host.strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
