"""Values, ids and rows as the asset's page and the terminal show them."""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from rag_assets.core.promises import Offenders

_N_DECIMALS = 4
_ESCAPED = str.maketrans({"\\": "\\\\", "|": "\\|", "[": "\\[", "<": "&lt;"})
_N_COLUMNS_IN_LINE, _CHARS_OF_ROW_IN_LINE, _CHARS_IN_LINE = 5, 300, 1_000
"""Dagster's UI draws a text below so many characters in line, where a table of more columns or
longer rows is cut off at the right; a longer one gets a window of its own."""
MAX_CELL_CHARS = 300
MAX_ID_CHARS = 24
MAX_MARKDOWN_CHARS = 200_000
N_SHOWN, MOST_ROWS = 20, 200
"""Rows of a sample, and of a table: each run keeps its pages in Dagster's history."""


def plain(value: Any) -> Any:
    """A Dagster metadata value: numpy scalars, which fail a step after its work is done, become
    Python numbers."""
    value = value.item() if hasattr(value, "item") else value
    return round(value, _N_DECIMALS) if isinstance(value, float) else value


def short_id(paper_id: str) -> str:
    """A paper's id, shortened for tables with many columns."""
    return paper_id if len(paper_id) <= MAX_ID_CHARS else f"{paper_id[: MAX_ID_CHARS - 1]}…"


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The first rows as a markdown table, with a line that says how many are not shown."""
    if not rows:
        return "*none*"
    columns = list(rows[0])
    shown = [
        "| " + " | ".join(_cell(row.get(column)) for column in columns) + " |"
        for row in rows[:MOST_ROWS]
    ]
    is_wide = len(columns) > _N_COLUMNS_IN_LINE or max(map(len, shown)) > _CHARS_OF_ROW_IN_LINE
    rule = "-" * (_CHARS_IN_LINE // len(columns) if is_wide else 3)
    lines = ["| " + " | ".join(columns) + " |", "|" + f" {rule} |" * len(columns), *shown]
    if len(rows) > MOST_ROWS:
        lines.append(f"\n… and {len(rows) - MOST_ROWS} more")
    return "\n".join(lines)


def table(rows: Sequence[Mapping[str, Any]]) -> dg.MetadataValue[Any]:
    """The first rows as a table that Dagster's UI draws on the page, whatever its size. All rows
    have the same columns."""
    if not rows:
        return dg.MetadataValue.md("*none*")
    shown = [{name: _short(value) for name, value in row.items()} for row in rows[:MOST_ROWS]]
    if n_more := len(rows) - len(shown):
        shown.append(dict.fromkeys(rows[0], "") | {next(iter(rows[0])): f"… and {n_more} more"})
    return dg.MetadataValue.table(list(map(dg.TableRecord, shown)))


def _cell(value: Any) -> str:
    """A value as one cell. Text of papers is escaped: it must not break the table or make links and
    images."""
    return _short(value).translate(_ESCAPED)


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        value = [f"{name}: {part}" for name, part in value.items()]
    value = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"


def sample_of(offenders: Offenders) -> list[dict[str, str]]:
    """The first rows that break a promise, as short texts by column; Dagster wants the same columns
    in each."""
    return [{name: _short(row.get(name)) for name in offenders[0]} for row in offenders[:N_SHOWN]]
