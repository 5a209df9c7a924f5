"""What the UI says of the columns of the published tables."""

import pytest

from rag_assets import tables
from rag_assets.assets.columns import DESCRIPTIONS, table_schema

SCHEMAS = {
    "parsed_index": tables.PARSED_INDEX,
    "blocks": tables.BLOCKS,
    "chunks": tables.CHUNKS,
    "passages": tables.PASSAGES,
}


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_column_of_a_table_says_what_it_holds(table: str) -> None:
    """The page of an asset is the one place where its columns are explained."""
    columns = table_schema(SCHEMAS[table]).value.columns  # type: ignore[attr-defined]

    assert [column.name for column in columns] == SCHEMAS[table].names
    assert [column.name for column in columns if not column.description] == []


def test_no_column_is_explained_that_no_table_has() -> None:
    """A description that outlives its column is looked for in the file."""
    assert set(DESCRIPTIONS) == {name for schema in SCHEMAS.values() for name in schema.names}
