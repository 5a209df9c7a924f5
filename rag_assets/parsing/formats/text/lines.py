"""Joins the lines of a plain text into paragraphs, and finds its tables.

A line end is removed if the line was only full; it is kept if the author ended a paragraph there.

A table is a series of rows whose cells are below each other, separated by blanks, tabs or bars.
Aligned lines that contain only words may also be prose in two columns, names above their places of
work, or code: a table without a rule and a title ("Table 2") must have a column of values.
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
"""A longer line was not wrapped to fit a page: it is a whole paragraph."""
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
    """Page, from 1; None in a text without form feeds."""
    raw: str = ""
    """The line with its white space; empty for a row of a table in LaTeX."""
    cells: tuple[Cell, ...] = ()
    """The cells if the line stands for a whole table; see `with_tables`."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph whose lines are joined."""

    text: str
    pages: tuple[tuple[int, int | None], ...]
    """(offset in `text`, page) where each page begins; the first offset is 0."""
    n_lines: int
    n_source_chars: int
    """Number of characters of its lines before they were joined."""
    cells: tuple[Cell, ...] = ()
    """The cells if it is a table."""


def lines_of(text: str) -> list[list[TextLine]]:
    """The lines of each page; a form feed begins a new page. Empty lines are kept, because they
    separate paragraphs.

    A row of a LaTeX table becomes plain text, with an empty line before and after it.
    """
    pages = text.split("\f")
    if len(pages) > 1 and not pages[-1].strip():
        pages.pop()
    numbers = range(1, len(pages) + 1) if "\f" in text else [None]
    return [
        [plain for line in _LINE_BREAK.split(page) for plain in _plain_lines(line, number)]
        for number, page in zip(numbers, pages, strict=True)
    ]


def _plain_lines(line: str, page: int | None) -> list[TextLine]:
    """A line; for one with rows of a LaTeX table, these rows with empty lines around them."""
    rows = plain_rows(line)
    if rows is None:
        return [TextLine(" ".join(line.split()), page, line)]
    return [TextLine(text, page) for text in ("", *(text for row in rows for text in (row, "")))]


def paragraphs_of(pages: Sequence[Sequence[TextLine]]) -> list[Paragraph]:
    """Join the lines of each page into paragraphs, and also paragraphs that continue on the next
    page."""
    grouped = [_groups(page) for page in pages]
    usual_width = _width(
        [line for page in grouped for group in page for line in group], _USUAL_WIDTH
    )
    names = speakers(line.text for page in pages for line in page)
    runs: list[list[TextLine]] = []
    for page in grouped:
        on_page = [run for group in page for run in _runs(group, usual_width, names)]
        if runs and on_page and _continues_on_page(runs[-1], on_page[0]):
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
    """The lines of a group by paragraph. A line with one of the `names` of speakers begins a
    paragraph."""
    width = _width(group, usual_width) if len(group) >= _MIN_LINES_FOR_OWN_WIDTH else usual_width
    runs = [[group[0]]]
    for before, line in itertools.pairwise(group):
        if speaker(line.text) not in names and _continues(before.text, line.text, width):
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def _width(lines: Sequence[TextLine], usual: int) -> int:
    """The length of a full line: nine of ten lines that may be wrapped are at most as long."""
    lengths = sorted(len(line.text) for line in lines if len(line.text) <= _MAX_WRAPPED)
    return lengths[len(lengths) * 9 // 10] if lengths else usual


def _continues(before: str, line: str, width: int) -> bool:
    """Whether the line after `before` belongs to the same paragraph: the first word of `line` did
    not fit into `before`, or `line` begins in the middle of a sentence. width: of a full line."""
    if len(before) > _MAX_WRAPPED or is_section_name(before) or is_section_name(line):
        return False
    ends_sentence = bool(_ENDS_SENTENCE.search(before))
    if _ENTRY.match(line) and ends_sentence:
        return False
    if line[0].islower() or ends_in_broken_word(before):
        return True
    share = _FULL_SHARE_AFTER_SENTENCE if ends_sentence else _FULL_SHARE
    return len(before) + 1 + len(line.split(" ", 1)[0]) > share * width


def _continues_on_page(before: Sequence[TextLine], after: Sequence[TextLine]) -> bool:
    """Whether the first paragraph of a page, `after`, continues the last one of the page before."""
    last, first = before[-1].text, after[0].text
    if before[-1].cells or after[0].cells:
        return False
    return not _ENDS_SENTENCE.search(last) and not is_section_name(last) and first[0].islower()


def _joined(run: Sequence[TextLine], vocabulary: Vocabulary) -> Paragraph:
    """The paragraph of these lines; words that a line end cut in two are joined."""
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
"""Largest average length of a cell, without the first column; columns of prose are wider."""
_MOST_LONE_CHARS = 60
_MOST_BETWEEN = 2
"""Largest number of lines between two rows with several cells: a gap, the name of a group."""
_MOST_GAPS = 200
"""Number of gaps at which a table may end; more would take quadratic time."""
_LINES_OF_TITLE = 6
_Field = tuple[int, int, str]
"""First column, end column (excluded) and text of a cell; columns count characters of the line."""


def with_tables(lines: Sequence[TextLine]) -> list[TextLine]:
    """The lines of a page, where each table is replaced by one line that has its cells, with an
    empty line before and after."""
    replaced: list[TextLine] = []
    start = 0
    while start < len(lines):
        run = lines[start : _end_of_run(lines, start)]
        has_title = any(is_table_title(line.text) for line in replaced[-_LINES_OF_TITLE:])
        n_lines, printed_cells = _table(run, has_title=has_title)
        if printed_cells:
            cells = tuple(read_table(printed_cells, rows_are_lines=True))
            empty = TextLine("", lines[start].page)
            table = replace(empty, text="\n".join(table_lines(cells)), cells=cells)
            replaced += [empty, table, empty]
        else:
            n_lines = max(len(run), 1)
            replaced += lines[start : start + n_lines]
        start += n_lines
    return replaced


def _end_of_run(lines: Sequence[TextLine], start: int) -> int:
    """The end (excluded) of the lines from `start` on that may be a table: rows with several cells
    and rules, with at most two short or empty lines between them."""
    end = at = start
    while at < len(lines) and at <= end + _MOST_BETWEEN:
        text = lines[at].text
        if len(_fields(lines[at])) > 1 or _is_rule(lines[at]):
            end = at + 1
        elif text and (at == start or len(text) > _MOST_LONE_CHARS or is_table_title(text)):
            break
        at += 1
    return end


def _table(run: Sequence[TextLine], *, has_title: bool) -> tuple[int, list[Cell]]:
    """The longest table at the beginning of a run: the number of its lines, and its cells; 0 and no
    cells if there is no table.

    It may end at each empty line. The lines after an empty line belong to it if they have values,
    and the table still has the same number of columns.
    """
    n_lines, table = 0, list[Cell]()
    gaps = [at for at, line in enumerate(run) if not line.text]
    for before, end in pairwise([0, *gaps[:_MOST_GAPS], len(run)]):
        cells = _cells(run[:end], has_title=has_title)
        added = [is_value(text) for line in run[before:end] for *_, text in _fields(line)[1:]]
        has_only_names = bool(added) and not any(added)
        if table and (_n_columns(cells) != _n_columns(table) or has_only_names):
            break
        if cells:
            n_lines, table = end, cells
    return n_lines, table


def _cells(lines: Sequence[TextLine], *, has_title: bool) -> list[Cell]:
    """The cells of a table; empty if the lines are no table.

    The number of columns is that of most rows. These whole rows show where the gaps between the
    columns are; a cell of another row spans all columns that it touches.
    """
    rows = list(filter(None, map(_fields, lines)))
    counts = Counter(len(row) for row in rows if len(row) > 1)
    n_columns = max(counts, key=lambda n: (counts[n], n), default=0)
    whole_rows = [row for row in rows if len(row) == n_columns]
    if len(rows) < _LEAST_ROWS or len(whole_rows) < _LEAST_WHOLE_ROWS:
        return []
    starts, ends, texts = (
        [[field[part] for field in column] for column in zip(*whole_rows, strict=True)]
        for part in range(3)
    )
    gaps = [(max(end), min(start)) for end, start in zip(ends, starts[1:], strict=False)]
    values = [[*map(is_value, column[1:])] for column in texts[1:]]
    has_values = any(2 * sum(column) >= max(len(column), 2) for column in values)
    is_narrow = fmean(len(text) for column in texts[1:] for text in column) <= _MOST_CHARS
    is_table = has_values or has_title or any(map(_is_rule, lines))
    if not is_table or not is_narrow or any(end >= start for end, start in gaps):
        return []
    edges = [(end + start) / 2 for end, start in gaps]
    cells = []
    for row, fields in enumerate(rows):
        for start, end, text in fields:
            first, last = bisect(edges, start), bisect(edges, end - 1)
            cells.append(Cell(row, first, text, col_span=last + 1 - first))
    return cells if len({(cell.row, cell.col) for cell in cells}) == len(cells) else []


def _n_columns(cells: Sequence[Cell]) -> int:
    return max((cell.col + cell.col_span for cell in cells), default=0)


def _fields(line: TextLine) -> list[_Field]:
    """The cells of a line: its parts between tabs if it has some, else between two or more blanks,
    bars or rows of points."""
    raw = "" if _is_rule(line) else _POINTS.sub(lambda sign: " " * max(len(sign[0]), 2), line.raw)
    if "\t" in raw.strip():
        parts = [" ".join(part.split()) for part in raw.split("\t")]
        return [
            (nth * _TAB_STOP, nth * _TAB_STOP + len(part), part)
            for nth, part in enumerate(parts)
            if part
        ]
    # "$   12" -> "   $12": the sign is part of the value
    raw = _SIGN.sub(r"\2\1", raw.expandtabs())
    return [(*field.span(), field[0]) for field in _FIELD.finditer(raw)]


def _is_rule(line: TextLine) -> bool:
    """Whether a line is a rule, such as "-----+-----"."""
    return bool(line.text) and not line.raw.strip(_SIGNS_OF_RULE)
