"""A search goes on when its reranker cannot."""

import logging

import pytest

from rag_assets.core.errors import MissingModel, RerankingTooSlow
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets_tests.search.reranking.candidates import ScriptedReranker, candidates_of


def test_a_missing_model_is_said_once_and_not_looked_for_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A hub that cannot be reached would otherwise cost each question its time-out, and the log a
    line."""
    error = MissingModel("no weights")
    inner = ScriptedReranker(error=error)
    reranker = SkippingReranker(inner)

    with caplog.at_level(logging.WARNING):
        judgements = [reranker.judge("Why?", candidates_of("a", "b")) for _ in range(3)]

    assert judgements == [None] * 3
    assert len(inner.seen) == 1
    assert caplog.messages == [f"Hits are not reranked, the order of the search stands: {error}"]


def test_a_model_that_is_too_slow_is_asked_again_with_the_next_question(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A busy hour ends; a reranker given up for good would be missed until the next start."""
    inner = ScriptedReranker(error=RerankingTooSlow("busy"))
    reranker = SkippingReranker(inner)

    with caplog.at_level(logging.WARNING):
        judgements = [reranker.judge("Why?", candidates_of("a")) for _ in range(2)]

    assert judgements == [None, None]
    assert len(inner.seen) == 2
    assert len(caplog.messages) == 1


def test_no_candidates_are_not_judged() -> None:
    """A reranker is promised at least one."""
    inner = ScriptedReranker()

    assert SkippingReranker(inner).judge("Why?", []) is None
    assert inner.seen == []


class WithoutModel(ScriptedReranker):
    @property
    def identity(self) -> str:
        raise MissingModel("no weights")


def test_a_missing_model_has_an_identity_of_its_own() -> None:
    """Answers made without the reranker must be made again once its model is there."""
    assert SkippingReranker(WithoutModel()).identity == "unavailable"
    assert SkippingReranker(ScriptedReranker()).identity == "scripted"
