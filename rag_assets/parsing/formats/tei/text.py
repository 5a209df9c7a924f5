"""What the walk over a TEI tree collects: text with its marks, and the blocks made of it, still
without pages.

`InlineReader` reads the words inside a paragraph, a cell or a caption.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lxml import etree

from rag_assets.core.domain import BlockKind, Cell, Zone
from rag_assets.parsing.formats.tei.coords import Area, areas_of
from rag_assets.parsing.formats.tei.elements import (
    CHOICES,
    RUNNING,
    SEPARATED,
    TEXT_UNITS,
    is_block_note,
    is_number_mark,
    is_unread,
    name_of,
    reading_of,
    script_of,
)
from rag_assets.parsing.shared.superscripts import Written, mark_after, raised_after
from rag_assets.parsing.shared.xml_trees import entity_text

_HYPHENS = "-\u2010\u00ad"


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of `text[start:end]` on paper, by one element's coordinates."""

    start: int
    end: int
    areas: tuple[Area, ...]
    is_block: bool
    """The areas are those of a whole text unit (p, s, head ...), not of a reference inside one."""


class TextRun:
    """The text of one block or of a part of it, white space normalised."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []
        self.targets: list[str] = []
        """Ids that the text refers to."""
        self._parts: list[str] = []
        self._length = 0
        self.n_open_brackets = 0
        self._break_counts: list[tuple[int, int]] = []
        self._gap_follows = False
        self._line_ended_in_hyphen = False
        self._joins_next = False

    def __len__(self) -> int:
        return self._length

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def glued_end(self) -> str:
        """The last 4 characters, if the next ones follow without white space."""
        return "" if self._gap_follows else "".join(part[-4:] for part in self._parts[-4:])[-4:]

    @property
    def next_start(self) -> int:
        """Offset of the next character that is not white space."""
        return self._length + (self._gap_follows and self._length > 0)

    def page_runs(self) -> list[tuple[int, int, int]]:
        """Start, end and number of page breaks before it of each run between two page breaks."""
        starts = [start for start, _ in self._break_counts]
        ends = [*starts[1:], self._length]
        return [
            (start, end, breaks)
            for (start, breaks), end in zip(self._break_counts, ends, strict=True)
        ]

    def add(self, text: str | None, n_breaks: int) -> None:
        """Append text that follows `n_breaks` page breaks."""
        if not text:
            return
        words = " ".join(text.split())
        if not words:
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

    def add_verbatim(self, text: str, n_breaks: int) -> None:
        """Append text whose white space matters."""
        if text:
            self._append(text, n_breaks)

    def space(self) -> None:
        """Words before and after do not touch."""
        self._gap_follows = True
        self._line_ended_in_hyphen = self._joins_next = False

    def end_line(self) -> None:
        """A line ends here: words do not touch, unless a hyphen cuts one in two ("arte-",
        "rial")."""
        text = self._parts[-1] if self._parts else ""
        is_cut = not self._gap_follows and text[-1:] in _HYPHENS and text[-2:-1].isalpha()
        self.space()
        self._line_ended_in_hyphen = bool(text) and is_cut

    def join_lines(self) -> None:
        """A line ends here inside a word, by its markup: white space and hyphen around it are not
        text."""
        self._gap_follows = False
        if self._parts and self._parts[-1][-1] in _HYPHENS:
            self._drop_hyphen()
        self._joins_next = True

    def mark(self, start: int, areas: tuple[Area, ...], *, is_block: bool) -> None:
        """Add the place of the text from `start` to here."""
        if areas and start < self._length:
            self.marks.append(Mark(start, self._length, areas, is_block))

    def headed(self, prefix: str, n_breaks: int) -> "TextRun":
        """This run behind a number; what holds from its first character on holds for the number,
        too."""
        head = TextRun()
        head.add(prefix, self._break_counts[0][1] if self._break_counts else n_breaks)
        whole = TextRun.joined([head, self] if self._length else [head], " ")
        at = len(head) + 1
        whole.marks = [replace(mark, start=0) if mark.start == at else mark for mark in whole.marks]
        return whole

    @classmethod
    def joined(cls, runs: Sequence["TextRun"], separator: str) -> "TextRun":
        """All runs in one; empty ones keep their place between separators."""
        whole = cls()
        for index, run in enumerate(runs):
            if index:
                whole._parts.append(separator)
                whole._length += len(separator)
            at = whole._length
            whole._parts.extend(run._parts)
            whole._length += run._length
            whole.marks.extend(
                replace(mark, start=mark.start + at, end=mark.end + at) for mark in run.marks
            )
            whole._break_counts.extend(
                (start + at, n_breaks) for start, n_breaks in run._break_counts
            )
            whole.targets.extend(run.targets)
        return whole

    def _append(self, words: str, n_breaks: int) -> None:
        if self._gap_follows and self._length:
            self._parts.append(" ")
            self._length += 1
        if not self._break_counts or self._break_counts[-1][1] != n_breaks:
            self._break_counts.append((self._length, n_breaks))
        self._parts.append(words)
        self._length += len(words)
        n_open = sum(words.count(bracket) for bracket in "([") - sum(
            words.count(bracket) for bracket in ")]"
        )
        self.n_open_brackets = max(0, self.n_open_brackets + n_open)
        self._gap_follows = self._line_ended_in_hyphen = self._joins_next = False

    def _drop_hyphen(self) -> None:
        self._gap_follows = False
        self._parts[-1] = self._parts[-1][:-1]
        self._length -= 1
        self.marks = [replace(mark, end=min(mark.end, self._length)) for mark in self.marks]


SetAside = Callable[[etree._Element], None]
"""Takes a note or a figure out of the text around it."""


class InlineReader:
    """Adds elements to runs of text and counts the page breaks and running headers met on the
    way."""

    def __init__(self) -> None:
        self.page_labels: list[str | None] = []
        """`@n` of each page break so far."""
        self.n_running = 0
        """Headers, footers and page numbers passed over so far."""
        self._written: Written | None = None

    def string(self, text: str | None, run: TextRun) -> None:
        """Add text at the reader's place."""
        run.add(
            self._written(run.glued_end, text) if self._written and text else text,
            len(self.page_labels),
        )

    def verbatim(self, text: str, run: TextRun) -> None:
        """Add text whose white space matters."""
        run.add_verbatim(text, len(self.page_labels))

    def read(self, element: etree._Element) -> TextRun:
        """What an element reads as by itself, notes and figures in it included."""
        run = TextRun()
        self.element(element, run)
        return run

    def element(self, element: etree._Element, run: TextRun, aside: SetAside | None = None) -> None:
        """Add an element's text; notes and figures go to `aside`, or into the text when there is
        none."""
        name = name_of(element)
        if not name:
            self.string(entity_text(element) if isinstance(element, etree._Entity) else None, run)
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
                self.element(reading, run, aside)
        elif aside is not None and (
            name == "figure" or (name == "note" and is_block_note(element))
        ):
            aside(element)
        else:
            self._content(element, name, run, aside)

    def count_breaks(self, element: etree._Element) -> None:
        """Count the page breaks inside an element that is read otherwise."""
        self.page_labels.extend(page_break.get("n") for page_break in element.iter("{*}pb"))

    def _content(
        self, element: etree._Element, name: str, run: TextRun, aside: SetAside | None
    ) -> None:
        if name in SEPARATED:
            run.space()
        start, written = run.next_start, self._written
        self._written = self._written_in(element, name, run)
        self.string(element.text, run)
        for child in element:
            self.element(child, run, aside)
            self.string(child.tail, run)
        self._written = written
        run.mark(start, areas_of(element), is_block=name in TEXT_UNITS)
        if name == "ref":
            run.targets.append((element.get("target") or "").removeprefix("#"))
        if name in SEPARATED:
            run.space()

    def _written_in(self, element: etree._Element, name: str, run: TextRun) -> Written | None:
        """How digits in an element are written; a mark at the beginning of a text or in brackets is
        no raised one."""
        own = script_of(element, name)
        is_raised = raised_after in (own, self._written)
        if is_number_mark(element, name, run.glued_end) and (
            is_raised or (len(run) and not run.n_open_brackets)
        ):
            return mark_after
        return self._written if own is None or self._written is mark_after else own


@dataclass(frozen=True, slots=True)
class UnplacedBlock:
    """A block whose pages and place in the reading order are not known yet."""

    kind: BlockKind
    run: TextRun
    section_path: tuple[str, ...]
    zone: Zone
    title: str = ""
    caption: TextRun | None = None
    """The run that a table's title was read from, with the page breaks in it."""
    cells: tuple[Cell, ...] = ()
    element_id: str = ""
    """The `xml:id` that text refers to."""
    areas: tuple[Area, ...] = ()
    """The places of a figure, table or note as a whole, its picture included."""


@dataclass
class Collected:
    """What the walk over a document found."""

    abstract: list[UnplacedBlock] = field(default_factory=list)
    """From the header, so before any page break."""
    front: list[UnplacedBlock] = field(default_factory=list)
    body: list[UnplacedBlock] = field(default_factory=list)
    floats: list[UnplacedBlock] = field(default_factory=list)
    """Figures, tables and notes that GROBID moved behind the body, in its order."""
    back: list[list[UnplacedBlock]] = field(default_factory=list)
    """One list a division behind the body: among them, the order is not that of the pages."""
    n_running: int = 0
    """Headers, footers and page numbers passed over."""
    page_labels: list[str | None] = field(default_factory=list)
    """`@n` of each page break, in order."""

    @property
    def main(self) -> list[UnplacedBlock]:
        """All that is read in one go: abstract, front matter and body."""
        return [*self.abstract, *self.front, *self.body]

    @property
    def blocks(self) -> list[UnplacedBlock]:
        """Everything, in the order of the file."""
        return [*self.main, *self.floats, *(block for part in self.back for block in part)]

    def chains(self) -> Iterator[list[UnplacedBlock]]:
        """Runs of blocks in which the pages never go back, since the paper was read page after
        page."""
        yield self.main
        yield from self.back
