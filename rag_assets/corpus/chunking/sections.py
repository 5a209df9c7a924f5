"""Groups the blocks of a paper into runs: blocks of one section that may share a chunk.

A run ends where the section, the zone or the author (people or a model) changes, and at back
matter. A chunk of one section has the heading as its section title, not in its text. Runs keep
their headings for chunks of several sections.

A section shorter than the minimum (a stray line, the sentence before the first subsection) is
merged with a neighbour: the one with which it shares the deepest common heading, and of two equally
near ones the shorter. Never merged are sections without a common heading, runs of different zones
or authors, and runs with back matter between them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile

from rag_assets.core.domain import BLOCK_SEPARATOR, Block, BlockKind, Zone
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ChunkingSettings
from rag_assets.corpus.chunking.units import (
    PlacedBlock,
    Unit,
    figure_units,
    line_units,
    row_units,
    sentence_units,
    whole_unit,
)

STRATEGIES: dict[BlockKind, Callable[[PlacedBlock], list[Unit]]] = {
    BlockKind.HEADING: whole_unit,
    BlockKind.PARAGRAPH: sentence_units,
    BlockKind.FOOTNOTE: sentence_units,
    BlockKind.FORMULA: whole_unit,
    BlockKind.LIST: line_units,
    BlockKind.CODE: line_units,
    BlockKind.TABLE: row_units,
    BlockKind.FIGURE: figure_units,
}


@dataclass(frozen=True)
class UnitRun:
    """Consecutive units that may share a chunk."""

    section_id: str
    section_path: tuple[str, ...]
    """Titles of the sections around it, outermost first."""
    zone: Zone
    is_generated: bool
    units: tuple[Unit, ...]
    headings: tuple[Unit, ...] = ()
    """The headings between this run and the run before."""
    follows: bool = False
    """Whether only headings are between this run and the run before, and both have the same zone
    and author."""


def read_runs(paper_id: str, blocks: Sequence[Block]) -> list[UnitRun]:
    """The runs of a paper in reading order. The `gap` of each unit and heading is the text between
    it and the unit before."""
    reader = _RunReader(paper_id, BLOCK_SEPARATOR.join(block.text for block in blocks))
    for placed in _placed(blocks):
        reader.read(placed)
    reader.close()
    return reader.runs


class _RunReader:
    """Collects blocks into runs. `read` takes one block after another; `close` ends the last
    run."""

    def __init__(self, paper_id: str, document: str) -> None:
        self.runs: list[UnitRun] = []
        self._paper_id = paper_id
        self._document = document
        self._run: list[PlacedBlock] = []
        self._headings: list[PlacedBlock] = []
        # whether the next run cannot be merged with the one before
        self._is_after_gap = True
        # two sections of the same path are told apart by the number of headings
        self._n_headings: dict[tuple[str, ...], int] = {}

    def read(self, placed: PlacedBlock) -> None:
        """Add a block to the current run, or end the run at a heading, at text that is not searched
        (back matter), or where section, zone or author changes."""
        block = placed.block
        if block.is_indexable:
            if self._run and _run_key(self._run[0].block) != _run_key(block):
                self.close()
            self._run.append(placed)
        elif block.kind is BlockKind.HEADING:
            if block.text.strip():
                self.close()
                self._headings.append(placed)
            self._n_headings[block.section_path] = self._n_headings.get(block.section_path, 0) + 1
        elif block.text.strip():  # text that is not searched
            self.close()
            self._headings.clear()
            self._is_after_gap = True

    def close(self) -> None:
        """End the current run and add it to `runs`."""
        if not self._run:
            return
        first = self._run[0].block
        previous = self.runs[-1] if self.runs and not self._is_after_gap else None
        headings = (
            []
            if first.is_generated
            else [heading for heading in self._headings if heading.block.zone is first.zone]
        )
        run = UnitRun(
            section_id=_section_id(
                self._paper_id, first.section_path, self._n_headings.get(first.section_path, 1)
            ),
            section_path=first.section_path,
            zone=first.zone,
            is_generated=first.is_generated,
            units=(),
            follows=previous is not None
            and (previous.zone, previous.is_generated) == (first.zone, first.is_generated)
            and len(headings) == len(self._headings),
        )
        end = previous.units[-1].end if previous and run.follows else None
        units = self._units([*headings, *self._run], end)
        n_headings = sum(unit.kind is BlockKind.HEADING for unit in units)
        self.runs.append(
            replace(run, headings=tuple(units[:n_headings]), units=tuple(units[n_headings:]))
        )
        self._run, self._headings, self._is_after_gap = [], [], False

    def _units(self, placed: Sequence[PlacedBlock], previous_end: int | None) -> list[Unit]:
        """The units of consecutive blocks. Each block's first unit gets the text between it and the
        unit before as its `gap`.

        previous_end: document offset where the unit before them ends; None if the first unit
        follows nothing, so that it gets no gap.
        """
        units: list[Unit] = []
        for placed_block in placed:
            block_units = STRATEGIES[placed_block.block.kind](placed_block)
            if block_units and previous_end is not None:
                # text in between, such as a header of a table that makes no unit, is left out
                between = self._document[previous_end : block_units[0].start]
                block_units[0] = replace(
                    block_units[0], gap=BLOCK_SEPARATOR if between.strip() else between
                )
            units += block_units
            previous_end = units[-1].end if units else previous_end
        return units


def _run_key(block: Block) -> tuple[tuple[str, ...], Zone, bool]:
    """What all blocks of a run have in common."""
    return block.section_path, block.zone, block.is_generated


def _placed(blocks: Sequence[Block]) -> Iterator[PlacedBlock]:
    """Each block with its index and its offset in the document."""
    offset = 0
    for index, block in enumerate(blocks):
        yield PlacedBlock(block, index, offset)
        offset += len(block.text) + len(BLOCK_SEPARATOR)


def _section_id(paper_id: str, path: tuple[str, ...], occurrence: int) -> str:
    """The id of a section: a hash of its path. The second section with the same path gets "-2"."""
    digest = fingerprint("section", path)[:12]
    return f"{paper_id}:{digest}" if occurrence == 1 else f"{paper_id}:{digest}-{occurrence}"


@dataclass(frozen=True)
class _Group:
    """The runs `[first, last)`, which will share chunks."""

    first: int
    last: int
    section_path: tuple[str, ...]
    """The titles that the paths of all its runs begin with."""
    n_tokens: int
    n_chars: int


def merged_runs(
    runs: Sequence[UnitRun], n_tokens: Sequence[int], settings: ChunkingSettings
) -> list[tuple[int, int]]:
    """Decide which runs are chunked together: ranges `[first, last)`, in order; every run is in
    one.

    n_tokens: the size of each run. Of all pairs of neighbours with a short group in them, the
    nearest pair is merged, again and again until no such pair is left.
    """

    def is_short(group: _Group) -> bool:
        if settings.include_front and runs[group.first].zone is Zone.FRONT:
            return False
        return group.n_tokens < settings.min_tokens or group.n_chars < settings.min_chars

    def distance(group: _Group, following: _Group) -> tuple[int, int] | None:
        """How far apart two neighbours are: minus the depth of their common heading, then the
        number of their tokens. None if they may not be merged."""
        if not runs[following.first].follows:
            return None
        common = common_path([group.section_path, following.section_path])
        if any(heading.section_path == common for heading in runs[following.first].headings):
            common = common[:-1]  # a second section of the same name begins here
        if not common or not (is_short(group) or is_short(following)):
            return None
        return -len(common), group.n_tokens + following.n_tokens

    groups = []
    for _, members in groupby(
        range(len(runs)), lambda index: (runs[index].section_id, runs[index].zone)
    ):
        # every run of a section gets the size of the whole section: a section is short or not
        section = list(members)
        n_section = sum(n_tokens[index] for index in section)
        n_chars = sum(len(unit.text) for index in section for unit in runs[index].units)
        groups += [
            _Group(index, index + 1, runs[index].section_path, n_section, n_chars)
            for index in section
        ]
    distances = [distance(*pair) for pair in pairwise(groups)]
    while candidates := [
        (value, index) for index, value in enumerate(distances) if value is not None
    ]:
        _, index = min(candidates)
        group, following = groups[index : index + 2]
        groups[index : index + 2] = [
            _Group(
                group.first,
                following.last,
                common_path([group.section_path, following.section_path]),
                group.n_tokens + following.n_tokens,
                group.n_chars + following.n_chars,
            )
        ]
        # only the distances of the merged group to its two neighbours change
        changed = groups[max(0, index - 1) : index + 2]
        distances[max(0, index - 1) : index + 2] = [distance(*pair) for pair in pairwise(changed)]
    return [(group.first, group.last) for group in groups]


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The titles that all paths begin with."""
    levels = takewhile(lambda titles: len(set(titles)) == 1, zip(*paths, strict=False))
    return tuple(titles[0] for titles in levels)
