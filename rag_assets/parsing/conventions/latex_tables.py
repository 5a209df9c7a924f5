r"""Tables written in LaTeX, as programs that read pages into text write them, cut out of the lines around them.

`\begin{tabular}` and its kin are tables; what surrounds one in `\begin{table}` is its caption, layout and text. What
cannot be read as a table stays the text it was. Time is linear in the length of the text.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rag_assets.parsing.conventions.latex_cells import LatexTable, latex_table
from rag_assets.parsing.conventions.latex_text import plain_latex

_GRID = r"tabular[xy*]?|longtable|supertabular"
_GRID_EDGE = re.compile(rf"\\(begin|end)\{{({_GRID})\}}")
_EDGE = re.compile(rf"\\(begin|end)\{{({_GRID}|(?:sideways)?table\*?)\}}")
_CAPTION = re.compile(r"\\caption\*?\s?(?:\[[^\]]{0,400}\])?(?=\{)")
_OPTION = re.compile(r"\s?\[[^\]]{0,20}\]")
_WITH_WIDTH = frozenset({"tabularx", "tabulary", "tabular*"})
"""Their first argument is a width, the second the columns."""
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MOST_CHARS_OF_ARGUMENT = 3000
_MOST_BLANKS = 100
_ROW = re.compile(r"(?<!\\)&|\\\\\s*$|\s*\\(?:hline|(?:top|mid|bottom)rule)")


@dataclass(frozen=True)
class LatexLines:
    """Lines that hold a table."""

    end: int
    """Index of the first line after them."""
    pieces: tuple[str | LatexTable, ...]
    """In order: tables, and the text between and behind them that is not blank. At least one table."""


def latex_tables(lines: Sequence[str]) -> dict[int, LatexLines]:
    """The tables that begin at the start of a line, by the index of this line.

    One that is never closed ends before the first line that is no row of it.
    """
    found = {}
    for start, end in _with_captions(lines, _ranges(lines)):
        pieces = tuple(_pieces("\n".join(lines[start:end])))
        if any(isinstance(piece, LatexTable) for piece in pieces):
            found[start] = LatexLines(end, pieces)
    return found


@dataclass(frozen=True)
class _Environment:
    r"""From `\begin` to `\end` of a table."""

    begin: re.Match[str]
    end: re.Match[str] | None
    """None where it is never closed."""

    @property
    def is_grid(self) -> bool:
        return _is_grid(self.begin)


def _environments(text: str, edges: re.Pattern[str]) -> list[_Environment]:
    """Those that are closed and stand in no other closed one, and those never closed, in order."""
    opened: list[re.Match[str]] = []
    n_open: Counter[str] = Counter()
    closed: list[_Environment] = []
    left_open: list[re.Match[str]] = []
    for edge in edges.finditer(text):
        if edge[1] == "begin":
            while opened and _begins_anew(text, edge) and _is_grid(opened[-1]):
                n_open[opened[-1][2]] -= 1
                left_open.append(opened.pop())
            opened.append(edge)
            n_open[edge[2]] += 1
        elif n_open[edge[2]]:
            begin = _last_opened(opened, n_open, edge[2])
            while closed and closed[-1].begin.start() > begin.start():
                closed.pop()
            closed.append(_Environment(begin, edge))
    found = closed + [_Environment(begin, None) for begin in [*left_open, *opened]]
    return sorted(found, key=lambda environment: environment.begin.start())


def _begins_anew(text: str, begin: re.Match[str]) -> bool:
    """Whether a table begins at the start of a line and in no cell: one still open above it was never closed."""
    before = text[max(0, begin.start() - _MOST_BLANKS) : begin.start()]
    is_at_start = not before.rsplit("\n", 1)[-1].strip()
    return _is_grid(begin) and is_at_start and not before.rstrip().endswith(("&", "{"))


def _is_grid(begin: re.Match[str]) -> bool:
    return re.fullmatch(_GRID, begin[2]) is not None


def _last_opened(opened: list[re.Match[str]], n_open: Counter[str], name: str) -> re.Match[str]:
    """Takes the last one of that name, and what was opened in it and never closed, from `opened`."""
    while True:
        begin = opened.pop()
        n_open[begin[2]] -= 1
        if begin[2] == name:
            return begin


def _ranges(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First line, and the line after the last, of each table that begins at the start of a line."""
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    ranges: list[tuple[int, int]] = []
    for environment in _environments("\n".join(lines), _EDGE):
        first = bisect_right(starts, environment.begin.start()) - 1
        last = first if environment.end is None else bisect_right(starts, environment.end.start()) - 1
        if ranges and first < ranges[-1][1]:  # begins on the last line of the one before
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], last + 1))
        elif not lines[first][: environment.begin.start() - starts[first]].strip():
            is_open_grid = environment.end is None and environment.is_grid
            ranges.append((first, _end_of_rows(lines, first) if is_open_grid else last + 1))
    return ranges


def _with_captions(lines: Sequence[str], ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The ranges with a caption that stands alone on the line above."""
    end_before = 0
    for start, end in ranges:
        is_below_caption = start > end_before and _CAPTION.match(lines[start - 1].lstrip()) is not None
        yield start - is_below_caption, end
        end_before = end


def _end_of_rows(lines: Sequence[str], start: int) -> int:
    end = start + 1
    while end < len(lines):
        edge = _EDGE.match(lines[end].lstrip())
        if edge is not None:
            return end + (edge[1] == "end")
        if not _ROW.search(lines[end]):
            break
        end += 1
    return end


def _pieces(source: str) -> Iterator[str | LatexTable]:
    """The tables in `source`, each with its caption, and the text around them without markup."""
    captions, source = _split_captions(source)
    grids = _environments(source, _GRID_EDGE)
    is_one_each = len(captions) == len(grids)
    at = 0
    for nth, grid in enumerate(grids):
        yield from _text(plain_latex(source[at : grid.begin.start()]))
        follower = grids[nth + 1].begin.start() if nth + 1 < len(grids) else len(source)
        body_end, at = (follower, follower) if grid.end is None else grid.end.span()
        caption = captions[nth] if is_one_each else " ".join(captions[:1])
        body = source[_body_start(source, grid.begin) : body_end]
        table = latex_table(body, caption)
        yield from [table] if table else _text(plain_latex(body))
    if not is_one_each:
        yield from captions[1:]
    yield from _text(_without_edges(source[at:]))


def _text(text: str) -> list[str]:
    return [text] if any(character.isalnum() for character in text) else []


def _without_edges(text: str) -> str:
    """What follows the last table: prose, unless it closes the environment around it."""
    return plain_latex(text) if _EDGE.search(text) else text


def _split_captions(source: str) -> tuple[list[str], str]:
    captions, kept, at = [], [], 0
    for command in _CAPTION.finditer(source):
        end = _argument_end(source, command.end())
        if end == command.end():  # never closed: no caption, and nothing behind it is one
            break
        if command.start() >= at:
            captions.append(plain_latex(source[command.end() + 1 : end - 1]))
            kept.append(source[at : command.start()])
            at = end
    return [caption for caption in captions if caption], "".join([*kept, source[at:]])


def _body_start(source: str, begin: re.Match[str]) -> int:
    r"""Where the cells begin, behind the arguments of `\begin`."""
    option = _OPTION.match(source, begin.end())
    at = option.end() if option else begin.end()
    for _ in range(2 if begin[2] in _WITH_WIDTH else 1):
        at = _argument_end(source, at)
    return at


def _argument_end(source: str, at: int) -> int:
    """Behind the `}` that closes the argument at `at`; `at` where none begins or it is not closed."""
    if source[at : at + 1] != "{":
        return at
    depth = 0
    for brace in _BRACE.finditer(source, at, at + _MOST_CHARS_OF_ARGUMENT):
        depth += (brace[0] == "{") - (brace[0] == "}")
        if depth == 0:
            return brace.end()
    return at
