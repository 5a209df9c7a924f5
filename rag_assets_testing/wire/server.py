"""A local HTTP server that speaks one provider's protocol, answers as scripted and records what it
was asked.

Wording belongs to the protocols (see `wording`); here are the script, the record, the transport and
its faults.
"""

import gzip
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

from rag_assets_testing.wire.anthropic_wire import AnthropicWire
from rag_assets_testing.wire.exchange import (
    RawRequest,
    Response,
    UnknownPath,
    WireProtocol,
    WireRequest,
)
from rag_assets_testing.wire.google_wire import GoogleWire
from rag_assets_testing.wire.ollama_wire import OllamaWire
from rag_assets_testing.wire.openai_wire import OpenAIWire
from rag_assets_testing.wire.quoting_model import (
    all_supported,
    is_judging,
    is_leading,
    lead,
)
from rag_assets_testing.wire.steps import (
    Answer,
    Compressed,
    CutOff,
    Drop,
    Garbage,
    Slow,
    Step,
    Vectors,
)
from rag_assets_testing.wire.wording import worded

ProtocolName = Literal["google", "anthropic", "openai", "ollama"]
PROTOCOLS: dict[ProtocolName, WireProtocol] = {
    "google": GoogleWire(),
    "anthropic": AnthropicWire(),
    "openai": OpenAIWire(),
    "ollama": OllamaWire(),
}


class WireServerFailed(AssertionError):
    """The script or the protocol could not serve a request; raised in the test when the server
    closes."""


class WireServer:
    """One provider on 127.0.0.1, for the length of a `with` block.

    A chat request takes the next step of `answer_with`, then asks `answer_by`; an embeddings
    request takes the next step of `embed_with`, then gets its vectors. A chat request without a
    step fails the test.

    A request for a second look is answered beside the script, with all claims supported, and
    recorded in `judged`; unless the test scripts these, too. So is one for the paragraph above an
    answer, by `lead_by`, and recorded in `led`.
    """

    def __init__(
        self, protocol: ProtocolName, *, scripts_judge: bool = False, port: int = 0
    ) -> None:
        """port: 0 for a free one."""
        self.protocol_name = protocol
        self.port = port
        self.protocol = PROTOCOLS[protocol]
        self._lock = threading.Lock()
        self._requests: list[WireRequest] = []
        self._judged: list[WireRequest] = []
        self.led: list[WireRequest] = []
        self.lead_by: Callable[[WireRequest], Step] = lambda _request: lead()
        self._scripts_judge = scripts_judge
        self._chat_steps: deque[Step] = deque()
        self._embedding_steps: deque[Step] = deque()
        self._scripted_model: Callable[[WireRequest], Step] | None = None
        self._failures: list[Exception] = []
        self._n_in_flight = self._most_in_flight = 0
        self._closing = threading.Event()

    @property
    def base_url(self) -> str:
        """What the provider's base URL variable is set to."""
        return f"http://127.0.0.1:{self._http.server_port}{self.protocol.base_path}"

    @property
    def key(self) -> str:
        """A key that occurs nowhere else: in a file or a log it is a leak."""
        return self.protocol.key

    @property
    def requests(self) -> list[WireRequest]:
        """All requests so far in order of arrival, without those in `judged` and
        `led`."""
        with self._lock:
            return list(self._requests)

    @property
    def judged(self) -> list[WireRequest]:
        """The requests for a second look that were answered beside the script."""
        with self._lock:
            return list(self._judged)

    @property
    def most_in_flight(self) -> int:
        """The largest number of requests that were being answered at the same time."""
        with self._lock:
            return self._most_in_flight

    def answer_with(self, *steps: Step) -> None:
        """Append steps for the next chat requests, one each, whatever thread they come from."""
        with self._lock:
            self._chat_steps.extend(steps)

    def embed_with(self, *steps: Step) -> None:
        """Append steps for the next embeddings requests, one each; after them every request gets
        its vectors."""
        with self._lock:
            self._embedding_steps.extend(steps)

    def answer_by(self, scripted_model: Callable[[WireRequest], Step]) -> None:
        """Answer chat requests beyond `answer_with` by a function of the request; called from
        several threads."""
        with self._lock:
            self._scripted_model = scripted_model

    def __enter__(self) -> Self:
        self._http = _HTTPServer(self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.close_connections()
        self._http.server_close()
        if self._failures:
            story = "; ".join(f"{type(failure).__name__}: {failure}" for failure in self._failures)
            raise WireServerFailed(
                f"The {self.protocol_name} server could not serve: {story}"
            ) from self._failures[0]

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the server's end."""
        self._closing.wait(seconds)

    def begin(self, raw: RawRequest) -> tuple[WireRequest, Step]:
        """Record a request and choose its step."""
        request = self.protocol.read(raw)
        if is_judging(request) and not self._scripts_judge:
            with self._lock:
                self._judged.append(request)
            return request, all_supported(request)
        if is_leading(request):
            self.led.append(request)
            return request, self.lead_by(request)
        with self._lock:
            self._requests.append(request)
            steps = self._chat_steps if request.kind == "chat" else self._embedding_steps
            step = steps.popleft() if steps else None
            scripted_model = self._scripted_model
        if step is not None:
            return request, step
        if request.kind == "embeddings":
            return request, Vectors()
        if scripted_model is None:
            raise WireServerFailed(
                f"no step is left for request {len(self.requests)}, {request.prompt[:80]!r}"
            )
        return request, scripted_model(request)

    @contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count a request as being answered."""
        with self._lock:
            self._n_in_flight += 1
            self._most_in_flight = max(self._most_in_flight, self._n_in_flight)
        try:
            yield
        finally:
            with self._lock:
                self._n_in_flight -= 1

    def note_failure(self, failure: Exception) -> None:
        """Keep a failure for the test's end."""
        with self._lock:
            self._failures.append(failure)


class _HTTPServer(ThreadingHTTPServer):
    """Threads are joined at the end, so every connection has to be closed before."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, wire: WireServer) -> None:
        self.wire = wire
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__(("127.0.0.1", wire.port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Wake every thread that waits for a client's next request."""
        with self._open_lock:
            for connection in self._open:
                with suppress(OSError):  # the client was faster
                    connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """One connection; HTTP/1.1, so that clients keep it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _HTTPServer

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on stderr."""

    def handle(self) -> None:
        """A client that goes away is what the time-out tests are about."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def do_POST(self) -> None:
        """Serve one request; it counts as in flight until its response begins, which lets the
        client send the next."""
        with self.server.wire.in_flight():
            deliver = self._delivery()
        deliver()

    def do_GET(self) -> None:
        """No SDK call that a test of answers or embeddings makes is a GET."""
        self._failed(UnknownPath(f"GET {self.path}"))()

    def _delivery(self) -> Callable[[], None]:
        """What is left to do once the response is known; what goes wrong before that fails the
        test."""
        wire = self.server.wire
        try:
            request, step = wire.begin(self._raw_request())
            while isinstance(step, Slow):
                wire.wait(step.seconds)
                step = step.then
            return self._step_delivery(step, request)
        except ConnectionError:
            raise
        except Exception as failure:
            return self._failed(failure)

    def _failed(self, failure: Exception) -> Callable[[], None]:
        self.server.wire.note_failure(failure)
        return partial(
            self._send,
            Response(500, f"wire server failed: {failure}".encode(), {"x-should-retry": "false"}),
        )

    def _raw_request(self) -> RawRequest:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        return RawRequest(
            self.path, {name.lower(): value for name, value in self.headers.items()}, body
        )

    def _step_delivery(
        self, step: Answer | Vectors | Compressed | CutOff | Drop | Garbage, request: WireRequest
    ) -> Callable[[], None]:
        wire = self.server.wire
        match step:
            case Drop():
                return self._drop
            case Garbage(body, content_type):
                return partial(self._send, Response(200, body, {"content-type": content_type}))
            case Compressed(of):
                whole = worded(of, wire.protocol, request)
                headers = {**whole.headers, "content-encoding": "gzip"}
                return partial(
                    self._send, Response(whole.status, gzip.compress(whole.body), headers)
                )
            case CutOff():
                whole = worded(step.of, wire.protocol, request)
                if step.after_bytes >= len(whole.body):
                    raise WireServerFailed(
                        f"{step} cuts nothing off a body of {len(whole.body)} bytes"
                    )
                return partial(self._send_part, whole, step)
            case _:
                return partial(self._send, worded(step, wire.protocol, request))

    def _drop(self) -> None:
        self.close_connection = True

    def _send(self, response: Response) -> None:
        self._send_head(response, {"content-length": str(len(response.body))})
        self.wfile.write(response.body)

    def _send_part(self, response: Response, cut: CutOff) -> None:
        part = response.body[: cut.after_bytes]
        if cut.framing == "chunked":
            self._send_head(response, {"transfer-encoding": "chunked"})
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        else:
            self._send_head(response, {"content-length": str(len(response.body))})
            self.wfile.write(part)
        self.close_connection = True

    def _send_head(self, response: Response, framing: dict[str, str]) -> None:
        self.send_response(response.status)
        for name, value in {**response.headers, **framing}.items():
            self.send_header(name, value)
        self.end_headers()
