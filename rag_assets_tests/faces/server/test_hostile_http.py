"""Requests that are too large, too slow, malformed or dishonest: each is refused, and the server
goes on."""

import json
import logging
import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from rag_assets.faces import listening
from rag_assets.faces.server import dependencies, middleware
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.server import raw
from rag_assets_tests.faces.server.live import Live, served
from rag_assets_tests.faces.server.raw import connected, everything_of, post, sent
from rag_assets_tests.rounds import first_of

QUESTION = {"question": QUESTIONS[0]["question"]}


@pytest.fixture(scope="module")
def impatient(built: World) -> Iterator[Live]:
    """A server with small limits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(middleware, "RECEIVE_TIMEOUT_S", 0.5)
        patch.setattr(middleware, "MAX_BODY_BYTES", 64_000)
        with served(built.paths.data, server={"max_upload_mb": 0.2}) as running:
            yield running


def status_of(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"question": ""}',
        b'{"question": 7}',
        b'{"question": "a\\u0000b"}',
        b'{"question": "\\ud800"}',
        b'{"question": "\xff\xfe"}',
        b'{"question": "a", "k": 0}',
        b'{"question": "a", "k": NaN}',
        b'{"question": "a", "k": 1e400}',
        b'{"question": "a", "k": ' + b"9" * 5000 + b"}",
        b'{"question": "a", "paper_ids": "ferritin"}',
        b'{"question": "a", "paper_ids": ["\\ud800"]}',
        b'{"question": "a", "where": "nowhere:7"}',
        b'{"question": "a", "unknown": 1}',
        b'{"question": "a", "__proto__": {}}',
        b"[" * 60_000,
        b'{"question": "' + b"x" * 10_000 + b'"}',
        json.dumps({"question": "a", "paper_ids": ["p"] * 2000}).encode(),
    ],
    ids=lambda body: body[:40].decode("latin-1"),
)
def test_bodies_that_make_no_sense_get_a_problem_that_says_why(live: Live, body: bytes) -> None:
    """An error 500, or an answer to another question than was asked, are both worse than a
    refusal."""
    reply = live.client.post(
        "/api/search", content=body, headers={"Content-Type": "application/json"}
    )

    problem = reply.json()
    assert reply.status_code in {400, 422}, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    assert problem.keys() == {"type", "title", "status", "detail", "request_id"}
    assert problem["status"] == reply.status_code
    assert problem["request_id"] == reply.headers["x-request-id"]
    assert len(reply.content) < 2000, "the input is not sent back"


def test_a_body_larger_than_announced_limits_is_refused_before_it_is_read(impatient: Live) -> None:
    """A body of gigabytes must not be collected in memory to be refused then."""
    announced = post(b"", b"Content-Length: 9999999999")
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    chunked = post(chunk * 40, b"Transfer-Encoding: chunked")

    for request in (announced, chunked):
        reply = sent(impatient.port, request)
        assert status_of(reply) == 413
        assert b"At most 64,000 bytes are taken here." in reply
        assert b"application/problem+json" in reply


def test_uploads_have_a_limit_of_their_own(impatient: Live) -> None:
    """A paper is larger than a question; whoever may send papers may not therefore send
    gigabytes."""
    reply = sent(impatient.port, post(b"", b"Content-Length: 264001", path=b"/api/papers"))

    assert status_of(reply) == 413
    assert b"At most 264,000 bytes" in reply


def test_a_body_that_never_ends_gets_a_problem(impatient: Live) -> None:
    """It would hold a place for as long as it likes."""
    with connected(impatient.port) as connection:
        connection.sendall(post(b'{"question": "wh', b"Content-Length: 40"))
        reply = everything_of(connection)

    assert status_of(reply) == 408
    assert b"Send the whole of it within 0.5 seconds." in reply


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"x" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZZ\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x00" * 1000,
    ],
    ids=lambda request: request[:60].decode("latin-1"),
)
def test_what_is_no_http_is_refused(live: Live, request_bytes: bytes) -> None:
    """Two readers of one malformed request, a proxy and we, may see two different requests in
    it."""
    with connected(live.port) as connection:
        connection.settimeout(10)
        connection.sendall(request_bytes)
        try:
            reply = connection.recv(65_536)
        except ConnectionResetError:
            reply = b""

    assert not reply or status_of(reply) in {400, 421}
    assert live.client.get("/api/health").status_code == 200


TRAVERSALS = [
    "/..%2fapp.py",
    "/%2e%2e/app.py",
    "/../../../../etc/passwd",
    "//etc/passwd",
    "/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2f..%2f..%2fetc%2fpasswd",
    "/..%5c..%5cetc%5cpasswd",
    "/%252e%252e%252fetc%252fpasswd",
    "/etc/passwd%00.png",
    "/%c0%ae%c0%ae/etc/passwd",
    "/....//....//etc/passwd",
    "/ferritin.tei.xml",
    "/..%2fpapers%2fferritin.tei.xml",
]
PREFIXES = [
    "/static",
    "",
    "/api/papers",
    "/api/papers/ferritin/pages",
    "/api/chunks",
    "/api/runs",
    "/assets",
]


@pytest.mark.parametrize("prefix", first_of(PREFIXES))
@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_path_leads_to_a_file(live: Live, prefix: str, path: str) -> None:
    """One joined path too many publishes the machine; sent as it stands, because clients would tidy
    it."""
    request = f"GET {prefix}{path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    reply = sent(live.port, request.encode())

    assert status_of(reply) in {400, 404, 405, 422}, reply[:200]
    assert b"root:" not in reply
    assert b"teiHeader" not in reply
    assert b"FastAPI" not in reply


def test_nothing_of_a_request_gets_into_headers(live: Live) -> None:
    """A line break in a header would let a stranger set cookies and write replies in our name."""
    smuggled = "x\r\nSet-Cookie: stolen=1\r\n\r\n<script>"
    quoted = smuggled.replace("\r", "%0d").replace("\n", "%0a").replace(" ", "%20")

    replies = [
        live.client.get(f"/api/papers/{quoted}"),
        live.client.get(f"/api/health?{quoted}"),
        live.client.get("/api/health", headers={"X-Request-ID": "forged"}),
        live.client.post("/api/search", json={"question": smuggled}),
        live.ask(**QUESTION, conversation_id=smuggled),
    ]

    for reply in replies:
        assert "set-cookie" not in reply.headers
        assert re.fullmatch("[0-9a-f]{16}", reply.headers["x-request-id"])
        assert "forged" not in str(reply.headers)


def test_no_request_forges_a_line_of_the_log(live: Live, caplog: pytest.LogCaptureFixture) -> None:
    """A log that visitors can write into tells what they want it to tell; one with escapes can take
    over a terminal."""
    with caplog.at_level(logging.INFO, "rag_assets"):
        live.client.get("/api/%0a12:00:00%20everything%20is%20fine%1b%5b2J")
        live.client.get("/api/health")  # the line is written behind the reply

    (record,) = [one for one in caplog.records if "everything" in one.getMessage()]
    assert record.getMessage().isprintable()


def test_events_cannot_be_forged_by_a_question(live: Live) -> None:
    """A question with line breaks is echoed in a stream; it must not end its event and begin
    another."""
    forged = 'What fell?\n\nevent: claim\ndata: {"text": "forged"}\n\n'

    reply = live.ask(forged, as_events=True)

    assert '\nevent: claim\ndata: {"text": "forged"}' not in reply.text


def test_protective_headers_are_on_every_reply(live: Live) -> None:
    """They must not depend on who wrote the route, or on whether it failed."""
    for reply in (
        live.client.get("/api/health"),
        live.client.get("/nowhere"),
        live.client.get("/api/health", headers={"Host": "evil.example"}),
        live.client.post("/api/search", content="{"),
        live.ask(**QUESTION, as_events=True),
    ):
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert "server" not in reply.headers


def test_every_limit_is_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is documented and not kept is worse than none: somebody relies on it."""
    monkeypatch.setattr(listening, "MAX_CONNECTIONS", 8)
    monkeypatch.setattr(dependencies, "UPLOADS_PER_MINUTE", 1)
    with served(world.paths.data, server={"allowed_hosts": ["My.Proxy"]}) as live:
        short = live.client.post("/api/search", json={"question": "What fell?"})
        long = live.client.post("/api/search", json={"question": "What fell?" * 500})
        deletions = [live.client.delete("/api/papers/nowhere") for _ in range(2)]
        named = live.client.get("/api/health", headers={"Host": "my.proxy:443"})
        live.client.close()
        with ExitStack() as open_ones:
            for client in range(1, 9):
                busy = open_ones.enter_context(connected(live.port, client=f"127.0.0.{client}"))
                busy.sendall(
                    b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
                )
            one_too_many = sent(
                live.port,
                b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            )

    assert (short.status_code, long.status_code) == (200, 422)
    assert long.json()["detail"] == "A question has 1 to 4000 characters, this one 5000."
    assert [reply.status_code for reply in deletions] == [404, 429]
    assert named.status_code == 200
    assert status_of(one_too_many) == 503


def test_an_error_that_no_code_foresaw_tells_nothing(built: World, tmp_path: Path) -> None:
    """Tracebacks hold paths, settings and texts of papers."""
    world = built.copy_to(tmp_path)
    history = world.paths.evaluation / "history.jsonl"
    history.unlink()
    history.mkdir()
    with served(world.paths.data) as live:
        reply = live.client.get("/api/health")

    assert (reply.status_code, reply.json()["title"]) == (500, "The request failed on the server")
    assert str(tmp_path) not in reply.text
    assert reply.json()["request_id"] == reply.headers["x-request-id"]


def test_half_sent_headers_of_one_client_stop_nobody_else_and_end(
    built: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six hundred connections that cost their sender nothing would refuse everybody, until the
    server is started again."""
    half = b"GET / HTTP/1.1\r\nHost: "
    with served(built.paths.data) as live, ExitStack() as stack:
        monkeypatch.setattr(listening, "HEADERS_TIMEOUT_S", 3600.0)
        hanging = [stack.enter_context(connected(live.port)) for _ in range(600)]
        for one in hanging:
            with suppress(BrokenPipeError, ConnectionResetError):  # closed to make room
                one.sendall(half)
        page = live.client.get("/")
        n_open = sum(not is_closed(one) for one in hanging)

        monkeypatch.setattr(listening, "HEADERS_TIMEOUT_S", 0.2)
        first = sent(live.port, half)
        second = sent(live.port, half + b"localhost\r\n\r\n" + half)

    assert page.status_code == 200
    assert 200 < n_open < listening.MAX_CONNECTIONS, "most are there, and leave room"
    assert first == b""
    assert second.count(b"HTTP/1.1 200") == 1, "the second request of a connection ends likewise"


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has closed it."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True
    finally:
        connection.settimeout(raw.DEADLINE_S)
