"""A paper's blocks become its chunks: what is read and cited.

Units are counted, cut into runs of the wanted size and rendered with their overlap or repeated title. What a unit is
lives in `units` and `table_rows`, where a cut may fall in `cuts`, which blocks belong together in `sections`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.chunking.cuts import Item, Rank, Window, boundary_cost, choose_cuts
from rag_assets.chunking.neighbourhood import Neighbourhood
from rag_assets.chunking.oversize import fitting_pieces, leading_piece
from rag_assets.chunking.sections import Run, kept_runs, read_runs
from rag_assets.chunking.units import PROSE, Unit, fragments
from rag_assets.incremental import fingerprint as hash_of
from rag_assets.model import Block, BlockKind, Chunk, Span, first_page, last_page
from rag_assets.settings import ChunkingSettings
from rag_assets.tokens import TokenCounter

CHUNKER_VERSION = 2
"""Raise it when the same blocks and settings give other chunks than before."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What a chunk repeats from before its own first unit."""

    first: int
    """Index of the first repeated unit; the chunk's own first unit when none is."""
    prefix: str = ""
    n_tokens: int = 0


@dataclass(frozen=True, slots=True)
class SizedRun:
    """A run whose units fit the maximum, with their sizes in tokens (gap included)."""

    run: Run
    units: tuple[Unit, ...]
    sizes: tuple[int, ...]
    prefix_sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk before it is counted: `units[lead.first:last]` of its run, its own from `first` on."""

    lead: Lead
    first: int
    last: int
    text: str
    spans: tuple[Span, ...]


def chunk_paper(
    paper_id: str,
    blocks: Sequence[Block],
    file_path: str,
    source: str,
    settings: ChunkingSettings,
    counter: TokenCounter,
    fingerprint: str,
) -> list[Chunk]:
    """The chunks of one paper in reading order.

    `blocks` are all blocks of the paper: offsets count in their texts joined as in `Document.text`. No chunk is
    longer than `settings.max_tokens`: a unit that alone is longer is cut. A paper with any text outside headings and
    back matter has at least one chunk.
    """
    sized = _sized(read_runs(paper_id, blocks), settings, counter)
    kept = kept_runs([one.run for one in sized], [sum(one.sizes) for one in sized], settings)
    neighbourhood = Neighbourhood([(one.run, one.units, one.sizes) for one in sized], settings.context_tokens)
    drafts = _fitting_drafts([sized[at] for at in kept], settings, counter)
    chunks: list[Chunk] = []
    repeats: dict[str, int] = {}
    for at, counted in zip(kept, drafts, strict=True):
        one = sized[at]
        for nth, (draft, n_tokens) in enumerate(counted, start=1):
            located = tuple(span for span in draft.spans if span.source_start is not None)
            kinds = {unit.kind for unit in one.units[draft.first : draft.last]}
            chunks.append(
                Chunk(
                    paper_id=paper_id,
                    section_id=one.run.section_id,
                    section_title=one.run.section_path[-1] if one.run.section_path else "",
                    chunk_id=_chunk_id(paper_id, one.run, draft.text, repeats),
                    text=draft.text,
                    n_tokens=n_tokens,
                    page_start=first_page(located),
                    page_end=last_page(located),
                    file_path=file_path,
                    source=source,
                    ordinal=len(chunks),
                    section_path=" > ".join(one.run.section_path),
                    chunk_type=str(kinds.pop()) if len(kinds) == 1 else "mixed",
                    split_sequence=f"{nth}/{len(counted)}" if len(counted) > 1 else None,
                    is_continuation=nth > 1,
                    context_before=neighbourhood.before(at, draft.lead.first),
                    context_after=neighbourhood.after(at, draft.last),
                    char_start=one.units[draft.lead.first].start,
                    char_end=one.units[draft.last - 1].end,
                    is_generated=one.run.is_generated,
                    spans=draft.spans,
                    fingerprint=fingerprint,
                )
            )
    return chunks


def _chunk_id(paper_id: str, run: Run, text: str, repeats: dict[str, int]) -> str:
    id_ = f"{paper_id}:{hash_of('chunk', run.section_path, text)[:12]}"
    repeats[id_] = repeats.get(id_, 0) + 1
    return id_ if repeats[id_] == 1 else f"{id_}-{repeats[id_]}"


def _sized(runs: Sequence[Run], settings: ChunkingSettings, counter: TokenCounter) -> list[SizedRun]:
    """Count all units at once, cut those longer than a chunk, shorten titles that would fill one."""
    titles = sorted({unit.prefix for run in runs for unit in run.units} - {""})
    prefixes = {title: leading_piece(title, settings.max_tokens // 4, counter.count_all) for title in titles} | {"": ""}
    prefix_sizes = dict(zip(prefixes, counter.count_all([_as_line(text) for text in prefixes.values()]), strict=True))
    counts = iter(counter.count_all([unit.gap + unit.text for run in runs for unit in run.units]))
    sized = []
    for run in runs:
        units: list[Unit] = []
        sizes: list[int] = []
        for unit in run.units:
            size = next(counts)
            budget = max(1, settings.max_tokens - prefix_sizes[unit.prefix])
            whole = replace(unit, prefix=prefixes[unit.prefix])
            parts = _cut_to(whole, budget, counter) if size > budget else [whole]
            units += parts
            sizes += [size] if len(parts) == 1 else counter.count_all([part.gap + part.text for part in parts])
        line_sizes = {prefixes[title]: size for title, size in prefix_sizes.items()}
        sized.append(SizedRun(run, tuple(units), tuple(sizes), tuple(line_sizes[unit.prefix] for unit in units)))
    return sized


def _cut_to(unit: Unit, budget: int, counter: TokenCounter) -> list[Unit]:
    pieces = fitting_pieces(unit.text, budget, counter.count_all)
    return fragments(unit, pieces) if len(pieces) > 1 else [unit]


def _as_line(prefix: str) -> str:
    return f"{prefix}\n" if prefix else ""


def _fitting_drafts(
    runs: Sequence[SizedRun], settings: ChunkingSettings, counter: TokenCounter
) -> list[list[tuple[Draft, int]]]:
    """Each run's chunks with their exact sizes.

    A text may have more tokens than its units counted one by one; such a run is cut again with a tighter limit, down
    to one unit a chunk.
    """
    fitting: list[list[tuple[Draft, int]]] = [[] for _ in runs]
    pending = dict.fromkeys(range(len(runs)), settings.max_tokens)
    while pending:
        drafts = {at: _drafts(runs[at], settings, limit) for at, limit in pending.items()}
        counts = iter(counter.count_all([draft.text for at in pending for draft in drafts[at]]))
        for at, limit in list(pending.items()):
            counted = [(draft, next(counts)) for draft in drafts[at]]
            excess = max(n_tokens for _, n_tokens in counted) - settings.max_tokens
            if excess > 0 and limit > 0:
                pending[at] = limit - excess
            else:
                fitting[at] = counted
                del pending[at]
    return fitting


def _drafts(run: SizedRun, settings: ChunkingSettings, limit: int) -> list[Draft]:
    low = max(2 * settings.target_tokens - settings.max_tokens, settings.target_tokens // 2, 1)
    leads = [_lead(run, at, settings.overlap_tokens, limit) for at in range(len(run.units))]
    items = [
        Item(size, lead.n_tokens, _cost_before(run.units, at))
        for at, (size, lead) in enumerate(zip(run.sizes, leads, strict=True))
    ]
    return [
        Draft(leads[first], first, last, *_rendered(run.units[leads[first].first : last], leads[first].prefix))
        for first, last in choose_cuts(items, Window(min(low, max(limit, 1)), limit))
    ]


def _lead(run: SizedRun, at: int, overlap_tokens: int, limit: int) -> Lead:
    """What a chunk whose own text begins at unit `at` repeats: sentences of prose, or the title of a table."""
    unit, room = run.units[at], limit - run.sizes[at]
    if at == 0:
        return Lead(at)
    before = run.units[at - 1]
    if unit.prefix and before.block == unit.block and run.prefix_sizes[at] <= room:
        return Lead(at, unit.prefix, run.prefix_sizes[at])
    if unit.kind not in PROSE or unit.is_fragment:
        return Lead(at)
    first, n_tokens = at, 0
    while first > 0:
        candidate, size = run.units[first - 1], run.sizes[first - 1]
        if candidate.kind not in PROSE or candidate.is_fragment or n_tokens + size > min(overlap_tokens, room):
            break
        first, n_tokens = first - 1, n_tokens + size
    return Lead(first, "", n_tokens)


def _cost_before(units: Sequence[Unit], at: int) -> float:
    if at == 0:
        return 0.0
    before, after = units[at - 1], units[at]
    return boundary_cost(before.text, after.text, _rank(before, after))


def _rank(before: Unit, after: Unit) -> Rank:
    in_one_block = before.block == after.block
    if BlockKind.FORMULA in (before.kind, after.kind) or before.text.endswith(":"):
        return Rank.HELD_TOGETHER
    if in_one_block and (before.is_caption or (before.is_fragment and after.is_fragment)):
        return Rank.HELD_TOGETHER
    return Rank.UNIT_END if in_one_block else Rank.BLOCK_END


def _rendered(units: Sequence[Unit], prefix: str) -> tuple[str, tuple[Span, ...]]:
    """The text of a chunk and its spans; neighbouring spans of a block that differ in nothing become one."""
    text = _as_line(prefix)
    spans: list[Span] = [Span(0, len(prefix), None, None)] if prefix else []
    block = None
    for nth, unit in enumerate(units):
        text += unit.gap if nth else ""
        for span in _moved(unit.spans, len(text)):
            if spans and unit.block == block and _continues(spans[-1], span):
                spans[-1] = replace(spans[-1], end=span.end)
            else:
                spans.append(span)
        block = unit.block
        text += unit.text
    return text, tuple(spans)


def _moved(spans: Sequence[Span], offset: int) -> Iterator[Span]:
    return (replace(span, start=span.start + offset, end=span.end + offset) for span in spans)


def _continues(span: Span, following: Span) -> bool:
    """Whether both are one stretch of the document with the same pages and boxes."""
    if span.source_start is None or following.source_start is None:
        return span.source_start is following.source_start
    expected = replace(
        span, start=following.start, end=following.end, source_start=span.source_start + following.start - span.start
    )
    return expected == following
