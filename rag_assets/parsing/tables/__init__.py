"""The model of a table that all formats share: which cells name columns, rows and groups of
rows."""

from rag_assets.parsing.tables.grid import Grid, is_value, without_empty_rows
from rag_assets.parsing.tables.headers import numbered_columns
from rag_assets.parsing.tables.model import read_table, split_title
from rag_assets.parsing.tables.titles import is_table_title

__all__ = [
    "Grid",
    "is_table_title",
    "is_value",
    "numbered_columns",
    "read_table",
    "split_title",
    "without_empty_rows",
]
