"""The columns of the published tables."""

from pathlib import Path

import pyarrow as pa
import pytest

from rag_assets.core.table_files import published_or_empty, write_table
from rag_assets.core.tables import BLOCKS, CHUNKS, PARSED_INDEX, PASSAGES, description_of


@pytest.mark.parametrize("schema", [PARSED_INDEX, BLOCKS, CHUNKS, PASSAGES])
def test_every_column_says_what_it_holds(schema: pa.Schema) -> None:
    """The asset page shows these lines; a column without one has to be guessed from its name."""
    for field in schema:
        assert description_of(field).endswith("."), field.name


def test_another_wording_of_a_description_changes_no_byte_of_a_file(tmp_path: Path) -> None:
    """Else every table would be written, and its readers run, for a word in a docstring."""
    reworded = pa.schema([field.with_metadata({"description": "x"}) for field in PASSAGES])

    for name, schema in (("before", PASSAGES), ("after", reworded)):
        write_table(schema.empty_table(), tmp_path / name, {"settings": "s"})

    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_a_table_that_was_read_still_says_what_its_columns_hold(tmp_path: Path) -> None:
    """An unchanged run shows the page of the asset from the file, which has no descriptions."""
    write_table(PASSAGES.empty_table(), tmp_path / "passages.parquet", {"settings": "s"})

    read = published_or_empty(tmp_path / "passages.parquet", PASSAGES)

    assert [description_of(field) for field in read.table.schema] == [
        description_of(field) for field in PASSAGES
    ]
    assert read.provenance == {"settings": "s"}
