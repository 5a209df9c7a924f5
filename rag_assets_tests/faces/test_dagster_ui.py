"""What stands before the Dagster UI. That it is served behind this is tried in `cli/test_ui.py`."""

from collections.abc import Iterator
from threading import Thread

import httpx2
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from rag_assets.core.settings import ServerSettings
from rag_assets.faces.dagster_ui import ui_config
from rag_assets.faces.listening import listening_socket
from rag_assets_tests.faces.server.raw import connected

JSON = {"Content-Type": "application/json"}
MUTATION = "/graphql?query=mutation%7Blaunch%7D"


async def _done(_request: Request) -> PlainTextResponse:
    return PlainTextResponse("done")


async def _opened(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server that does everything it is asked, behind the guards of the UI."""
    routes = [
        WebSocketRoute("/graphql", _opened),
        Route("/{path:path}", _done, methods=["GET", "POST", "PUT", "DELETE"]),
    ]
    limits = ServerSettings(port=0)
    server = uvicorn.Server(ui_config(Starlette(routes=routes), limits))
    with listening_socket(limits) as listening:
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("POST", "/graphql", JSON, 200),
        ("POST", "/graphql", {"Content-Type": "application/json; charset=utf-8"}, 200),
        ("POST", MUTATION, {"Content-Type": "text/plain"}, 415),
        (
            "POST",
            "/graphql",
            {"Content-Type": "multipart/form-data; boundary=x; application/json"},
            415,
        ),
        ("POST", "/report_asset_materialization/qa?data_version=1", {}, 415),
        ("GET", MUTATION, {}, 415),
        ("GET", "/graphql", {}, 200),
        ("POST", "/graphql", {**JSON, "Origin": "http://evil.example"}, 403),
        ("GET", "/runs", {"Host": "evil.example"}, 421),
        (
            "GET",
            "/runs",
            {
                "Sec-Fetch-Site": "cross-site",
                "Sec-Fetch-Mode": "navigate",
                "Sec-Fetch-Dest": "document",
            },
            200,
        ),
    ],
)
def test_only_own_pages_give_orders(
    port: int, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    """Any page in the same browser could else start runs, wipe the history and read answers."""
    reply = httpx2.request(
        method, f"http://127.0.0.1:{port}{path}", headers=headers, content=b"{}" * (method != "GET")
    )

    assert reply.status_code == status, reply.text
    assert reply.headers["x-frame-options"] == "DENY", (
        "a page that shows the UI in a frame can steer clicks on it"
    )


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"Origin: http://127.0.0.1:%d", b"101"),
        (b"Origin: http://evil.example:%d", b"403"),
        (b"X-Port: %d", b"101"),
    ],
)
def test_only_own_pages_open_websockets(port: int, header: bytes, status: bytes) -> None:
    """Browsers let every page open a websocket to everywhere; only the server can refuse."""
    lines = [b"GET /graphql HTTP/1.1", b"Host: 127.0.0.1:%d" % port, header % port]
    lines += [b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Version: 13"]
    with connected(port) as connection:
        connection.sendall(
            b"\r\n".join([*lines, b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", b"", b""])
        )
        reply = connection.recv(100)

    assert reply.split()[1] == status
