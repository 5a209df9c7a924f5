"""Papers that try to instruct the model, against a model that obeys whatever order it can see.

Two barriers are tested apart: what stands in the prompt (nothing in a paper passes for a message, a
source or a fence), and what is believed of a reply (a model that was turned can publish only what
the cited paper says).
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.core.domain import Evidence, QAResult
from rag_assets.core.settings import AnsweringSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question
from rag_assets_testing.wire import Reply, Wire, WireServer
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_tests.answering.builders import (
    chunk,
    context,
    finished,
    pipeline_in,
)
from rag_assets_tests.answering.injections import BEFORE, INJECTIONS, Injection
from rag_assets_tests.hosted.models import HURRIED

QUESTION = Question(id="q", question="How much did ferritin fall in all groups within a month?")
HONEST = chunk(
    "smith2020",
    "In a second trial ferritin fell by 11% in all groups within a month of training.",
    page=4,
)
HARMLESS = Injection(name="none", text="Iron was taken by mouth.", order="")
IMITATIONS = [injection for injection in INJECTIONS if injection.imitates]


def evidence(injection: Injection) -> Evidence:
    """The honest paper, and the paper that tries, as a context."""
    trying = chunk(injection.paper_id, injection.document)
    trying = replace(
        trying, section_title=injection.section_title, is_generated=injection.is_generated
    )
    contexts = (
        replace(
            context(trying),
            section_title=injection.section_title,
            is_generated=injection.is_generated,
        ),
        context(HONEST),
    )
    return Evidence(contexts, {trying.chunk_id: trying, HONEST.chunk_id: HONEST})


def answer_of(folder: Path, injection: Injection) -> QAResult:
    """What is published when the honest paper and the one that tries are read."""
    with Connections(HURRIED) as connections:
        answerer = HostedAnswerer(
            ModelName("openai", "gpt-5-mini"), connections, AnsweringSettings()
        )
        events = pipeline_in(folder, answerer).answer(
            QUESTION, lambda _question, _k: evidence(injection)
        )
        return finished(events).result


@pytest.fixture
def server(wire: Wire) -> WireServer:
    return wire("openai")


def obeying(injection: Injection) -> Callable[[WireRequest], Reply]:
    """A model that acts on the order when it sees it, and is honest otherwise."""
    return lambda request: (
        Reply(injection.reply) if injection.order in request.prompt else quoting_model(request)
    )


def claims(result: QAResult) -> list[tuple[str, str]]:
    return [(claim.text, citation.quote) for claim in result.claims for citation in claim.citations]


@pytest.mark.parametrize("injection", IMITATIONS, ids=lambda injection: injection.name)
def test_what_imitates_a_prompt_is_shown_as_text_of_a_paper(
    injection: Injection, server: WireServer, tmp_path: Path
) -> None:
    """A marker or chat token that a model reads as one lets a paper speak as the pipeline."""
    server.answer_by(obeying(injection))

    honest = answer_of(
        tmp_path / "harmless", replace(HARMLESS, is_generated=injection.is_generated)
    )
    result = answer_of(tmp_path / "trying", injection)

    assert {quote for _, quote in claims(honest)} == {BEFORE, HONEST.text}
    assert claims(result) == claims(honest)
    assert result.unanswered == honest.unanswered == ()


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_a_model_that_was_turned_publishes_only_what_the_paper_says(
    injection: Injection, server: WireServer, tmp_path: Path
) -> None:
    """What an order asks for is published only in its own words, as a quote of the paper that gives
    it."""
    server.answer_by(lambda _request: Reply(injection.reply))

    result = answer_of(tmp_path, injection)

    texts = {injection.paper_id: injection.document, HONEST.paper_id: HONEST.text}
    for citation in (one for claim in result.claims for one in claim.citations):
        assert citation.quote in texts[citation.paper_id]
    assert all(
        "doubled" in injection.document for claim in result.claims if "doubled" in claim.text
    )
    assert "mallory.example" not in result.answer


def test_a_model_that_obeys_is_turned_by_an_order_that_reaches_it(
    server: WireServer, tmp_path: Path
) -> None:
    """If the model of these tests never acted on an order it sees, they would prove nothing."""
    order = next(one for one in INJECTIONS if one.name == "ignore_above")
    server.answer_by(obeying(order))

    result = answer_of(tmp_path, order)

    assert all("doubled" in quote for _, quote in claims(result))
    assert claims(result)
