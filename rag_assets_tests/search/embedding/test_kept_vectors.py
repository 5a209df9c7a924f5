"""Sentences an engine has embedded before."""

from collections.abc import Sequence

import numpy as np

from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.providers import KeptVectors
from rag_assets_tests.search.retrieval.corpus import HashedWords


class Counting(HashedWords):
    """Knows which texts it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        return super().embed_query(text)


TEXTS = ["Iron rose.", "Ferritin fell.", "Iron rose.", "Silt settles."]


def test_vectors_are_those_of_the_model_in_the_order_asked_for() -> None:
    """A vector of another sentence would choose another sentence."""
    kept = KeptVectors(HashedWords())

    for texts in (TEXTS, TEXTS[::-1], []):
        expected = (
            HashedWords().embed_passages(texts)
            if texts
            else np.empty((0, HashedWords.facts.dimension))
        )
        assert np.array_equal(kept.embed_passages(texts), expected)


def test_a_sentence_is_embedded_once_and_a_question_is_no_sentence() -> None:
    """Models may embed a question in another way than the same words in a paper."""
    model = Counting()
    kept = KeptVectors(model)

    kept.embed_passages(TEXTS)
    kept.embed_passages(TEXTS[:2])
    kept.embed_query("Iron rose.")
    kept.embed_query("Iron rose.")

    assert model.asked == ["Iron rose.", "Ferritin fell.", "Silt settles.", "Iron rose."]


def test_what_was_not_asked_for_longest_is_forgotten() -> None:
    """A server runs for weeks: kept vectors must not grow without bound."""
    model = Counting()
    kept = KeptVectors(model, max_vectors=2)

    for text in ("a", "b", "a", "c", "a", "b"):
        kept.embed_passages([text])

    assert model.asked == ["a", "b", "c", "b"]
