"""Which blocks of a paper may share a chunk: runs of one section.

A run ends where the section, the zone or the author (people or a model) changes, and at back
matter. A chunk of one section has the heading as its section title and not in its text; runs keep
it for chunks of several sections.

A section shorter than the minimum (a stray line, the sentence before the first subsection) joins
the neighbour with which it shares the nearest heading; of two that are equally near, the shorter
one. Sections without a common heading, runs of different zones or authors, and runs with back
matter between them are never merged.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

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
class Run:
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


def read_runs(paper_id: str, blocks: Sequence[Block]) -> list[Run]:
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
        self.runs: list[Run] = []
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
        run = Run(
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


@dataclass
class _Group:
    """Runs `[first, last)` that will share chunks."""

    first: int
    last: int
    section_path: tuple[str, ...]
    """The titles that the paths of its runs begin with."""
    n_tokens: int
    n_chars: int


def merged_runs(
    runs: Sequence[Run], n_tokens: Sequence[int], settings: ChunkingSettings
) -> list[tuple[int, int]]:
    """Ranges `[first, last)` of runs that are chunked together, in order; every run is in one.

    n_tokens: the size of each run.
    """
    return _Merging(runs, n_tokens, settings).ranges()


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The titles that all paths begin with."""
    levels = takewhile(lambda titles: len(set(titles)) == 1, zip(*paths, strict=False))
    return tuple(titles[0] for titles in levels)


class _Merging:
    """Merges the nearest pair of neighbours, one of them short, until no such pair is left."""

    def __init__(
        self, runs: Sequence[Run], n_tokens: Sequence[int], settings: ChunkingSettings
    ) -> None:
        self._runs = runs
        self._settings = settings
        self._groups: dict[int, _Group] = {}
        """Groups by their first run."""
        self._first_by_last: dict[int, int] = {}
        self._pairs: list[tuple[int, int, int, int, int]] = []
        """Heap of (minus the depth of the common heading, tokens together, first run, first of the
        second, its end)."""
        for _, members in groupby(
            range(len(runs)), key=lambda at: (runs[at].section_id, runs[at].zone)
        ):
            section = list(members)
            sizes = (
                sum(n_tokens[at] for at in section),
                sum(len(unit.text) for at in section for unit in runs[at].units),
            )
            for at in section:
                self._groups[at] = _Group(at, at + 1, runs[at].section_path, *sizes)
        self._first_by_last = {group.last: group.first for group in self._groups.values()}
        for at in range(1, len(runs)):
            self._consider(at)

    def ranges(self) -> list[tuple[int, int]]:
        while self._pairs:
            _, _, first, second, last = heapq.heappop(self._pairs)
            one, other = self._groups.get(first), self._groups.get(second)
            if one is not None and other is not None and one.last == second and other.last == last:
                self._merge(one, other)
        return [(group.first, group.last) for _, group in sorted(self._groups.items())]

    def _merge(self, one: _Group, other: _Group) -> None:
        """A pair that was merged, or grew on either side, leaves entries in the heap that no longer
        fit."""
        del self._groups[other.first]
        del self._first_by_last[one.last]
        one.section_path = common_path([one.section_path, other.section_path])
        one.last, one.n_tokens, one.n_chars = (
            other.last,
            one.n_tokens + other.n_tokens,
            one.n_chars + other.n_chars,
        )
        self._first_by_last[one.last] = one.first
        self._consider(one.first)
        self._consider(one.last)

    def _consider(self, second: int) -> None:
        """Add the pair of the groups on both sides of a run's beginning, if they may be merged."""
        first = self._first_by_last.get(second)
        if first is None or second not in self._groups or not self._runs[second].follows:
            return
        one, other = self._groups[first], self._groups[second]
        common = common_path([one.section_path, other.section_path])
        if any(heading.section_path == common for heading in self._runs[second].headings):
            common = common[:-1]  # two sections of one name
        if common and (self._is_short(one) or self._is_short(other)):
            entry = (
                -len(common),
                one.n_tokens + other.n_tokens,
                one.first,
                other.first,
                other.last,
            )
            heapq.heappush(self._pairs, entry)

    def _is_short(self, group: _Group) -> bool:
        if self._settings.include_front and self._runs[group.first].zone is Zone.FRONT:
            return False
        return (
            group.n_tokens < self._settings.min_tokens or group.n_chars < self._settings.min_chars
        )
