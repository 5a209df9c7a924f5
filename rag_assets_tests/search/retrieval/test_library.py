"""Published chunks and passages are looked up by place and id."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.search.retrieval.library import Library
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

CORPUS = Corpus([chunk_of(f"c{number:03}", f"Sample {number} was cold.", ordinal=number) for number in range(40)])


def test_rows_come_in_the_order_asked() -> None:
    """A passage in the place of another would be shown with the other's score and page."""
    one = CORPUS.library

    found = one.passages([5, 3, 3, 1])

    assert [passage.chunk_id for passage in found] == ["c005", "c003", "c003", "c001"]
    assert list(one.chunks(["c007", "none", "c003"])) == ["c007", "c003"]
    assert one.passages([]) == []
    assert one.chunks([]) == {}


def test_several_threads_get_the_rows_they_asked_for() -> None:
    """Eight people ask at once."""
    one = CORPUS.library

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: one.passages([place, (place + 1) % 40]), list(range(40)) * 10))

    assert [pair[0].chunk_id for pair in found] == [f"c{place:03}" for place in range(40)] * 10


def test_an_open_library_is_not_changed_by_the_next_publication(tmp_path: Path) -> None:
    """A question under way would read rows of another corpus."""
    chunks, passages = tmp_path / "chunks.parquet", tmp_path / "passages.parquet"
    CORPUS.write_tables(chunks, passages)
    one = Library(chunks, passages)

    Corpus([chunk_of("later", "Later.")]).write_tables(chunks, passages)

    assert one.passages([0])[0].text == "Sample 0 was cold."


def test_a_damaged_table_is_not_opened(tmp_path: Path) -> None:
    """Answers would quote what no paper says."""
    chunks, passages = tmp_path / "chunks.parquet", tmp_path / "passages.parquet"
    CORPUS.write_tables(chunks, passages)
    content = passages.read_bytes()
    passages.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])

    with pytest.raises(MissingInput, match="is damaged"):
        Library(chunks, passages)
