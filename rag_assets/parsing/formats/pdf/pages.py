"""The lines of all pages of a PDF in reading order, with and without running headers and footers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rag_assets.core.errors import DocumentLimit
from rag_assets.parsing.formats.pdf.layout import Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.text import PageText, read_page
from rag_assets.parsing.shared.running_text import PlacedLine, running

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_CHARS = 30_000_000
"""Characters of one document; a book of 3,000 dense pages has half of that."""


@dataclass(frozen=True)
class PageLines:
    """The lines of a page in reading order, and those that stand at an angle to them."""

    upright: tuple[Line, ...]
    asides: tuple[tuple[Line, ...], ...]


def read_pages(pdf: "PdfDocument") -> tuple[list[PageText], list[PageLines]]:
    """What each page says of itself (without its segments), and its lines. Raises DocumentLimit over MAX_CHARS."""
    pages: list[PageText] = []
    lines: list[PageLines] = []
    n_chars = 0
    for index in range(len(pdf)):
        page = read_page(pdf, index)
        n_chars += page.n_chars
        if n_chars > MAX_CHARS:
            raise DocumentLimit(
                f"has more than {MAX_CHARS:,} characters on its first {index + 1} pages. Split the file."
            )
        by_layer = [tuple(lines_in_reading_order(layer)) for layer in page.layers]
        lines.append(PageLines(by_layer[0], tuple(by_layer[1:])) if by_layer else PageLines((), ()))
        pages.append(page.without_text())
    return pages, lines


def without_running_text(pages: Sequence[PageLines], share: float) -> tuple[list[PageLines], int]:
    """The pages without running headers, footers and page numbers, and how many lines that were."""
    in_order = [sorted(page.upright, key=lambda line: line.top) for page in pages]
    dropped = {id(line) for line in running(in_order, _placed, share)}
    kept = [replace(page, upright=tuple(line for line in page.upright if id(line) not in dropped)) for page in pages]
    return kept, len(dropped)


def _placed(line: Line) -> PlacedLine:
    return PlacedLine(line.text, (line.top + line.bottom) / 2 / line.frame.height)
