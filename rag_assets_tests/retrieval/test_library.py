"""Published chunks and passages are read when a question needs them, and kept for the next step."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_assets.retrieval import library
from rag_assets_tests.retrieval.corpus import Corpus, chunk_of

CORPUS = Corpus([chunk_of(f"c{number:03}", f"Sample {number} was cold.", ordinal=number) for number in range(40)])


def test_rows_come_in_the_order_asked_whatever_was_read_before() -> None:
    """A passage in the place of another would be shown with the other's score and page."""
    one = CORPUS.library

    one.passages([3, 1])
    one.chunks(["c003"])
    found = one.passages([5, 3, 3, 1])

    assert [passage.chunk_id for passage in found] == ["c005", "c003", "c003", "c001"]
    assert list(one.chunks(["c007", "none", "c003"])) == ["c007", "c003"]
    assert one.passages([]) == []


def test_a_row_that_is_kept_is_not_read_again() -> None:
    """Search, reranker, packing and verification want the same rows: reading them takes longer than comparing them."""
    one = CORPUS.library

    first, again = one.passages([4])[0], one.passages([4])[0]

    assert first is again


def test_what_is_kept_stays_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that runs for weeks must not end with the whole corpus in memory."""
    monkeypatch.setattr(library, "KEPT_PASSAGES", 2)
    one = CORPUS.library
    oldest, newest = one.passages([1])[0], one.passages([2, 3])[1]

    assert one.passages([3])[0] is newest
    assert one.passages([1])[0] is not oldest


def test_several_threads_get_the_rows_they_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight people ask at once."""
    monkeypatch.setattr(library, "KEPT_PASSAGES", 5)
    one = CORPUS.library

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: one.passages([place, (place + 1) % 40]), list(range(40)) * 10))

    assert [pair[0].chunk_id for pair in found] == [f"c{place:03}" for place in range(40)] * 10
