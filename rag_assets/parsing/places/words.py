"""The words of a document and of a PDF, folded alike (`text.folding`), each with the place it has
in its source.

Hyphens inside words are gone, so a word cut by a line end is the same word on both sides.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.folding import Folded
from rag_assets.parsing.formats.pdf.document import read_pages, without_running_text
from rag_assets.parsing.formats.pdf.file import opened_pdf
from rag_assets.parsing.formats.pdf.layout import Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.text import PageText

_WORD = re.compile(
    r"[^\W\d_]+|\d+"
)  # letters and digits apart: note marks stick to words in one source only


@dataclass(frozen=True)
class LocatedWords:
    """The words of a text in order, and where each starts and ends in it."""

    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "LocatedWords":
        folded = Folded.of(text)
        matches = list(_WORD.finditer(folded.text))
        return cls(
            words=tuple(match.group() for match in matches),
            starts=tuple(folded.origins[match.start()] for match in matches),
            ends=tuple(folded.origins[match.end() - 1] + 1 for match in matches),
        )


@dataclass(frozen=True)
class PdfWords:
    """The words of a PDF in reading order, without running headers and footers."""

    words: tuple[str, ...]
    lines: tuple[Line, ...]
    """The line each word starts on; its page is `line.frame.page`."""
    starts_line: tuple[bool, ...]
    """Whether a word is the first of its line."""
    n_pages: int
    n_chars: int
    """Characters of the whole text layer; 0 for a scan."""

    def page(self, index: int) -> int:
        return self.lines[index].frame.page


def _plain_lines(page: PageText) -> list[list[Line]]:
    return [lines_in_reading_order(layer) for layer in page.layers]


def pdf_words(content: bytes, settings: ParsingSettings) -> PdfWords:
    """Read the words of a PDF. Raises UnreadableDocument when it cannot be opened."""
    with opened_pdf(content, settings.limits.max_pages) as pdf:
        pages, page_lines = read_pages(pdf, _plain_lines)
    kept, _ = without_running_text(page_lines, settings.running_header_share)
    lines = [
        line
        for page in kept
        for layer in (page.upright, *page.asides)
        for line in layer
        if line.text
    ]
    offsets = [0, *accumulate(len(line.text) + 1 for line in lines)]
    found = LocatedWords.of(
        "\n".join(line.text for line in lines)
    )  # folded together: a hyphen at a line end joins two
    at_lines = [bisect_right(offsets, start) - 1 for start in found.starts]
    firsts = [
        index == 0 or at_lines[index] != at_lines[index - 1] for index in range(len(at_lines))
    ]
    return PdfWords(
        words=found.words,
        lines=tuple(lines[index] for index in at_lines),
        starts_line=tuple(firsts),
        n_pages=len(pages),
        n_chars=sum(page.n_chars for page in pages),
    )
