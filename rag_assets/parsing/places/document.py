"""Adds the pages of a document from the text layer of the PDF of the same paper.

A page is proved if the document itself states it, for example by coordinates. A document without
pages gets all of them from the PDF; in a document with proved pages, only the gaps are filled, and
the proved pages are compared with the PDF. Text that cannot be found, or could be on two pages,
gets no page.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePosixPath

from rag_assets.core.domain import Block, Document, PageSource, Span
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.places.placing import (
    MIN_BLOCK_SHARE,
    LocatedWords,
    PdfWords,
    pdf_words,
    placed,
    spans_of,
)
from rag_assets.parsing.shared.files import RawFile

MIN_DOCUMENT_SHARE = 0.3
"""Least share of a document's words that must be found in the PDF; with fewer, the PDF is another
paper or another version."""
MAX_CONTRADICTED_SHARE = 0.1
"""Largest share of characters whose proved page may differ from that in the PDF; with more, the PDF
is another version."""
_MAX_NAMED = 5
_NAMED_CHARS = 50


@dataclass(frozen=True)
class Filled:
    """The spans of a block after the gaps are filled, and how they agree with the PDF."""

    spans: tuple[Span, ...]
    n_filled: int
    """Number of characters that had no page, or two, and have one now."""
    n_agreed: int
    """Number of characters whose proved page is also their page in the PDF."""
    n_contradicted: int
    """Number of characters that are on another page of the PDF than the proved one."""


@dataclass(frozen=True)
class _Aligned:
    """The spans of each block according to the PDF alone; or why there are none, as the end of a
    sentence."""

    spans: tuple[tuple[Span, ...], ...] = ()
    problem: str = ""


def align_to_pdf(document: Document, pdf_file: RawFile, settings: ParsingSettings) -> Document:
    """A document without pages gets pages and boxes from the PDF of its paper; each span has a
    `page_confidence`.

    Blocks that are not found in the PDF keep page None; a note counts and names them. If little of
    the document is found, it is returned unchanged but for a note. Raises UnreadableDocument when
    the PDF cannot be opened.
    """
    pdf, pdf_name = pdf_words(pdf_file, settings), PurePosixPath(pdf_file.path).name
    aligned = _aligned(document, pdf)
    if aligned.problem:
        return _with_note(document, f"No pages from {pdf_name}: {aligned.problem}")
    blocks = _with_spans(document.blocks, aligned.spans)
    return replace(
        document,
        blocks=blocks,
        n_pages=pdf.n_pages,
        page_source=PageSource.ALIGNED,
        notes=(*document.notes, *_notes(blocks, pdf_name)),
    )


def fill_from_pdf(document: Document, pdf_file: RawFile, settings: ParsingSettings) -> Document:
    """A document with some proved pages gets pages from the PDF where it has none, or one of two;
    proved pages and `page_source` stay as they are.

    The spans that were filled have a `page_confidence`. A note counts them, and the proved pages
    that the PDF contradicts; if there are many of these, nothing is filled. Raises
    UnreadableDocument when the PDF cannot be opened.
    """
    pdf, pdf_name = pdf_words(pdf_file, settings), PurePosixPath(pdf_file.path).name
    aligned = _aligned(document, pdf)
    if aligned.problem:
        return _with_note(document, f"No pages added from {pdf_name}: {aligned.problem}")
    if document.n_pages is not None and document.n_pages != pdf.n_pages:
        problem = f"it has {pdf.n_pages} pages, the document {document.n_pages}. It is probably another version."
        return _with_note(document, f"No pages added from {pdf_name}: {problem}")
    by_block = [
        filled(block.spans, spans)
        for block, spans in zip(document.blocks, aligned.spans, strict=True)
    ]
    n_contradicted = sum(each.n_contradicted for each in by_block)
    n_compared = n_contradicted + sum(each.n_agreed for each in by_block)
    if n_contradicted > MAX_CONTRADICTED_SHARE * n_compared:
        problem = (
            f"it puts {n_contradicted} of {n_compared} characters on other pages than are proved."
        )
        return _with_note(document, f"No pages added from {pdf_name}: {problem}")
    blocks = _with_spans(document.blocks, [each.spans for each in by_block])
    return replace(
        document,
        blocks=blocks,
        n_pages=pdf.n_pages,
        notes=(*document.notes, *_notes_of_gaps(by_block, pdf_name)),
    )


def _aligned(document: Document, pdf: PdfWords) -> _Aligned:
    """Find the words of the document in the PDF. There is a problem if the PDF has no text, or too
    few words are found."""
    if not pdf.n_chars:
        return _Aligned(problem="it has no text layer. Run OCR on it first.")
    words = [LocatedWords.of("" if block.is_generated else block.text) for block in document.blocks]
    mappings = placed(document.blocks, words, pdf)
    n_words = sum(len(block_words.words) for block_words in words)
    n_found = sum(map(len, mappings))
    if n_found < MIN_DOCUMENT_SHARE * max(n_words, 1):
        return _Aligned(
            problem=f"only {n_found} of {n_words} words were found in it in their order. "
            "It is probably another paper or another version."
        )
    return _Aligned(
        tuple(
            spans_of(block, block_words, mapping, pdf)
            for block, block_words, mapping in zip(document.blocks, words, mappings, strict=True)
        )
    )


def _with_spans(blocks: Sequence[Block], spans: Sequence[tuple[Span, ...]]) -> tuple[Block, ...]:
    return tuple(
        replace(block, spans=block_spans) for block, block_spans in zip(blocks, spans, strict=True)
    )


def _with_note(document: Document, note: str) -> Document:
    return replace(document, notes=(*document.notes, note))


def _notes(blocks: Sequence[Block], pdf_name: str) -> list[str]:
    """A note that names the blocks without a page, if there are any."""
    unplaced = [
        block
        for block in blocks
        if block.text and all(span.page_start is None for span in block.spans)
    ]
    if not unplaced:
        return []
    named = "; ".join(f'"{block.text[:_NAMED_CHARS].strip()}"' for block in unplaced[:_MAX_NAMED])
    more = f" and {len(unplaced) - _MAX_NAMED} more" if len(unplaced) > _MAX_NAMED else ""
    return [
        f"{len(unplaced)} of {len(blocks)} blocks have no page: fewer than {MIN_BLOCK_SHARE:.0%} of their words were found "
        f"in {pdf_name}, or on two pages alike: {named}{more}."
    ]


def _notes_of_gaps(by_block: Sequence[Filled], pdf_name: str) -> list[str]:
    n_filled = sum(each.n_filled for each in by_block)
    notes = (
        [f"{n_filled} characters without one proven page have it from {pdf_name}."]
        if n_filled
        else []
    )
    if n_contradicted := sum(each.n_contradicted for each in by_block):
        n_blocks = sum(each.n_contradicted > 0 for each in by_block)
        notes.append(
            f"{pdf_name} has {n_contradicted} characters of {n_blocks} blocks on another page than is proved; "
            "the proven pages stand."
        )
    return notes


def has_gaps(spans: Sequence[Span]) -> bool:
    """Whether some of the spans have no page or more than one."""
    return any(not _is_proved(span) for span in spans)


def filled(spans: Sequence[Span], from_pdf: Sequence[Span]) -> Filled:
    """Fill the gaps in `spans` from `from_pdf`, the spans of the same text according to the PDF.

    A gap is a span without one proved page; it is cut where the pages in the PDF change. A span
    that may be on two pages gets only one of these two; a span without pages gets only pages
    between the proved ones before and after it.
    """
    found: list[Span] = []
    n_filled = n_agreed = n_contradicted = 0
    for index, span in enumerate(spans):
        pieces = [piece for piece in _cut(from_pdf, span.start, span.end) if _is_proved(piece)]
        if _is_proved(span):
            found.append(span)
            n_same = sum(
                piece.end - piece.start for piece in pieces if piece.page_start == span.page_start
            )
            n_agreed += n_same
            n_contradicted += sum(piece.end - piece.start for piece in pieces) - n_same
            continue
        first, last = _bounds(spans, index)
        fitting = [piece for piece in pieces if first <= (piece.page_start or 0) <= last]
        n_filled += sum(piece.end - piece.start for piece in fitting)
        found.extend(_with_pieces(span, fitting))
    return Filled(tuple(found), n_filled, n_agreed, n_contradicted)


def _is_proved(span: Span) -> bool:
    return span.page_start is not None and span.page_start == span.page_end


def _bounds(spans: Sequence[Span], index: int) -> tuple[int, float]:
    """First and last page that a span can be on: its own pages, or else the nearest pages before
    and after it in the block."""
    span = spans[index]
    if span.page_start is not None and span.page_end is not None:
        return span.page_start, span.page_end
    pages_before = [other.page_end for other in spans[:index] if other.page_end is not None]
    pages_after = [other.page_start for other in spans[index + 1 :] if other.page_start is not None]
    return max(pages_before, default=1), min(pages_after, default=float("inf"))


def _cut(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The parts of `spans` that lie within [start, end)."""
    for span in spans:
        if span.start < end and span.end > start:
            yield replace(span, start=max(span.start, start), end=min(span.end, end))


def _with_pieces(span: Span, pieces: Sequence[Span]) -> Iterator[Span]:
    """`span` cut at the edges of `pieces`: each piece as it is, and the text between them with the
    pages of `span`. pieces: in ascending order, within `span`, without overlap."""
    if not pieces:
        yield span
        return
    edges = [span.start, *(edge for piece in pieces for edge in (piece.start, piece.end)), span.end]
    by_start = {piece.start: piece for piece in pieces}
    for start, end in pairwise(edges):
        if end > start:
            yield by_start.get(start) or replace(span, start=start, end=end)
