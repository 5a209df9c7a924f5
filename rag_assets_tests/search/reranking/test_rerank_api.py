"""Rerankers over HTTP, against a local server."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rag_assets.core.errors import AccessDenied, BudgetExhausted, MissingKey, ModelUnavailable, RerankingTooSlow
from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.search.reranking.base import FoundPassage, SkippingReranker
from rag_assets.search.reranking.cross_encoder import sigmoid
from rag_assets.search.reranking.rerank_api import N_TEXTS, HostedReranker
from rag_assets_tests.search.reranking.candidates import candidates_of
from rag_assets_tests.search.reranking.rerank_server import (
    Answer,
    RerankServer,
    answers,
    by_length,
    slow,
    tei_by_length,
)

KEY = "co-secret-key-0123456789"
ACCESS = ModelAccessSettings.model_validate({"max_attempts": 2, "max_wait_s": 0.05})


class Asked:
    """Opens a server and a reranker over it; both end with the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, closing: ExitStack) -> None:
        self._monkeypatch = monkeypatch
        self._closing = closing

    def __call__(
        self, *script: Answer, provider: str = "cohere", timeout_s: float = 20.0, access: ModelAccessSettings = ACCESS
    ) -> tuple[RerankServer, HostedReranker]:
        server = self._closing.enter_context(RerankServer(list(script)).running())
        self._monkeypatch.setenv("CO_API_URL" if provider == "cohere" else "TEI_BASE_URL", server.url)
        connections = self._closing.enter_context(Connections(access))
        return server, HostedReranker(ModelName(provider, "rerank-1"), connections, timeout_s)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    for variable in ("CO_API_KEY", "COHERE_API_KEY", "CO_API_URL", "TEI_BASE_URL", "TEI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    with ExitStack() as closing:
        yield Asked(monkeypatch, closing)


def test_scores_come_back_in_the_order_of_the_candidates(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers answer best first: taken as they come, each passage would get the score of another."""
    server, reranker = asked(by_length)
    monkeypatch.setenv("CO_API_KEY", KEY)
    plain, other = candidates_of("a", "longer text")
    headed = FoundPassage(replace(other.passage, heading_text="A title"), 0.5)

    judgement = reranker.judge("Why?", [plain, headed])

    assert judgement.scores == pytest.approx([0.01, 0.19])
    [(path, body, authorization)] = server.requests
    assert path == "/v1/rerank"
    assert body == {"model": "rerank-1", "query": "Why?", "documents": ["a", "A title\nlonger text"], "top_n": 2}
    assert authorization == f"Bearer {KEY}"


def test_text_embeddings_inference_is_asked_its_own_way(asked: Asked) -> None:
    """It refuses a request in Cohere's words."""
    server, reranker = asked(tei_by_length, provider="tei")

    judgement = reranker.judge("Why?", candidates_of("abc", "a"))

    assert judgement.scores == pytest.approx([0.03, 0.01])
    [(_, body, authorization)] = server.requests
    assert body == {"query": "Why?", "texts": ["abc", "a"], "truncate": True}
    assert authorization is None


def test_many_candidates_go_in_batches(asked: Asked) -> None:
    """A server that takes 32 texts at once refuses more."""
    server, reranker = asked(by_length)

    judgement = reranker.judge("Why?", candidates_of(*("x" * nth for nth in range(1, N_TEXTS + 6))))

    assert judgement.scores == pytest.approx([nth / 100 for nth in range(1, N_TEXTS + 6)])
    assert [len(body["documents"]) for _, body, _ in server.requests] == [N_TEXTS, 5]


def test_logits_become_probabilities(asked: Asked) -> None:
    """Some servers send what the model gives: a relevance of 7 would be above every floor."""
    rows = [{"index": 0, "relevance_score": -3.0}, {"index": 1, "relevance_score": 7.0}]
    _, reranker = asked(answers(200, {"results": rows}))

    assert reranker.judge("Why?", candidates_of("a", "b")).scores == pytest.approx(sigmoid(np.array([-3.0, 7.0])))


@pytest.mark.parametrize(
    "reply",
    [
        b"<html>not JSON</html>",
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 0.5}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 0, "relevance_score": 0.6}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 2, "relevance_score": 0.6}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": "high"}]},
        {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": True}]},
        b'{"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": NaN}]}',
        {"results": ["a", "b"]},
        {"results": "none"},
        [1, 2],
        None,
    ],
    ids=str,
)
def test_an_answer_that_cannot_be_used_is_asked_for_again_and_then_given_up(reply: Any, asked: Asked) -> None:
    """A wrong length taken at its word would leave passages without a score, or with another's."""
    server, reranker = asked(answers(200, reply))

    with pytest.raises(ModelUnavailable):
        reranker.judge("Why?", candidates_of("a", "b"))

    assert len(server.requests) == 2


def test_a_server_that_is_busy_is_asked_again(asked: Asked) -> None:
    """A 429 is over in a moment."""
    server, reranker = asked(answers(429, {"message": "slow down"}), by_length)

    assert reranker.judge("Why?", candidates_of("abc")).scores == pytest.approx([0.03])
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 404])
def test_a_refusal_is_final(status: int, asked: Asked) -> None:
    """Asking again with the same key, or for the same model, changes nothing."""
    server, reranker = asked(answers(status, {"message": "no"}))

    with pytest.raises(AccessDenied):
        reranker.judge("Why?", candidates_of("a"))

    assert len(server.requests) == 1


def test_a_question_does_not_wait_for_a_server_that_hangs(asked: Asked) -> None:
    """The order of the search is there already."""
    _, reranker = asked(slow(1.5), timeout_s=0.2)

    with pytest.raises(RerankingTooSlow, match=r"^cohere:rerank-1 took more than 0\.2 s"):
        reranker.judge("Why?", candidates_of("a"))


def test_requests_count_against_the_budget(asked: Asked) -> None:
    """A run with a limit must keep it, whoever asks."""
    access = ModelAccessSettings.model_validate({"budget_requests": 1})
    server, reranker = asked(by_length, access=access)
    reranker.judge("Why?", candidates_of("a"))

    with pytest.raises(BudgetExhausted):
        reranker.judge("How?", candidates_of("a"))

    assert len(server.requests) == 1


def test_without_a_key_the_search_goes_on(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cohere's own service needs one; a search does not."""
    _, reranker = asked(by_length)
    monkeypatch.delenv("CO_API_URL")

    with pytest.raises(MissingKey, match="CO_API_KEY or COHERE_API_KEY"):
        reranker.judge("Why?", candidates_of("a"))
    assert SkippingReranker(reranker).identity == "unavailable"


def test_the_key_stands_in_no_message_and_no_identity(
    asked: Asked, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A server may repeat the key in its error, and logs are shared."""
    _, reranker = asked(answers(500, {"message": f"bad key {KEY}"}))
    monkeypatch.setenv("CO_API_KEY", KEY)

    with caplog.at_level(logging.DEBUG):
        assert SkippingReranker(reranker).judge("Why?", candidates_of("a")) is None

    assert KEY not in caplog.text
    assert "[key]" in caplog.text
    assert KEY not in reranker.identity


def test_another_server_has_another_identity(asked: Asked) -> None:
    """Two servers may serve different models under one name."""
    identities = [asked(by_length)[1].identity for _ in range(2)]

    assert identities[0] != identities[1]
