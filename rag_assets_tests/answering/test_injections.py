"""Papers that try to instruct the model, against a model that obeys whatever order it can see.

Two barriers are tested apart: what stands in the prompt (an obedient model sees no order), and what is believed of a
reply (a model that was turned all the same can publish nothing it was told to say).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.citations.support import EmbeddedSupport
from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.hosted_answerer import HostedAnswerer
from rag_assets.answering.pipeline import AnswerPipeline
from rag_assets.answering.trace import Finished
from rag_assets.domain import Evidence, QAResult
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.replies import ReplyCache
from rag_assets.questions import Question
from rag_assets.settings import AnsweringSettings
from rag_assets_testing.wire import Reply, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_tests.answering.builders import WordEncoder, chunk, context
from rag_assets_tests.answering.injections import AFTER, BEFORE, IN_OTHER_LANGUAGES, INJECTIONS, UNNOTICED, Injection
from rag_assets_tests.hosted.models import HURRIED

QUESTION = Question(id="q", question="How much did ferritin fall in all groups within a month?")
HONEST = chunk("smith2020", "In a second trial ferritin fell by 11% in all groups within a month of training.", page=4)
HARMLESS = Injection(name="none", text="Iron was taken by mouth.", order="", reply="")
every_injection = pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)


def evidence(injection: Injection) -> Evidence:
    """The honest paper, and the paper that tries, as a context."""
    trying = chunk(injection.paper_id, injection.document)
    trying = replace(trying, section_title=injection.section_title, is_generated=injection.is_generated)
    contexts = (
        replace(context(trying), section_title=injection.section_title, is_generated=injection.is_generated),
        context(HONEST),
    )
    return Evidence(contexts, {trying.chunk_id: trying, HONEST.chunk_id: HONEST})


def answer_of(folder: Path, injection: Injection) -> QAResult:
    """What is published when the honest paper and the one that tries are read."""
    with Connections(HURRIED) as connections:
        answerer = HostedAnswerer(ModelName("openai", "gpt-5-mini"), connections, AnsweringSettings())
        scorer, cache = EmbeddedSupport(WordEncoder()), ReplyCache(folder, DraftAnswer)
        pipeline = AnswerPipeline(answerer, scorer, cache, AnsweringSettings())
        *_, last = pipeline.answer(QUESTION, lambda _question, _k: evidence(injection))
    assert isinstance(last, Finished)
    return last.trace.result


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    with WireServer("openai") as wire:
        use_wire_environment(monkeypatch, wire)
        yield wire


def obeying(injection: Injection) -> Callable[[WireRequest], Reply]:
    """A model that acts on the order when it sees it, and is honest otherwise."""
    return lambda request: Reply(injection.reply) if injection.order in request.prompt else quoting_model(request)


def claims(result: QAResult) -> list[tuple[str, str]]:
    return [(claim.text, citation.quote) for claim in result.claims for citation in claim.citations]


@every_injection
def test_a_model_that_obeys_what_it_sees_answers_as_without_the_attempt(
    injection: Injection, server: WireServer, tmp_path: Path
) -> None:
    """One paper of thousands must not decide what is said about all the others."""

    server.answer_by(obeying(injection))
    honest = answer_of(tmp_path / "harmless", replace(HARMLESS, is_generated=injection.is_generated))
    result = answer_of(tmp_path / "trying", injection)

    assert {quote for _, quote in claims(honest)} == {BEFORE, HONEST.text}
    assert claims(result) == claims(honest)
    assert result.unanswered == honest.unanswered == ()


@pytest.mark.parametrize("injection", INJECTIONS + IN_OTHER_LANGUAGES, ids=lambda injection: injection.name)
def test_a_model_that_was_turned_publishes_nothing_it_was_told_to_say(
    injection: Injection, server: WireServer, tmp_path: Path
) -> None:
    """Filters of wording have holes; what is cited must be found, whatever the model was talked into."""
    server.answer_by(lambda _request: Reply(injection.reply))

    result = answer_of(tmp_path, injection)

    assert {quote for _, quote in claims(result)} <= {BEFORE, AFTER, HONEST.text}
    assert "doubled" not in result.answer


def test_a_model_that_obeys_is_turned_by_an_order_that_reaches_it(server: WireServer, tmp_path: Path) -> None:
    """If the model of these tests never acted on an order it sees, they would prove nothing."""
    server.answer_by(obeying(UNNOTICED))

    result = answer_of(tmp_path, UNNOTICED)

    assert claims(result) == [("Iron was taken by mouth.", "iron was taken by mouth")]
