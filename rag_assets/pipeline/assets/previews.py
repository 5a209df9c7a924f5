"""Values, ids, rows and pictures as the asset's page and the terminal show them.

Pictures are drawn by matplotlib, as Markdown. Dagster's UI shows a Markdown text of less than 1,000
characters on the page, a longer one only after a click. So a picture is small, of few colours, and
compressed without loss.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import dagster as dg

from rag_assets.core.promises import Offenders

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        # text of papers is escaped: it must not break the table or make links and images
        "| " + " | ".join(_short(row.get(column)).translate(_ESCAPED) for column in columns) + " |"
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


_WIDTH, _HEIGHT = 330, 120
"""Pixels. The column of values is this wide in a window of 1440."""
_N_COLOURS = 5
_BLUE, _RED, _GREY = "#4f43dd", "#d02020", "#888888"
_N_BINS, _MOST_BARS, _MOST_LABEL_CHARS = 24, 5, 12
_FLAT: Any = {
    "text.antialiased": False,
    "lines.antialiased": False,
    "patch.antialiased": False,
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def histogram(values: Sequence[int], limits: Mapping[str, int], unit: str) -> str:
    """How often each size occurs. limits: sizes that are marked, by name."""

    def draw(axes: "Axes") -> None:
        axes.hist(values, bins=_N_BINS, color=_BLUE)
        for (name, limit), colour in zip(limits.items(), (_RED, _GREY, _GREY), strict=False):
            axes.axvline(limit, color=colour, linewidth=1)
            axes.text(limit, axes.get_ylim()[1], name, color=colour, ha="center", va="bottom")
        axes.set_xlabel(unit)

    return _picture(unit, draw) if values else "*none*"


def bars(values: Mapping[str, float], unit: str) -> str:
    """One bar per name, the first on top; of many names the first ones."""
    shown = dict(list(values.items())[:_MOST_BARS])
    if not shown:
        return "*none*"
    labels = [" ".join(name.split())[:_MOST_LABEL_CHARS].replace("$", "\\$") for name in shown]
    places = range(len(shown))

    def draw(axes: "Axes") -> None:
        axes.barh(places, list(shown.values()), color=_BLUE)
        axes.set_yticks(places, labels)
        axes.invert_yaxis()
        axes.set_xlabel(unit)

    return _picture(unit, draw)


def lines(
    series: Mapping[str, Sequence[float | None]], unit: str, floors: Mapping[str, float | None]
) -> str:
    """One line per name, from the oldest value to the newest. floors: dotted, by name."""

    def draw(axes: "Axes") -> None:
        for (name, values), colour in zip(series.items(), (_BLUE, _RED, _GREY), strict=False):
            numbers = [float("nan") if value is None else value for value in values]
            marker = "o" if len(numbers) == 1 else ""
            axes.plot(numbers, color=colour, linewidth=1, label=name, marker=marker, markersize=3)
            if floor := floors.get(name):
                axes.axhline(floor, color=colour, linewidth=1, linestyle=":")
        axes.set_xticks([])
        axes.set_xlabel(unit)
        axes.legend(frameon=False, loc="lower left")

    return _picture(unit, draw)


def _picture(title: str, draw: Callable[["Axes"], None]) -> str:
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from PIL import Image

    drawn, small = BytesIO(), BytesIO()
    with mpl.rc_context(_FLAT), catch_warnings():
        simplefilter("ignore")  # a letter that the font lacks is drawn as a box
        figure = Figure((_WIDTH / 100, _HEIGHT / 100), dpi=100, layout="constrained")
        draw(figure.subplots())
        figure.savefig(drawn, format="png")
    few_colours = Image.open(drawn).convert("RGB").quantize(_N_COLOURS, dither=Image.Dither.NONE)
    few_colours.convert("RGB").save(small, "WEBP", lossless=True, quality=100, method=6)
    return f"![{title}](data:image/webp;base64,{base64.b64encode(small.getvalue()).decode()})"
