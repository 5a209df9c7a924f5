"""The model of a table that all formats share: which cells name columns, rows and groups of rows."""

from rag_assets.parsing.tables.model import read_table

__all__ = ["read_table"]
