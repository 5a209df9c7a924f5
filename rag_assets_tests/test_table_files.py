"""Published tables: what this version can read is used, anything else counts as absent and is made
anew."""

import logging
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rag_assets.core import table_files
from rag_assets.core.errors import MissingInput
from rag_assets.core.table_files import (
    ROWS_A_GROUP,
    OpenTable,
    published_or_empty,
    read_columns,
    read_provenance,
    required_table,
    write_table,
)
from rag_assets.core.tables import PASSAGES, schema_problems, to_table

ROWS = to_table(
    [{"passage_id": "a#0", "chunk_id": "a", "paper_id": "p", "text": "Iron fell.", "n_tokens": 5}],
    PASSAGES,
)


def zeroed(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbled(path: Path) -> None:
    path.write_bytes(b"this is no parquet file " * 40)


def of_an_older_schema(path: Path) -> None:
    pq.write_table(ROWS.drop_columns(["text"]), path)


def of_other_types(path: Path) -> None:
    pq.write_table(ROWS.set_column(4, "n_tokens", pa.array(["5"])), path)


def of_a_later_schema(path: Path) -> None:
    pq.write_table(ROWS.append_column("mood", pa.array(["fine"])), path)


DAMAGES = [zeroed, halved, emptied, garbled, of_an_older_schema, of_other_types, of_a_later_schema]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "passages.parquet"
    write_table(ROWS, path, {"settings": "s"})
    return path


def test_a_published_table_comes_back_with_what_it_was_made_with(table: Path) -> None:
    """Otherwise every run would make everything again."""
    published = published_or_empty(table, PASSAGES)

    assert published.table.equals(ROWS)
    assert published.provenance == read_provenance(table) == {"settings": "s"}
    assert required_table(table).to_pylist() == ROWS.to_pylist()
    assert read_columns(table, ["text"]).to_pylist() == [{"text": "Iron fell."}]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_table_that_cannot_be_used_counts_as_absent_with_one_line(
    table: Path, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    """After an upgrade or a bad disk every later run would end in an error of the parquet
    library."""
    damage(table)

    with caplog.at_level(logging.WARNING):
        published = published_or_empty(table, PASSAGES)

    assert (published.table.num_rows, published.provenance) == (0, None)
    assert published.table.schema.equals(PASSAGES)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"{table} is ")
    assert caplog.messages[0].endswith(" It is treated as absent; a run makes it anew.")
    assert "\n" not in caplog.messages[0]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_consumer_names_the_table_it_cannot_use_and_what_to_run(
    table: Path, damage: Callable[[Path], None]
) -> None:
    """A question asked beside a damaged table gets the remedy, not a traceback."""
    damage(table)

    with pytest.raises(
        MissingInput, match=r"passages\.parquet is .*rag-assets run --select \+passages"
    ):
        required_table(table)
    with pytest.raises(
        MissingInput, match=r"passages\.parquet is .*rag-assets run --select \+passages"
    ):
        read_columns(table, ["text"])


def test_a_flipped_bit_changes_no_row(table: Path) -> None:
    """Parquet's checksums leave the footer out, where a wrong number of rows would drop papers
    without a word."""
    rows = to_table([{**ROWS.to_pylist()[0], "passage_id": f"a#{n}"} for n in range(300)], PASSAGES)
    write_table(rows, table, {"settings": "s"})
    content = table.read_bytes()
    of_row_counts = _bits_of_row_counts(content)

    assert of_row_counts
    for bit in [*range(0, 8 * len(content), 149), *of_row_counts]:
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        table.write_bytes(flipped)

        published = published_or_empty(table, PASSAGES)

        assert published.provenance is None or published.table.equals(rows), bit


def _bits_of_row_counts(content: bytes) -> list[int]:
    """Bits of the numbers in the footer that are the number of rows."""
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    found = []
    number = bytes(
        [0x16, 0xD8, 0x04]
    )  # 300 in Thrift's compact protocol, behind the header of its field
    at = content.rfind(number, start)
    while at >= start:
        found += [8 * (at + 1) + bit for bit in range(7)]
        at = content.rfind(number, start, at)
    return found


def test_schema_problems_are_named() -> None:
    """Old readers ask for columns by name and type."""
    broken = ROWS.drop_columns(["text"]).append_column("note", pa.array([""]))
    broken = broken.set_column(
        broken.schema.get_field_index("n_tokens"), "n_tokens", pa.array(["1"])
    )

    assert schema_problems(broken.schema, PASSAGES) == [
        "column text is missing",
        "column n_tokens is of another type",
        "column note is unknown",
    ]
    backwards = ROWS.select(PASSAGES.names[::-1]).schema
    assert schema_problems(backwards, PASSAGES)[0].startswith("columns are in the order")
    id_field = PASSAGES.field(0)
    nullable = PASSAGES.set(0, id_field.with_nullable(not id_field.nullable))
    assert schema_problems(nullable, PASSAGES) == [f"column {id_field.name} is of another type"]


def test_rows_are_looked_up_in_the_groups_that_hold_them(tmp_path: Path) -> None:
    """A group decoded for one row would be the whole table, and a row of another group another
    passage."""
    path, n = tmp_path / "passages.parquet", 2 * ROWS_A_GROUP + 10
    many = pa.concat_tables(
        [ROWS.set_column(0, "passage_id", pa.array([f"a#{row}"])) for row in range(n)]
    )
    write_table(many, path, {})
    asked = [n - 1, 0, ROWS_A_GROUP, ROWS_A_GROUP - 1, 0]

    decoded: list[int] = []

    def ids_of(rows: pa.Table) -> list[str]:
        decoded.append(len(rows))
        ids: list[str] = rows["passage_id"].to_pylist()
        return ids

    assert OpenTable(path).values(asked, ids_of) == [f"a#{row}" for row in asked]
    assert decoded == [2, 1, 1]
    assert pq.ParquetFile(path).metadata.num_row_groups == 3


def test_a_group_is_read_once_while_it_is_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question asks for rows of the same groups several times; all groups fill the memory."""
    path = tmp_path / "passages.parquet"
    write_table(pa.concat_tables([ROWS.slice(0, 1)] * (3 * ROWS_A_GROUP)), path, {})
    n_read: list[int] = []
    read = pq.ParquetFile.read_row_group

    def counted(file: pq.ParquetFile, number: int, **options: bool) -> pa.Table:
        n_read.append(number)
        return read(file, number, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", counted)
    monkeypatch.setattr(table_files, "_MOST_KEPT", 2)
    table = OpenTable(path)

    for group in (0, 1, 0, 2, 0, 1):
        table.values([group * ROWS_A_GROUP], lambda rows: rows["passage_id"].to_pylist())

    assert n_read == [0, 1, 2, 1], "the group that was not used for longest goes first"
