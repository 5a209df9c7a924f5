"""Single rows of a published table, read when a question needs them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_assets.errors import MissingInput
from rag_assets.retrieval.stored_table import StoredTable
from rag_assets.table_files import write_table
from rag_assets.tables import PASSAGES, to_table


def stored(path: Path, texts: list[str]) -> StoredTable:
    rows = [{"passage_id": f"p#{number}", "text": text} for number, text in enumerate(texts)]
    write_table(to_table(rows, PASSAGES), path, {})
    return StoredTable(path, ["passage_id", "text"], asset="passages")


def test_single_rows_are_read_in_the_order_asked_for(tmp_path: Path) -> None:
    """Texts are read for a question; a row of a neighbouring group would be another passage under this one's id."""
    table = stored(tmp_path / "passages.parquet", [f"text {number}" for number in range(300)])
    places = [299, 0, 63, 64, 127, 128, 0, 200]

    assert table.rows(places)["text"].to_pylist() == [f"text {place}" for place in places]
    assert table.columns(["passage_id"])["passage_id"].to_pylist() == [f"p#{place}" for place in range(300)]
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda place: table.rows([place])["text"].to_pylist(), range(300))
    assert list(found) == [[f"text {place}"] for place in range(300)]


def test_an_open_table_is_not_changed_by_the_next_publication(tmp_path: Path) -> None:
    """A question under way would read rows of another corpus."""
    table = stored(tmp_path / "passages.parquet", ["earlier"] * 100)
    assert table.rows([0])["text"].to_pylist() == ["earlier"]
    stored(tmp_path / "new.parquet", ["later"] * 100).close()
    (tmp_path / "new.parquet").replace(tmp_path / "passages.parquet")

    assert table.rows([0, 99])["text"].to_pylist() == ["earlier"] * 2


def test_an_open_table_leaves_no_file_behind(tmp_path: Path) -> None:
    """Rows are laid out in a file for reading; ended by a signal, an engine must not fill the disk with those."""
    table = stored(tmp_path / "passages.parquet", ["text"] * 100)
    table.rows([0, 99])

    assert [path.name for path in tmp_path.iterdir()] == ["passages.parquet"]
    table.close()


def test_a_damaged_table_is_not_opened(tmp_path: Path) -> None:
    """Rows are read long after it was opened; damage must be found before."""
    path = tmp_path / "passages.parquet"
    stored(path, ["a text of which a byte changes"]).close()
    content = path.read_bytes()
    path.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])

    with pytest.raises(MissingInput, match="is damaged"):
        StoredTable(path, ["passage_id", "text"], asset="passages")
