"""A local server that speaks the protocol of GROBID as far as PDFs are read, and says what it is
told to say."""

import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler
from typing import Any

from rag_assets_testing.listening import listening
from rag_assets_testing.papers.tei import SURFACES, tei

PROSE = "Ferritin fell in the treated group while the control group kept its level over the whole winter term."
_COORDS = "2,60,100,480,10"
TEI = tei(
    f'<div><head n="1" coords="2,60,80,80,12">Results</head><p coords="{_COORDS}"><s coords="{_COORDS}">{PROSE}</s>'
    "</p></div>",
    facsimile=SURFACES,
)


@dataclass(frozen=True)
class Said:
    """A reply to a PDF."""

    status: int = 200
    body: bytes = TEI.encode()
    slow_s: float = 0.0
    is_cut_off: bool = False


@dataclass
class ReadingServer:
    """What it says next, and what it was asked."""

    version: str = "0.9.1"
    is_alive: bool = True
    says: deque[Said] = field(default_factory=deque)
    """Replies to the next PDFs, one each; then `by_default`."""
    by_default: Said = Said()
    asked: list[str] = field(default_factory=list)
    """Method and path of all requests."""
    forms: list[dict[str, list[bytes]]] = field(default_factory=list)
    """What came with each PDF, by field."""
    n_together: int = 0
    """So many PDFs must be there at once before one is replied to."""
    most_at_once: int = 0
    address: str = ""

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.are_together = threading.Event()
        self.n_at_once = 0

    @property
    def n_pdfs(self) -> int:
        return len(self.forms)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def state(self) -> ReadingServer:
        state: ReadingServer = self.server.state  # type: ignore[attr-defined]
        return state

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.state.asked.append(f"GET {path}")
        match path.split("/")[1:]:
            case ["api", "isalive"]:
                self.send(Said(200, b"true" if self.state.is_alive else b"false"))
            case ["api", "version"]:
                self.send_json({"version": self.state.version, "revision": "unknown"})
            case _:
                self.send(Said(404, b"no such path"))

    def do_POST(self) -> None:
        state = self.state
        body = self.rfile.read(int(self.headers["content-length"]))
        message = BytesParser(policy=HTTP).parsebytes(
            f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode() + body
        )
        fields: dict[str, list[bytes]] = {}
        for part in message.iter_parts():
            name = part.get_param("name", header="content-disposition")
            fields.setdefault(str(name), []).append(part.get_payload(decode=True))  # type: ignore[arg-type]
        with state.lock:
            state.asked.append(f"POST {self.path}")
            state.forms.append(fields)
            said = state.says.popleft() if state.says else state.by_default
            state.n_at_once += 1
            state.most_at_once = max(state.most_at_once, state.n_at_once)
            if state.n_at_once >= state.n_together:
                state.are_together.set()
        state.are_together.wait(timeout=30)
        time.sleep(said.slow_s)
        with state.lock:
            state.n_at_once -= 1
        self.send(said)

    def send_json(self, value: Any, status: int = 200) -> None:
        self.send(Said(status, json.dumps(value).encode()))

    def send(self, said: Said) -> None:
        self.send_response(said.status)
        if said.status in (301, 307):
            self.send_header("Location", "http://127.0.0.1:9/elsewhere")
        self.send_header("Content-Length", str(len(said.body)))
        self.end_headers()
        self.wfile.write(said.body[: len(said.body) // 2] if said.is_cut_off else said.body)
        self.close_connection = said.is_cut_off


@contextmanager
def reading_server(port: int = 0) -> Iterator[ReadingServer]:
    """It listens on 127.0.0.1 for the length of the block."""
    state = ReadingServer()
    with listening(_Handler, port) as http:
        http.state = state  # type: ignore[attr-defined]
        state.address = f"http://127.0.0.1:{http.server_port}"
        yield state
