"""Turns a TEI tree into blocks, in the order of the file.

Text of unknown elements becomes part of the paragraph around it, so that nothing is lost; only the
elements named in `elements` become separate blocks. A note or figure inside a paragraph is put
after it, so that no sentence is cut. GROBID does not nest sections, so their hierarchy is found
from their numbers (`SectionStack`).
"""

from dataclasses import replace

from lxml import etree

from rag_assets.core.domain import STATEMENTS_HEADING, BlockKind, Zone
from rag_assets.core.text.headings import HeadingNumber, heading_number
from rag_assets.parsing.formats.tei.elements import (
    BLOCKS,
    FLOATS,
    GROUPS,
    PARAGRAPHS,
    SECTIONS,
    TEXT_UNITS,
    areas_of,
    heading_of,
    holds_blocks,
    is_block_note,
    is_unread,
    name_of,
    zone_in_back,
    zone_of,
)
from rag_assets.parsing.formats.tei.floats import float_blocks, list_lines, trailing_floats
from rag_assets.parsing.formats.tei.text import Collected, InlineReader, TextRun, UnplacedBlock

_NESTING = {"roman": 0, "letter": 1, "arabic": 2}
"""Style of number -> its level in the IEEE style, with "II. METHODS" above "A. Subjects"."""


def collect(root: etree._Element) -> Collected:
    """All blocks of a document, with its page labels and the number of running headers."""
    collected, reader = Collected(), InlineReader()
    walk = _Walk(collected, reader)
    for header in root.iter("{*}teiHeader"):
        for abstract in header.iterfind("{*}profileDesc/{*}abstract"):
            walk.read(abstract, collected.abstract, Zone.FRONT, SectionStack(("Abstract",)))
    for text in root.iter("{*}text"):
        if not any(name_of(above) == "text" for above in text.iterancestors()):
            walk.read_text(text)
    collected.page_labels = reader.page_labels
    collected.n_running = reader.n_running
    return collected


class SectionStack:
    """The sections that are open while headings are read in order; `open` reads the next heading.

    3.1 is in 3, A.1 in A, and a letter is in a roman number (IEEE style: "II. METHODS", "A.
    Subjects"). A heading without a number is on the top level, directly below `base`.
    """

    def __init__(self, base: tuple[str, ...]) -> None:
        self.base = base
        """Titles of the sections that enclose all of these headings."""
        self._open: list[tuple[HeadingNumber | None, str]] = []
        """Number and title of the open sections, outermost first."""

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the open sections, outermost first."""
        return (*self.base, *(title for _, title in self._open))

    def open(self, number: str, title: str) -> tuple[str, ...]:
        """Open the section of a heading, after those that do not enclose it are closed. Returns its
        path, with its own title last. number: as the file states it; empty if it is in the
        title."""
        parsed = self._letter_or_roman(
            heading_number(f"{number.strip(' .:()').upper()}. X") if number else _number_in(title)
        )
        while self._open and not self._encloses(self._open[-1][0], parsed):
            self._open.pop()
        self._open.append((parsed, title))
        return self.path

    def _encloses(self, outer: HeadingNumber | None, number: HeadingNumber | None) -> bool:
        """Whether a section with the number `outer` contains one with `number`."""
        if outer is None or number is None:
            return False
        if len(number.parts) > 1:
            return (
                len(outer.parts) < len(number.parts)
                and number.parts[: len(outer.parts)] == outer.parts
            )
        first = self._open[0][0]
        starts_roman = first is not None and first.style == "roman"
        return (
            starts_roman
            and len(outer.parts) == 1
            and _NESTING[outer.style] < _NESTING[number.style]
        )

    def _letter_or_roman(self, number: HeadingNumber | None) -> HeadingNumber | None:
        """The number; a single roman digit becomes a letter if an open section has the letter
        before it: "I" after "H"."""
        if number is None or number.style != "roman" or len(number.parts[0]) > 1:
            return number
        letters = [
            other.parts[0]
            for other, _ in self._open
            if other is not None and other.style == "letter"
        ]
        follows = any(ord(number.parts[0]) == ord(letter) + 1 for letter in letters)
        return replace(number, style="letter") if follows else number


class _Walk:
    """Reads elements into blocks, and knows the current section, zone and paragraph.

    Text is added to the current paragraph `_run`; `_end_paragraph` makes a block of it.
    """

    def __init__(self, collected: Collected, reader: InlineReader) -> None:
        self._collected = collected
        self._reader = reader
        self._blocks: list[UnplacedBlock] = []
        self._zone = Zone.BODY
        self._path: tuple[str, ...] = ()
        self._run = TextRun()
        self._after_paragraph: list[UnplacedBlock] = []
        """Notes and figures inside the current paragraph, which follow it."""
        self._continues_sections = False
        """Whether a division without a head belongs to the section before it, as in files of
        GROBID, which does not nest divisions."""

    def read(
        self, element: etree._Element, into: list[UnplacedBlock], zone: Zone, outline: SectionStack
    ) -> None:
        """Read the content of an element into the list `into`."""
        self._start_blocks(into, zone, outline.path)
        self._read_content(element, outline)
        self._end_paragraph()

    def read_text(self, text: etree._Element) -> None:
        """Read a `text` element: front, body and back. In GROBID's training files, it has other
        children too; these are read as body."""
        outline = SectionStack(())
        for child in text:
            name = name_of(child)
            if name == "front":
                self.read(child, self._collected.front, Zone.FRONT, SectionStack(()))
            elif name == "body":
                self._read_body(child, outline)
            elif name == "back":
                self._read_back(child)
            else:
                self._start_blocks(self._collected.body, Zone.BODY, outline.path)
                self._read_child(child, outline)
            self._reader.add_text(child.tail, self._run)
        self._end_paragraph()

    def _start_blocks(self, blocks: list[UnplacedBlock], zone: Zone, path: tuple[str, ...]) -> None:
        """From now on, add blocks to the list `blocks`, with this zone and section path."""
        if blocks is not self._blocks:
            self._end_paragraph()
        self._blocks, self._zone, self._path = blocks, zone, path

    def _read_body(self, body: etree._Element, outline: SectionStack) -> None:
        """Read the body. The floats that GROBID moved to its end are collected separately."""
        self._continues_sections = body.find("{*}div/{*}div") is None
        floats = trailing_floats(body)
        self._start_blocks(self._collected.body, Zone.BODY, outline.path)
        self._reader.add_text(body.text, self._run)
        for child in body:
            if child in floats:
                self._start_blocks(self._collected.floats, Zone.BODY, ())
            self._read_child(child, outline)
            self._reader.add_text(child.tail, self._run)
        self._end_paragraph()

    def _read_back(self, back: etree._Element) -> None:
        """Read each child of `back` into a list of its own. Statements without a heading get the
        section title "Statements"."""
        for child in back:
            self._collected.back.append([])
            is_section = name_of(child).startswith(SECTIONS)
            zone = zone_in_back(child, heading_of(child)) if is_section else Zone.ANNEX
            is_untitled = zone is Zone.STATEMENTS and child.find(".//{*}head") is None
            outline = SectionStack((STATEMENTS_HEADING,) if is_untitled else ())
            self._start_blocks(self._collected.back[-1], zone, outline.path)
            self._read_child(child, outline)
            self._reader.add_text(child.tail, self._run)
        self._end_paragraph()

    def _read_content(self, element: etree._Element, outline: SectionStack) -> None:
        """Read the text and the children of an element. Text and inline elements are added to the
        current paragraph; block elements end it."""
        self._reader.add_text(element.text, self._run)
        for child in element:
            self._read_child(child, outline)
            self._reader.add_text(child.tail, self._run)

    def _read_child(self, child: etree._Element, outline: SectionStack) -> None:
        """Read one element, without the text after its end tag."""
        name = name_of(child)
        if not name or is_unread(child, name):
            self._reader.add_element(child, self._run)
        elif name.startswith(SECTIONS):
            self._read_section(child, outline)
        elif name == "head":
            self._read_heading(child, outline)
        elif self._is_unit(child, name):
            self._read_unit(child, name)
        elif holds_blocks(child):
            self._read_group(child, name, outline)
        elif name in PARAGRAPHS:
            self._end_paragraph()
            self._reader.add_element(child, self._run, self._add_aside)
            self._end_paragraph()
        else:
            self._reader.add_element(child, self._run, self._add_aside)

    def _is_unit(self, element: etree._Element, name: str) -> bool:
        """Whether an element becomes a block of a special kind: list, figure, table, note or
        formula. A formula inside a paragraph is part of its sentence."""
        if name == "formula":
            parent = element.getparent()
            return parent is not None and name_of(parent) not in PARAGRAPHS
        if name == "note":
            return is_block_note(element)
        return name == "list" or name in FLOATS

    def _read_unit(self, element: etree._Element, name: str) -> None:
        """Read an element for which `_is_unit` is true. Figures and notes do not end the current
        paragraph, but follow it; all others end it."""
        if name == "table" or name not in FLOATS:
            self._end_paragraph()
        if name in FLOATS:
            if len(self._run):  # inside a paragraph
                self._add_aside(element)
            else:
                self._blocks += float_blocks(element, self._reader, self._path, self._zone)
        elif name == "list":
            lines = list_lines(element, self._reader, self._add_aside)
            self._add_block(
                UnplacedBlock(BlockKind.LIST, TextRun.joined(lines, "\n"), self._path, self._zone)
            )
        else:
            self._add_block(
                UnplacedBlock(BlockKind.FORMULA, self._reader.read(element), self._path, self._zone)
            )

    def _read_section(self, section: etree._Element, outline: SectionStack) -> None:
        """Read a section: its head opens it in `outline`; sections inside get an outline of their
        own. A section without a head belongs to the open or to the enclosing section (see
        `_continues_sections`)."""
        self._end_paragraph()
        zone, path = self._zone, self._path
        self._zone = zone_of(section, zone, heading_of(section))
        if any(name_of(child) == "head" for child in section):
            self._read_headed_section(section, outline)
        else:
            self._path = outline.path if self._continues_sections else outline.base
            self._read_content(section, outline)
        self._end_paragraph()
        self._zone = zone
        if not self._continues_sections:
            self._path = path

    def _read_headed_section(self, section: etree._Element, outline: SectionStack) -> None:
        """Read a section that has one or more heads. Each head opens its section in `outline`, and
        the sections below it are nested in that one."""
        inner: SectionStack | None = None
        """Outline of the sections inside, below the last head."""
        self._reader.add_text(section.text, self._run)
        for child in section:
            name = name_of(child)
            if name == "head":
                self._read_heading(child, outline)
                inner = None
            elif name.startswith(SECTIONS):
                inner = inner or SectionStack(outline.path)
                self._read_section(child, inner)
                self._path = outline.path
            else:
                self._read_child(child, inner or outline)
            self._reader.add_text(child.tail, self._run)

    def _read_heading(self, head: etree._Element, outline: SectionStack) -> None:
        """Read a heading and open its section, unless it repeats the title of the section around
        it (an abstract with the heading "Abstract")."""
        self._end_paragraph()
        run, number = TextRun(), " ".join((head.get("n") or "").split())
        self._reader.add_element(head, run, self._add_aside)
        title = run.text
        printed = _printed_title(number, title)
        if printed and printed.casefold() not in {base.casefold() for base in outline.base[-1:]}:
            self._path = outline.open(number, printed)
        heading = run if printed == title else run.headed(number, len(self._reader.page_labels))
        self._add_block(UnplacedBlock(BlockKind.HEADING, heading, self._path, self._zone))

    def _read_group(self, element: etree._Element, name: str, outline: SectionStack) -> None:
        """Read an element that contains paragraphs: a quotation, a speech, a nested text."""
        is_block = name in BLOCKS or name in PARAGRAPHS or name in GROUPS
        if is_block:
            self._end_paragraph()
        run, start = self._run, self._run.next_start
        self._read_content(
            element, SectionStack(self._path) if name in ("floatingText", "group") else outline
        )
        if self._run is run:  # no paragraph ended inside
            run.mark(start, areas_of(element), is_block=name in TEXT_UNITS)
        if is_block:
            self._end_paragraph()

    def _add_aside(self, element: etree._Element) -> None:
        """Put the blocks of a note or figure after the current paragraph."""
        self._after_paragraph.extend(float_blocks(element, self._reader, self._path, self._zone))

    def _add_block(self, block: UnplacedBlock) -> None:
        """Add a block if it has text, and then the notes and figures inside it."""
        if block.run.text:
            self._blocks.append(block)
        self._blocks += self._after_paragraph
        self._after_paragraph = []

    def _end_paragraph(self) -> None:
        """Make a block of the current paragraph and begin a new one."""
        run, self._run = self._run, TextRun()
        self._add_block(UnplacedBlock(BlockKind.PARAGRAPH, run, self._path, self._zone))


def _printed_title(number: str, title: str) -> str:
    """A heading as it is printed: its number and its title; the title alone if it contains the
    number."""
    number = " ".join(number.split())
    if not number or title.startswith(number):
        return title
    return f"{number} {title}".strip()


def _number_in(title: str) -> HeadingNumber | None:
    """The arabic number at the start of a title ("3.1 Methods"). A letter or a roman number could
    be a word ("I")."""
    number = heading_number(title)
    return number if number and number.style == "arabic" else None
