"""The best candidates of a search are looked at once more."""

from pathlib import Path

import pytest

from rag_assets.core.domain import Band, band_of
from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.reranking.base import SkippingReranker
from rag_assets.search.retrieval.search import Searcher
from rag_assets_tests.search.reranking.candidates import ScriptedReranker
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

CORPUS = Corpus(
    [
        chunk_of("iron", "Ferritin fell in all groups."),
        chunk_of("steel", "Steel bridges carry loads.", paper_id="jones2021"),
        chunk_of("joints", "Welded joints of steel tire.", paper_id="jones2021", ordinal=1),
        chunk_of("river", "The river floods steel bridges.", paper_id="jones2021", ordinal=2),
    ]
)
QUESTION = "steel bridges carry loads"


def searcher(folder: Path, reranker: ScriptedReranker | None, **settings: float) -> Searcher:
    skipping = SkippingReranker(reranker) if reranker else None
    return CORPUS.searcher(folder, RetrievalSettings.model_validate(settings), reranker=skipping)


def found(one: Searcher) -> list[tuple[str, float | None]]:
    with one:
        return [(hit.passage.text, hit.relevance) for hit in one.hits(one.rank(QUESTION), 10)]


def test_what_the_reranker_says_decides_the_order(folder: Path) -> None:
    """Else its time is spent for nothing."""
    reranker = ScriptedReranker(
        {"Welded joints of steel tire.": 0.9, "Steel bridges carry loads.": 0.5}
    )

    texts = found(searcher(folder, reranker))

    assert texts[0] == ("Welded joints of steel tire.", 0.9)
    assert texts[1] == ("Steel bridges carry loads.", 0.5)


def test_what_the_reranker_did_not_look_at_keeps_its_order_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A candidate that was looked at and one that was not have no score in common."""
    before = [text for text, _ in found(searcher(folder, None))]
    reranker = ScriptedReranker({before[1]: 0.9})

    monkeypatch.setattr("rag_assets.search.retrieval.ranking.RERANKED", 2)
    after = found(searcher(folder, reranker))

    assert reranker.seen == [before[:2]]
    assert [text for text, _ in after] == [before[1], before[0], *before[2:]]
    assert [relevance for _, relevance in after] == [0.9, 0.0, None, None]


def test_a_floor_leaves_out_what_is_below_and_what_was_not_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone who sets a floor wants nothing rather than anything."""
    reranker = ScriptedReranker(
        {"Welded joints of steel tire.": 0.9, "Steel bridges carry loads.": 0.2}
    )

    monkeypatch.setattr("rag_assets.search.retrieval.ranking.RERANKED", 3)
    kept = found(searcher(folder, reranker, min_score=0.5))

    assert kept == [("Welded joints of steel tire.", 0.9)]


@pytest.mark.parametrize("penalty", [0.3, 0.8])
def test_text_that_a_model_wrote_is_weighted_after_the_reranker(
    penalty: float, tmp_path: Path
) -> None:
    """A reranker does not know whose words it reads; a figure's description must not pass for a
    finding."""
    texts = "Steel bridges carry loads.", "Steel bridges carry loads (drawn by a model)."
    corpus = Corpus(
        [chunk_of("figure", "Steel bridges carry loads (drawn by a model)."), *CORPUS.chunks]
    )
    corpus.index(tmp_path)
    reranker = SkippingReranker(ScriptedReranker(dict.fromkeys(texts, 0.9)))

    settings = RetrievalSettings(generated_penalty=penalty)

    with corpus.searcher(tmp_path, settings, reranker=reranker) as one:
        hits = one.hits(one.rank(QUESTION), 2)

    assert [hit.chunk.chunk_id for hit in hits] == ["steel", "figure"]
    assert hits[1].score == pytest.approx((1 - penalty) * hits[0].score)


@pytest.mark.parametrize(
    ("relevance", "band"),
    [
        (1.0, Band.STRONG),
        (0.6, Band.STRONG),
        (0.59, Band.PARTIAL),
        (0.3, Band.PARTIAL),
        (0.29, Band.WEAK),
    ],
)
def test_a_hit_says_how_sure_it_is(relevance: float, band: Band, folder: Path) -> None:
    """A reader, and a program that calls this, should see what a number between 0 and 1 means."""
    reranker = ScriptedReranker({"Steel bridges carry loads.": relevance})

    with searcher(folder, reranker) as one:
        (best, *_) = one.hits(one.rank(QUESTION), 1)
    with searcher(folder, None) as one:
        (plain, *_) = one.hits(one.rank(QUESTION), 1)

    assert best.band is band is band_of(relevance)
    assert plain.band is None
