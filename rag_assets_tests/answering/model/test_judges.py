"""Every kind of judge: what it is asked, and that its verdicts are told in the same way."""

import json
from collections.abc import Iterator

import pytest

from rag_assets.answering.drafts import DraftClaim
from rag_assets.answering.model.judges import (
    ClaimJudge,
    judge_name,
)
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import ClaimOutcome
from rag_assets.core.errors import InvalidSettings
from rag_assets.hosted.connections import Connections
from rag_assets_testing.wire import Reply, Wire, WireRequest
from rag_assets_tests.hosted.models import HURRIED


def outcome(claim: str, quote: str) -> ClaimOutcome:
    return ClaimOutcome(
        DraftClaim(claim, ()), None, quotes=(QuotedText(quote, 0, len(quote), "Results"),)
    )


TOLD = outcome("Ferritin fell in\nall groups.", "Ferritin fell in all groups.")
INVENTED = outcome("Bridges carry heavy loads.", "Iron was not measured.")


def replied(request: WireRequest) -> Reply:
    """A judge of its provider that supports what is said of ferritin."""
    verdicts = [
        {"statement": 2, "verdict": "not"},
        {"statement": 1, "verdict": "carried"},
    ]
    return Reply(json.dumps({"verdicts": verdicts}))


@pytest.fixture
def judge(wire: Wire) -> Iterator[ClaimJudge]:
    wire("ollama", scripts_judge=True).answer_by(replied)
    with Connections(HURRIED) as connections:
        yield ClaimJudge(judge_name("ollama:llama3.2"), connections)


def test_a_judge_tells_what_is_said_from_what_is_not(judge: ClaimJudge) -> None:
    """A verdict on the wrong claim publishes what nobody wrote."""
    found = judge.verdicts([TOLD, INVENTED])

    told, invented = found.supports
    assert told is not None
    assert invented is not None
    assert told > 0.5 > invented
    assert len(found.whys) == 2
    assert found.seconds >= 0
    assert judge.identity == judge.identity != ""


def test_a_judge_that_does_not_exist_is_told_with_those_that_do() -> None:
    """A typing mistake must not switch the second look off."""
    with pytest.raises(InvalidSettings, match="It is same, none, or a model"):
        judge_name("acme:judge")
