"""Blocks on their way: text and kind are known, pages and place in the reading order not yet."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_assets.domain import BlockKind, Cell, Zone
from rag_assets.parsing.tei.coords import Area
from rag_assets.parsing.tei.text import TextRun


@dataclass(frozen=True, slots=True)
class Draft:
    """One block to be."""

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
    """Where a figure, table or note stands as a whole, its picture included."""


@dataclass
class Collected:
    """What the walk over a document found."""

    abstract: list[Draft] = field(default_factory=list)
    """From the header, so before any page break."""
    front: list[Draft] = field(default_factory=list)
    body: list[Draft] = field(default_factory=list)
    floats: list[Draft] = field(default_factory=list)
    """Figures, tables and notes that GROBID moved behind the body, in its order."""
    back: list[list[Draft]] = field(default_factory=list)
    """One list a division behind the body: among them, the order is not that of the pages."""
    n_running: int = 0
    """Headers, footers and page numbers passed over."""
    page_labels: list[str | None] = field(default_factory=list)
    """`@n` of each page break, in order."""

    @property
    def main(self) -> list[Draft]:
        """All that is read in one go: abstract, front matter and body."""
        return [*self.abstract, *self.front, *self.body]

    @property
    def drafts(self) -> list[Draft]:
        """Everything, in the order of the file."""
        return [*self.main, *self.floats, *(draft for part in self.back for draft in part)]

    def chains(self) -> Iterator[list[Draft]]:
        """Runs of drafts in which the pages never go back, since the paper was read page after page."""
        yield self.main
        yield from self.back
