"""Text of a TEI file while it is read: runs of text with their coordinates, and blocks that have no
pages yet.

`read_xml` parses untrusted XML. Nothing outside the file is opened: no DTD, entity, XInclude or
network access. Entities inside it are not expanded: an entity stays a node of the tree, which
`entity_text` turns into safe text. The depth is limited, and libxml2's own limits apply.

`InlineReader` reads the text inside a paragraph, a cell or a caption.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from lxml import etree

from rag_assets.core.domain import BlockKind, Cell, Zone
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.formats.tei.elements import (
    CHOICES,
    RUNNING,
    SEPARATED,
    TEXT_UNITS,
    Area,
    areas_of,
    is_block_note,
    is_number_mark,
    is_unread,
    name_of,
    reading_of,
    script_of,
)
from rag_assets.parsing.shared.files import MAX_DEPTH
from rag_assets.parsing.shared.superscripts import ScriptWriter, mark_after, raised_after

_SAFE_PARSER = partial(
    etree.XMLParser, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
)
_LIMIT_MESSAGES = re.compile(
    r"excessive depth|huge|too long|too big|too large|amplification|entity.{0,200}(?:loop|recurs)|maximum",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class XmlTree:
    root: etree._Element
    notes: tuple[str, ...] = ()
    """What had to be repaired to read it; empty for a well-formed file."""
    is_cut_off: bool = False
    """The closing tag of the root is missing."""


def read_xml(content: bytes) -> XmlTree:
    """Parse the bytes of a file, in recovery mode if it is not well-formed.

    Raises DocumentLimit when it passes a limit of depth or expansion, UnreadableDocument when it
    holds no XML element. Errors are phrases that can follow the name of the file.
    """
    if not content.strip():
        raise UnreadableDocument("is empty, XML was wanted. Write the file again.")
    try:
        tree = XmlTree(etree.fromstring(content, _SAFE_PARSER()))
    except etree.XMLSyntaxError as error:
        tree = _recovered(content, error)
    _check_depth(tree.root)
    return tree


def entity_text(entity: etree._Entity) -> str:
    """The text of an entity that was not expanded: the character of an HTML name (`&nbsp;`), else
    the reference as it is written."""
    reference = entity.text or ""
    return html.unescape(reference)


def _recovered(content: bytes, error: etree.XMLSyntaxError) -> XmlTree:
    """Parse again and skip over errors, unless the first attempt ended at a limit. error: from the
    first attempt."""
    problem = next(iter((error.msg or "").strip().splitlines()), "no reason given")[:200]
    if _LIMIT_MESSAGES.search(problem):
        raise DocumentLimit(
            f"passed a safety limit of the XML parser ({problem}). Remove the nesting or the entities from the file."
        ) from error
    try:
        root = etree.fromstring(content, _SAFE_PARSER(recover=True))
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise UnreadableDocument(
            f"holds no readable XML ({problem}). Write the file again, or remove it."
        ) from error
    last_end = content.replace(b"\0", b"").rpartition(b"</")[2]  # UTF-16 has zeros
    is_cut_off = name_of(root).encode() not in last_end
    loss = ", and its end is missing" if is_cut_off else ""
    note = f"The XML is not well-formed ({problem}){loss}; it was read in recovery mode."
    return XmlTree(root, (note,), is_cut_off)


def _check_depth(root: etree._Element) -> None:
    """Raise DocumentLimit for deep nesting. Visits the tree level by level, because recursion would
    overflow on a deep tree."""
    depth, level = 1, [root]
    while level := [child for element in level for child in element]:
        depth += 1
        if depth > MAX_DEPTH:
            raise DocumentLimit(f"nests elements more than {MAX_DEPTH} deep. Flatten it.")


_HYPHENS = "-\u2010\u00ad"


@dataclass(frozen=True, slots=True)
class Mark:
    """The coordinates of one element, whose text is `text[start:end]` of a run."""

    start: int
    end: int
    areas: tuple[Area, ...]
    is_block: bool
    """Whether the element is a whole text unit (p, s, head ...), not a reference inside one."""


class TextRun:
    """The text of one block, or of a part of it, with normalised white space. Offsets count
    characters of `text`."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.targets: list[str] = []
        """Ids that the text refers to."""
        self._parts: list[str] = []
        self._length = 0
        self.n_open_brackets = 0
        self._break_counts: list[tuple[int, int]] = []
        """Offset and number of page breaks before it, where that number changes."""
        self._gap_follows = False
        """Whether a space is needed before the next text."""
        self._line_ended_in_hyphen = False
        self._joins_next = False
        """Whether the next text continues the last word."""

    def __len__(self) -> int:
        return self._length

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def glued_end(self) -> str:
        """The last 4 characters if the next text follows without white space; else empty."""
        return "" if self._gap_follows else "".join(part[-4:] for part in self._parts[-4:])[-4:]

    @property
    def next_start(self) -> int:
        """Offset of the next character that is not white space."""
        return self._length + (self._gap_follows and self._length > 0)

    def page_runs(self) -> list[tuple[int, int, int]]:
        """Start and end of each piece of text between two page breaks, and the number of page
        breaks before it, counted in the whole document."""
        starts = [start for start, _ in self._break_counts]
        ends = [*starts[1:], self._length]
        return [
            (start, end, breaks)
            for (start, breaks), end in zip(self._break_counts, ends, strict=True)
        ]

    def add(self, text: str | None, n_breaks: int) -> None:
        """Append text with normalised white space. n_breaks: page breaks before it in the
        document."""
        if not text:
            return
        words = " ".join(text.split())
        if not words:  # only white space
            self._gap_follows = self._gap_follows or not self._joins_next
            self._line_ended_in_hyphen = False
            return
        if text[0].isspace() and not self._joins_next:
            self._gap_follows = True
        elif self._line_ended_in_hyphen and words[0].islower():
            self._drop_hyphen()
        elif self._line_ended_in_hyphen:
            self._gap_follows = False
        self._append(words, n_breaks)
        self._gap_follows = text[-1].isspace()

    def space(self) -> None:
        """Put a space between the text so far and the next text."""
        self._gap_follows = True
        self._line_ended_in_hyphen = self._joins_next = False

    def end_line(self) -> None:
        """Note that a printed line ends here: the next text follows after a space, or joins a word
        that a hyphen cut in two ("arte-", "rial")."""
        text = self._parts[-1] if self._parts else ""
        is_cut = not self._gap_follows and text[-1:] in _HYPHENS and text[-2:-1].isalpha()
        self.space()
        self._line_ended_in_hyphen = bool(text) and is_cut

    def join_lines(self) -> None:
        """Note that a printed line ends here inside a word, as the markup says: the next text joins
        it, without white space or hyphen."""
        self._gap_follows = False
        if self._parts and self._parts[-1][-1] in _HYPHENS:
            self._drop_hyphen()
        self._joins_next = True

    def mark(self, start: int, areas: tuple[Area, ...], *, is_block: bool) -> None:
        """Add the coordinates of the text from `start` to here, if there are any."""
        if areas and start < self._length:
            self.marks.append(Mark(start, self._length, areas, is_block))

    def headed(self, prefix: str, n_breaks: int) -> "TextRun":
        """A run of `prefix`, the number of a heading, and the text of this run. Marks of the first
        character of this run include the number. n_breaks: used if this run is empty."""
        head = TextRun()
        head.add(prefix, self._break_counts[0][1] if self._break_counts else n_breaks)
        joined = TextRun.joined([head, self] if self._length else [head], " ")
        title_start = len(head) + 1
        joined.marks = [
            replace(mark, start=0) if mark.start == title_start else mark for mark in joined.marks
        ]
        return joined

    @classmethod
    def joined(cls, runs: Sequence["TextRun"], separator: str) -> "TextRun":
        """One run with the texts of all runs, separated by `separator`, also around empty ones."""
        joined = cls()
        for index, run in enumerate(runs):
            if index:
                joined._parts.append(separator)
                joined._length += len(separator)
            offset = joined._length
            joined._parts.extend(run._parts)
            joined._length += run._length
            joined.marks.extend(
                replace(mark, start=mark.start + offset, end=mark.end + offset)
                for mark in run.marks
            )
            joined._break_counts.extend(
                (start + offset, n_breaks) for start, n_breaks in run._break_counts
            )
            joined.targets.extend(run.targets)
        return joined

    def _append(self, text: str, n_breaks: int) -> None:
        """Append text as it is, with a space before it if one is needed, and reset what was noted
        about the end of the text before."""
        if self._gap_follows and self._length:
            self._parts.append(" ")
            self._length += 1
        if not self._break_counts or self._break_counts[-1][1] != n_breaks:
            self._break_counts.append((self._length, n_breaks))
        self._parts.append(text)
        self._length += len(text)
        n_opened = sum(map(text.count, "([")) - sum(map(text.count, ")]"))
        self.n_open_brackets = max(0, self.n_open_brackets + n_opened)
        self._gap_follows = self._line_ended_in_hyphen = self._joins_next = False

    def _drop_hyphen(self) -> None:
        self._gap_follows = False
        self._parts[-1] = self._parts[-1][:-1]
        self._length -= 1
        self.marks = [replace(mark, end=min(mark.end, self._length)) for mark in self.marks]


SetAside = Callable[[etree._Element], None]
"""Function that takes a note or a figure, which does not become part of the text around it."""


class InlineReader:
    """Adds the text of elements to runs, and counts the page breaks and running headers so far.
    Elements must be read in the order of the file, because the number of page breaks before a text
    is its page."""

    def __init__(self) -> None:
        self.page_labels: list[str | None] = []
        """`@n` of each page break so far."""
        self.n_running = 0
        """Number of headers, footers and page numbers that were left out so far."""
        self._writer: ScriptWriter | None = None

    def add_text(self, text: str | None, run: TextRun) -> None:
        """Add text to the run, with raised or lowered digits inside such an element."""
        if self._writer and text:
            text = self._writer(run.glued_end, text)
        run.add(text, len(self.page_labels))

    def read(self, element: etree._Element) -> TextRun:
        """The text of one element, with the notes and figures inside."""
        run = TextRun()
        self.add_element(element, run)
        return run

    def add_element(
        self, element: etree._Element, run: TextRun, aside: SetAside | None = None
    ) -> None:
        """Add the text of an element to the run. Notes and figures are given to `aside`; without
        it, their text is added too."""
        name = name_of(element)
        if not name:
            self.add_text(entity_text(element) if isinstance(element, etree._Entity) else None, run)
        elif name in ("lb", "pb", "cb"):
            if name == "pb":
                self.page_labels.append(element.get("n"))
            if element.get("break") == "no":
                run.join_lines()
            elif name == "lb":
                run.end_line()
        elif is_unread(element, name):
            self.n_running += name in RUNNING or name == "note"
            self.count_breaks(element)
        elif name in CHOICES:
            reading = reading_of(element)
            if reading is not None:
                self.add_element(reading, run, aside)
        elif aside is not None and (
            name == "figure" or (name == "note" and is_block_note(element))
        ):
            aside(element)
        else:
            self._add_content(element, name, run, aside)

    def count_breaks(self, element: etree._Element) -> None:
        """Count the page breaks inside an element whose content is not read by this reader."""
        self.page_labels.extend(page_break.get("n") for page_break in element.iter("{*}pb"))

    def _add_content(
        self, element: etree._Element, name: str, run: TextRun, aside: SetAside | None
    ) -> None:
        """Add the text of an element and of its children, then its coordinates; a reference adds
        the id of its target."""
        if name in SEPARATED:
            run.space()
        start, outer_writer = run.next_start, self._writer
        self._writer = self._writer_in(element, name, run)
        self.add_text(element.text, run)
        for child in element:
            self.add_element(child, run, aside)
            self.add_text(child.tail, run)
        self._writer = outer_writer
        run.mark(start, areas_of(element), is_block=name in TEXT_UNITS)
        if name == "ref":
            run.targets.append((element.get("target") or "").removeprefix("#"))
        if name in SEPARATED:
            run.space()

    def _writer_in(self, element: etree._Element, name: str, run: TextRun) -> ScriptWriter | None:
        """The function that writes the text of an element: `mark_after` for the number of a note or
        reference. Such a number is plain text at the beginning of a run or in brackets, unless its
        markup raises it."""
        own = script_of(element, name)
        is_raised = raised_after in (own, self._writer)
        if is_number_mark(element, name, run.glued_end) and (
            is_raised or (len(run) and not run.n_open_brackets)
        ):
            return mark_after
        return self._writer if own is None or self._writer is mark_after else own


@dataclass(frozen=True, slots=True)
class UnplacedBlock:
    """A block whose pages and position in the reading order are not known yet."""

    kind: BlockKind
    run: TextRun
    section_path: tuple[str, ...]
    zone: Zone
    title: str = ""
    caption: TextRun | None = None
    """The run from which the title of a table was read; it knows the page breaks in it."""
    cells: tuple[Cell, ...] = ()
    element_id: str = ""
    """The `xml:id` that text refers to."""
    areas: tuple[Area, ...] = ()
    """The coordinates of a whole figure, table or note, with its picture."""


@dataclass
class Collected:
    """All blocks of a document, before they are put into reading order."""

    abstract: list[UnplacedBlock] = field(default_factory=list)
    """Blocks from the header; no page break is before them."""
    front: list[UnplacedBlock] = field(default_factory=list)
    body: list[UnplacedBlock] = field(default_factory=list)
    floats: list[UnplacedBlock] = field(default_factory=list)
    """Figures, tables and notes that GROBID moved to the end of the body, in its order."""
    back: list[list[UnplacedBlock]] = field(default_factory=list)
    """One list for each division after the body; the order of the divisions may differ from that of
    the pages."""
    n_running: int = 0
    """Number of headers, footers and page numbers that were left out."""
    page_labels: list[str | None] = field(default_factory=list)
    """`@n` of each page break, in order."""

    @property
    def main(self) -> list[UnplacedBlock]:
        """The blocks that follow one another in the paper: abstract, front matter and body."""
        return [*self.abstract, *self.front, *self.body]

    @property
    def blocks(self) -> list[UnplacedBlock]:
        """Everything, in the order of the file."""
        return [*self.main, *self.floats, *(block for part in self.back for block in part)]

    def chains(self) -> Iterator[list[UnplacedBlock]]:
        """Lists of blocks in each of which the page numbers never decrease, because the paper was
        read page by page."""
        yield self.main
        yield from self.back
