"""The walk over a TEI tree that turns it into blocks, in the order of the file.

Text of unknown elements flows on into the paragraph around it, so that nothing is lost; only the
elements named in `elements` make blocks of their own. A note or figure inside a paragraph follows
it, so that no sentence is torn. GROBID writes all sections side by side, so their hierarchy is in
their numbers alone (`SectionStack`).
"""

from dataclasses import replace

from lxml import etree

from rag_assets.core.domain import STATEMENTS_HEADING, BlockKind, Zone
from rag_assets.core.text.headings import HeadingNumber, heading_number
from rag_assets.parsing.formats.tei.coords import areas_of
from rag_assets.parsing.formats.tei.elements import (
    BLOCKS,
    CODE,
    FLOATS,
    GROUPS,
    PARAGRAPHS,
    SECTIONS,
    TEXT_UNITS,
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


def collect(root: etree._Element) -> Collected:
    """All blocks of a document: abstracts, then the texts with front, body and back."""
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
    """The sections open at one place of the text; `open` moves on to the next heading.

    3.1 lies in 3, A.1 in A, and a letter lies in a roman numeral (the IEEE habit: "II. METHODS",
    "A. Subjects"). A heading without a number lies directly in the section that encloses the whole
    outline.
    """

    def __init__(self, base: tuple[str, ...]) -> None:
        self.base = base
        """Titles of the sections that enclose the outline."""
        self._open: list[tuple[HeadingNumber | None, str]] = []

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the sections open now, outermost first."""
        return (*self.base, *(title for _, title in self._open))

    def open(self, number: str, title: str) -> tuple[str, ...]:
        """Open the section of a heading; returns its path, its own title last."""
        stated = self._settled(
            heading_number(f"{number.strip(' .:()').upper()}. X") if number else _number_in(title)
        )
        while self._open and not self._encloses(self._open[-1][0], stated):
            self._open.pop()
        self._open.append((stated, title))
        return self.path

    def _encloses(self, outer: HeadingNumber | None, number: HeadingNumber | None) -> bool:
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

    def _settled(self, number: HeadingNumber | None) -> HeadingNumber | None:
        """A single roman digit behind its predecessor in the alphabet ("H", "I") is a letter."""
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
    """Reads elements into blocks; remembers the section, the zone and the paragraph being read."""

    def __init__(self, collected: Collected, reader: InlineReader) -> None:
        self._collected = collected
        self._reader = reader
        self._blocks: list[UnplacedBlock] = []
        self._zone = Zone.BODY
        self._path: tuple[str, ...] = ()
        self._run = TextRun()
        self._after_paragraph: list[UnplacedBlock] = []
        self._continues_sections = False

    def read(
        self, element: etree._Element, into: list[UnplacedBlock], zone: Zone, outline: SectionStack
    ) -> None:
        self._begin(into, zone, outline.path)
        self._flow(element, outline)
        self._flush()

    def read_text(self, text: etree._Element) -> None:
        """Read a `text`: front, body and back; in GROBID's training files, anything beside them."""
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
                self._begin(self._collected.body, Zone.BODY, outline.path)
                self._child(child, outline)
            self._reader.string(child.tail, self._run)
        self._flush()

    def _begin(self, blocks: list[UnplacedBlock], zone: Zone, path: tuple[str, ...]) -> None:
        if blocks is not self._blocks:
            self._flush()
        self._blocks, self._zone, self._path = blocks, zone, path

    def _read_body(self, body: etree._Element, outline: SectionStack) -> None:
        self._continues_sections = body.find("{*}div/{*}div") is None
        floats = trailing_floats(body)
        self._begin(self._collected.body, Zone.BODY, outline.path)
        self._reader.string(body.text, self._run)
        for child in body:
            if child in floats:
                self._begin(self._collected.floats, Zone.BODY, ())
            self._child(child, outline)
            self._reader.string(child.tail, self._run)
        self._flush()

    def _read_back(self, back: etree._Element) -> None:
        for child in back:
            self._collected.back.append([])
            is_section = name_of(child).startswith(SECTIONS)
            zone = zone_in_back(child, heading_of(child)) if is_section else Zone.ANNEX
            is_untitled = zone is Zone.STATEMENTS and child.find(".//{*}head") is None
            outline = SectionStack((STATEMENTS_HEADING,) if is_untitled else ())
            self._begin(self._collected.back[-1], zone, outline.path)
            self._child(child, outline)
            self._reader.string(child.tail, self._run)
        self._flush()

    def _flow(self, element: etree._Element, outline: SectionStack) -> None:
        """Mixed content: text and inline elements run on, blocks end the paragraph."""
        self._reader.string(element.text, self._run)
        for child in element:
            self._child(child, outline)
            self._reader.string(child.tail, self._run)

    def _child(self, child: etree._Element, outline: SectionStack) -> None:
        """Read one element, without the text behind it."""
        name = name_of(child)
        if not name or is_unread(child, name):
            self._reader.element(child, self._run)
        elif name.startswith(SECTIONS):
            self._section(child, outline)
        elif name == "head":
            self._heading(child, outline)
        elif self._is_unit(child, name):
            self._unit(child, name)
        elif holds_blocks(child):
            self._group(child, name, outline)
        elif name in PARAGRAPHS:
            self._flush()
            self._reader.element(child, self._run, self._set_aside)
            self._flush()
        else:
            self._reader.element(child, self._run, self._set_aside)

    def _is_unit(self, element: etree._Element, name: str) -> bool:
        """Whether an element is a block of its own kind; a formula inside a paragraph is words of
        its sentence."""
        if name == "formula":
            parent = element.getparent()
            return parent is not None and name_of(parent) not in PARAGRAPHS
        if name == "note":
            return is_block_note(element)
        return name == "list" or name in FLOATS or name in CODE

    def _unit(self, element: etree._Element, name: str) -> None:
        if name == "table" or name not in FLOATS:
            self._flush()
        if name in FLOATS:
            blocks = float_blocks(element, self._reader, self._path, self._zone)
            (self._after_paragraph if len(self._run) else self._blocks).extend(blocks)
        elif name == "list":
            lines = list_lines(element, self._reader, self._set_aside)
            self._emit(
                UnplacedBlock(BlockKind.LIST, TextRun.joined(lines, "\n"), self._path, self._zone)
            )
        elif name == "formula":
            self._emit(
                UnplacedBlock(BlockKind.FORMULA, self._reader.read(element), self._path, self._zone)
            )
        else:
            self._emit(self._code(element))

    def _section(self, section: etree._Element, outline: SectionStack) -> None:
        """The head of a section opens it in the outline around it; sections inside have their own
        outline."""
        self._flush()
        zone, path = self._zone, self._path
        self._zone = zone_of(section, zone, heading_of(section))
        if any(name_of(child) == "head" for child in section):
            self._headed_section(section, outline)
        else:
            self._path = outline.path if self._continues_sections else outline.base
            self._flow(section, outline)
        self._flush()
        self._zone = zone
        if not self._continues_sections:
            self._path = path

    def _headed_section(self, section: etree._Element, outline: SectionStack) -> None:
        inner: SectionStack | None = None
        self._reader.string(section.text, self._run)
        for child in section:
            name = name_of(child)
            if name == "head":
                self._heading(child, outline)
                inner = None
            elif name.startswith(SECTIONS):
                inner = inner or SectionStack(outline.path)
                self._section(child, inner)
                self._path = outline.path
            else:
                self._child(child, inner or outline)
            self._reader.string(child.tail, self._run)

    def _heading(self, head: etree._Element, outline: SectionStack) -> None:
        """A heading opens a section, unless it repeats the title around it (an abstract headed
        "Abstract")."""
        self._flush()
        run, number = TextRun(), " ".join((head.get("n") or "").split())
        self._reader.element(head, run, self._set_aside)
        title = run.text
        printed = _printed_title(number, title)
        if printed and printed.casefold() not in {base.casefold() for base in outline.base[-1:]}:
            self._path = outline.open(number, printed)
        heading = run if printed == title else run.headed(number, len(self._reader.page_labels))
        self._emit(UnplacedBlock(BlockKind.HEADING, heading, self._path, self._zone))

    def _group(self, element: etree._Element, name: str, outline: SectionStack) -> None:
        """An element that holds paragraphs (a quotation, a speech, a nested text): read through
        it."""
        stands_apart = name in BLOCKS or name in PARAGRAPHS or name in GROUPS
        if stands_apart:
            self._flush()
        run, start = self._run, self._run.next_start
        self._flow(
            element, SectionStack(self._path) if name in ("floatingText", "group") else outline
        )
        if self._run is run:
            run.mark(start, areas_of(element), is_block=name in TEXT_UNITS)
        if stands_apart:
            self._flush()

    def _code(self, element: etree._Element) -> UnplacedBlock:
        run = TextRun()
        lines = [
            line.rstrip() for line in "".join(str(text) for text in element.itertext()).splitlines()
        ]
        self._reader.verbatim("\n".join(lines).strip("\n"), run)
        self._reader.count_breaks(element)
        run.mark(0, areas_of(element), is_block=True)
        return UnplacedBlock(
            BlockKind.CODE, run, self._path, self._zone, title=element.get("lang") or ""
        )

    def _set_aside(self, element: etree._Element) -> None:
        self._after_paragraph.extend(float_blocks(element, self._reader, self._path, self._zone))

    def _emit(self, block: UnplacedBlock) -> None:
        """Add a block, if it has text, and what was set aside in it."""
        below, self._after_paragraph = self._after_paragraph, []
        if block.run.text:
            self._blocks.append(block)
        self._blocks.extend(below)

    def _flush(self) -> None:
        """End the paragraph being read."""
        run, self._run = self._run, TextRun()
        self._emit(UnplacedBlock(BlockKind.PARAGRAPH, run, self._path, self._zone))


def _printed_title(number: str, title: str) -> str:
    """A heading as printed: its number, if the title does not carry it, and the title."""
    number = " ".join(number.split())
    if not number or title.startswith(number):
        return title
    return f"{number} {title}".strip()


def _number_in(title: str) -> HeadingNumber | None:
    number = heading_number(title)
    return number if number and number.style == "arabic" else None
