"""Groups the statements of a paper into runs: those of one section that may share a chunk.

A run ends where the section, the zone or the author (people or a model) changes, and at back
matter. A chunk of one section has the heading as its section title, not in its text. Runs keep
their headings for chunks of several sections.

A section shorter than the minimum (a stray line, the sentence before the first subsection) is
merged with a neighbour: the one with which it shares the deepest common heading, and of two equally
near ones the shorter. Never merged are sections without a common heading, runs of different zones
or authors, and runs with back matter between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile

from rag_assets.core.domain import Statement, Zone
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ChunkingSettings


@dataclass(frozen=True)
class Run:
    """Consecutive statements that may share a chunk."""

    section_id: str
    section_path: tuple[str, ...]
    """Titles of the sections around it, outermost first."""
    zone: Zone
    is_generated: bool
    statements: tuple[Statement, ...]
    headings: tuple[Statement, ...] = ()
    """The headings between this run and the run before."""
    follows: bool = False
    """Whether only headings are between this run and the run before, and both have the same zone
    and author."""


def read_runs(paper_id: str, statements: Sequence[Statement]) -> list[Run]:
    """The runs of a paper in reading order. statements: all of the paper."""
    reader = _RunReader(paper_id)
    for _, of_block in groupby(statements, key=lambda one: one.block):
        reader.read(list(of_block))
    reader.close()
    return reader.runs


class _RunReader:
    """Collects the statements of blocks into runs. `close` ends the last run."""

    def __init__(self, paper_id: str) -> None:
        self.runs: list[Run] = []
        self._paper_id = paper_id
        self._run: list[Statement] = []
        self._headings: list[Statement] = []
        # whether the next run cannot be merged with the one before
        self._is_after_gap = True
        # two sections of the same path are told apart by the number of headings
        self._n_headings: dict[tuple[str, ...], int] = {}

    def read(self, of_block: Sequence[Statement]) -> None:
        """Add the statements of a block to the current run, or end the run at a heading, at text
        that is not searched (back matter), or where section, zone or author changes."""
        first = of_block[0]
        if first.is_heading:
            self.close()
            self._headings.append(first)
            self._n_headings[first.section_path] = self._n_headings.get(first.section_path, 0) + 1
        elif first.zone is Zone.BACK:
            self.close()
            self._headings.clear()
            self._is_after_gap = True
        else:
            if self._run and _run_key(self._run[0]) != _run_key(first):
                self.close()
            self._run += of_block

    def close(self) -> None:
        """End the current run and add it to `runs`."""
        if not self._run:
            return
        first = self._run[0]
        previous = self.runs[-1] if self.runs and not self._is_after_gap else None
        headings = [one for one in self._headings if one.zone is first.zone]
        if first.is_generated:
            headings = []
        occurrence = self._n_headings.get(first.section_path, 1)
        self.runs.append(
            Run(
                section_id=_section_id(self._paper_id, first.section_path, occurrence),
                section_path=first.section_path,
                zone=first.zone,
                is_generated=first.is_generated,
                statements=tuple(self._run),
                headings=tuple(headings),
                follows=previous is not None
                and (previous.zone, previous.is_generated) == (first.zone, first.is_generated)
                and len(headings) == len(self._headings),
            )
        )
        self._run, self._headings, self._is_after_gap = [], [], False


def _run_key(statement: Statement) -> tuple[tuple[str, ...], Zone, bool]:
    """What all statements of a run have in common."""
    return statement.section_path, statement.zone, statement.is_generated


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
    runs: Sequence[Run], n_tokens: Sequence[int], settings: ChunkingSettings
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
        n_chars = sum(len(one.text) for index in section for one in runs[index].statements)
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
