"""Reads a plain text file into a Document: paragraphs, abstract, references, and sure headings.

Pages are known only from form feeds, which a PDF-to-text program writes. Headings are recognised
with caution: a sentence taken for a heading gives a wrong section title, and body text taken for
references is lost.
"""

import re
from collections.abc import Sequence
from itertools import count

from rag_assets.core.domain import Block, BlockKind, Document, PageSource, SourceFormat, Span, Zone
from rag_assets.core.errors import DocumentLimit
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.headings import (
    heading_depth,
    is_plain_section_name,
    is_section_name,
    names_references,
    number_styles,
    zone_named,
)
from rag_assets.parsing.formats.text.lines import (
    Paragraph,
    TextLine,
    lines_of,
    paragraphs_of,
    with_tables,
)
from rag_assets.parsing.shared.files import RawFile, decoded
from rag_assets.parsing.shared.heading_lines import (
    lines_of_contents,
    looks_like_heading,
    numbered_heading_lines,
)
from rag_assets.parsing.shared.running_text import PlacedLine, running
from rag_assets.parsing.shared.sections import LevelledBlock, OpenSections
from rag_assets.parsing.shared.superscripts import with_scripts
from rag_assets.parsing.tables.titles import with_titles_in_tables

_MAX_HEADING_CHARS = 90
_TITLE_PARAGRAPHS = 10
_TITLE_CHARS = range(8, 300)
_MIN_LETTER_SHARE = 0.6
_NO_TITLE = re.compile(
    r"https?://|www\.|doi\b|(?:\S+ )?pre-?proof$|[\w .]{1,25}:\s*\S+$|arxiv:|©|copyright",
    re.IGNORECASE,
)
_ABSTRACT_RUN_IN = re.compile(r"(?:abstract|summary)\s?[:.—–]\s?\S", re.IGNORECASE)
_FRONT_PARAGRAPHS = 30
"""An abstract that begins after this many paragraphs is not that of this paper."""
_MAX_FRONT_SECTION = 4
_MAX_BACK_SECTION = 4
"""Largest number of paragraphs of an abstract, or of acknowledgements; if there are more, the next
heading was not recognised."""
_YEAR = re.compile(r"\b(?:1[89]|20)\d\d|https?:|\bdoi\b|et al\b")
_CELL_EDGE = " | "
"""Separates the cells of a table in LaTeX (see `plain_rows`). Such a row is no title or heading."""
_PROSE_CHARS = 300
_CHARS_PER_YEAR = 400
"""A reference list has a year, a link or "et al." at least once per this number of characters;
prose does not."""


def parse_text(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a text file in any common encoding. Paragraphs may be one line each, wrapped, or
    separated by blank lines.

    A form feed begins a new page (page source `parser`); without form feeds there are no pages.
    Raises
    UnreadableDocument for binary content and DocumentLimit for more than `limits.max_pages` pages.
    """
    source = decoded(file.content)
    pages = lines_of(with_scripts(source.text))
    max_pages = settings.limits.max_pages
    if len(pages) > max_pages:
        raise DocumentLimit(
            f"has {len(pages)} pages, more than the {max_pages} of parsing.limits.max_pages. Split the file."
        )
    kept, n_running = _without_running_lines(pages)
    of_contents = lines_of_contents([line.raw for page in kept for line in page])
    numbers = count()  # of the lines on all pages
    kept = [[line for line in page if next(numbers) not in of_contents] for page in kept]
    paragraphs = paragraphs_of([with_tables(page) for page in kept])
    title_at = _title_index(paragraphs)
    walk = _SectionWalk(paragraphs, title_at)
    blocks = tuple(walk.block(paragraph, index) for index, paragraph in enumerate(paragraphs))
    is_paged = pages[0][0].page is not None
    return Document(
        paper_id=file.paper_id,
        title="" if title_at is None else paragraphs[title_at].text,
        source=SourceFormat.TEXT,
        file_path=file.path,
        blocks=tuple(
            levelled.block
            for levelled in with_titles_in_tables([LevelledBlock(block) for block in blocks])
        ),
        n_pages=len(pages) if is_paged else None,
        page_source=PageSource.PARSER if is_paged else PageSource.NONE,
        n_source_chars=sum(
            paragraph.n_source_chars
            for paragraph, block in zip(paragraphs, blocks, strict=True)
            if block.zone is not Zone.BACK
        ),
        n_dropped_running=n_running + len(of_contents),
        notes=source.notes,
    )


def _without_running_lines(
    pages: Sequence[Sequence[TextLine]],
) -> tuple[list[list[TextLine]], int]:
    """The pages without running headers and footers, and the number of lines that were removed."""
    filled = [[line for line in page if line.text] for page in pages]
    dropped = {id(line) for line in running(filled, lambda line: PlacedLine(line.text))}
    return [[line for line in page if id(line) not in dropped] for page in pages], len(dropped)


def _title_index(paragraphs: Sequence[Paragraph]) -> int | None:
    """Index of the title: the first of the leading paragraphs that can be one."""
    for index, paragraph in enumerate(paragraphs[:_TITLE_PARAGRAPHS]):
        text = paragraph.text
        n_letters = sum(character.isalpha() for character in text)
        if (
            _CELL_EDGE in text
            or len(text) not in _TITLE_CHARS
            or n_letters < _MIN_LETTER_SHARE * len(text)
            or " " not in text
        ):
            continue
        if not _NO_TITLE.match(text) and not is_section_name(text):
            return index
    return None


def _line_of(paragraph: Paragraph) -> str:
    """The text of a paragraph if it may be a heading; else its start and "...", which is no
    heading."""
    is_short = (
        paragraph.n_lines == 1
        and _CELL_EDGE not in paragraph.text
        and len(paragraph.text) <= _MAX_HEADING_CHARS
    )
    return paragraph.text if is_short else f"{paragraph.text[:_MAX_HEADING_CHARS]} ..."


def _front_end(paragraphs: Sequence[Paragraph], title_at: int | None) -> int:
    """Number of paragraphs that are front matter: up to the abstract, or to the title if no
    abstract is found. An abstract below a heading of its own is not counted here."""
    for index, paragraph in enumerate(paragraphs[:_FRONT_PARAGRAPHS]):
        if _ABSTRACT_RUN_IN.match(paragraph.text):
            return index + 1
        if len(paragraph.text) <= _MAX_HEADING_CHARS and zone_named(paragraph.text) is Zone.FRONT:
            return index
    return 0 if title_at is None else title_at + 1


class _SectionWalk:
    """Reads the paragraphs from top to bottom and knows the open sections."""

    def __init__(self, paragraphs: Sequence[Paragraph], title_at: int | None) -> None:
        self._n_front = _front_end(paragraphs, title_at)
        self._title_at = title_at
        # an empty line after each paragraph: paragraph i is line 2i
        lines = [line for paragraph in paragraphs for line in (_line_of(paragraph), "")]
        self._numbered = frozenset(line // 2 for line in numbered_heading_lines(lines))
        """Indices of the paragraphs that are numbered headings."""
        self._styles = number_styles(paragraphs[index].text for index in self._numbered)
        self._sections = OpenSections()
        self._sections_before = self._sections.open
        """The sections that were open before the current front or back matter. They are opened
        again if that ends without a heading."""
        self._n_since_heading = 0
        """Number of paragraphs since the last heading."""
        self._is_in_references = False

    def block(self, paragraph: Paragraph, index: int) -> Block:
        """The next paragraph with its section and zone."""
        is_heading = index != self._title_at and self._is_heading(paragraph, index)
        if is_heading:
            self._enter(paragraph.text)
        else:
            self._n_since_heading += 1
            self._leave_if_over(paragraph.text)
        kind = BlockKind.HEADING if is_heading else BlockKind.PARAGRAPH
        zone = Zone.FRONT if index < self._n_front and not is_heading else self._sections.zone
        ends = [offset for offset, _ in paragraph.pages[1:]] + [len(paragraph.text)]
        spans = tuple(
            Span(start, end, page, page)
            for (start, page), end in zip(paragraph.pages, ends, strict=True)
        )
        kind = BlockKind.TABLE if paragraph.cells else kind
        return Block(kind, paragraph.text, self._sections.path, zone, spans, cells=paragraph.cells)

    def _is_heading(self, paragraph: Paragraph, index: int) -> bool:
        text = paragraph.text
        if paragraph.n_lines != 1 or _CELL_EDGE in text or len(text) > _MAX_HEADING_CHARS:
            return False
        if index in self._numbered or is_plain_section_name(text):
            return index in self._numbered or looks_like_heading(text)
        return not self._is_in_references and looks_like_heading(text)

    def _enter(self, title: str) -> None:
        """Open the section of a heading."""
        if self._sections.zone in (Zone.BODY, Zone.ANNEX):
            self._sections_before = self._sections.open
        self._sections.enter(heading_depth(title, self._styles) or 1, title, zone_named(title))
        self._n_since_heading = 0
        self._is_in_references = names_references(title)

    def _leave_if_over(self, text: str) -> None:
        """Close front or back matter whose end was missed, because the next heading was not
        recognised: it has too many paragraphs, or `text` in the reference list is prose."""
        if self._is_in_references:
            n_years = len(_YEAR.findall(text))
            is_over = len(text) >= _PROSE_CHARS and n_years * _CHARS_PER_YEAR < len(text)
        elif self._sections.zone in (Zone.STATEMENTS, Zone.BACK):
            is_over = self._n_since_heading > _MAX_BACK_SECTION
        else:
            is_over = (
                self._sections.zone is Zone.FRONT and self._n_since_heading > _MAX_FRONT_SECTION
            )
        if is_over:
            self._sections.open = self._sections_before
            self._is_in_references = False
