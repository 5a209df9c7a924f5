"""What callers are told of errors: what to do, and nothing of the machine."""

import errno
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from rag_assets.core import errors
from rag_assets.core.errors import ModelUnavailable, RagAssetsError
from rag_assets.faces.server.problems import problem_of, unexpected
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.server.live import EVENTS, events_of, served

SECRET = "sk-secret-of-a-test-0123456789"
PATH = "/secret-folder/papers/data"
ABOUT_THE_REQUEST = {
    errors.InvalidQuestions, errors.InvalidFilter, errors.InvalidQuote, errors.NotFound, errors.UploadRefused,
    errors.UploadTooLarge, errors.CorpusConflict, errors.UnknownConversation, errors.TurnTooLarge,
}  # fmt: skip
"""Their messages are made of the request, and are shown."""


def all_errors(base: type[RagAssetsError] = RagAssetsError) -> Iterator[type[RagAssetsError]]:
    yield base
    for kind in base.__subclasses__():
        yield from all_errors(kind)


@pytest.mark.parametrize(
    "kind",
    sorted(set(all_errors()), key=lambda kind: kind.__name__),
    ids=lambda kind: kind.__name__,
)
def test_every_error_becomes_a_problem_with_a_remedy_and_no_secret(
    kind: type[RagAssetsError],
) -> None:
    """A message for the operator may name a folder, an address with a password, or what a provider
    echoed of a key."""
    problem = problem_of(kind(f"{PATH} said {SECRET}")).problem

    assert problem.status >= 400
    assert problem.title
    if kind not in ABOUT_THE_REQUEST:
        assert len(problem.detail) > 20
        assert SECRET not in problem.model_dump_json()
        assert PATH not in problem.model_dump_json()


def test_a_provider_that_asks_for_patience_is_passed_on() -> None:
    """A client that asks again at once makes it worse."""
    fault = ModelUnavailable("busy")
    fault.retry_after_s = 7.2

    assert problem_of(fault).headers == {"Retry-After": "8"}


def test_a_full_disk_is_told_as_such() -> None:
    """ "Please report it" sends its owner to us, where room on the disk is needed."""
    problem = unexpected(OSError(errno.ENOSPC, "No space left on device", PATH)).problem

    assert (problem.status, problem.title) == (507, "The server's disk is full")
    assert PATH not in problem.model_dump_json()
    assert unexpected(OSError(errno.EIO, "Input/output error")).problem.status == 500


class _Refusing(BaseHTTPRequestHandler):
    """A model's server that echoes what it was sent, as some do."""

    def do_POST(self) -> None:
        key = self.headers.get("Authorization", "")
        body = json.dumps(
            {"error": {"message": f"bad key {key} in {PATH}", "code": "invalid_api_key"}}
        ).encode()
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def refusing() -> Iterator[str]:
    """The address of such a server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusing)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_that_refuses_tells_no_key(
    world: World, refusing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may ask is not therefore whoever pays for the model."""
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", refusing)
    question = {"question": QUESTIONS[0]["question"]}

    with served(world.paths.data, answering={"model": "openai:some-model"}) as live:
        whole = live.client.post("/api/answers", json=question)
        streamed = live.client.post("/api/answers", json=question, headers=EVENTS)

    name, data = events_of(streamed.text)[-1]
    assert (whole.status_code, whole.json()["title"]) == (502, "The model refused the request")
    assert (name, json.loads(data)["problem"]["title"]) == (
        "error",
        "The model refused the request",
    )
    for reply in (whole, streamed):
        assert SECRET not in reply.text
        assert PATH not in reply.text


def test_a_model_without_its_key_says_which_setting_helps(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commonest mistake of all; it is the operator's, and the reader at the page sees it
    first."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    with served(world.paths.data, answering={"model": "openai:some-model"}) as live:
        health = live.client.get("/api/health")
        reply = live.client.post("/api/answers", json={"question": QUESTIONS[0]["question"]})

    assert health.status_code == 200
    assert (reply.status_code, reply.json()["title"]) == (503, "The model's key is not set")
