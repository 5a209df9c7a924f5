"""Rerankers behind an API: Cohere, servers that speak its protocol (vLLM, Infinity), Text Embeddings Inference.

Keys, limits, retries, pauses and the budget are those of `rag_assets.hosted`.

Sources: Cohere, API reference of v2 "rerank"; vLLM, "OpenAI-compatible server", "Re-rank API"; Text Embeddings
Inference, openapi.json, "/rerank".
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import anyio
import numpy as np

from rag_assets.core.domain import Usage
from rag_assets.core.errors import ModelUnavailable, RerankingTooSlow
from rag_assets.core.incremental import fingerprint
from rag_assets.hosted.access import Access, ModelName, require_access
from rag_assets.hosted.budget import require_price, usage_of
from rag_assets.hosted.connections import Connections
from rag_assets.search.reranking.base import TIMEOUT_S, FoundPassage, Judgement, Scores, described
from rag_assets.search.reranking.cross_encoder import sigmoid

N_TEXTS = 32
"""Texts of one request: the default of Text Embeddings Inference (`max_client_batch_size`); Cohere takes 1,000."""
REQUEST_VERSION = 1
"""Part of the identity: raise it with every change to what is sent that changes a score."""
_PATH = "/rerank"
_CHARS_PER_TOKEN = 4


REQUESTS: Mapping[str, Callable[[str, str, Sequence[str]], dict[str, Any]]] = {
    "cohere": lambda model, question, texts: {
        "model": model,
        "query": question,
        "documents": list(texts),
        "top_n": len(texts),
    },
    "tei": lambda _, question, texts: {"query": question, "texts": list(texts), "truncate": True},
}
"""By provider: the body of a request from model, question and texts."""


class HostedReranker:
    """A Reranker that is asked over the network. May be used by several threads."""

    def __init__(self, name: ModelName, connections: Connections, timeout_s: float = TIMEOUT_S) -> None:
        """timeout_s: most seconds for one question, with all requests and waits."""
        self._name = name
        self._connections = connections
        self._timeout_s = timeout_s

    @cached_property
    def _access(self) -> Access:
        access = require_access(self._name.provider)
        if self._connections.settings.budget_usd is not None:
            require_price(self._name, access)
        return access

    @cached_property
    def identity(self) -> str:
        """Contains no key; contains the hash of an address other than the provider's own. Raises MissingKey."""
        digest = fingerprint(str(self._name), self._access.server, REQUEST_VERSION)[:8]
        return f"rerank-{self._name.provider}-{re.sub(r'[^A-Za-z0-9.]+', '-', self._name.name)}-{digest}"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        connection = self._connections.to(self._access)
        texts = [described(candidate.passage) for candidate in candidates]
        batches = [texts[start : start + N_TEXTS] for start in range(0, len(texts), N_TEXTS)]

        async def scored(batch: Sequence[str]) -> Scores:
            body = REQUESTS[self._name.provider](self._name.name, question, batch)

            async def request() -> Scores:
                return self._scores(await connection.post(_PATH, body), len(batch))

            return await connection.guarded(request, lambda _: self._usage(question, batch))

        async def all_scored() -> list[Scores]:
            with anyio.fail_after(self._timeout_s):
                return [await scored(batch) for batch in batches]

        try:
            scores = np.concatenate(connection.call(all_scored))
        except TimeoutError:
            raise RerankingTooSlow.after(self._timeout_s, model=str(self._name)) from None
        return _judgement(scores)

    def _scores(self, reply: Any, n_wanted: int) -> Scores:
        """In the order of the texts. Raises ModelUnavailable, so that it is asked again, for an unusable answer."""
        rows = reply.get("results") if isinstance(reply, dict) else reply
        found: dict[int, float] = {}
        for row in rows if isinstance(rows, list) else []:
            index, score = _row(row)
            if index is not None and score is not None:
                found[index] = score
        if sorted(found) != list(range(n_wanted)):
            raise ModelUnavailable(
                f"{self._name} was sent {n_wanted} texts and answered with usable scores of {len(found)}. Check that "
                "it is a reranker."
            )
        return np.array([found[index] for index in range(n_wanted)], np.float64)

    def _usage(self, question: str, texts: Sequence[str]) -> Usage:
        """Servers report no tokens or count them differently: estimated from the length of what is sent."""
        from pydantic_ai.usage import RequestUsage

        n_chars = sum(len(question) + len(text) for text in texts)
        return usage_of(self._name, self._access, RequestUsage(input_tokens=n_chars // _CHARS_PER_TOKEN))


def _row(row: Any) -> tuple[int | None, float | None]:
    """Number of the text and its score, of one row of a reply; None for what is not there or cannot be used."""
    if not isinstance(row, dict):
        return None, None
    index, score = row.get("index"), row.get("relevance_score", row.get("score"))
    is_number = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
    return (
        index if isinstance(index, int) and not isinstance(index, bool) else None,
        float(score) if is_number else None,  # type: ignore[arg-type]
    )


def _judgement(scores: Scores) -> Judgement:
    """Scores that all lie in [0, 1] are probabilities (Cohere, vLLM, TEI); otherwise they are logits."""
    if scores.min() < 0 or scores.max() > 1:
        scores = sigmoid(scores)
    return Judgement(scores, scores)
