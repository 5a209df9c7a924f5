"""The nouns of the pipeline: what a document, a chunk, a passage, a hit and an answer are.

Values only: frozen, without I/O and without knowledge of any file format, index or model. Offsets are Python
string offsets (code points). Pages are physical and 1-based, or None where nothing proves them; a printed page
label is never a page. Boxes are fractions of the page with the origin at its top left.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property


class BlockKind(StrEnum):
    """What a block of a document is; chunking has one strategy a kind."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    FIGURE = "figure"
    FORMULA = "formula"
    CODE = "code"
    FOOTNOTE = "footnote"


class Zone(StrEnum):
    """Where in a paper a block stands. `BACK` (references, acknowledgements) is kept but never indexed."""

    FRONT = "front"
    BODY = "body"
    ANNEX = "annex"
    BACK = "back"


class Source(StrEnum):
    """The format a document was read from."""

    TEI = "tei"
    TEXT = "text"
    PDF = "pdf"
    ADE = "ade"
    DOCLING = "docling"
    MARKDOWN = "markdown"


class PageSource(StrEnum):
    """What proves a document's pages."""

    COORDS = "coords"
    PB = "pb"
    PARSER = "parser"
    ALIGNED = "aligned"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, as fractions (0-1) of the page's width and height, origin top left."""

    page: int
    """Physical page, 1-based."""
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text whose pages (and boxes, if known) are the same: `text[start:end]`."""

    start: int
    end: int
    page_start: int | None
    """First page the run may stand on; None when nothing proves it."""
    page_end: int | None
    """Last page the run may stand on; differs from `page_start` where the turn of the page is not known exactly."""
    boxes: tuple[Box, ...] = ()
    source_start: int | None = None
    """In a chunk or passage: offset of the run in `Document.text`; None for captions, which are not in it."""
    page_confidence: float | None = None
    """How sure an *aligned* page is (0-1); None where the source itself states the page."""
    label_start: str | None = None
    """Label printed on `page_start` ("xii", "118"); None where it is not known."""
    label_end: str | None = None
    """Label printed on `page_end`."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table; `row` and `col` are 0-based and count spanned positions."""

    row: int
    col: int
    text: str
    row_span: int = 1
    col_span: int = 1
    is_header: bool = False
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph-like unit of a document, in reading order.

    The units that chunking must not cut are lines: a list has one item a line, code one code line a line, a table
    one row a line (cells joined with " | "). Paragraph text has no line breaks.
    """

    kind: BlockKind
    text: str
    section_path: tuple[str, ...] = ()
    """Titles of the enclosing sections, outermost first; a heading's path ends with its own title."""
    zone: Zone = Zone.BODY
    spans: tuple[Span, ...] = ()
    """Pages and boxes along `text`: in order, without overlap, covering it; a run of unknown page has page None."""
    title: str = ""
    """Caption of a table or figure ("Table 2. ..."), language of code; empty otherwise."""
    title_spans: tuple[Span, ...] = ()
    """Pages and boxes along a caption, if it has a place of its own; empty where only that of the block is known."""
    cells: tuple[Cell, ...] = ()
    is_generated: bool = False
    """Written by a model (a figure description), not by the paper's authors."""

    @property
    def page_start(self) -> int | None:
        return first_page(self.spans)

    @property
    def page_end(self) -> int | None:
        return last_page(self.spans)

    @property
    def boxes(self) -> tuple[Box, ...]:
        return all_boxes(self.spans)

    @property
    def caption_spans(self) -> tuple[Span, ...]:
        """Pages and boxes along `title`. A caption whose own place is not known is on its block's page, if that is one;
        where the block runs over several pages, nothing proves the caption's."""
        pages = {(span.page_start, span.page_end) for span in self.spans}
        if self.title_spans or len(pages) != 1:
            return self.title_spans
        first = self.spans[0]
        if first.page_start is None or first.page_start != first.page_end:
            return ()
        sure = [span.page_confidence for span in self.spans if span.page_confidence is not None]
        whole = replace(first, start=0, end=len(self.title), boxes=(), source_start=None)
        return (replace(whole, page_confidence=min(sure, default=None)),)


@dataclass(frozen=True)
class Document:
    """A parsed paper: blocks in reading order and what is known about the pages."""

    paper_id: str
    title: str
    source: Source
    file_path: str
    """The file that was parsed, relative to the papers folder, with forward slashes."""
    blocks: tuple[Block, ...]
    n_pages: int | None = None
    page_source: PageSource = PageSource.NONE
    page_labels: tuple[str | None, ...] = ()
    """Printed label of each physical page (index 0 is page 1), where the source has them."""
    n_source_chars: int = 0
    """Characters of text in the source that should have reached the blocks (back matter aside)."""
    n_dropped_running: int = 0
    """Blocks dropped as running headers, footers or other noise."""
    notes: tuple[str, ...] = ()
    """What a reader should know: a fallback that was used, a repair that was made."""

    @cached_property
    def text(self) -> str:
        """The blocks' texts joined with blank lines; chunk and passage offsets count in it."""
        return BLOCK_SEPARATOR.join(block.text for block in self.blocks)

    @cached_property
    def block_starts(self) -> tuple[int, ...]:
        """Offset of each block in `text`."""
        starts, at = [], 0
        for block in self.blocks:
            starts.append(at)
            at += len(block.text) + len(BLOCK_SEPARATOR)
        return tuple(starts)


BLOCK_SEPARATOR = "\n\n"


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
    """What is read and cited: a run of one section of one paper, or of short sections that stand side by side."""

    paper_id: str
    section_id: str
    """Stable within a paper: derived from the titles of the section, or of those merged, not from its position."""
    section_title: str
    chunk_id: str
    """Derived from content: an edit elsewhere in the paper leaves it alone."""
    text: str
    n_tokens: int
    page_start: int | None
    page_end: int | None
    file_path: str
    source: str
    ordinal: int
    section_path: str
    """Titles from the outermost section inwards, joined with " > "; of several sections, those they have in common."""
    chunk_type: str
    """Kind of its blocks, headings aside, if all are alike, else "mixed"."""
    split_sequence: str | None
    """ "2/5": the second of five chunks cut from one section run or block; None if it was not cut."""
    is_continuation: bool
    context_before: str
    """Last words before the chunk inside the same parent section; empty at its start."""
    context_after: str
    char_start: int
    """Offset of the chunk's first own character in `Document.text` (overlap included)."""
    char_end: int
    is_generated: bool
    spans: tuple[Span, ...]
    fingerprint: str
    own_start: int = 0
    """Before it, the text repeats what an earlier chunk says: sentences, or the title of a table."""
    n_own_chars: int = 0
    """Characters of blocks and captions it holds, white space, cell borders, headings and repeats aside."""
    sections: tuple[SectionPart, ...] = ()
    """Its sections in order, each with its whole path."""

    @property
    def page_label(self) -> str | None:
        """Printed labels of its pages, as in `Citation.page_label`."""
        own = known_spans(self.spans, self.own_start)
        return page_label(own[0], own[-1]) if own else None

    def section_title_at(self, offset: int) -> str:
        """Title of the section that the character at `offset` of the text belongs to."""
        titles = (part.section_title for part in self.sections if offset < part.end)
        return next(titles, self.section_title)

    @property
    def boxes(self) -> tuple[Box, ...]:
        return all_boxes(self.spans)


@dataclass(frozen=True, slots=True)
class Passage:
    """What is searched: a run of whole sentences or rows of one chunk that the embedding model reads in full.

    The passages of a section's chunks do not overlap, even where the chunks do.
    """

    passage_id: str
    """The chunk's id, or `chunk_id#n` when the chunk has several passages (n is 0-based)."""
    chunk_id: str
    paper_id: str
    text: str
    n_tokens: int
    """Counted with the embedding model's own tokenizer, special tokens included."""
    char_start: int
    """Offset in `Document.text`."""
    char_end: int
    page_start: int | None
    page_end: int | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found for a question, scored by its best passage."""

    rank: int
    """1-based."""
    score: float
    """Fused score; higher is better. Comparable within one question and one fusion method only."""
    chunk: Chunk
    passage: Passage
    """The best passage of the chunk."""
    dense_score: float | None = None
    """Cosine of question and passage, -1 to 1; None when the vector index did not return it."""
    lexical_score: float | None = None
    """BM25 score, 0 or more; None when the lexical index did not return it."""


@dataclass(frozen=True, slots=True)
class Context:
    """A stretch of one chunk as it is given to an answerer."""

    paper_id: str
    chunk_id: str
    page_start: int | None
    page_end: int | None
    n_tokens: int
    text: str
    score: float = 0.0
    is_generated: bool = False
    section_title: str = ""


class Verification(StrEnum):
    """How a quote was found in its source."""

    EXACT = "exact"
    """Character for character."""
    NORMALIZED = "normalized"
    """After folding what is typesetting: white space, hyphenation, ligatures, quotes, dashes, how numbers and per cent
    are written."""
    APPROXIMATE = "approximate"
    """Nearly: whoever quoted left out words, with an ellipsis or without, or tidied one. The quote given is the
    source's own words."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote and where it stands; pages and boxes are computed from the place the quote was found at."""

    paper_id: str
    chunk_id: str
    page_start: int | None
    page_end: int | None
    page_label: str | None = field(default=None, kw_only=True)
    """Printed label of the page, or of the first and last ("xii-xiv"); None where it is not known."""
    quote: str
    boxes: tuple[Box, ...]
    verification: Verification
    is_generated: bool = False
    """The quote stands in text that a model wrote (a figure's description), not the paper's authors."""


@dataclass(frozen=True, slots=True)
class Support:
    """How well the quotes of a claim carry it; every figure is 0 to 1, higher is better.

    All are None for a claim that is its own quote: they would be 1 and say nothing.
    """

    score: float | None
    """Mean of those below that apply."""
    similarity: float | None
    """Cosine of the claim and the nearest sentence of its quotes, by the embedded model; negative counts as 0."""
    numbers: float | None
    """Share of the claim's numbers that its quotes (or the question) hold; None when it has none."""
    entities: float | None
    """Share of the claim's names and symbols that its quotes hold; None when it has none."""
    judged: float | None = None
    """What a model said that was asked to judge; None when none was asked. Not part of `score`."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer with the citations that carry it."""

    text: str
    citations: tuple[Citation, ...]
    support: Support | None = None
    """None in rows written before claims were scored."""
    relevance: float | None = None
    """Of a sentence chosen from the papers: likeness to the question, 0 to 1. None where a model wrote the claim, and
    in older rows."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost. All zero for an answerer that calls no model."""

    n_requests: int = 0
    """Requests that were answered; those that failed are in the run's total only."""
    n_input_tokens: int = 0
    n_output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None when the price of the model is not known."""


@dataclass(frozen=True, slots=True)
class QAResult:
    """One row of qa.jsonl."""

    question_id: str
    question: str
    answer: str
    claims: tuple[Claim, ...]
    refused: bool
    single_source: bool
    """The answer rests on one paper even after the retry with more contexts; its text says so."""
    sources_used: tuple[str, ...]
    """Distinct papers cited, in order of first citation."""
    unanswered: tuple[str, ...]
    """Parts of a compound question that the answer says nothing about; its text names them."""
    model: str
    contexts: tuple[str, ...]
    """Chunk ids of the contexts given, in order."""
    fingerprint: str
    usage: Usage = field(default_factory=Usage)


def first_page(spans: Sequence[Span]) -> int | None:
    """Page of the first run, None when it is not known: the page of a later run would be a guess."""
    return spans[0].page_start if spans else None


def last_page(spans: Sequence[Span]) -> int | None:
    """Page of the last run, None when it is not known."""
    return spans[-1].page_end if spans else None


def known_spans(spans: Sequence[Span], own_start: int = 0) -> list[Span]:
    """The runs that say where a text stands: those of the document, and captions whose page is known.

    own_start: captions before it are repeated from an earlier chunk and tell nothing about the rest.
    """
    return [
        span
        for span in spans
        if span.source_start is not None or (span.page_start is not None and span.start >= own_start)
    ]


def page_label(first: Span, last: Span) -> str | None:
    """Printed labels from the page where `first` begins to the one where `last` ends; None if one is not known."""
    if first.label_start is None or last.label_end is None:
        return None
    return first.label_start if first.label_start == last.label_end else f"{first.label_start}-{last.label_end}"


def page_numbers(first: int | None, last: int | None, label: str | None) -> str:
    """ "3" or "3-4", with what is printed on the pages where it differs ("2 (printed 118)"); empty when not known."""
    if first is None or last is None:
        return ""
    numbers = str(first) if first == last else f"{first}-{last}"
    return f"{numbers} (printed {label})" if label is not None and label != numbers else numbers


def span_at(spans: Sequence[Span], offset: int) -> Span | None:
    """The run that holds the character at `offset`; None where no run does (between sentences)."""
    return next(iter(spans_between(spans, offset, offset + 1)), None)


def all_boxes(spans: Sequence[Span]) -> tuple[Box, ...]:
    """Boxes of all runs in order, each once."""
    return tuple(dict.fromkeys(box for span in spans for box in span.boxes))


def spans_between(spans: Sequence[Span], start: int, end: int) -> tuple[Span, ...]:
    """The runs that share at least one character with `[start, end)`, uncut. `spans` are in order, without overlap."""
    first = bisect_right(spans, start, key=lambda span: span.end)
    last = bisect_left(spans, end, key=lambda span: span.start)
    return tuple(spans[first:last])


def summed(usages: Sequence[Usage]) -> Usage:
    """All of them together; the money is None as soon as one price is not known."""
    costs = [usage.cost_usd for usage in usages]
    return Usage(
        n_requests=sum(usage.n_requests for usage in usages),
        n_input_tokens=sum(usage.n_input_tokens for usage in usages),
        n_output_tokens=sum(usage.n_output_tokens for usage in usages),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )
