"""Vectors that are kept, and the making of those that are missing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.core.kept import KeptFile
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.vector_cache import (
    VectorCache,
    note_papers,
    prune_other_models,
)
from rag_assets_tests.kept_entries import all_contents, damage
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder

TEXTS = [f"passage {n}" for n in range(120)]
PAPERS = {paper: [f"{paper} says {n}" for n in range(30)] for paper in ("jones", "smith", "lee")}
PAPERS["lee"].append(PAPERS["smith"][0])
OLD, NEW = HashedEmbedder("hashed-1"), HashedEmbedder("hashed-2", dimension=12)


def opened(folder: Path, embedder: HashedEmbedder = OLD) -> VectorCache:
    return VectorCache(KeptFile(folder / "vectors.sqlite3"), embedder.facts)


def embedded(folder: Path, texts: Sequence[str], embedder: HashedEmbedder | None = None) -> int:
    """Embed what is missing and keep only these texts; returns how many others were forgotten."""
    embedder = embedder or HashedEmbedder()
    cache = opened(folder, embedder)
    embed_missing(cache, embedder, texts, batch_size=16)
    return cache.keep_only(texts)


def used(
    folder: Path, embedder: HashedEmbedder, papers: Mapping[str, list[str]], max_mb: float = 1.0
) -> None:
    """Embed the papers with a model and publish, as a run does."""
    cache = opened(folder, embedder)
    note_papers(cache.file, {cache: papers})
    embedded(folder, [text for texts in papers.values() for text in texts], embedder)
    prune_other_models(cache.file, [cache], papers, max_mb=max_mb)


def n_missing(
    folder: Path, embedder: HashedEmbedder, papers: Mapping[str, list[str]] = PAPERS
) -> int:
    return len(
        opened(folder, embedder).missing(text for texts in papers.values() for text in texts)
    )


def test_vectors_come_back_in_the_order_asked_for(tmp_path: Path) -> None:
    """A vector under another passage's id is a wrong answer that nothing else would notice."""
    embedded(tmp_path, TEXTS)
    asked = [TEXTS[7], TEXTS[99], TEXTS[7], TEXTS[0]]

    assert np.array_equal(opened(tmp_path).load(asked), OLD.embed_passages(asked))
    with pytest.raises(MissingInput) as caught:
        opened(tmp_path).load(["never embedded", TEXTS[0]])
    assert str(caught.value) == (
        f"{tmp_path / 'vectors.sqlite3'} has no vector for 1 of 2 passages. "
        "Materialize `embeddings` first: rag-assets run --select embeddings"
    )


def test_the_end_state_does_not_depend_on_history(tmp_path: Path) -> None:
    """An edit costs its own passages, a deleted text leaves nothing, and the same again writes
    nothing."""
    embedded(tmp_path / "straight", TEXTS)

    embedded(tmp_path / "winding", [*TEXTS[40:], "a passage that was edited later"])
    n_forgotten = embedded(tmp_path / "winding", TEXTS[::-1])

    file = tmp_path / "winding" / "vectors.sqlite3"
    assert n_forgotten == 1
    assert all_contents(file) == all_contents(tmp_path / "straight" / "vectors.sqlite3")
    stamp, again = file.stat().st_mtime_ns, HashedEmbedder()
    embedded(tmp_path / "winding", TEXTS, again)
    assert (file.stat().st_mtime_ns, again.n_texts_embedded) == (stamp, 0)
    embedded(tmp_path / "winding", [])
    assert all_contents(file) == {}


def test_a_damaged_vector_is_computed_again(tmp_path: Path) -> None:
    """A vector with one wrong number still has nearly length 1; only a checksum sees it."""
    embedded(tmp_path, TEXTS[:4])
    damage(tmp_path / "vectors.sqlite3", opened(tmp_path).kind, n_entries=1)
    assert len(opened(tmp_path).missing(TEXTS[:4])) == 1

    embedder = HashedEmbedder()
    embedded(tmp_path, TEXTS[:4], embedder)

    assert embedder.n_texts_embedded == 1
    assert np.array_equal(opened(tmp_path).load(TEXTS[:4]), OLD.embed_passages(TEXTS[:4]))


def test_a_vector_of_another_length_counts_as_none(tmp_path: Path) -> None:
    """A mixed-up dimension would surface much later, inside the vector index."""
    opened(tmp_path).add(["one"], [np.ones(7, np.float32)])

    assert opened(tmp_path).get_all(["one"]) == {}


def test_going_back_to_an_earlier_model_embeds_nothing(tmp_path: Path) -> None:
    """Vectors of a model behind an API were paid for; trying another one must not cost them."""
    used(tmp_path, OLD, PAPERS)
    used(tmp_path, NEW, PAPERS)
    again = HashedEmbedder("hashed-1")

    used(tmp_path, again, PAPERS)

    assert again.n_texts_embedded == 0
    assert n_missing(tmp_path, NEW) == 0


def test_a_deleted_paper_leaves_no_vector_of_any_model(tmp_path: Path) -> None:
    """Who withdraws a paper is told that nothing of it remains; what another paper says as well
    stays that paper's."""
    used(tmp_path, OLD, PAPERS)
    kept = {paper: texts for paper, texts in PAPERS.items() if paper != "smith"}

    used(tmp_path, NEW, PAPERS)
    used(tmp_path, NEW, kept)

    assert n_missing(tmp_path, OLD, kept) == 0
    assert n_missing(tmp_path, OLD, {"smith": PAPERS["smith"]}) == 29, (
        "all but the one that lee has too"
    )
    assert b"smith" not in (tmp_path / "vectors.sqlite3").read_bytes()


def test_beyond_the_bound_the_model_not_used_for_longest_goes(tmp_path: Path) -> None:
    """A cache that only grows fills the disk of whoever tries models."""
    models = [HashedEmbedder(f"tried-{n}") for n in (3, 1, 2)]
    for model in models:
        used(tmp_path, model, PAPERS)

    used(tmp_path, NEW, PAPERS, max_mb=2.1 * 90 * 8 * 4 / 1e6)
    assert [n_missing(tmp_path, model) for model in models] == [90, 0, 0]
    used(tmp_path, NEW, PAPERS, max_mb=0)

    assert [n_missing(tmp_path, model) for model in (*models, NEW)] == [90, 90, 90, 0]


def test_only_missing_texts_are_embedded(tmp_path: Path) -> None:
    """An edit of one paper must cost that paper's passages, not the corpus."""
    embedder = HashedEmbedder()
    cache = opened(tmp_path, embedder)
    embed_missing(cache, embedder, ["one", "two"], batch_size=8)
    reports: list[tuple[int, int]] = []

    run = embed_missing(
        cache,
        embedder,
        ["one", "two", "three", "four", "five"],
        batch_size=2,
        report=lambda done, total: reports.append((done, total)),
    )

    assert run.n_embedded == 3
    assert embedder.n_texts_embedded == 5
    assert reports == [(2, 3), (3, 3)]


def test_wrong_vectors_are_found_before_they_are_published(tmp_path: Path) -> None:
    """An infinite or short vector makes its passage unfindable, or found by everything; a false
    alarm costs a good paper."""
    embedder = HashedEmbedder()
    cache = opened(tmp_path, embedder)
    texts = ["right", "not a number", "short", "empty", "also right"]
    vectors = embedder.embed_passages(texts)
    vectors[1, 4] = np.nan
    vectors[2] *= 0.9
    vectors[3] = 0

    run = embed_missing(
        cache, embedder, texts, batch_size=5, embed=lambda batches: [(*batches, vectors)]
    )

    assert cache.missing(texts) == ["not a number", "short", "empty"]
    assert run.n_embedded == 2
    assert run.lost == {
        "not a number": "has a passage whose vector has length nan, not 1",
        "short": "has a passage whose vector has length 0.9000, not 1",
        "empty": "has a passage whose vector has length 0.0000, not 1",
    }
