"""Running text of TEI elements: what the words inside a paragraph, a cell or a caption read as."""

from collections.abc import Callable

from lxml import etree

from rag_assets.parsing.formats.tei.coords import areas_of
from rag_assets.parsing.formats.tei.elements import (
    RUNNING,
    SEPARATED,
    TEXT_UNITS,
    is_block_note,
    is_unread,
    name_of,
    reading_of,
)
from rag_assets.parsing.formats.tei.text import TextRun
from rag_assets.parsing.shared.files.xml_trees import entity_text

SetAside = Callable[[etree._Element], None]
"""Takes a note or a figure out of the text it stands in."""


class InlineReader:
    """Adds elements to runs of text and counts the page breaks and running headers met on the way."""

    def __init__(self) -> None:
        self.page_labels: list[str | None] = []
        """`@n` of each page break so far."""
        self.n_running = 0
        """Headers, footers and page numbers passed over so far."""

    def string(self, text: str | None, run: TextRun) -> None:
        """Add text that stands where the reader is now."""
        run.add(text, len(self.page_labels))

    def verbatim(self, text: str, run: TextRun) -> None:
        """Add text whose white space matters."""
        run.add_verbatim(text, len(self.page_labels))

    def read(self, element: etree._Element) -> TextRun:
        """What an element reads as by itself, notes and figures in it included."""
        run = TextRun()
        self.element(element, run)
        return run

    def element(self, element: etree._Element, run: TextRun, aside: SetAside | None = None) -> None:
        """Add an element's text; notes and figures go to `aside`, or into the text when there is none."""
        name = name_of(element)
        if not name:
            self.string(entity_text(element) if isinstance(element, etree._Entity) else None, run)
        elif name in ("lb", "pb", "cb"):
            self._break(element, name, run)
        elif is_unread(element, name):
            self.pass_over(element, name)
        elif name == "choice":
            reading = reading_of(element)
            if reading is not None:
                self.element(reading, run, aside)
        elif aside is not None and (name == "figure" or (name == "note" and is_block_note(element))):
            aside(element)
        else:
            self._content(element, name, run, aside)

    def pass_over(self, element: etree._Element, name: str) -> None:
        """Leave an element out, but not the page breaks inside it."""
        if name in RUNNING or name == "note":
            self.n_running += 1
        self.count_breaks(element)

    def count_breaks(self, element: etree._Element) -> None:
        """Count the page breaks inside an element that is read otherwise."""
        self.page_labels.extend(page_break.get("n") for page_break in element.iter("{*}pb"))

    def _content(self, element: etree._Element, name: str, run: TextRun, aside: SetAside | None) -> None:
        if name in SEPARATED:
            run.space()
        start = run.next_start
        self.string(element.text, run)
        for child in element:
            self.element(child, run, aside)
            self.string(child.tail, run)
        run.mark(start, areas_of(element), is_block=name in TEXT_UNITS)
        if name == "ref":
            run.targets.append((element.get("target") or "").removeprefix("#"))
        if name in SEPARATED:
            run.space()

    def _break(self, element: etree._Element, name: str, run: TextRun) -> None:
        if name == "pb":
            self.page_labels.append(element.get("n"))
        if element.get("break") == "no":
            run.join_lines()
        elif name == "lb":
            run.end_line()
