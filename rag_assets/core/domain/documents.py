"""A parsed paper: its bibliographic record, its blocks in reading order, and its pages."""

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from rag_assets.core.domain.places import Box, Span, all_boxes, first_page, last_page


@dataclass(frozen=True, slots=True)
class Person:
    """An author, or an organisation that is one; then `given` is empty."""

    family: str
    given: str = ""
    orcid: str | None = None
    affiliation: str | None = None

    @property
    def name(self) -> str:
        """ "Ada B. Lund"."""
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of a paper as a publication. None, or nothing, where it is not known: nothing
    is guessed."""

    title: str | None = None
    """Title of the work; null, as all others, where it is not known."""
    authors: tuple[Person, ...] = ()
    """Authors in order, with ORCID and affiliation where a header states them."""
    year: int | None = None
    """Year in which it appeared."""
    venue: str | None = None
    """Journal, conference or series it appeared in; the publisher of a report or book."""
    about: str | None = None
    """Period that a report is about, in its words: "fiscal year ended June 30, 2022"."""
    volume: str | None = None
    """Volume of the journal or series."""
    issue: str | None = None
    """Issue of the journal."""
    pages: str | None = None
    """Pages in the venue, as printed there."""
    doi: str | None = None
    """In lower case, without a resolver: "10.1234/keys.77"."""
    arxiv: str | None = None
    """Without version and prefix: "2206.01062"."""
    pmid: str | None = None
    """Id in PubMed."""
    abstract: str | None = None
    """Abstract of the paper."""
    keywords: tuple[str, ...] = ()
    """Keywords as stated."""
    language: str | None = None
    """Code of ISO 639, "en"."""
    licence: str | None = None
    """Licence, as a URL or in words."""
    type: str | None = None
    """Type of CSL 1.0: article-journal, paper-conference, chapter, book, thesis, report, ..."""
    retracted: str | None = None
    """Who says that it was retracted: Crossref, OpenAlex, a list beside the papers, or the paper
    itself with the place, "the paper itself, p. 1". None: none of them does."""
    text_hash: str | None = None
    """Hash of the letters and digits of its text; copies of a file have the same."""


NO_RECORD = Record()


class PaperOrder(StrEnum):
    """The fields a list of papers can be sorted by; papers without a value come last."""

    ID = "id"
    TITLE = "title"
    AUTHOR = "author"
    """Family names of the authors in their order, then the year."""
    YEAR = "year"
    """The newest first."""


@dataclass(frozen=True, slots=True)
class PrintedFront:
    """The text of the first pages of a PDF, from which the bibliographic record is read."""

    title: str
    """Title of the paper; empty if none is found."""
    lines: tuple[str, ...]
    """Texts of the first blocks, in reading order."""
    text: str
    """All text of the first page, and of the one after a cover, line by line, with margins and
    running lines."""
    set_alike: tuple[str, ...] = ()
    """The text between title and abstract, one string per style of type. A string keeps the line
    ends, has a tab in place of a wide gap or of text in another style, and "*" for a raised
    mark."""
    stated_authors: str = ""
    """Authors in the metadata of the file, unchecked."""
    metadata: str = ""
    """All metadata of the file, one value per line."""
    company: str = ""
    """Name of the company that publishes a report: a name that the page shows where papers have the
    title."""


class BlockKind(StrEnum):
    """What a block of a document is; chunking has one strategy per kind."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    FIGURE = "figure"
    FORMULA = "formula"
    CODE = "code"
    FOOTNOTE = "footnote"


class Zone(StrEnum):
    """Where in a paper a block stands. `BACK` (the reference list) is kept but never indexed."""

    TITLE_PAGE = "title_page"
    """The bibliographic record: who wrote the paper, where and when it appeared."""
    FRONT = "front"
    BODY = "body"
    ANNEX = "annex"
    STATEMENTS = "statements"
    """Funding, interests, data and code, registration, thanks: searched only where a question asks
    for them."""
    BACK = "back"


class SectionKind(StrEnum):
    """What the headings above a text say it is; a text may be of several kinds (Results and
    discussion)."""

    TITLE_PAGE = "title-page"
    ABSTRACT = "abstract"
    INTRODUCTION = "introduction"
    BACKGROUND = "background"
    METHODS = "methods"
    PARTICIPANTS = "participants"
    DATA = "data"
    """Which data were used, and where they are to be had."""
    RESULTS = "results"
    DISCUSSION = "discussion"
    LIMITATIONS = "limitations"
    CONCLUSION = "conclusion"
    APPENDIX = "appendix"
    STATEMENTS = "statements"
    """What authors and publishers state beside the text: funding, interests, where the data are."""
    FUNDING = "funding"
    ETHICS = "ethics"
    REFERENCES = "references"
    """Reference lists are not searched; notes below one that its paper prints between may be."""
    OTHER = "other"
    """None of its headings has a usual name, or it has no heading."""


class SourceFormat(StrEnum):
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


BREAK = " ¦ "
"""Written where it is not certain that the words behind it follow those before it, as in two
columns that were read as one: a sentence with it is found, and never quoted."""
GROUP_SEPARATOR = " / "
"""Separates the groups of a table row and its name when the row is written as a line."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a table; `row` and `col` are 0-based and count spanned positions."""

    row: int
    col: int
    text: str
    row_span: int = 1
    col_span: int = 1
    is_header: bool = False
    """Names the columns below it."""
    is_stub: bool = False
    """Names the rows it covers."""
    is_group: bool = False
    """Opens a group of the rows below it."""
    group: tuple[str, ...] = ()
    """For the first cell of a row, the groups that the row is in for certain, outermost first; for
    a name that opens a group: itself, if it is certain where the group ends."""
    boxes: tuple[Box, ...] = ()


def n_text_chars(text: str) -> int:
    """Number of characters without white space and without the "|" between the cells of a table, so
    that a row written as "label: value" has as many as the line it was made from."""
    return len("".join(text.replace("|", " ").split()))


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph-like unit of a document, in reading order.

    The units that chunking must not cut are lines: a list has one item per line, a table one row
    per line (cells joined with " | "), code one line of code per line. Paragraph text has no line
    breaks.
    """

    kind: BlockKind
    """heading, paragraph, list, table, figure, formula, code or footnote."""
    text: str
    """Text of the block; a list has one item per line, a table one row per line."""
    section_path: tuple[str, ...] = ()
    """Titles of the enclosing sections, outermost first; a heading's path ends with its own
    title."""
    zone: Zone = Zone.BODY
    """title_page, front, body, annex, statements or back (the reference list), which is never
    indexed."""
    spans: tuple[Span, ...] = ()
    """Pages and boxes along `text`: in order, without overlap, covering it; a run of unknown page
    has page None."""
    title: str = ""
    """Caption of a table or figure ("Table 2. ..."), language of code; empty otherwise."""
    title_spans: tuple[Span, ...] = ()
    """Pages and boxes along a caption, if it has a place of its own; empty where only that of the
    block is known."""
    cells: tuple[Cell, ...] = ()
    """Cells of a table with their row, column and boxes, and whether they name columns, rows or a
    group of rows."""
    is_generated: bool = False
    """Written by a model (a figure description), not by the paper's authors."""

    @property
    def caption(self) -> str:
        """The title of a table or figure; empty if the text of the block begins with it."""
        is_captioned = self.kind in (BlockKind.TABLE, BlockKind.FIGURE)
        return self.title if is_captioned and not self.text.lstrip().startswith(self.title) else ""

    @property
    def is_indexable(self) -> bool:
        """Whether its text or its caption belongs into chunks."""
        is_body = self.kind is not BlockKind.HEADING and self.zone is not Zone.BACK
        return is_body and bool(self.text.strip() or self.caption.strip())

    @property
    def n_chars(self) -> int:
        """Number of characters of its text and caption, by `n_text_chars`."""
        return n_text_chars(self.text) + n_text_chars(self.caption)

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
        """Pages and boxes along `title`. A caption without spans of its own is on the page of its
        block; if the block is on several pages, the page of the caption is not known."""
        pages = {(span.page_start, span.page_end) for span in self.spans}
        if self.title_spans or len(pages) != 1:
            return self.title_spans
        first = self.spans[0]
        if first.page_start is None or first.page_start != first.page_end:
            return ()
        known = [span.page_confidence for span in self.spans if span.page_confidence is not None]
        return (
            replace(
                first,
                start=0,
                end=len(self.title),
                boxes=(),
                source_start=None,
                page_confidence=min(known, default=None),
            ),
        )


BLOCK_SEPARATOR = "\n\n"
TITLE_PAGE_HEADING = "Title page"
"""Section title of the blocks of `Zone.TITLE_PAGE`."""
STATEMENTS_HEADING = "Statements"
"""Section title of the blocks of `Zone.STATEMENTS` without a heading above them."""


@dataclass(frozen=True)
class Document:
    """A parsed paper: its blocks in reading order, and its pages."""

    paper_id: str
    title: str
    source: SourceFormat
    file_path: str
    """The file that was parsed, relative to the papers folder, with forward slashes."""
    blocks: tuple[Block, ...]
    n_pages: int | None = None
    page_source: PageSource = PageSource.NONE
    page_labels: tuple[str | None, ...] = ()
    """Printed label of each physical page (index 0 is page 1), where the source has them."""
    n_source_chars: int = 0
    """Characters of text in the source that should have reached the blocks (back matter aside), by
    `n_text_chars`."""
    n_dropped_running: int = 0
    """Blocks dropped as running headers, footers or other noise."""
    notes: tuple[str, ...] = ()
    """Remarks for the user: a fallback that was used, a repair that was made."""
    is_mended: bool = False
    """Its file was damaged, and was read as far as possible."""
    is_cut_off: bool = False
    """The end of its file is missing."""
    n_pages_unread: int = 0
    """Pages of a PDF that could not be read, or where something is printed and no text was found;
    OCR, or more time for it, may find some."""
    n_pages_cut: int = 0
    """Pages of a PDF whose text layer cuts many words in two, and that OCR did not read."""

    header: Record = NO_RECORD
    """What the header of the file or its front matter states, unchecked."""
    margins: tuple[str, ...] = ()
    """What a service found in the margins of the first page: running heads, notes of the
    publisher."""
    printed: PrintedFront | None = None
    """The first page of the paper's PDF, where it has one."""

    @cached_property
    def text(self) -> str:
        """The texts of the blocks joined with blank lines; offsets of chunks and passages count in
        it."""
        return BLOCK_SEPARATOR.join(block.text for block in self.blocks)

    @cached_property
    def block_starts(self) -> tuple[int, ...]:
        """Offset of each block in `text`."""
        starts, start = [], 0
        for block in self.blocks:
            starts.append(start)
            start += len(block.text) + len(BLOCK_SEPARATOR)
        return tuple(starts)
