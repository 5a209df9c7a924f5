"""A local reranking server that answers as scripted and records what it was asked."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[dict[str, Any]], tuple[int, Any]]


class RerankServer:
    """Answers each request with the next of `answers`, the last one again and again."""

    def __init__(self, answers: list[Answer]) -> None:
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        """Path, body and Authorization of each."""
        self._answers = answers
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path, body, self.headers.get("Authorization")))
                status, reply = server._answers[min(len(server.requests), len(server._answers)) - 1](body)
                content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @contextmanager
    def running(self) -> Iterator["RerankServer"]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            thread.join()
            self._http.server_close()


def by_length(body: dict[str, Any]) -> tuple[int, Any]:
    """Cohere's answer, best first: a text's score is its length in hundreds of characters."""
    scores = [len(text) / 100 for text in body["documents"]]
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return 200, {"results": [{"index": at, "relevance_score": scores[at]} for at in order], "id": "x"}


def tei_by_length(body: dict[str, Any]) -> tuple[int, Any]:
    return 200, [{"index": at, "score": len(text) / 100} for at, text in enumerate(body["texts"])]


def answers(status: int, reply: Any) -> Answer:
    return lambda _: (status, reply)


def slow(seconds: float) -> Answer:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        time.sleep(seconds)
        return by_length(body)

    return answer
