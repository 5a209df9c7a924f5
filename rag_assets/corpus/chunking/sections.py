"""Which blocks of a paper may share a chunk: runs of one section.

A run ends where the section, the zone or the author (people or a model) changes, and at back
matter. A chunk of one section has the heading as its section title and not in its text; runs keep
it for chunks of several sections.

A section shorter than the minimum (a stray line, the sentence before the first subsection) joins
the neighbour with which it shares the nearest heading; of two that are equally near, the shorter
one. Sections without a common heading, runs of different zones or authors, and runs with back
matter between them are never merged.
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
    zone: Zone
    is_generated: bool
    units: tuple[Unit, ...]
    headings: tuple[Unit, ...] = ()
    """The headings between the run before and this one."""
    follows: bool = False
    """Only headings are between the run before and this one, and their zone and author are the
    same."""


def read_runs(paper_id: str, blocks: Sequence[Block]) -> list[UnitRun]:
    """The runs of a paper in reading order; their units and headings have the gap to the text
    before."""
    reader = _RunReader(paper_id, BLOCK_SEPARATOR.join(block.text for block in blocks))
    for placed in _placed(blocks):
        reader.read(placed)
    reader.close()
    return reader.runs


class _RunReader:
    """Collects blocks into runs."""

    def __init__(self, paper_id: str, document: str) -> None:
        self.runs: list[UnitRun] = []
        self._paper_id = paper_id
        self._document = document
        self._run: list[PlacedBlock] = []
        self._headings: list[PlacedBlock] = []
        self._is_after_gap = True
        self._n_headings: dict[tuple[str, ...], int] = {}

    def read(self, placed: PlacedBlock) -> None:
        block = placed.block
        if block.is_indexable:
            if self._run and _belonging(self._run[0].block) != _belonging(block):
                self.close()
            self._run.append(placed)
        elif block.kind is BlockKind.HEADING:
            if block.text.strip():
                self.close()
                self._headings.append(placed)
            self._n_headings[block.section_path] = self._n_headings.get(block.section_path, 0) + 1
        elif block.text.strip():
            self.close()
            self._headings.clear()
            self._is_after_gap = True

    def close(self) -> None:
        """End the run that is being read."""
        if not self._run:
            return
        first = self._run[0].block
        before = self.runs[-1] if self.runs and not self._is_after_gap else None
        headings = (
            []
            if first.is_generated
            else [one for one in self._headings if one.block.zone is first.zone]
        )
        run = UnitRun(
            section_id=_section_id(
                self._paper_id, first.section_path, self._n_headings.get(first.section_path, 1)
            ),
            section_path=first.section_path,
            zone=first.zone,
            is_generated=first.is_generated,
            units=(),
            follows=before is not None
            and (before.zone, before.is_generated) == (first.zone, first.is_generated)
            and len(headings) == len(self._headings),
        )
        end = before.units[-1].end if before and run.follows else None
        units = self._units([*headings, *self._run], end)
        n_headings = sum(unit.kind is BlockKind.HEADING for unit in units)
        self.runs.append(
            replace(run, headings=tuple(units[:n_headings]), units=tuple(units[n_headings:]))
        )
        self._run, self._headings, self._is_after_gap = [], [], False

    def _units(self, placed: Sequence[PlacedBlock], end: int | None) -> list[Unit]:
        """The units of blocks; `end` is where the unit before them ends, None when they follow
        nothing."""
        units: list[Unit] = []
        for one in placed:
            own = STRATEGIES[one.block.kind](one)
            if own and end is not None:
                between = self._document[
                    end : own[0].start
                ]  # rows of a table without text are left out
                own[0] = replace(own[0], gap=BLOCK_SEPARATOR if between.strip() else between)
            units += own
            end = units[-1].end if units else end
        return units


def _belonging(block: Block) -> tuple[tuple[str, ...], Zone, bool]:
    return block.section_path, block.zone, block.is_generated


def _placed(blocks: Sequence[Block]) -> Iterator[PlacedBlock]:
    at = 0
    for index, block in enumerate(blocks):
        yield PlacedBlock(block, index, at)
        at += len(block.text) + len(BLOCK_SEPARATOR)


def _section_id(paper_id: str, path: tuple[str, ...], occurrence: int) -> str:
    digest = fingerprint("section", path)[:12]
    return f"{paper_id}:{digest}" if occurrence == 1 else f"{paper_id}:{digest}-{occurrence}"


@dataclass(frozen=True)
class _Group:
    """Runs `[first, last)` that will share chunks."""

    first: int
    last: int
    section_path: tuple[str, ...]
    """The titles that the paths of its runs begin with."""
    n_tokens: int
    n_chars: int


def merged_runs(
    runs: Sequence[UnitRun], n_tokens: Sequence[int], settings: ChunkingSettings
) -> list[tuple[int, int]]:
    """Ranges `[first, last)` of runs that are chunked together, in order; every run is in one.

    The nearest pair of neighbours, one of them short, is merged until no such pair is left.
    n_tokens: the size of each run.
    """

    def is_short(group: _Group) -> bool:
        if settings.include_front and runs[group.first].zone is Zone.FRONT:
            return False
        return group.n_tokens < settings.min_tokens or group.n_chars < settings.min_chars

    def distance(one: _Group, other: _Group) -> tuple[int, int] | None:
        """Minus the depth of the common heading, then the tokens together; None where two
        neighbours may not be merged."""
        if not runs[other.first].follows:
            return None
        common = common_path([one.section_path, other.section_path])
        if any(heading.section_path == common for heading in runs[other.first].headings):
            common = common[:-1]  # two sections of one name
        if not common or not (is_short(one) or is_short(other)):
            return None
        return -len(common), one.n_tokens + other.n_tokens

    groups = []
    for _, members in groupby(range(len(runs)), lambda at: (runs[at].section_id, runs[at].zone)):
        # the runs of one section are as long as all of it
        section = list(members)
        n_section = sum(n_tokens[at] for at in section)
        n_chars = sum(len(unit.text) for at in section for unit in runs[at].units)
        groups += [_Group(at, at + 1, runs[at].section_path, n_section, n_chars) for at in section]
    distances = [distance(one, other) for one, other in pairwise(groups)]
    while near := [(found, at) for at, found in enumerate(distances) if found is not None]:
        _, at = min(near)
        one, other = groups[at : at + 2]
        groups[at : at + 2] = [
            _Group(
                one.first,
                other.last,
                common_path([one.section_path, other.section_path]),
                one.n_tokens + other.n_tokens,
                one.n_chars + other.n_chars,
            )
        ]
        around = groups[max(0, at - 1) : at + 2]
        distances[max(0, at - 1) : at + 2] = [distance(*pair) for pair in pairwise(around)]
    return [(group.first, group.last) for group in groups]


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The titles that all paths begin with."""
    levels = takewhile(lambda titles: len(set(titles)) == 1, zip(*paths, strict=False))
    return tuple(titles[0] for titles in levels)
