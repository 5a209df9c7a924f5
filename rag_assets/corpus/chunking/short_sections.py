"""Short sections are merged with a neighbour, so that no text is left out and few chunks are tiny.

A section shorter than the minimum (a stray line, a grant number, the sentence before the first subsection) joins the
neighbour with which it shares the nearest heading; of two that are equally near, the shorter one. Runs of different
zones or authors, and runs with back matter between them, are never merged. How long a chunk becomes is decided later.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile

from rag_assets.core.domain import Zone
from rag_assets.core.settings import ChunkingSettings
from rag_assets.corpus.chunking.sections import Run


@dataclass
class _Group:
    """Runs `[first, last)` that will share chunks."""

    first: int
    last: int
    section_path: tuple[str, ...]
    """What the paths of its runs have in common."""
    n_tokens: int
    n_chars: int


def merged_runs(runs: Sequence[Run], n_tokens: Sequence[int], settings: ChunkingSettings) -> list[tuple[int, int]]:
    """Ranges `[first, last)` of runs that are chunked together, in order; every run is in one.

    n_tokens: the size of each run.
    """
    merging = _Merging(runs, n_tokens, settings)
    return merging.ranges()


def common_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The titles that all paths begin with."""
    levels = takewhile(lambda titles: len(set(titles)) == 1, zip(*paths, strict=False))
    return tuple(titles[0] for titles in levels)


class _Merging:
    """Merges the nearest pair of neighbours, one of them short, until no such pair is left."""

    def __init__(self, runs: Sequence[Run], n_tokens: Sequence[int], settings: ChunkingSettings) -> None:
        self._runs = runs
        self._settings = settings
        self._groups: dict[int, _Group] = {}
        """By their first run."""
        self._first_by_last: dict[int, int] = {}
        self._pairs: list[tuple[int, int, int, int, int]] = []
        """Heap of (minus the depth of the common heading, tokens together, first run, first of the second, its end)."""
        for _, members in groupby(range(len(runs)), key=lambda at: (runs[at].section_id, runs[at].zone)):
            section = list(members)
            sizes = (sum(n_tokens[at] for at in section), sum(_n_chars(runs[at]) for at in section))
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
        """A pair that was merged, or grew on either side, leaves entries in the heap that no longer fit."""
        del self._groups[other.first]
        del self._first_by_last[one.last]
        one.section_path = common_path([one.section_path, other.section_path])
        one.last, one.n_tokens, one.n_chars = other.last, one.n_tokens + other.n_tokens, one.n_chars + other.n_chars
        self._first_by_last[one.last] = one.first
        self._consider(one.first)
        self._consider(one.last)

    def _consider(self, second: int) -> None:
        """Add the pair of the groups on both sides of a run's beginning, if they may be merged."""
        first = self._first_by_last.get(second)
        if first is None or second not in self._groups or not self._runs[second].follows:
            return
        one, other = self._groups[first], self._groups[second]
        if self._is_short(one) or self._is_short(other):
            depth = len(common_path([one.section_path, other.section_path]))
            entry = (-depth, one.n_tokens + other.n_tokens, one.first, other.first, other.last)
            heapq.heappush(self._pairs, entry)

    def _is_short(self, group: _Group) -> bool:
        if self._settings.include_front and self._runs[group.first].zone is Zone.FRONT:
            return False
        return group.n_tokens < self._settings.min_tokens or group.n_chars < self._settings.min_chars


def _n_chars(run: Run) -> int:
    return sum(len(unit.text) for unit in run.units)
