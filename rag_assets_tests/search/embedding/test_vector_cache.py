"""The cache ends in the same bytes whatever happened on the way, and never gives out a damaged vector."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.vector_cache import PublishedVectors, VectorCache
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder

TEXTS = [f"passage {n}" for n in range(120)]


def opened(folder: Path, embedder: HashedEmbedder | None = None) -> VectorCache:
    return VectorCache(folder, (embedder or HashedEmbedder()).facts)


def keyed(cache: VectorCache, texts: Iterable[str]) -> dict[str, str]:
    return {cache.key_of(text): text for text in texts}


def published(folder: Path, texts: Iterable[str], embedder: HashedEmbedder | None = None) -> PublishedVectors:
    embedder = embedder or HashedEmbedder()
    cache = opened(folder, embedder)
    wanted = keyed(cache, texts)
    embed_missing(cache, embedder, wanted, batch_size=16)
    return cache.publish(wanted)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def stamps(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_vectors_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    """A vector under another passage's id is a wrong answer that nothing else would notice."""
    embedder = HashedEmbedder()
    published(tmp_path, TEXTS)
    asked = [TEXTS[7], TEXTS[99], TEXTS[7], TEXTS[0]]

    cache = opened(tmp_path)
    vectors = cache.load([cache.key_of(text) for text in asked])

    assert np.array_equal(vectors, embedder.embed_passages(asked))


def test_unpublished_batches_survive_and_can_be_loaded(tmp_path: Path) -> None:
    """The audits look at the vectors before they are published; a kill must lose the running batch at most."""
    first = opened(tmp_path)
    embed_missing(first, HashedEmbedder(), keyed(first, TEXTS[:50]), batch_size=16)

    cache = opened(tmp_path)

    assert cache.missing(keyed(cache, TEXTS)) == sorted(keyed(cache, TEXTS[50:]))
    loaded = cache.load([cache.key_of(text) for text in TEXTS[:50]])
    assert np.array_equal(loaded, HashedEmbedder().embed_passages(TEXTS[:50]))


def test_the_end_state_does_not_depend_on_history(tmp_path: Path) -> None:
    """If it did, "unchanged" could not be told by comparing bytes, here or on another machine."""
    published(tmp_path / "straight", TEXTS)

    published(tmp_path / "winding", [*TEXTS[40:], "a passage that was edited later"])
    cache = opened(tmp_path / "winding")
    embed_missing(cache, HashedEmbedder(), keyed(cache, TEXTS[10:30]), batch_size=3)
    published(tmp_path / "winding", reversed(TEXTS))

    assert contents(tmp_path / "winding") == contents(tmp_path / "straight")
    assert not list(tmp_path.rglob("pending"))


def test_publishing_the_same_again_touches_no_file(tmp_path: Path) -> None:
    """A second run that rewrites files wakes everything downstream."""
    published(tmp_path, TEXTS)
    before = stamps(tmp_path)

    result = published(tmp_path, TEXTS)

    assert stamps(tmp_path) == before
    assert result == PublishedVectors(n_added=0, n_removed=0, n_unchanged=len(TEXTS), n_files_written=0)


def test_one_new_text_rewrites_one_shard(tmp_path: Path) -> None:
    """At a million passages the difference is a gigabyte written for every edit."""
    published(tmp_path, TEXTS)
    before = stamps(tmp_path)

    result = published(tmp_path, [*TEXTS, "one more"])

    changed = [path for path, stamp in stamps(tmp_path).items() if before.get(path) != stamp and path.is_file()]
    assert [path.stem for path in changed] == [opened(tmp_path).key_of("one more")[0]]
    assert result == PublishedVectors(n_added=1, n_removed=0, n_unchanged=len(TEXTS), n_files_written=1)


def test_vectors_of_removed_texts_are_gone(tmp_path: Path) -> None:
    """A deleted paper must leave nothing behind."""
    published(tmp_path, TEXTS)

    result = published(tmp_path, TEXTS[:1])

    cache = opened(tmp_path)
    assert result.n_removed == len(TEXTS) - 1
    assert cache.missing(keyed(cache, TEXTS)) == sorted(keyed(cache, TEXTS[1:]))
    assert len(contents(tmp_path)) == 1
    published(tmp_path, [])
    assert contents(tmp_path) == {}


def test_vectors_of_another_model_are_left_alone(tmp_path: Path) -> None:
    """An interrupted change of model must leave a pipeline that can answer, and going back is not to be paid for."""
    old, new = HashedEmbedder("hashed-1"), HashedEmbedder("hashed-2", dimension=12)
    published(tmp_path, TEXTS, old)
    before = contents(tmp_path)

    cache = opened(tmp_path, new)
    published(tmp_path, TEXTS, new)

    assert before.items() <= contents(tmp_path).items()
    assert np.array_equal(opened(tmp_path, new).load([cache.key_of("passage 3")])[0], new.embed_query("passage 3"))


def test_publishing_without_all_vectors_changes_nothing(tmp_path: Path) -> None:
    """A set with holes would pass for a complete one in every later step."""
    published(tmp_path, TEXTS)
    before = contents(tmp_path)
    cache = opened(tmp_path)

    with pytest.raises(MissingInput, match="no vector for 1 of 121 passages; nothing was published"):
        cache.publish(keyed(cache, [*TEXTS, "never embedded"]))

    assert contents(tmp_path) == before


def test_loading_what_was_never_embedded_names_the_remedy(tmp_path: Path) -> None:
    """The reader of an index step has to learn which step to run first."""
    published(tmp_path, TEXTS)
    cache = opened(tmp_path)

    with pytest.raises(MissingInput) as caught:
        cache.load([cache.key_of("never embedded"), cache.key_of(TEXTS[0])])

    (folder,) = tmp_path.iterdir()
    assert str(caught.value) == (
        f"{folder} has no vector for 1 of 2 passages. "
        "Materialize `embeddings` first: rag-assets run --select embeddings"
    )


@pytest.mark.parametrize("damage", ["truncated", "flipped", "emptied"])
@pytest.mark.parametrize("kind", ["batch", "shard"])
def test_a_damaged_file_is_computed_again(
    kind: str, damage: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """After a power loss the pipeline has to mend itself, not to stop with a message about parquet's magic bytes."""
    published(tmp_path / "expected", TEXTS)
    cache = opened(tmp_path / "damaged")
    embed_missing(cache, HashedEmbedder(), keyed(cache, TEXTS), batch_size=16)
    if kind == "shard":
        cache.publish(keyed(cache, TEXTS))
    victim = max((tmp_path / "damaged").rglob("*.parquet"))
    content = victim.read_bytes()
    at = len(content) // 3
    flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    victim.write_bytes({"truncated": content[:-10], "flipped": flipped, "emptied": b""}[damage])

    embedder = HashedEmbedder()
    with caplog.at_level(logging.WARNING):
        published(tmp_path / "damaged", TEXTS, embedder)

    assert contents(tmp_path / "damaged") == contents(tmp_path / "expected")
    assert 0 < embedder.n_texts_embedded < len(TEXTS)
    what = "its batch" if kind == "batch" else "its vectors"
    assert caplog.messages == [f"{victim} is damaged; `embeddings` computes {what} again."]


def test_any_flipped_byte_of_the_vectors_is_noticed(tmp_path: Path) -> None:
    """A vector with one wrong number still has nearly length 1; only a checksum sees it."""
    texts = TEXTS[:4]
    published(tmp_path, texts)
    (*_, shard) = sorted(tmp_path.rglob("*.parquet"))
    content = shard.read_bytes()
    vectors = {text: HashedEmbedder().embed_query(text).tobytes() for text in texts}
    (at,) = (content.index(vector) for vector in vectors.values() if vector in content)

    shard.write_bytes(content[: at + 5] + bytes([content[at + 5] ^ 0x10]) + content[at + 6 :])

    cache = opened(tmp_path)
    assert len(cache.missing(keyed(cache, texts))) == 1


def test_vectors_of_another_shape_are_refused(tmp_path: Path) -> None:
    """A mixed-up dimension would surface much later, inside the vector index."""
    cache = opened(tmp_path)

    with pytest.raises(ValueError, match=r"shape \(2, 7\).* ask for \(2, 8\)"):
        cache.add(["aa", "bb"], np.ones((2, 7), np.float32))


KILLED_RUN = """
import os, signal, sys
from pathlib import Path
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder
from rag_assets_tests.search.embedding.test_vector_cache import TEXTS, keyed

folder, n_renames = Path(sys.argv[1]), int(sys.argv[2])
rename = Path.replace

def counted(self, target):
    global n_renames
    n_renames -= 1
    if n_renames < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return rename(self, target)

Path.replace = counted
embedder = HashedEmbedder()
cache = VectorCache(folder, embedder.facts)
wanted = keyed(cache, TEXTS)
embed_missing(cache, embedder, wanted, batch_size=16)
cache.publish(wanted)
"""


@pytest.mark.parametrize("n_files_finished", [0, 5, 8, 13])
def test_a_killed_run_is_completed_by_the_next_one(n_files_finished: int, tmp_path: Path) -> None:
    """Embedding takes hours at scale: what was finished before a kill must count, and end in the same bytes.

    Of 8 batches and 16 shards, `n_files_finished` are in place when the kill comes.
    """
    published(tmp_path / "expected", TEXTS)
    command = [sys.executable, "-c", KILLED_RUN, str(tmp_path / "killed"), str(n_files_finished)]

    killed = subprocess.run(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})
    drafts = list((tmp_path / "killed").rglob("*.staged"))
    embedder = HashedEmbedder()
    published(tmp_path / "killed", TEXTS, embedder)

    assert killed.returncode == -signal.SIGKILL
    assert len(drafts) == 1, "the kill should hit a file half way"
    assert contents(tmp_path / "killed") == contents(tmp_path / "expected")
    assert embedder.n_texts_embedded == max(0, len(TEXTS) - 16 * n_files_finished)
