"""Pages of a document from the text layer of the PDF of the same paper: all of them, or those that
are not proved.

Text that does not align, or could be on two pages, keeps no page. Proven pages are only compared
with the PDF.
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
"""Share of a document's words that must be found; with fewer, the PDF is another paper or another
version."""
MAX_CONTRADICTED_SHARE = 0.1
"""Share of proven pages that may differ from the PDF's; with more, the PDF is another version."""
_MAX_NAMED = 5
_NAMED_CHARS = 50


@dataclass(frozen=True)
class Filled:
    """A block's spans, and how they agree with the PDF."""

    spans: tuple[Span, ...]
    n_filled: int
    """Characters that had no page, or two, and have one now."""
    n_agreed: int
    """Characters whose proven page is the PDF's too."""
    n_contradicted: int
    """Characters that the PDF has on another page than the proven one."""


@dataclass(frozen=True)
class _Aligned:
    """The blocks' spans by the PDF alone, or why there are none."""

    spans: tuple[tuple[Span, ...], ...] = ()
    problem: str = ""


def align_to_pdf(document: Document, pdf_file: RawFile, settings: ParsingSettings) -> Document:
    """`document` with pages and boxes from the PDF of its paper, and how sure each page is.

    Blocks that do not align keep page None; a note counts and names them. When little aligns at
    all, the document comes back as it was, with a note. Raises UnreadableDocument when the PDF
    cannot be opened.
    """
    pdf, pdf_name = pdf_words(pdf_file.content, settings), PurePosixPath(pdf_file.path).name
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
    """`document` with pages from the PDF where it proves none, or not which of two; proven pages
    stay as they are.

    The document's `page_source` stays too; the runs that were filled have a `page_confidence`. A
    note counts them, and the proven pages that the PDF contradicts; when these are many, nothing is
    filled. Raises UnreadableDocument when the PDF cannot be opened.
    """
    pdf, pdf_name = pdf_words(pdf_file.content, settings), PurePosixPath(pdf_file.path).name
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
    n_proved, n_contradicted = (
        sum(each.n_agreed for each in by_block),
        sum(each.n_contradicted for each in by_block),
    )
    if n_contradicted > MAX_CONTRADICTED_SHARE * (n_proved + n_contradicted):
        problem = f"it puts {n_contradicted} of {n_proved + n_contradicted} characters on other pages than are proved."
        return _with_note(document, f"No pages added from {pdf_name}: {problem}")
    blocks = _with_spans(document.blocks, [each.spans for each in by_block])
    return replace(
        document,
        blocks=blocks,
        n_pages=pdf.n_pages,
        notes=(*document.notes, *_notes_of_gaps(by_block, pdf_name)),
    )


def _aligned(document: Document, pdf: PdfWords) -> _Aligned:
    if not pdf.n_chars:
        return _Aligned(problem="it has no text layer. Run OCR on it first.")
    words = [LocatedWords.of("" if block.is_generated else block.text) for block in document.blocks]
    mappings = placed(document.blocks, words, pdf)
    n_words, n_found = (
        sum(len(own.words) for own in words),
        sum(len(mapping) for mapping in mappings),
    )
    if n_found < MIN_DOCUMENT_SHARE * max(n_words, 1):
        return _Aligned(
            problem=f"only {n_found} of {n_words} words were found in it in their order. "
            "It is probably another paper or another version."
        )
    return _Aligned(
        tuple(
            spans_of(block, own, mapping, pdf)
            for block, own, mapping in zip(document.blocks, words, mappings, strict=True)
        )
    )


def _with_spans(blocks: Sequence[Block], spans: Sequence[tuple[Span, ...]]) -> tuple[Block, ...]:
    return tuple(replace(block, spans=own) for block, own in zip(blocks, spans, strict=True))


def _with_note(document: Document, note: str) -> Document:
    return replace(document, notes=(*document.notes, note))


def _notes(blocks: Sequence[Block], pdf_name: str) -> list[str]:
    lost = [
        block
        for block in blocks
        if block.text and all(span.page_start is None for span in block.spans)
    ]
    if not lost:
        return []
    named = "; ".join(f'"{block.text[:_NAMED_CHARS].strip()}"' for block in lost[:_MAX_NAMED])
    more = f" and {len(lost) - _MAX_NAMED} more" if len(lost) > _MAX_NAMED else ""
    return [
        f"{len(lost)} of {len(blocks)} blocks have no page: fewer than {MIN_BLOCK_SHARE:.0%} of their words were found "
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
    """Whether some of the runs have no page or more than one."""
    return any(not _is_proved(span) for span in spans)


def filled(spans: Sequence[Span], from_pdf: Sequence[Span]) -> Filled:
    """`spans` with those without one proven page cut and filled after `from_pdf`, which runs over
    the same text.

    A run that may be on two pages is filled from these two alone; a run without any, only with
    pages between the proven ones around it.
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
    """First and last page that a run can be on, by its own pages or those of its neighbours in the
    block."""
    span = spans[index]
    if span.page_start is not None and span.page_end is not None:
        return span.page_start, span.page_end
    before = [other.page_end for other in spans[:index] if other.page_end is not None]
    after = [other.page_start for other in spans[index + 1 :] if other.page_start is not None]
    return max(before, default=1), min(after, default=float("inf"))


def _cut(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The parts of `spans` that lie within [start, end)."""
    for span in spans:
        if span.start < end and span.end > start:
            yield replace(span, start=max(span.start, start), end=min(span.end, end))


def _with_pieces(span: Span, pieces: Sequence[Span]) -> Iterator[Span]:
    """`span` with `pieces` in their places, the rest of it as it was."""
    if not pieces:
        yield span
        return
    edges = [span.start, *(edge for piece in pieces for edge in (piece.start, piece.end)), span.end]
    by_start = {piece.start: piece for piece in pieces}
    for start, end in pairwise(edges):
        if end > start:
            yield by_start.get(start) or replace(span, start=start, end=end)
