"""Qdrant's REST protocol on 127.0.0.1, in front of the client library's own storage in memory.

It stands for a server: requests and replies travel as JSON over a socket, keys are looked at, and a
test can make it slow or make it fail. How a real server searches, and how it behaves under load, it
cannot show.
"""

import json
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

from qdrant_client import QdrantClient, models

from rag_assets_testing.listening import listening

Reply = tuple[int, Any]


@dataclass
class QdrantServer:
    """The stored collections, the requests so far, and how to misbehave."""

    key: str = ""
    stored: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))
    requests: list[str] = field(default_factory=list)
    """Method and path of each, in order."""
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    misbehave: Callable[[str], Reply | None] = lambda request: None
    """May answer a request instead of the storage, or wait."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def reply(self, request: str, body: Any, headers: dict[str, str]) -> Reply:
        with self.lock:
            self.requests.append(request)
            self.bodies.append(body)
            self.headers.append(headers)
        if self.key and headers.get("api-key") != self.key:
            return 403, {"status": {"error": "Forbidden: Invalid api-key"}}
        if (instead := self.misbehave(request)) is not None:
            return instead
        for pattern, answer in _ROUTES:
            if found := re.fullmatch(pattern, request):
                with self.lock, warnings.catch_warnings(action="ignore"):
                    try:
                        return 200, {
                            "result": answer(self.stored, body, *found.groups()),
                            "status": "ok",
                            "time": 0.0,
                        }
                    except ValueError as error:
                        status = 404 if "not found" in str(error) else 400
                        return status, {"status": {"error": str(error)}, "time": 0.0}
        return 501, {"status": {"error": f"this stand-in knows no {request}"}}


def _create(stored: QdrantClient, body: Any, name: str) -> Any:
    wanted = models.CreateCollection(**body)
    return stored.create_collection(
        name,
        vectors_config=wanted.vectors,
        sparse_vectors_config=wanted.sparse_vectors,
        hnsw_config=wanted.hnsw_config,
    )


def _upsert(stored: QdrantClient, body: Any, name: str) -> Any:
    stored.upsert(name, models.PointsList(**body).points)
    return {"operation_id": 0, "status": "completed"}


def _delete(stored: QdrantClient, body: Any, name: str) -> Any:
    stored.delete(name, models.PointIdsList(**body))
    return {"operation_id": 0, "status": "completed"}


def _scroll(stored: QdrantClient, body: Any, name: str) -> Any:
    asked = models.ScrollRequest(**body)
    points, offset = stored.scroll(
        name,
        limit=asked.limit,
        offset=asked.offset,
        with_payload=asked.with_payload,
        with_vectors=asked.with_vector,
    )
    return {"points": [_plain(point) for point in points], "next_page_offset": offset}


def _retrieve(stored: QdrantClient, body: Any, name: str) -> Any:
    asked = models.PointRequest(**body)
    found = stored.retrieve(
        name, asked.ids, with_payload=asked.with_payload, with_vectors=asked.with_vector
    )
    return [_plain(point) for point in found]


def _query_batch(stored: QdrantClient, body: Any, name: str) -> Any:
    asked = [
        models.QueryRequest(**one).model_copy(update={"params": None}) for one in body["searches"]
    ]
    found = stored.query_batch_points(name, asked)
    return [{"points": [_plain(point) for point in one.points]} for one in found]


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True)


_ROUTES: list[tuple[str, Callable[..., Any]]] = [
    ("GET /collections", lambda stored, body: _plain(stored.get_collections())),
    ("GET /aliases", lambda stored, body: _plain(stored.get_aliases())),
    (
        "POST /collections/aliases",
        lambda stored, body: stored.update_collection_aliases(
            models.ChangeAliasesOperation(**body).actions
        ),
    ),
    (
        "GET /collections/([^/]+)/exists",
        lambda stored, body, name: {"exists": stored.collection_exists(name)},
    ),
    ("GET /collections/([^/]+)", lambda stored, body, name: _plain(stored.get_collection(name))),
    ("PUT /collections/([^/]+)", _create),
    ("DELETE /collections/([^/]+)", lambda stored, body, name: stored.delete_collection(name)),
    (
        "PUT /collections/([^/]+)/index",
        lambda stored, body, name: {"operation_id": 0, "status": "completed"},
    ),
    ("PUT /collections/([^/]+)/points", _upsert),
    ("POST /collections/([^/]+)/points", _retrieve),
    ("POST /collections/([^/]+)/points/delete", _delete),
    ("POST /collections/([^/]+)/points/scroll", _scroll),
    (
        "POST /collections/([^/]+)/points/count",
        lambda stored, body, name: {"count": stored.count(name).count},
    ),
    ("POST /collections/([^/]+)/points/query/batch", _query_batch),
]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, server: QdrantServer, *args: Any) -> None:
        self.qdrant = server
        super().__init__(*args)

    def _answer(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        path = self.path.partition("?")[0]
        status, reply = self.qdrant.reply(
            f"{self.command} {path}", body, {k.lower(): v for k, v in self.headers.items()}
        )
        content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - named by http.server

    def log_message(self, format: str, *args: Any) -> None:
        """Tests print nothing."""


@contextmanager
def qdrant_server(key: str = "") -> Iterator[QdrantServer]:
    """A server for the length of a `with` block."""
    qdrant = QdrantServer(key)
    with closing(qdrant.stored), listening(partial(_Handler, qdrant)) as http:
        qdrant.port = http.server_port
        yield qdrant
