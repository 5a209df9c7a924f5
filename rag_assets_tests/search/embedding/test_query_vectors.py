"""A question is paid for once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.base import NO_PREFIXES, ModelEmbedder, Role, Vectors
from rag_assets.search.embedding.providers import query_vectors
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder


class CountingModel(HashedEmbedder):
    """An adapter that counts what it is asked."""

    prefixes = NO_PREFIXES
    n_queries = 0

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        self.n_queries += role == "query"
        return self.embed_passages(texts)


def remembered(model: CountingModel, folder: Path) -> ModelEmbedder:
    return ModelEmbedder(model, query_vectors(KeptFile(folder / "kept.sqlite3")))


def test_a_question_that_was_asked_before_is_not_asked_again(tmp_path: Path) -> None:
    """A nightly run on a changed corpus asks the same questions: each would cost a request a night."""
    first, second = CountingModel(), CountingModel()

    asked = remembered(first, tmp_path / "queries").embed_query("Does ferritin fall?")
    again = remembered(second, tmp_path / "queries").embed_query("Does ferritin fall?")

    assert np.array_equal(asked, again)
    assert again.dtype == np.float32
    assert again.flags.writeable
    assert (first.n_queries, second.n_queries) == (1, 0)


def test_neither_another_question_nor_another_model_gets_its_vector(tmp_path: Path) -> None:
    """The vector of another model is of no use to an index, and nothing about it would look wrong."""
    remembered(CountingModel("hashed-1"), tmp_path).embed_query("one")

    other_text = remembered(CountingModel("hashed-1"), tmp_path).embed_query("two")
    other_model = remembered(CountingModel("hashed-2"), tmp_path).embed_query("one")

    assert np.array_equal(other_text, HashedEmbedder("hashed-1").embed_query("two"))
    assert np.array_equal(other_model, HashedEmbedder("hashed-2").embed_query("one"))
