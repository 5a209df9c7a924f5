"""Lines of a plain text into paragraphs: which line ends are the author's, and which lines were
only full.

Tables of a plain text: rows whose cells stand below each other, parted by blanks, tabs or bars.

Aligned lines of words alone may be prose in two columns, names above their places of work, or code:
without a rule or a title ("Table 2") a table must have a column of values.
"""

import itertools
import re
from bisect import bisect
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean

from rag_assets.core.domain import Cell, n_text_chars
from rag_assets.core.text.headings import is_section_name
from rag_assets.parsing.shared.heading_lines import speaker, speakers
from rag_assets.parsing.shared.hyphenation import Vocabulary, ends_in_broken_word, glued
from rag_assets.parsing.shared.table_rows import plain_rows, table_lines
from rag_assets.parsing.tables import is_table_title, is_value, read_table

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x0b\x85\u2028\u2029]")
_MAX_WRAPPED = 200
"""A longer line was not broken to fit a page: it is a paragraph of its own."""
_FULL_SHARE = 0.8
_FULL_SHARE_AFTER_SENTENCE = 0.92
_MIN_LINES_FOR_OWN_WIDTH = 4
_USUAL_WIDTH = 80
_ENTRY = re.compile(r"(?:[•▪◦‣*–—-]|\(?\d{1,3}[.)]|\[\d{1,3}\])\s")
_ENDS_SENTENCE = re.compile(r"[.!?:;][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line without the white space around it."""

    text: str
    page: int | None
    """1-based; None in a text without form feeds."""
    raw: str = ""
    """With its white space; empty for a row of a table in LaTeX."""
    cells: tuple[Cell, ...] = ()
    """For a whole table that was put into one line."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines put together again."""

    text: str
    pages: tuple[tuple[int, int | None], ...]
    """(offset in `text`, page) where each page begins; the first offset is 0."""
    n_lines: int
    n_source_chars: int
    """Characters of its lines before they were joined."""
    cells: tuple[Cell, ...] = ()
    """For a table."""


def lines_of(text: str) -> list[list[TextLine]]:
    """The lines of each page; a form feed begins a new page. Empty lines are kept, they part
    paragraphs.

    A line with a row of a table in LaTeX becomes its plain text, between empty lines.
    """
    pages = text.split("\f")
    if len(pages) > 1 and not pages[-1].strip():
        pages.pop()
    numbers = range(1, len(pages) + 1) if "\f" in text else [None]
    return [
        [one for line in _LINE_BREAK.split(page) for one in _plain(line, number)]
        for number, page in zip(numbers, pages, strict=True)
    ]


def _plain(line: str, page: int | None) -> list[TextLine]:
    rows = plain_rows(line)
    if rows is None:
        return [TextLine(" ".join(line.split()), page, line)]
    return [TextLine(part, page) for part in ("", *(part for row in rows for part in (row, "")))]


def paragraphs_of(pages: Sequence[Sequence[TextLine]]) -> list[Paragraph]:
    """Put the lines of each page together to paragraphs, and paragraphs that run over the turn of a
    page."""
    grouped = [_groups(page) for page in pages]
    usual_width = _width(
        [line for page in grouped for group in page for line in group], _USUAL_WIDTH
    )
    names = speakers(line.text for page in pages for line in page)
    runs: list[list[TextLine]] = []
    for page in grouped:
        on_page = [run for group in page for run in _runs(group, usual_width, names)]
        if runs and on_page and _runs_on(runs[-1], on_page[0]):
            runs[-1].extend(on_page.pop(0))
        runs.extend(on_page)
    vocabulary = Vocabulary.of(line.text for run in runs for line in run)
    return [_joined(run, vocabulary) for run in runs]


def _groups(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Lines between empty lines."""
    groups: list[list[TextLine]] = [[]]
    for line in lines:
        if line.text:
            groups[-1].append(line)
        elif groups[-1]:
            groups.append([])
    return [group for group in groups if group]


def _runs(group: Sequence[TextLine], usual_width: int, names: Set[str]) -> list[list[TextLine]]:
    """Lines of a group that belong to one paragraph; `names` of speakers begin one."""
    width = _width(group, usual_width) if len(group) >= _MIN_LINES_FOR_OWN_WIDTH else usual_width
    runs = [[group[0]]]
    for before, line in itertools.pairwise(group):
        if speaker(line.text) not in names and _continues(before.text, line.text, width):
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def _width(lines: Sequence[TextLine], usual: int) -> int:
    """How long a full line is: nine of ten wrapped lines are no longer."""
    lengths = sorted(len(line.text) for line in lines if len(line.text) <= _MAX_WRAPPED)
    return lengths[len(lengths) * 9 // 10] if lengths else usual


def _continues(before: str, line: str, width: int) -> bool:
    """Whether the break between two lines is only there because the first was full."""
    if len(before) > _MAX_WRAPPED or is_section_name(before) or is_section_name(line):
        return False
    ends_sentence = bool(_ENDS_SENTENCE.search(before))
    if _ENTRY.match(line) and ends_sentence:
        return False
    if line[0].islower() or ends_in_broken_word(before):
        return True
    share = _FULL_SHARE_AFTER_SENTENCE if ends_sentence else _FULL_SHARE
    return len(before) + 1 + len(line.split(" ", 1)[0]) > share * width


def _runs_on(before: Sequence[TextLine], after: Sequence[TextLine]) -> bool:
    """Whether a paragraph at the end of a page goes on at the top of the next."""
    last, first = before[-1].text, after[0].text
    if before[-1].cells or after[0].cells:
        return False
    return not _ENDS_SENTENCE.search(last) and not is_section_name(last) and first[0].islower()


def _joined(run: Sequence[TextLine], vocabulary: Vocabulary) -> Paragraph:
    text, pages = run[0].text, [(0, run[0].page)]
    for line in run[1:]:
        text = glued(text, line.text, vocabulary)
        if line.page != pages[-1][1]:
            pages.append((len(text) - len(line.text), line.page))
    return Paragraph(
        text, tuple(pages), len(run), sum(n_text_chars(line.text) for line in run), run[0].cells
    )


_FIELD = re.compile(r"\S+(?: \S+)*")
_SIGNS_OF_RULE = " \t-=+|_─━"
_POINTS = re.compile(r"\.(?: ?\.){2,}|[|│]")
_SIGN = re.compile(r"([$€£])(\s+)(?=[\d(])")
_TAB_STOP = 1_000
_LEAST_ROWS, _LEAST_WHOLE_ROWS = 3, 2
_MOST_CHARS = 30
"""In a cell, on average and the first column aside; columns of prose are wider."""
_MOST_LONE_CHARS = 60
_MOST_BETWEEN = 2
"""Lines between two rows of several cells: a gap, the name of a group."""
_MOST_GAPS = 200
"""At which a table may end: each costs a look at all lines before."""
_LINES_OF_TITLE = 6
_Field = tuple[int, int, str]
"""Where it begins and ends, and its text."""


def with_tables(lines: Sequence[TextLine]) -> list[TextLine]:
    """The lines of a page with each table as one line of its own, between empty ones."""
    made: list[TextLine] = []
    at = 0
    while at < len(lines):
        run = lines[at : _end_of_run(lines, at)]
        has_title = any(is_table_title(line.text) for line in made[-_LINES_OF_TITLE:])
        end, placed = _table(run, is_surely_one=has_title)
        if placed:
            cells = tuple(read_table(placed, rows_are_lines=True))
            empty = TextLine("", lines[at].page)
            made += [empty, replace(empty, text="\n".join(table_lines(cells)), cells=cells), empty]
        else:
            end = max(len(run), 1)
            made += lines[at : at + end]
        at += end
    return made


def _end_of_run(lines: Sequence[TextLine], start: int) -> int:
    """The end of the lines from `start` on that may be rows: of several cells, and rules, short
    lines and gaps between these."""
    end = at = start
    while at < len(lines) and at <= end + _MOST_BETWEEN:
        text = lines[at].text
        if len(_fields(lines[at])) > 1 or _is_rule(lines[at]):
            end = at + 1
        elif text and (at == start or len(text) > _MOST_LONE_CHARS or is_table_title(text)):
            break
        at += 1
    return end


def _table(run: Sequence[TextLine], *, is_surely_one: bool) -> tuple[int, list[Cell]]:
    """How many lines the longest table at the beginning of a run has, and its cells; none if there
    is no table.

    A table goes on behind a gap with the same number of columns, and with values.
    """
    found: tuple[int, list[Cell]] = (0, [])
    gaps = [at for at, line in enumerate(run) if not line.text]
    for before, end in pairwise([0, *gaps[:_MOST_GAPS], len(run)]):
        cells = _placed(run[:end], is_surely_one=is_surely_one)
        added = [is_value(text) for line in run[before:end] for *_, text in _fields(line)[1:]]
        if found[1] and (_n_columns(cells) != _n_columns(found[1]) or not any(added or [True])):
            break
        found = (end, cells) if cells else found
    return found


def _placed(lines: Sequence[TextLine], *, is_surely_one: bool) -> list[Cell]:
    """The cells of a table, each over the columns that it reaches into; none if the lines are not
    one."""
    rows = list(filter(None, map(_fields, lines)))
    counts = Counter(len(row) for row in rows if len(row) > 1)
    n_columns = max(counts, key=lambda n: (counts[n], n), default=0)
    whole = [row for row in rows if len(row) == n_columns]
    if len(rows) < _LEAST_ROWS or len(whole) < _LEAST_WHOLE_ROWS:
        return []
    starts, ends, texts = (
        [[field[part] for field in column] for column in zip(*whole, strict=True)]
        for part in range(3)
    )
    gaps = [(max(end), min(start)) for end, start in zip(ends, starts[1:], strict=False)]
    values = [[*map(is_value, column[1:])] for column in texts[1:]]
    has_values = any(2 * sum(column) >= max(len(column), 2) for column in values)
    is_narrow = fmean(len(text) for column in texts[1:] for text in column) <= _MOST_CHARS
    is_one = has_values or is_surely_one or any(map(_is_rule, lines))
    if not is_one or not is_narrow or any(end >= start for end, start in gaps):
        return []
    edges = [(end + start) / 2 for end, start in gaps]
    cells = []
    for at, row in enumerate(rows):
        for start, end, text in row:
            first, last = bisect(edges, start), bisect(edges, end - 1)
            cells.append(Cell(at, first, text, col_span=last + 1 - first))
    return cells if len({(cell.row, cell.col) for cell in cells}) == len(cells) else []


def _n_columns(cells: Sequence[Cell]) -> int:
    return max((cell.col + cell.col_span for cell in cells), default=0)


def _fields(line: TextLine) -> list[_Field]:
    raw = "" if _is_rule(line) else _POINTS.sub(lambda sign: " " * max(len(sign[0]), 2), line.raw)
    if "\t" in raw.strip():
        parts = [" ".join(part.split()) for part in raw.split("\t")]
        return [
            (at * _TAB_STOP, at * _TAB_STOP + len(part), part)
            for at, part in enumerate(parts)
            if part
        ]
    return [
        (*field.span(), field[0]) for field in _FIELD.finditer(_SIGN.sub(r"\2\1", raw.expandtabs()))
    ]


def _is_rule(line: TextLine) -> bool:
    return bool(line.text) and not line.raw.strip(_SIGNS_OF_RULE)
