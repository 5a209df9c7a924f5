"""Opening PDF files with PDFium: what cannot be opened, and why, in words a reader can act on; and the
outline of a file, the entries that readers show beside the pages.

PDFium is not thread safe: use one thread per process. An entry counts only where the page that it
leads to prints its title: files carry the outline of another document, or one that a program made
up.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.text.headings import heading_number

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

_HEADER_WINDOW = 1024
"""A PDF may start with other bytes; readers look for its header in the first 1024 (PDF 1.7,
appendix H.3.4.1)."""


def looks_like_pdf(head: bytes) -> bool:
    """Whether the first bytes of a file (1024 are enough) hold a PDF header."""
    return b"%PDF-" in head[:_HEADER_WINDOW]


@contextmanager
def opened_pdf(content: bytes, max_pages: int) -> Iterator["PdfDocument"]:
    """The PDF of those bytes, open while the block runs, with at least one and at most `max_pages`
    pages.

    Raises UnreadableDocument (not a PDF, encrypted, broken, without pages) and DocumentLimit; the
    message is a phrase that can follow the name of the file.
    """
    if not looks_like_pdf(content):
        raise UnreadableDocument(
            f"{_what_it_is(content)}. Give it the right name or replace it by the PDF."
        )
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        pdf = PdfDocument(content)
    except PdfiumError as error:
        raise UnreadableDocument(_reason(error.err_code)) from error
    try:
        if len(pdf) > max_pages:
            raise DocumentLimit(
                f"has {len(pdf)} pages, more than the {max_pages} of parsing.limits.max_pages. "
                "Split the file, or raise the limit in rag_assets.toml."
            )
        yield pdf
    finally:
        pdf.close()


def text_layer(content: bytes, max_pages: int) -> str:
    """The words of all pages as PDFium orders them. Raises what `opened_pdf` does, and where a page
    cannot be read."""
    from pypdfium2 import PdfiumError

    with opened_pdf(content, max_pages) as pdf:
        try:
            return "\n".join(page.get_textpage().get_text_bounded() for page in pdf)
        except PdfiumError as error:
            raise UnreadableDocument("has a page that cannot be read") from error


def _what_it_is(head: bytes) -> str:
    start = head[:_HEADER_WINDOW].removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:9].lower() == b"<!doctype" or start[:5].lower() == b"<html":
        return "is a web page with the name of a PDF"
    if start.startswith(b"<"):
        return "is XML with the name of a PDF"
    return f"is not a PDF: no %PDF- header in the first {_HEADER_WINDOW} bytes"


def _reason(code: int | None) -> str:
    """Returns why PDFium could not open a file and what to do, as a phrase that follows the name of
    the file. PDFium has no error code for a file without pages: it reports success. None and every
    code that is not in the list mean that the file is broken."""
    from pypdfium2 import raw

    reasons = {
        raw.FPDF_ERR_PASSWORD: "is encrypted and needs a password; remove it (for example with: qpdf --decrypt "
        "--password=... in.pdf out.pdf) and put the open file in its place.",
        raw.FPDF_ERR_SECURITY: "is encrypted with a method PDFium does not know; remove the encryption "
        "and put the open file in its place.",
        raw.FPDF_ERR_SUCCESS: "has no pages. Fetch or export the file again.",
    }
    broken = "is broken: PDFium finds no readable structure in it (cut off or damaged). Fetch the file again."
    return reasons.get(code, broken) if code is not None else broken


_MAX_ENTRIES = 5000
_MAX_DEPTH = 8
_MAX_CHARS = 500
_PAGES_BESIDE = (0, 1, -1)
"""Some programs point to the end of the page before, or count from another page."""
_MIN_LETTERS = 3


@dataclass(frozen=True)
class Outline:
    """The entries of an outline by page (1-based) and by what they say, without case, spaces and
    punctuation."""

    depths: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """Depth in the outline, 1 for the highest."""

    @classmethod
    def of(cls, pdf: "PdfDocument") -> "Outline":
        depths: dict[tuple[int, str], int] = {}
        for bookmark in islice(pdf.get_toc(max_depth=_MAX_DEPTH), _MAX_ENTRIES):
            place = bookmark.get_dest()
            page = place.get_index() if place else None
            for said in _readings(bookmark.get_title()):
                depths.setdefault(((page or 0) + 1, said), bookmark.level + 1)
        return cls(depths)

    def depth(self, text: str, page: int) -> int | None:
        """The depth of the entry that says `text` and leads to `page` or the one beside it; None
        without one."""
        if not self.depths:
            return None
        keys = ((page + step, said) for said in _readings(text) for step in _PAGES_BESIDE)
        return next((depth for key in keys if (depth := self.depths.get(key)) is not None), None)


def _readings(entry: str) -> Iterator[str]:
    """A title with its number and without it: outlines often leave the numbers out."""
    title = entry[:_MAX_CHARS]
    number = heading_number(title)
    for text in (title, number.title) if number else (title,):
        said = "".join(character for character in text.casefold() if character.isalnum())
        if sum(character.isalpha() for character in said) >= _MIN_LETTERS:
            yield said
