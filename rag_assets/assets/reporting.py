"""What an asset says about itself in the Dagster UI: one place for keys, casts, caps, tables and charts.

Key names are fixed so that the Plots tab draws them over time. Charts are drawn only when something changed, and
matplotlib is imported only then.
"""

import base64
import io
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import dagster as dg

logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_REPORTS = 5.0
MAX_CELL_CHARS = 300
MAX_MARKDOWN_CHARS = 60_000


def materialized(
    *,
    version: str,
    counts: Mapping[str, int],
    n_rows: int,
    facts: Mapping[str, Any] | None = None,
    previews: Mapping[str, str] | None = None,
) -> dg.MaterializeResult[Any]:
    """The materialization of an asset: its data version, what changed, how much there is.

    counts: n_added, n_changed, n_removed, n_unchanged. facts: numbers (plotted over time), texts and paths. previews: markdown by title.
    """
    metadata: dict[str, Any] = {"dagster/row_count": n_rows, **counts}
    metadata |= {key: plain(value) for key, value in (facts or {}).items() if value is not None}
    metadata |= {key: dg.MetadataValue.md(text[:MAX_MARKDOWN_CHARS]) for key, text in (previews or {}).items()}
    return dg.MaterializeResult(data_version=dg.DataVersion(version), metadata=metadata)


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
    return value.item() if hasattr(value, "item") else value


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
    """A histogram as a markdown image; text when there is nothing to draw."""
    if not values:
        return "*nothing to draw*"
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 2.4), layout="constrained")
    axes = figure.subplots()
    axes.hist(values, bins=min(30, max(5, len(set(values)))), color="#4f43dd")
    axes.set_xlabel(unit)
    axes.set_ylabel("count")
    return _image(figure)


def line_chart(series: Mapping[str, Sequence[float | None]], *, unit: str) -> str:
    """One line a series over its positions, 0 to 1, as a markdown image."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    for name, values in series.items():
        axes.plot([float("nan") if value is None else value for value in values], marker=".", label=name)
    axes.set_ylim(-0.02, 1.05)
    axes.set_xlabel(unit)
    axes.legend(fontsize=6, ncols=3, loc="lower left")
    return _image(figure)


def _image(figure: Any) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80)
    return f"![chart](data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()})"


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    text = text if len(text) <= MAX_CELL_CHARS else text[: MAX_CELL_CHARS - 1] + "…"
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")
