"""A question is paid for once."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding import Vectors
from rag_assets.embedding.base import ModelEmbedder, Role
from rag_assets.embedding.prefixes import NO_PREFIXES
from rag_assets.embedding.query_vectors import MAX_FILES, QueryVectors
from rag_assets_tests.embedding.hashed_embedder import HashedEmbedder


class CountingModel(HashedEmbedder):
    """An adapter that counts what it is asked."""

    prefixes = NO_PREFIXES
    n_queries = 0

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        self.n_queries += role == "query"
        return self.embed_passages(texts)


def remembered(model: CountingModel, folder: Path, max_files: int = MAX_FILES) -> ModelEmbedder:
    return ModelEmbedder(model, QueryVectors(folder, max_files=max_files))


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


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_file_is_made_anew(damage: str, tmp_path: Path) -> None:
    """A vector with one wrong bit finds other passages, and no message says why."""
    embedder = remembered(CountingModel(), tmp_path)
    wanted = embedder.embed_query("one")
    (path,) = tmp_path.iterdir()
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes({"cut": bytes(content[:-4]), "flipped": bytes(content), "empty": b""}[damage])

    model = CountingModel()
    found = remembered(model, tmp_path).embed_query("one")

    assert np.array_equal(found, wanted)
    assert model.n_queries == 1
    assert remembered(model, tmp_path).embed_query("one") is not None
    assert model.n_queries == 1, "the file was not mended"


def test_the_folder_stays_bounded_and_keeps_what_is_still_asked(tmp_path: Path) -> None:
    """A chat over years must not fill the disk, and must not push out the questions of every night."""
    (tmp_path / "@eaDir").mkdir()  # as network disks make them
    embedder = remembered(CountingModel(), tmp_path, max_files=3)
    for number, text in enumerate(["nightly", "b", "c"]):
        embedder.embed_query(text)
        for path in tmp_path.iterdir():
            os.utime(path, (path.stat().st_mtime - 100 + number,) * 2)

    embedder.embed_query("nightly")
    embedder.embed_query("d")

    assert len(list(tmp_path.glob("*.vector"))) == 3
    model = CountingModel()
    again = remembered(model, tmp_path, max_files=3)
    again.embed_query("nightly")
    again.embed_query("d")
    assert model.n_queries == 0


def test_a_folder_that_cannot_be_written_costs_a_request_and_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A read-only disk is a reason to ask again, not to fail."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")

    vector = remembered(CountingModel(), blocked / "queries").embed_query("one")

    assert np.array_equal(vector, HashedEmbedder().embed_query("one"))
    assert "cannot be written" in caplog.text
