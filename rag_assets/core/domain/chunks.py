"""Chunks and places in them, which are cited, and passages, which are searched. The results of a
search are in `evidence`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from rag_assets.core.domain.places import (
    Box,
    Span,
    all_boxes,
    any_by_ocr,
    known_spans,
    page_label,
    page_words,
    span_at,
    spans_between,
)
from rag_assets.core.domain.statements import StatementKind


@dataclass(frozen=True, slots=True)
class ChunkUnit:
    """A sentence, row, item or line of a chunk: `text[start:end]`."""

    start: int
    end: int
    kind: StatementKind
    statement: int
    """Number of the statement that it is, or is a piece of."""
    block: int
    """`ordinal` of its block among those of the paper."""
    char_start: int
    """Offset in `Document.text`, as `Statement.char_start`."""
    char_end: int


@dataclass(frozen=True, slots=True)
class SectionPart:
    """The part of a chunk that comes from one section: `text[start:end]`."""

    start: int
    body_start: int
    """Where its text begins; `text[start:body_start]` is its heading, if the chunk has it."""
    end: int
    section_title: str
    section_path: str
    """Titles from the outermost section inwards, joined with " > "."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is read and cited: a run of one section of one paper, or of neighbouring short
    sections."""

    paper_id: str
    """Name of the paper's files without endings; with its folder where two share a name."""
    section_id: str
    """Stable within a paper: derived from the titles of the section, or of those merged, not from
    its position."""
    section_title: str
    """Title of its section; of several, of the one they share."""
    chunk_id: str
    """paper_id and a hash of section and text: an edit elsewhere leaves it alone."""
    text: str
    """Text as it is read and cited."""
    n_tokens: int
    """Size of the text, as chunking.tokenizer counts."""
    page_start: int | None
    """First physical page, from 1; null where nothing proves one."""
    page_end: int | None
    """Last physical page; null where nothing proves one."""
    file_path: str
    """The file that was read, relative to the papers folder."""
    source: str
    """Format that was read: tei, ade, docling, pdf, markdown or text."""
    ordinal: int
    """Place of the chunk in the paper, from 0."""
    section_path: str
    """Titles from the outermost section inwards, joined with " > "; of several sections, those they
    have in common."""
    chunk_type: str
    """Kind of its blocks, headings aside, if all are alike, else "mixed"."""
    split_sequence: str | None
    """"2/5": the second of five chunks cut from one section run or block; None if it was not
    cut."""
    is_continuation: bool
    """Whether it goes on where another chunk of its section ends."""
    context_before: str
    """Last words before the chunk inside the same parent section; empty at its start. For those who
    read the published table: packing brings whole neighbouring passages instead
    (`retrieval.packing`)."""
    context_after: str
    """First words after it in its outermost section, for readers of this file; none of its text."""
    char_start: int
    """Offset of the chunk's first own character in `Document.text` (overlap included)."""
    char_end: int
    """End in the paper's text, exclusive."""
    is_generated: bool
    """Whether a model wrote the text (a figure's description)."""
    spans: tuple[Span, ...]
    """Stretches of the text with one page each: offsets, pages, boxes, printed labels."""
    fingerprint: str
    """Hash of all that the paper's rows follow from; another one makes them anew."""
    own_start: int = 0
    """Before it, the text repeats what an earlier chunk says: sentences, or the title of a
    table."""
    n_own_chars: int = 0
    """Characters of blocks and captions it holds, white space, cell borders, headings and repeats
    aside."""
    sections: tuple[SectionPart, ...] = ()
    """Its sections in order, each with its whole path."""
    units: tuple[ChunkUnit, ...] = ()
    """What its text consists of, in order, those it repeats from an earlier chunk included."""

    @property
    def page_label(self) -> str | None:
        """Printed labels of its pages, in the form of `Citation.page_label`."""
        spans = known_spans(self.spans, self.own_start)
        return page_label(spans[0], spans[-1]) if spans else None

    def section_at(self, offset: int) -> tuple[str, str]:
        """Title and path of the section that contains the character at `offset` of the text."""
        parts = (
            (part.section_title, part.section_path) for part in self.sections if offset < part.end
        )
        return next(parts, (self.section_title, self.section_path))

    def part(self, start: int | None, end: int | None) -> tuple[int, int]:
        """A valid range of the text for these offsets: they are limited to the text, and the end is
        not before the start. None means the start or the end of the text."""
        n_chars = len(self.text)
        valid_start = min(max(start or 0, 0), n_chars)
        return valid_start, n_chars if end is None else min(max(end, valid_start), n_chars)

    @property
    def boxes(self) -> tuple[Box, ...]:
        return all_boxes(self.spans)


@dataclass(frozen=True, slots=True)
class Passage:
    """What is searched: a run of whole sentences or rows of one chunk that the embedding model
    reads in full.

    The passages of a section's chunks do not overlap, even where the chunks do.
    """

    passage_id: str
    """The chunk's id, or `chunk_id#n` when the chunk has several passages (n is 0-based)."""
    chunk_id: str
    """The chunk it was cut from."""
    paper_id: str
    text: str
    """Text that is embedded and indexed: repeated_title on a line, then its own text."""
    n_tokens: int
    """Counted with the embedding model's own tokenizer, special tokens included."""
    char_start: int
    """Offset in `Document.text`."""
    char_end: int
    page_start: int | None
    page_end: int | None
    chunk_start: int
    """Its own text is `text[chunk_start:chunk_end]` of its chunk."""
    chunk_end: int
    """Where its own text ends in the chunk's text, exclusive."""
    repeated_title: str
    """The beginning of a table's or figure's title, on a line above its own text; empty where it
    repeats none."""
    section_title: str
    """Title of the section in which its own text begins; a chunk may hold several short
    sections."""
    section_path: str
    row_hash: str
    """Hash of the fields that are indexed; changes if and only if one of them changes."""
    heading_text: str = ""
    """Title of the paper and of its sections: searched beside the text, never quoted."""
    summary: str = ""
    """A model's summary of its chunk, cut to what the embedding model reads before the text:
    searched, never quoted. Empty where no model was asked."""


def embedded_text(text: str, summary: str) -> str:
    """The text from which the vector of a passage is made: its summary, if it has one, and its
    text."""
    return f"{summary}\n{text}" if summary else text


class SparseVector(NamedTuple):
    """A vector of which nearly all numbers are 0; the others are weights of terms."""

    places: tuple[int, ...]
    """Indices of the numbers that are not 0, from 0 to 2^32 - 1, ascending, each once; each stands
    for a term."""
    weights: tuple[float, ...]
    """The number at each of these indices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`text[start:end]` of a chunk, and where it stands. What is said about a place extends this
    class."""

    paper_id: str
    chunk_id: str
    start: int
    end: int
    page_start: int | None
    """Physical, 1-based; None where nothing proves it."""
    page_end: int | None
    page_label: str | None = None
    """Printed label of the page, or of the first and last ("xii-xiv"); None where it is not
    known."""
    boxes: tuple[Box, ...] = ()
    """Boxes of the paragraphs, rows or lines, as the source gives them."""
    is_by_ocr: bool = False
    """OCR read the text, or a part of it, from a picture of its page."""
    is_generated: bool = False
    """A model wrote the text (a figure's description), not the paper's authors."""

    @classmethod
    def within(cls, chunk: Chunk, start: int, end: int, **more: Any) -> Self:
        """The place of `text[start:end]` of a chunk; the range must not be empty.

        more: other fields of the class, and pages if they are known better than from the spans of
        the first and the last character.
        """
        first, last = span_at(chunk.spans, start), span_at(chunk.spans, end - 1)
        pages = {
            "page_start": first.page_start if first else None,
            "page_end": last.page_end if last else None,
            "page_label": page_label(first, last) if first and last else None,
        }
        return cls(
            paper_id=chunk.paper_id,
            chunk_id=chunk.chunk_id,
            start=start,
            end=end,
            boxes=all_boxes(spans_between(chunk.spans, start, end)),
            is_by_ocr=any_by_ocr(chunk.spans, start, end),
            is_generated=chunk.is_generated,
            **pages | more,
        )

    @property
    def page_words(self) -> str:
        """The pages in words: "pp. 3-4, read by OCR"; empty if no page is known."""
        return page_words(self.page_start, self.page_end, self.page_label, is_by_ocr=self.is_by_ocr)
