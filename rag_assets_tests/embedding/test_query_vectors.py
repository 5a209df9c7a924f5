"""A question is paid for once."""

import os
from pathlib import Path

import numpy as np
import pytest

from rag_assets.embedding.query_vectors import CachedQueryEmbedder
from rag_assets_tests.embedding.hashed_embedder import HashedEmbedder


class CountingEmbedder(HashedEmbedder):
    """Counts what it is asked."""

    n_queries = 0

    def embed_query(self, text: str) -> np.ndarray:
        self.n_queries += 1
        return super().embed_query(text)


def test_a_question_that_was_asked_before_is_not_asked_again(tmp_path: Path) -> None:
    """A nightly run on a changed corpus asks the same questions: each would cost a request a night."""
    first, second = CountingEmbedder(), CountingEmbedder()

    asked = CachedQueryEmbedder(first, tmp_path / "queries").embed_query("Does ferritin fall?")
    again = CachedQueryEmbedder(second, tmp_path / "queries").embed_query("Does ferritin fall?")

    assert np.array_equal(asked, again)
    assert again.dtype == np.float32
    assert again.flags.writeable
    assert (first.n_queries, second.n_queries) == (1, 0)


def test_neither_another_question_nor_another_model_gets_its_vector(tmp_path: Path) -> None:
    """The vector of another model is of no use to an index, and nothing about it would look wrong."""
    CachedQueryEmbedder(HashedEmbedder("hashed-1"), tmp_path).embed_query("one")

    other_text = CachedQueryEmbedder(HashedEmbedder("hashed-1"), tmp_path).embed_query("two")
    other_model = CachedQueryEmbedder(HashedEmbedder("hashed-2"), tmp_path).embed_query("one")

    assert np.array_equal(other_text, HashedEmbedder("hashed-1").embed_query("two"))
    assert np.array_equal(other_model, HashedEmbedder("hashed-2").embed_query("one"))


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_file_is_made_anew(damage: str, tmp_path: Path) -> None:
    """A vector with one wrong bit finds other passages, and no message says why."""
    remembered = CachedQueryEmbedder(CountingEmbedder(), tmp_path)
    wanted = remembered.embed_query("one")
    (path,) = tmp_path.iterdir()
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes({"cut": bytes(content[:-4]), "flipped": bytes(content), "empty": b""}[damage])

    embedder = CountingEmbedder()
    found = CachedQueryEmbedder(embedder, tmp_path).embed_query("one")

    assert np.array_equal(found, wanted)
    assert embedder.n_queries == 1
    assert CachedQueryEmbedder(embedder, tmp_path).embed_query("one") is not None
    assert embedder.n_queries == 1, "the file was not mended"


def test_the_folder_stays_bounded_and_keeps_what_is_still_asked(tmp_path: Path) -> None:
    """A chat over years must not fill the disk, and must not push out the questions of every night."""
    (tmp_path / "@eaDir").mkdir()  # as network disks make them
    remembered = CachedQueryEmbedder(CountingEmbedder(), tmp_path, max_files=3)
    for number, text in enumerate(["nightly", "b", "c"]):
        remembered.embed_query(text)
        for path in tmp_path.iterdir():
            os.utime(path, (path.stat().st_mtime - 100 + number,) * 2)

    remembered.embed_query("nightly")
    remembered.embed_query("d")

    assert len(list(tmp_path.glob("*.vector"))) == 3
    embedder = CountingEmbedder()
    again = CachedQueryEmbedder(embedder, tmp_path, max_files=3)
    again.embed_query("nightly")
    again.embed_query("d")
    assert embedder.n_queries == 0


def test_a_folder_that_cannot_be_written_costs_a_request_and_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A read-only disk is a reason to ask again, not to fail."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")

    vector = CachedQueryEmbedder(HashedEmbedder(), blocked / "queries").embed_query("one")

    assert np.array_equal(vector, HashedEmbedder().embed_query("one"))
    assert "cannot be written" in caplog.text
