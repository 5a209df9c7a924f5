"""A question is paid for once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.base import EmbedderFacts, ModelEmbedder, Role, Vectors
from rag_assets.search.embedding.providers import query_vectors
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder


class CountingModel(ModelEmbedder):
    """An adapter that counts what it is asked."""

    def __init__(self, folder: Path, identity: str = "hashed-1") -> None:
        self.hashed = HashedEmbedder(identity)
        self.query_vectors = query_vectors(KeptFile(folder / "kept.sqlite3"))
        self.n_queries = 0

    @property
    def facts(self) -> EmbedderFacts:
        return self.hashed.facts

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.hashed.count_tokens(texts)

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        self.n_queries += role == "query"
        return self.hashed.embed_passages(texts)


def test_a_question_that_was_asked_before_is_not_asked_again(tmp_path: Path) -> None:
    """A nightly run on a changed corpus asks the same questions: each would cost a request a night."""
    first, second = CountingModel(tmp_path), CountingModel(tmp_path)

    asked = first.embed_query("Does ferritin fall?")
    again = second.embed_query("Does ferritin fall?")

    assert np.array_equal(asked, again)
    assert again.dtype == np.float32
    assert again.flags.writeable
    assert (first.n_queries, second.n_queries) == (1, 0)


def test_neither_another_question_nor_another_model_gets_its_vector(tmp_path: Path) -> None:
    """The vector of another model is of no use to an index, and nothing about it would look wrong."""
    CountingModel(tmp_path, "hashed-1").embed_query("one")

    other_text = CountingModel(tmp_path, "hashed-1").embed_query("two")
    other_model = CountingModel(tmp_path, "hashed-2").embed_query("one")

    assert np.array_equal(other_text, HashedEmbedder("hashed-1").embed_query("two"))
    assert np.array_equal(other_model, HashedEmbedder("hashed-2").embed_query("one"))
