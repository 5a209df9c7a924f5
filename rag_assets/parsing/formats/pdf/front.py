"""What the first pages of a PDF and its metadata tell of the paper, for its record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rag_assets.core.domain import Block, PrintedFront
from rag_assets.parsing.formats.pdf.bylines import texts_set_alike
from rag_assets.parsing.formats.pdf.layout import Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.text import PageText, with_stars

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

N_FRONT_PAGES = 2
"""A page of the publisher or of a repository may stand before the paper's own first page."""
_MAX_CHARS = 20_000
_MOST_LINES = 40
_MOST_SET = 200
"""Printed lines that are kept as they are set; a byline stands far above the last of them."""


@dataclass(frozen=True)
class Stated:
    """What the metadata of a file state; programs fill them in, so nothing counts unless the page
    says it too."""

    title: str
    authors: str
    texts: str
    """All of them, one per line."""

    @classmethod
    def by(cls, pdf: "PdfDocument") -> "Stated":
        values = pdf.get_metadata_dict(skip_empty=True)
        return cls(values.get("Title", ""), values.get("Author", ""), "\n".join(values.values()))


@dataclass(frozen=True)
class PrintedTitle:
    """The title, empty where none is sure, and the heights in points on its page between which the
    authors stand."""

    text: str
    bottom: float
    abstract: float


def front_of(
    pdf: "PdfDocument",
    pages: Sequence[PageText],
    stated: Stated,
    title: PrintedTitle,
    company: str,
    blocks: Sequence[Block],
) -> PrintedFront | None:
    """None where the first page cannot be read. pages: the first ones with their text. blocks:
    those of the document."""
    from pypdfium2 import PdfiumError

    try:
        text = pdf[0].get_textpage().get_text_bounded()[:_MAX_CHARS]
    except PdfiumError:
        return None
    opening = next((block.page_start for block in blocks if block.page_start), 1)
    upright = pages[opening - 1].layers[:1]
    as_set = {
        line.text: _as_set(line)
        for layer in upright
        for line in lines_in_reading_order(layer)[:_MOST_SET]
    }
    alike = [
        text for layer in upright for text in texts_set_alike(layer, title.bottom, title.abstract)
    ]
    return PrintedFront(
        title=title.text,
        lines=tuple(_with_lines_as_set(block.text, as_set) for block in blocks[:_MOST_LINES]),
        text="\n".join(text.splitlines()),
        set_alike=tuple(alike),
        stated_authors=stated.authors,
        metadata=stated.texts,
        company=company,
    )


def _with_lines_as_set(text: str, as_set: Mapping[str, str]) -> str:
    """The text of a block with the ends of its lines, as far as it was joined from them without a
    change."""
    parts: list[str] = []
    while line := next((line for line in as_set if text.startswith(line)), None):
        parts.append(as_set[line])
        text = text[len(line) :].removeprefix(" ")
    return "\n".join([*parts, text] if text else parts)


def _as_set(line: Line) -> str:
    """A line with a tab where a wide gap parts two names, and a star where a raised mark refers to
    a footnote."""
    return "\t".join(map(with_stars, line.segments))
