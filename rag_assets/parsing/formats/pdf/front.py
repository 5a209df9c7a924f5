"""The first pages of a PDF as they tell of its paper: its title, its blocks, and the text in the margins.

A record that came with another file of the paper is held against them.
"""

from io import BytesIO

from rag_assets.core.domain import PrintedFront
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.formats.pdf.file import opened_pdf
from rag_assets.parsing.shared.files.raw import RawFile

_N_PAGES = 2
"""A page of the publisher or of a repository may stand before the paper's own first page."""
_MAX_CHARS = 20_000
_MOST_LINES = 40


def printed_front(file: RawFile, settings: ParsingSettings) -> PrintedFront:
    """Raises what `parse_pdf` raises."""
    from pypdfium2 import PdfiumError

    with opened_pdf(file.content, settings.limits.max_pages) as pdf:
        n_pages = min(_N_PAGES, len(pdf))
        try:
            text = pdf[0].get_textpage().get_text_bounded()[:_MAX_CHARS]
            first, content = type(pdf).new(), BytesIO()
            first.import_pages(pdf, list(range(n_pages)))
            first.save(content)
            first.close()
        except PdfiumError as error:
            raise UnreadableDocument("has a first page that cannot be read") from error
    document = parse_pdf(RawFile(file.paper_id, file.path, content.getvalue()), settings)
    lines = tuple(block.text for block in document.blocks[:_MOST_LINES])
    return PrintedFront(document.title, lines, "\n".join(text.splitlines()))
