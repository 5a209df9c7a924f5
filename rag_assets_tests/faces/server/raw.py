"""HTTP as bytes, for requests that no proper client would send."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DEADLINE_S = 60.0


@contextmanager
def connected(port: int, *, client: str = "127.0.0.1") -> Iterator[socket.socket]:
    """client: the address to connect from, any of this machine."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE_S, (client, 0)) as connection:
        yield connection


def everything_of(connection: socket.socket) -> bytes:
    """What the server sends until it closes the connection, however it does that."""
    parts = []
    with suppress(ConnectionResetError):
        while part := connection.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def sent(port: int, request: bytes) -> bytes:
    """The reply to some bytes."""
    with connected(port) as connection:
        with suppress(
            BrokenPipeError, ConnectionResetError
        ):  # it may answer before all of it was sent
            connection.sendall(request)
        return everything_of(connection)


def post(body: bytes, *headers: bytes, path: bytes = b"/api/search") -> bytes:
    """A request that ends its connection. headers: without line ends; a length is added unless one
    is among them."""
    lines = [b"POST " + path + b" HTTP/1.1", b"Host: localhost", b"Connection: close", *headers]
    if not any(
        line.lower().startswith((b"content-length", b"transfer-encoding")) for line in headers
    ):
        lines.append(b"Content-Length: %d" % len(body))
    if not any(line.lower().startswith(b"content-type") for line in headers):
        lines.append(b"Content-Type: application/json")
    return b"\r\n".join(lines) + b"\r\n\r\n" + body
