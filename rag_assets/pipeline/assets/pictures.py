"""Pictures on the pages of assets, drawn by matplotlib, as Markdown.

Dagster's UI shows a Markdown text of less than 1,000 characters on the page, a longer one only
after a click. So a picture is small, of few colours, and compressed without loss.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

if TYPE_CHECKING:  # matplotlib takes half a second; a run in which nothing changes draws nothing
    from matplotlib.axes import Axes

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
