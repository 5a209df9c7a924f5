"""Published chunks and passages are looked up by place and id."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rag_assets.core.errors import MissingInput
from rag_assets.search.retrieval.library import Library
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

CORPUS = Corpus(
    [
        chunk_of(f"c{number:03}", f"Sample {number} was cold.", ordinal=number)
        for number in range(40)
    ]
)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    """Where both tables of the corpus are published."""
    paths = tmp_path / "chunks.parquet", tmp_path / "passages.parquet"
    CORPUS.write_tables(*paths)
    return paths


def test_rows_come_in_the_order_asked() -> None:
    """A passage in the place of another would be shown with the other's score and page."""
    one = CORPUS.library

    found = one.passages([5, 3, 3, 1])

    assert [passage.chunk_id for passage in found] == ["c005", "c003", "c003", "c001"]
    assert list(one.chunks(["c007", "none", "c003"])) == ["c007", "c003"]
    assert one.passages([]) == []
    assert one.chunks([]) == {}


def test_an_open_library_is_not_changed_by_the_next_publication(paths: tuple[Path, Path]) -> None:
    """A question under way would read rows of another corpus."""
    one = Library(*paths)

    Corpus([chunk_of("later", "Later.")]).write_tables(*paths)

    assert one.passages([0])[0].text == "Sample 0 was cold."


def test_damaged_ids_are_seen_when_the_table_is_opened(paths: tuple[Path, Path]) -> None:
    """Answers would quote what no paper says."""
    damage(paths[1], column=0)

    with pytest.raises(MissingInput, match="is damaged"):
        Library(*paths)


def test_a_damaged_text_is_not_quoted(paths: tuple[Path, Path]) -> None:
    """Texts stay in the file until a question needs them, so their damage is seen no earlier."""
    damage(paths[1], column=CORPUS.passage_table.schema.names.index("text"))
    one = Library(*paths)

    with pytest.raises(MissingInput, match=r"passages\.parquet is damaged"):
        one.passages([3])


def damage(path: Path, column: int) -> None:
    """Change one byte in the middle of the first stored piece of a column."""
    piece = pq.ParquetFile(path).metadata.row_group(0).column(column)
    content = bytearray(path.read_bytes())
    content[
        (piece.dictionary_page_offset or piece.data_page_offset) + piece.total_compressed_size // 2
    ] ^= 1
    path.write_bytes(content)
