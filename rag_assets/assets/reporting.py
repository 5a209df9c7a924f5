"""What an asset says about itself in the Dagster UI: one place for keys, casts, caps, tables and charts.

Key names are fixed so that the Plots tab draws them over time. Every materialization carries everything, because the
UI shows the latest one: whatever is drawn here must be cheap.
"""

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_REPORTS = 5.0
_N_DECIMALS = 4
_MOST_BINS, _BAR_CHARS = 20, 28
_ESCAPED = str.maketrans({"\\": "\\\\", "|": "\\|", "[": "\\[", "<": "&lt;"})
MAX_CELL_CHARS = 300
MAX_MARKDOWN_CHARS = 200_000


def materialized(
    *,
    version: str,
    counts: Mapping[str, int],
    n_rows: int,
    facts: Mapping[str, Any] | None = None,
    previews: Mapping[str, str] | None = None,
) -> dg.MaterializeResult[Any]:
    """The materialization of an asset: its data version, what changed, how much there is.

    counts: n_added, n_changed, n_removed, n_unchanged. facts: numbers (plotted over time), texts and paths. previews:
    markdown by title.
    """
    metadata: dict[str, Any] = {"dagster/row_count": n_rows, **counts}
    metadata |= {key: plain(value) for key, value in (facts or {}).items() if value is not None}
    metadata |= {key: dg.MetadataValue.md(text[:MAX_MARKDOWN_CHARS]) for key, text in (previews or {}).items()}
    return dg.MaterializeResult(data_version=dg.DataVersion(version), metadata=metadata)


def of_another_asset(key: Sequence[str], made: dg.MaterializeResult[Any]) -> dg.AssetMaterialization:
    """A materialization as an event of another asset: one that is no node of the graph, with a page of its own."""
    version = made.data_version
    tags = {"dagster/data_version": version.value} if version else None
    return dg.AssetMaterialization(list(key), metadata=made.metadata, tags=tags)


def now() -> str:
    """The time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def progress(what: str, unit: str) -> Callable[[int, int], None]:
    """A `report(done, total)` that logs how far a stage is, at most every few seconds and at its end."""
    last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        if done == total or time.monotonic() - last >= _SECONDS_BETWEEN_REPORTS:
            last = time.monotonic()
            logger.info("%s: %d of %d %s", what, done, total, unit)

    return report


def plain(value: Any) -> Any:
    """A Dagster metadata value: numpy scalars, which fail a step after its work is done, become Python numbers."""
    value = value.item() if hasattr(value, "item") else value
    return round(value, _N_DECIMALS) if isinstance(value, float) else value


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
    """A histogram as a block of text: it costs nothing, so an unchanged run can show it, too."""
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
    """Text of papers is not ours: neither a bar nor a line end may break the table, no link or image may work."""
    text = "" if value is None else " ".join(str(value).split())
    text = text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"
    return text.translate(_ESCAPED)
