"""What callers are told of errors: what to do, and nothing of the machine."""

import errno
from collections.abc import Iterator

import pytest

from rag_assets.core import errors
from rag_assets.core.domain import Usage
from rag_assets.core.errors import ModelUnavailable, RagAssetsError
from rag_assets.faces.server.problems import problem_of, unexpected
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.server.live import served

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


def test_what_was_spent_in_vain_is_told() -> None:
    """A failed answer costs as much as one that was given, and would be asked again unaware."""
    fault = errors.RequestRejected("no")
    fault.spent, fault.seconds = Usage(2, 8_120, 14, 0.0031), 11.6

    assert problem_of(fault).problem.detail.endswith(
        "Spent on it: 2 requests, 8,120 tokens read, 14 written, $0.0031, 12 s."
    )


def test_a_full_disk_is_told_as_such() -> None:
    """ "Please report it" sends its owner to us, where room on the disk is needed."""
    problem = unexpected(OSError(errno.ENOSPC, "No space left on device", PATH)).problem

    assert (problem.status, problem.title) == (507, "The server's disk is full")
    assert PATH not in problem.model_dump_json()
    assert unexpected(OSError(errno.EIO, "Input/output error")).problem.status == 500


def test_a_model_without_its_key_says_which_setting_helps(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commonest mistake of all; it is the operator's, and the reader at the page sees it
    first."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    with served(world.paths.data, answering={"model": "openai:some-model"}) as live:
        health = live.client.get("/api/health")
        reply = live.ask(QUESTIONS[0]["question"])

    assert health.status_code == 200
    assert (reply.status_code, reply.json()["title"]) == (503, "The model's key is not set")
