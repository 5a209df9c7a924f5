"""The judge of answers, and the trial that shows what its verdicts are worth."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.core.domain import CitedWork, Claim
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import load_settings
from rag_assets.evaluation.cases import AnswerVerdict, Judge
from rag_assets.evaluation.judge import KindFigures, false_siblings, judge_test, open_judge
from rag_assets.hosted.connections import Connections
from rag_assets_testing.citations import answer_of, cited
from rag_assets_testing.wire import BadKey, Reply, Wire, WireRequest, WireServer
from rag_assets_testing.wire.quoting_model import verdicts
from rag_assets_tests.answering.builders import WordEncoder, chunk
from rag_assets_tests.evaluation.cases import QUOTE, good_case
from rag_assets_tests.hosted.models import HURRIED

REPLY: dict[str, Any] = {
    "statements": [{"number": 1, "told": "yes"}],
    "sources": [{"number": 1, "told": "no"}],
    "reference": [{"number": 1, "told": "cannot_tell"}],
    "correctness": "partly",
    "questions": ["Which k?", "Which dose?"],
    "evasive": False,
}


@pytest.fixture
def server(wire: Wire) -> WireServer:
    return wire("google")


@pytest.fixture
def judge(server: WireServer, tmp_path: Path) -> Iterator[Judge]:
    settings = load_settings(
        {"data_dir": str(tmp_path), "evaluation": {"judge": "google:gemini-2.5-flash"}}
    )
    with Connections(HURRIED) as connections:
        opened = open_judge(settings, connections, WordEncoder().embed_query)
        assert opened is not None
        yield opened


def test_one_request_gives_every_verdict_and_what_it_cannot_tell_is_counted(
    server: WireServer, judge: Judge
) -> None:
    """A judge's silence that counts as agreement makes every figure too good; the same answer is
    paid for once."""
    server.answer_with(Reply(json.dumps(REPLY)))

    first, again = judge(good_case()), judge(good_case())

    assert (
        first
        == again
        == AnswerVerdict((True,), (False,), (None,), 0.5, first.relevance if first else None, 1)
    )
    assert first.relevance == pytest.approx(0.5, abs=0.26), (
        "one of its two questions is the one that was asked"
    )
    (request,) = server.requests
    for shown in ("Question: Which k?", f"1. {QUOTE}", "Reference:\n1. It is 60.", "<<<"):
        assert shown in request.prompt


def test_an_evasive_answer_is_relevant_to_nothing(server: WireServer, judge: Judge) -> None:
    """The definition of RAGAS: a noncommittal answer scores zero, however near its words are."""
    server.answer_with(Reply(json.dumps({**REPLY, "evasive": True})))

    verdict = judge(good_case())

    assert verdict.relevance == 0.0


def test_a_judge_that_cannot_be_asked_leaves_its_metrics_empty(
    server: WireServer, judge: Judge
) -> None:
    """The evaluation of a night goes on without it."""
    server.answer_with(BadKey())

    assert judge(good_case()) is None


@pytest.mark.parametrize(
    ("writer", "judge", "is_refused"),
    [
        ("google:gemini-2.5-pro", "google:gemini-2.5-flash", True),
        ("ollama:llama3.2", "ollama:llama3.1:70b", True),
        ("ollama:llama3.2", "ollama:qwen3", False),
        ("extractive", "ollama:qwen3", False),
    ],
)
def test_a_model_is_not_judged_by_its_own_family(
    tmp_path: Path, writer: str, judge: str, is_refused: bool
) -> None:
    """It would pass its own errors."""
    settings = load_settings(
        {"data_dir": str(tmp_path), "answering": {"model": writer}, "evaluation": {"judge": judge}}
    )
    with Connections(HURRIED) as connections:
        if is_refused:
            with pytest.raises(InvalidSettings, match="is of the family that answers"):
                open_judge(settings, connections, WordEncoder().embed_query)
        else:
            assert open_judge(settings, connections, WordEncoder().embed_query) is not None


TEXT = "Some patients on hay gained 12 kg, others 9 kg in 2019. Straw may help adults.\n\nFeed: Hay | Milk: 31\nFeed: Oats | Milk: 44"
CLAIMS = (
    "Some patients on hay gained 12 kg, others 9 kg in 2019.",
    "Straw may help adults.",
    "Hay gave 31.",
)
QUOTES = (CLAIMS[0], CLAIMS[1], "Feed: Hay | Milk: 31")


def of_claims() -> list[Claim]:
    source = chunk("smith2020", TEXT)
    return [
        Claim(text, (cited(quote, chunk_id=source.chunk_id, start=TEXT.index(quote)),))
        for text, quote in zip(CLAIMS, QUOTES, strict=True)
    ]


def test_a_false_sibling_changes_one_thing() -> None:
    """A sibling that is still true would make a strict judge look wrong."""
    claims = of_claims()
    claims[1] = replace(claims[1], reported=(CitedWork("Lund, 2011"),))

    found = {
        text
        for claim in claims
        for one in claim.citations
        for _, text in false_siblings(claim, [QuotedText(TEXT, one.start, one.end)])
    }

    assert {
        "Some healthy volunteers on hay gained 12 kg, others 9 kg in 2019.",
        "Some patients on hay gained 9 kg, others 12 kg in 2019.",
        "Some patients on hay gained 12 g, others 9 kg in 2019.",
        "all patients on hay gained 12 kg, others 9 kg in 2019.",
        "Some patients on hay gained 12 kg, others 9 kg in 2016.",
        "Straw will help adults.",
        "Straw may help children.",
        "In every study to date, straw may help adults.",
        " found in a trial of their own: Straw may help adults.",
        "Hay gave 44.",
    } <= found


def strict(request: WireRequest) -> Reply:
    """Calls what it knows to be true carried, and nothing else."""
    listed = re.findall(r"^Statement (\d+): (.*)$", request.prompt, re.MULTILINE)
    return verdicts(
        *((int(nth), "carried" if text in CLAIMS[:2] else "not") for nth, text in listed)
    )


def lazy(request: WireRequest) -> Reply:
    listed = re.findall(r"^Statement (\d+): ", request.prompt, re.MULTILINE)
    return verdicts(*((int(nth), "carried") for nth in listed))


@pytest.mark.parametrize(("judge", "n_leaked", "n_lost"), [(strict, 0, 1), (lazy, 10, 0)])
def test_a_strict_judge_is_told_from_a_lazy_one_and_twice_alike(
    judge: object, n_leaked: int, n_lost: int, tmp_path: Path, wire: Wire
) -> None:
    """Who relies on a judge that nods publishes what the papers do not say, with a seal."""
    source = chunk("smith2020", TEXT)
    result = answer_of(*of_claims())
    given = {"data_dir": str(tmp_path), "answering": {"judge": {"model": "google:gemini-2.5-pro"}}}
    server = wire("google", scripts_judge=True)
    server.answer_by(judge)
    with Connections(HURRIED) as connections:
        first, second = (
            judge_test(load_settings(given), connections, [result], {source.chunk_id: source}, 20)
            for _ in range(2)
        )

    of_all = first.kinds[-1]
    assert (of_all.n_leaked, of_all.n_lost, of_all.n_claims) == (n_leaked, n_lost, 3)
    assert of_all == KindFigures("all", 10, n_leaked, 3, n_lost)
    assert {one.kind for one in first.kinds} >= {"arms", "hedge", "population", "unit", "row"}
    assert first == second
    assert len(server.requests) == first.usage.n_requests > 0


def test_a_test_without_a_judge_says_how_to_name_one(tmp_path: Path) -> None:
    """Figures of no judge would be those of the rules."""
    settings = load_settings({"data_dir": str(tmp_path)})

    with pytest.raises(InvalidSettings, match="--set answering"):
        judge_test(settings, Connections(HURRIED), [], {}, 20)
