"""Vectors of a model that is not in use: kept, within bounds, and never of a paper that is gone."""

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.embedding.earlier_models import note_papers, prune_earlier_models
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_tests.search.embedding.hashed_embedder import HashedEmbedder

PAPERS = {paper: [f"{paper} says {n}" for n in range(30)] for paper in ("jones", "smith", "lee")}
PAPERS["lee"].append(PAPERS["smith"][0])
OLD, NEW = HashedEmbedder("hashed-1"), HashedEmbedder("hashed-2", dimension=12)


def used(folder: Path, embedder: HashedEmbedder, papers: Mapping[str, list[str]], max_mb: float = 1.0) -> VectorCache:
    """Embed the papers with a model and publish, as a run does."""
    cache = VectorCache(folder, embedder.facts)
    texts = {cache.key_of(text): text for texts in papers.values() for text in texts}
    note_papers(cache.folder, {paper: [cache.key_of(text) for text in texts] for paper, texts in papers.items()})
    embed_missing(cache, embedder, texts, batch_size=16)
    cache.publish(texts)
    prune_earlier_models(cache.folder, papers, max_mb=max_mb)
    return cache


def n_missing(folder: Path, embedder: HashedEmbedder, papers: Mapping[str, list[str]]) -> int:
    cache = VectorCache(folder, embedder.facts)
    return len(cache.missing(cache.key_of(text) for texts in papers.values() for text in texts))


def test_going_back_to_an_earlier_model_embeds_nothing(tmp_path: Path) -> None:
    """Vectors of a model behind an API were paid for; trying another one must not cost them."""
    used(tmp_path, OLD, PAPERS)
    used(tmp_path, NEW, PAPERS)
    again = HashedEmbedder("hashed-1")

    cache = used(tmp_path, again, PAPERS)

    assert again.n_texts_embedded == 0
    assert np.array_equal(cache.load([cache.key_of("lee says 3")])[0], OLD.embed_query("lee says 3"))
    assert n_missing(tmp_path, NEW, PAPERS) == 0


def test_a_deleted_paper_leaves_no_vector_of_any_model(tmp_path: Path) -> None:
    """Who withdraws a paper is told that nothing of it remains; what another paper says as well stays that paper's."""
    used(tmp_path, OLD, PAPERS)
    kept = {paper: texts for paper, texts in PAPERS.items() if paper != "smith"}

    used(tmp_path, NEW, PAPERS)
    used(tmp_path, NEW, kept)

    assert n_missing(tmp_path, OLD, kept) == 0
    assert n_missing(tmp_path, OLD, {"smith": PAPERS["smith"]}) == 29, "all but the one that lee has too"
    assert b"smith" not in b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def test_batches_of_a_run_that_was_killed_are_kept_too(tmp_path: Path) -> None:
    """They were paid for like the others."""
    used(tmp_path, OLD, PAPERS)
    cache = VectorCache(tmp_path, NEW.facts)
    texts = {cache.key_of(text): text for text in PAPERS["jones"] + PAPERS["smith"]}
    note_papers(cache.folder, {paper: [cache.key_of(text) for text in PAPERS[paper]] for paper in ("jones", "smith")})
    embed_missing(cache, NEW, texts, batch_size=16)

    used(tmp_path, OLD, {"jones": PAPERS["jones"], "lee": PAPERS["lee"]})

    assert n_missing(tmp_path, NEW, {"jones": PAPERS["jones"]}) == 0
    assert n_missing(tmp_path, NEW, {"smith": PAPERS["smith"]}) == 30


def test_beyond_the_bound_the_model_not_used_for_longest_goes(tmp_path: Path) -> None:
    """A cache that only grows fills the disk of whoever tries models."""
    models = [HashedEmbedder(f"tried-{n}") for n in range(3)]
    for nth, model in enumerate(models):
        cache = used(tmp_path, model, PAPERS)
        os.utime(cache.folder, ns=(nth, nth))
    size_mb = sum(path.stat().st_size for path in cache.folder.rglob("*.parquet")) / 1e6

    used(tmp_path, NEW, PAPERS, max_mb=2.1 * size_mb)
    assert [n_missing(tmp_path, model, PAPERS) for model in models] == [90, 0, 0]
    used(tmp_path, NEW, PAPERS, max_mb=0)

    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [VectorCache(tmp_path, NEW.facts).folder.name, f"{VectorCache(tmp_path, NEW.facts).folder.name}.papers.json"]
    )


@pytest.mark.parametrize("content", [None, b"", b"{}", bytes(200)])
def test_vectors_of_which_no_paper_is_known_are_not_kept(
    tmp_path: Path, content: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    """They may be of a paper that was deleted since."""
    old = used(tmp_path, OLD, PAPERS).folder
    papers_of_old = old.with_name(f"{old.name}.papers.json")
    if content is None:
        papers_of_old.unlink()
    else:
        papers_of_old.write_bytes(content)

    used(tmp_path, NEW, PAPERS)

    assert not old.exists()
    assert "it is not known any more which papers its vectors are of" in caplog.text
