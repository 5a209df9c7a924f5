"""From the runs of a paper to its chunks: units are counted, long ones cut, short sections merged,
texts put together.

A planned chunk has its text, but its exact size is counted by `chunker`.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, takewhile

from rag_assets.core.domain import BlockKind, ChunkUnit, SectionPart, Span, UnitKind
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.text.tokens import TokenCounter
from rag_assets.corpus.chunking.cuts import (
    Item,
    Rank,
    Window,
    boundary_cost,
    choose_cuts,
    fitting_pieces,
    leading_piece,
)
from rag_assets.corpus.chunking.sections import UnitRun, common_path, merged_runs
from rag_assets.corpus.chunking.units import PROSE, Unit, clipped_spans, fragments

_TITLE_SHARE = 4
"""A repeated title takes at most one part in so many of a chunk."""


@dataclass(frozen=True, slots=True)
class SizedRun:
    """A run whose units fit the maximum, with their sizes in tokens (gap included, at least 1)."""

    run: UnitRun
    units: tuple[Unit, ...]
    """The units of the run; where sections were merged, also the headings between them."""
    sizes: tuple[int, ...]
    prefix_sizes: tuple[int, ...]
    """Tokens of the title that a chunk beginning with the unit repeats, line end included."""


def sized_runs(
    runs: Sequence[UnitRun], settings: ChunkingSettings, counter: TokenCounter
) -> list[SizedRun]:
    """The runs that chunks are cut from: units counted, long ones cut to fit, short sections
    merged."""
    counted = [*_counted(runs, settings, counter)]
    n_tokens = [sum(one.sizes[len(one.units) - _n_body(one) :]) for one in counted]
    return [_merged(counted[first:last]) for first, last in merged_runs(runs, n_tokens, settings)]


def _counted(
    runs: Sequence[UnitRun], settings: ChunkingSettings, counter: TokenCounter
) -> list[SizedRun]:
    """Each run with its headings before its text; all are counted in one call."""
    titles = _Titles(runs, settings.max_tokens, counter)
    counts = iter(
        counter.count_all(
            [unit.gap + unit.text for run in runs for unit in (*run.headings, *run.units)]
        )
    )
    counted = []
    for run in runs:
        units: list[Unit] = []
        sizes: list[int] = []
        for unit in (*run.headings, *run.units):
            size = next(counts)
            whole = titles.shortened(unit)
            budget = max(1, settings.max_tokens - titles.size(whole))
            pieces = fitting_pieces(whole.text, budget, counter.count_all) if size > budget else []
            parts = fragments(whole, pieces) if len(pieces) > 1 else [whole]
            units += parts
            sizes += (
                [size]
                if len(parts) == 1
                else counter.count_all([part.gap + part.text for part in parts])
            )
        counted.append(
            SizedRun(
                run,
                tuple(units),
                tuple(max(1, n) for n in sizes),
                tuple(titles.size(unit) for unit in units),
            )
        )
    return counted


class _Titles:
    """The titles that chunks repeat, shortened where they would fill a chunk, and their sizes."""

    def __init__(self, runs: Sequence[UnitRun], max_tokens: int, counter: TokenCounter) -> None:
        whole = sorted({unit.prefix for run in runs for unit in run.units} - {""})
        self._short: Mapping[str, str] = {
            title: leading_piece(title, max_tokens // _TITLE_SHARE, counter.count_all)
            for title in whole
        }
        short = list(dict.fromkeys(self._short.values()))
        counts = counter.count_all([as_line(text) for text in short])
        self._sizes = {"": 0} | dict(zip(short, counts, strict=True))

    def shortened(self, unit: Unit) -> Unit:
        if not unit.prefix:
            return unit
        short = self._short[unit.prefix]
        return replace(
            unit, prefix=short, prefix_spans=clipped_spans(unit.prefix_spans, 0, len(short), None)
        )

    def size(self, unit: Unit) -> int:
        return self._sizes[unit.prefix]


def as_line(prefix: str) -> str:
    """A repeated title as a line of a chunk's text."""
    return f"{prefix}\n" if prefix else ""


def _n_body(one: SizedRun) -> int:
    return sum(unit.kind is not BlockKind.HEADING for unit in one.units)


def _merged(members: Sequence[SizedRun]) -> SizedRun:
    """One run of all members; the first one's headings only where the common path does not name
    them."""
    first = members[0]
    run = first.run
    if len(members) == 1:
        n_named = len(first.units) - _n_body(first)
    else:
        path = common_path([one.run.section_path for one in members])
        n_named = sum(1 for _ in takewhile(lambda unit: is_named_by(path, unit), first.units))
        merged_from = fingerprint("sections", [one.run.section_id for one in members])[:12]
        run = replace(
            run, section_path=path, section_id=f"{run.section_id.rpartition(':')[0]}:{merged_from}"
        )
    return SizedRun(
        run=run,
        units=tuple(unit for one in members for unit in one.units)[n_named:],
        sizes=tuple(size for one in members for size in one.sizes)[n_named:],
        prefix_sizes=tuple(size for one in members for size in one.prefix_sizes)[n_named:],
    )


def is_named_by(path: tuple[str, ...], unit: Unit) -> bool:
    """Whether the unit is the heading of one of the sections on a path."""
    return unit.kind is BlockKind.HEADING and unit.section_path == path[: len(unit.section_path)]


PATH_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of a chunk, and the places of its parts."""

    text: str
    own_start: int
    spans: tuple[Span, ...]
    sections: tuple[SectionPart, ...]
    units: tuple[ChunkUnit, ...]


def rendered(units: Sequence[Unit], prefix: str, n_repeated: int) -> Rendered:
    """The text of a chunk of those units.

    Neighbouring spans of a block that differ in nothing become one. Only a repeated title can
    precede the first unit; `n_repeated` units are repeated too.
    """
    pieces = [as_line(prefix)]
    at = own_start = len(pieces[0])
    spans = list(units[0].prefix_spans) if prefix else []
    sections: list[SectionPart] = []
    placed: list[ChunkUnit] = []
    if prefix:
        placed.append(
            ChunkUnit(
                0, len(prefix), UnitKind.CAPTION, units[0].block, units[0].start, units[0].start
            )
        )
    block = None
    for nth, unit in enumerate(units):
        gap = unit.gap if nth else ""
        pieces += (gap, unit.text)
        at += len(gap)
        if nth == n_repeated:
            own_start = at
        for own in unit.spans:
            span = replace(own, start=own.start + at, end=own.end + at)
            if spans and unit.block == block and _continues(spans[-1], span):
                spans[-1] = replace(spans[-1], end=span.end)
            else:
                spans.append(span)
        _extend(sections, unit, at if nth else 0, at + len(unit.text))
        placed.append(
            ChunkUnit(at, at + len(unit.text), unit.unit_kind, unit.block, unit.start, unit.end)
        )
        block = unit.block
        at += len(unit.text)
    return Rendered("".join(pieces), own_start, tuple(spans), tuple(sections), tuple(placed))


def _extend(sections: list[SectionPart], unit: Unit, start: int, end: int) -> None:
    """Add a unit at `[start, end)` to the section it belongs to."""
    path = PATH_SEPARATOR.join(unit.section_path)
    is_heading = unit.kind is BlockKind.HEADING
    last = sections[-1] if sections else None
    has_body = last is not None and last.body_start < last.end
    if last is None or last.section_path != path or (is_heading and has_body):
        title = unit.section_path[-1] if unit.section_path else ""
        sections.append(SectionPart(start, end if is_heading else start, end, title, path))
    elif is_heading:
        sections[-1] = replace(last, body_start=end, end=end)
    else:
        sections[-1] = replace(last, body_start=last.body_start if has_body else start, end=end)


def _continues(span: Span, following: Span) -> bool:
    """Whether both are one stretch of the document with the same pages and boxes."""
    if span.source_start is None or following.source_start is None:
        return replace(span, start=0, end=0) == replace(following, start=0, end=0)
    expected = replace(
        span,
        start=following.start,
        end=following.end,
        source_start=span.source_start + following.start - span.start,
    )
    return expected == following


@dataclass(frozen=True, slots=True)
class Lead:
    """What a chunk repeats from before its own first unit."""

    first: int
    """Index of the first repeated unit; the chunk's own first unit if nothing is repeated."""
    prefix: str = ""
    n_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """A chunk whose exact size is not known yet: `units[start:last]` of its run, its own from
    `first` on."""

    start: int
    first: int
    last: int
    section_path: tuple[str, ...]
    """The titles that the paths of its sections begin with."""
    rendered: Rendered


def planned_chunks(run: SizedRun, settings: ChunkingSettings, limit: int) -> list[PlannedChunk]:
    """The run cut into chunks of at most `limit` tokens, by the sizes of its units; one unit may be
    longer."""
    low = max(2 * settings.target_tokens - settings.max_tokens, settings.target_tokens // 2, 1)
    leads = _leads(run, settings.overlap_tokens, limit)
    items = [
        Item(size, lead.n_tokens, _cost_before(run.units, at))
        for at, (size, lead) in enumerate(zip(run.sizes, leads, strict=True))
    ]
    cuts = choose_cuts(items, Window(min(low, max(limit, 1)), limit))
    found = (_planned(run, leads[first], first, last) for first, last in cuts)
    return [chunk for chunk in found if chunk is not None]


def _planned(run: SizedRun, lead: Lead, first: int, last: int) -> PlannedChunk | None:
    """The chunk of own units `[first, last)`, without headings at its edges; None when there are
    only headings.

    A heading at its end belongs to the text of the next chunk, one at its beginning is named by its
    path.
    """
    while last > first and run.units[last - 1].kind is BlockKind.HEADING:
        last -= 1
    body = [
        unit.section_path
        for unit in run.units[lead.first : last]
        if unit.kind is not BlockKind.HEADING
    ]
    if not body:
        return None
    path = common_path(list(dict.fromkeys(body)))
    start = lead.first
    while is_named_by(path, run.units[start]):
        start += 1
    first = max(first, start)
    return PlannedChunk(
        start, first, last, path, rendered(run.units[start:last], lead.prefix, first - start)
    )


def _leads(run: SizedRun, overlap_tokens: int, limit: int) -> list[Lead]:
    """For each unit, what a chunk whose own text begins there repeats: sentences of its section, or
    a table's title."""
    before = [0, *accumulate(run.sizes)]
    leads, barrier = [Lead(0)][: len(run.units)], 0
    for at in range(1, len(run.units)):
        unit, previous, room = run.units[at], run.units[at - 1], limit - run.sizes[at]
        if (
            previous.kind not in PROSE
            or previous.is_fragment
            or previous.section_path != unit.section_path
        ):
            barrier = at
        if unit.prefix and previous.block == unit.block and run.prefix_sizes[at] <= room:
            leads.append(Lead(at, unit.prefix, run.prefix_sizes[at]))
        elif unit.kind not in PROSE or unit.is_fragment:
            leads.append(Lead(at))
        else:
            budget = max(0, min(overlap_tokens, room))
            first = max(barrier, bisect_left(before, before[at] - budget, hi=at))
            leads.append(Lead(first, "", before[at] - before[first]))
    return leads


def _cost_before(units: Sequence[Unit], at: int) -> float:
    if at == 0:
        return 0.0
    before, after = units[at - 1], units[at]
    return boundary_cost(before.text, after.text, _rank(before, after))


def _rank(before: Unit, after: Unit) -> Rank:
    in_one_block = before.block == after.block
    if before.kind is BlockKind.HEADING or before.text.endswith(":"):
        return Rank.HELD_TOGETHER
    if after.kind is BlockKind.HEADING or before.section_path != after.section_path:
        return Rank.SECTION_END
    if BlockKind.FORMULA in (before.kind, after.kind):
        return Rank.HELD_TOGETHER
    if in_one_block and (before.is_caption or (before.is_fragment and after.is_fragment)):
        return Rank.HELD_TOGETHER
    return Rank.UNIT_END if in_one_block else Rank.BLOCK_END
