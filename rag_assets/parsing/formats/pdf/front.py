"""The first pages of a PDF as they tell of its paper: its title, its blocks, and the text in the
margins.

A record that came with another file of the paper is held against them.
"""

from collections.abc import Mapping
from io import BytesIO

from rag_assets.core.domain import PrintedFront
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.formats.pdf.file import opened_pdf
from rag_assets.parsing.formats.pdf.layout import Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.raised import PlacedCharacter, with_stars
from rag_assets.parsing.formats.pdf.text import Segment, read_page
from rag_assets.parsing.shared.files.raw import RawFile

_N_PAGES = 2
"""A page of the publisher or of a repository may stand before the paper's own first page."""
_MAX_CHARS = 20_000
_MOST_LINES = 40
_MOST_SET = 200
"""Printed lines that are kept as they are set; a byline stands far above the last of them."""


def printed_front(file: RawFile, settings: ParsingSettings) -> PrintedFront:
    """Raises what `parse_pdf` raises."""
    from pypdfium2 import PdfiumError

    with opened_pdf(file.content, settings.limits.max_pages) as pdf:
        try:
            text = pdf[0].get_textpage().get_text_bounded()[:_MAX_CHARS]
            first, content = type(pdf).new(), BytesIO()
            first.import_pages(pdf, list(range(min(_N_PAGES, len(pdf)))))
            first.save(content)
            first.close()
        except PdfiumError as error:
            raise UnreadableDocument("has a first page that cannot be read") from error
        document = parse_pdf(RawFile(file.paper_id, file.path, content.getvalue()), settings)
        opening = next((block.page_start for block in document.blocks if block.page_start), 1)
        upright = read_page(pdf, opening - 1).layers[:1]
        as_set = {
            line.text: _as_set(line)
            for layer in upright
            for line in lines_in_reading_order(layer)[:_MOST_SET]
        }
    lines = tuple(_with_lines_as_set(block.text, as_set) for block in document.blocks[:_MOST_LINES])
    return PrintedFront(document.title, lines, "\n".join(text.splitlines()))


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
    return "\t".join(map(_with_stars, line.segments))


def _with_stars(segment: Segment) -> str:
    placed = [
        PlacedCharacter(index, glyph.style.size, glyph.bottom)
        for index, glyph in enumerate(segment.glyphs)
        if not glyph.text.isspace()
    ]
    return with_stars([glyph.text for glyph in segment.glyphs], placed, segment.size)
