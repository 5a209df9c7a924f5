"""Casts, tables and charts for the pages of assets in the Dagster UI, and progress for the log.

The UI shows the latest materialization, so an unchanged run draws everything again: all of it must be cheap.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from rag_assets.core.domain import Usage

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_REPORTS = 5.0
_N_DECIMALS = 4
_MOST_BINS, _BAR_CHARS = 20, 28
_ESCAPED = str.maketrans({"\\": "\\\\", "|": "\\|", "[": "\\[", "<": "&lt;"})
MAX_CELL_CHARS = 300
MAX_ID_CHARS = 24
MAX_MARKDOWN_CHARS = 200_000


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def progress(what: str, unit: str) -> Callable[[int, int], None]:
    """A `report(done, total)` that logs how far a stage is, at most every few seconds and at its end."""
    started = last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total:
            logger.info("%s: %d of %d %s", what, done, total, unit)
        elif now - last >= _SECONDS_BETWEEN_REPORTS:
            last = now
            left_s = (now - started) * (total - done) / max(done, 1)
            logger.info("%s: %d of %d %s, about %.0f s to go", what, done, total, unit, left_s)

    return report


def plain(value: Any) -> Any:
    """A Dagster metadata value: numpy scalars, which fail a step after its work is done, become Python numbers."""
    value = value.item() if hasattr(value, "item") else value
    return round(value, _N_DECIMALS) if isinstance(value, float) else value


def short_id(paper_id: str) -> str:
    """A paper's id, shortened for tables with many columns."""
    return paper_id if len(paper_id) <= MAX_ID_CHARS else f"{paper_id[: MAX_ID_CHARS - 1]}…"


def markdown_table(rows: Sequence[Mapping[str, Any]], *, n_shown: int) -> str:
    """The first rows as a markdown table, with a line that says how many are not shown."""
    if not rows:
        return "*none*"
    columns = list(rows[0])
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(_cell(row.get(column)) for column in columns) + " |" for row in rows[:n_shown]]
    if len(rows) > n_shown:
        lines.append(f"\n… and {len(rows) - n_shown} more")
    return "\n".join(lines)


def histogram(values: Sequence[int], *, unit: str) -> str:
    """A histogram as a block of text."""
    if not values:
        return "*nothing to draw*"
    low, high = min(values), max(values)
    width = max(1, math.ceil((high - low + 1) / _MOST_BINS))
    bins = Counter((value - low) // width for value in values)
    scale = _BAR_CHARS / max(bins.values())
    rows = []
    for number in range((high - low) // width + 1):
        first = low + number * width
        label = f"{first:>6}-{min(first + width - 1, high):<6}"
        rows.append(f"{label} {bins[number]:>6}  {'█' * math.ceil(bins[number] * scale)}")
    return "\n".join(["```text", f"{unit:<13}  count", *rows, "```"])


def _cell(value: Any) -> str:
    """A value as one cell. Text of papers is escaped: it must not break the table or make links and images."""
    text = "" if value is None else " ".join(str(value).split())
    text = text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"
    return text.translate(_ESCAPED)


def usage_facts(spent: Usage) -> dict[str, Any]:
    """Requests, tokens and money that a step spent on models."""
    return {
        "n_model_requests": spent.n_requests,
        "n_tokens": spent.n_input_tokens + spent.n_output_tokens,
        "cost_usd": spent.cost_usd,
    }
