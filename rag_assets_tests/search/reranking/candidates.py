"""Candidates with made-up places, and rerankers that do as they are told."""

from collections.abc import Sequence

import numpy as np

from rag_assets.search.reranking.base import FoundPassage, Judgement
from rag_assets_tests.search.retrieval.corpus import passage_of


def candidates_of(*texts: str) -> list[FoundPassage]:
    """In the order a search found them, with falling scores."""
    return [
        FoundPassage(passage_of(f"p{nth}", text), 1.0 - nth / len(texts))
        for nth, text in enumerate(texts)
    ]


class ScriptedReranker:
    """Relevance by the passage's text; raises `error` if it is given one. Notes what it was
    asked."""

    def __init__(
        self, relevance: dict[str, float] | None = None, error: Exception | None = None
    ) -> None:
        self._relevance = relevance or {}
        self._error = error
        self.seen: list[list[str]] = []

    @property
    def identity(self) -> str:
        return "scripted"

    def judge(self, question: str, candidates: Sequence[FoundPassage]) -> Judgement:
        self.seen.append([candidate.passage.text for candidate in candidates])
        if self._error:
            raise self._error
        scores = np.array(
            [self._relevance.get(candidate.passage.text, 0.0) for candidate in candidates]
        )
        return Judgement(scores, scores)
