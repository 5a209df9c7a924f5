"""Lines of a plain text into paragraphs: which line ends are the author's, and which lines were
only full."""

import itertools
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from rag_assets.core.domain import Cell, n_text_chars
from rag_assets.core.text.headings import is_section_name
from rag_assets.parsing.shared.heading_lines import speaker, speakers
from rag_assets.parsing.shared.hyphenation import Vocabulary, ends_in_broken_word, glued
from rag_assets.parsing.shared.table_rows import plain_rows

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
