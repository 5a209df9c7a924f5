"""Where a run of sized units is cut into chunks, and what each chunk repeats from before its cut."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from rag_assets.core.domain import BlockKind
from rag_assets.core.settings import ChunkingSettings
from rag_assets.corpus.chunking.cuts import Item, Rank, Window, boundary_cost, choose_cuts
from rag_assets.corpus.chunking.rendering import Rendered, rendered
from rag_assets.corpus.chunking.short_sections import common_path
from rag_assets.corpus.chunking.sizes import SizedRun, is_named_by
from rag_assets.corpus.chunking.units import PROSE, Unit


@dataclass(frozen=True, slots=True)
class Lead:
    """What a chunk repeats from before its own first unit."""

    first: int
    """Index of the first repeated unit; the chunk's own first unit when none is."""
    prefix: str = ""
    n_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """A chunk whose exact size is not known yet: `units[start:last]` of its run, its own from `first` on."""

    start: int
    first: int
    last: int
    section_path: tuple[str, ...]
    """What the sections of its text have in common."""
    rendered: Rendered


def planned_chunks(run: SizedRun, settings: ChunkingSettings, limit: int) -> list[PlannedChunk]:
    """The run cut into chunks of at most `limit` tokens, by the sizes of its units; one unit may be longer."""
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
    """The chunk of own units `[first, last)`, without headings at its edges; None when there are only headings.

    A heading at its end belongs to the text of the next chunk, one at its beginning is named by its path.
    """
    while last > first and run.units[last - 1].kind is BlockKind.HEADING:
        last -= 1
    body = [unit.section_path for unit in run.units[lead.first : last] if unit.kind is not BlockKind.HEADING]
    if not body:
        return None
    path = common_path(list(dict.fromkeys(body)))
    start = lead.first
    while is_named_by(path, run.units[start]):
        start += 1
    first = max(first, start)
    return PlannedChunk(start, first, last, path, rendered(run.units[start:last], lead.prefix, first - start))


def _leads(run: SizedRun, overlap_tokens: int, limit: int) -> list[Lead]:
    """For each unit, what a chunk whose own text begins there repeats: sentences of its section, or a table's title."""
    before = [0, *accumulate(run.sizes)]
    leads, barrier = [Lead(0)][: len(run.units)], 0
    for at in range(1, len(run.units)):
        unit, previous, room = run.units[at], run.units[at - 1], limit - run.sizes[at]
        if not _may_be_repeated(previous, unit):
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


def _may_be_repeated(candidate: Unit, before: Unit) -> bool:
    return candidate.kind in PROSE and not candidate.is_fragment and candidate.section_path == before.section_path


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
