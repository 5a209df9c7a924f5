"""Chunks become passages: what is searched.

A passage is a run of a chunk's own units (sentences, rows, items, lines) that the embedding model
reads in full. The units a chunk repeats from the one before belong to that one's passages. How
chunks are cut lives in `chunker`, the choice of cuts in `cuts`.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

from rag_assets.core.domain import (
    Chunk,
    ChunkUnit,
    Passage,
    UnitKind,
    known_spans,
    page_range,
    spans_between,
)
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import PassageSettings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.corpus.chunking.cuts import (
    CountAll,
    Item,
    Rank,
    Window,
    boundary_cost,
    choose_cuts,
    fitting_pieces,
    leading_piece,
)

PASSAGER_VERSION = 10
"""Raise it when the same chunks and settings give other passages than before."""
_MAX_TITLE_CHARS = 300
"""The first paragraph of a file may have been read as its title; its words would be searched with
every passage."""


@dataclass(frozen=True, slots=True)
class PassageUnit:
    """A unit of a chunk, or a piece of one that the model cannot read in full:
    `chunk.text[start:end]`."""

    start: int
    end: int
    char_start: int
    """Offset in `Document.text`."""
    char_end: int
    rank: Rank
    """Rank of the boundary before it."""
    prefix: str = ""
    """Title that a passage beginning here repeats."""

    def piece(self, start: int, end: int) -> "PassageUnit":
        """Its characters `[start, end)`. A row written as "label: value" has no finer place than
        its line."""
        moved = replace(self, start=self.start + start, end=self.start + end)
        if self.char_end - self.char_start != self.end - self.start:
            return moved
        return replace(moved, char_start=self.char_start + start, char_end=self.char_start + end)


@dataclass(frozen=True, slots=True)
class PlannedPassage:
    """The units of one passage."""

    units: Sequence[PassageUnit]
    text: str
    """The text that is embedded: a repeated title, if there is one, then the units."""
    n_tokens: int
    """Special tokens included."""


@dataclass(frozen=True)
class ReadingLimits:
    """What the embedding model can read."""

    count_tokens: CountAll
    n_special: int
    """Tokens the model adds to every text."""
    window: Window
    """Sizes a passage should have, special tokens aside."""
    longest: int
    """Most tokens it reads, special tokens aside."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special ones aside."""
        return [n_tokens - self.n_special for n_tokens in self.count_tokens(texts)]


def cut_passages(
    chunks: Sequence[Chunk],
    settings: PassageSettings,
    count_tokens: CountAll,
    max_tokens: int,
    title: str = "",
    summaries: Mapping[str, str] = MappingProxyType({}),
) -> list[Passage]:
    """The passages of one paper's chunks, in order.

    `chunks`: all chunks of the paper, in order. `count_tokens`: the embedding model's own
    tokenizer, special tokens included, not truncated. `max_tokens`: what the model reads; no
    passage is longer. `title`: of the paper. `summaries`: of the chunks that have one, by id.
    """
    n_special = count_tokens([""])[0]
    high = max(1, min(settings.target_tokens, max_tokens) - n_special)
    limits = ReadingLimits(
        count_tokens, n_special, Window(max(1, 2 * high // 3), high), max(1, max_tokens - n_special)
    )
    return [
        passage
        for chunk in chunks
        for passage in _passages_of(chunk, limits, title, summaries.get(chunk.chunk_id, ""))
    ]


def _passages_of(chunk: Chunk, limits: ReadingLimits, title: str, summary: str) -> list[Passage]:
    parts = _packed(chunk, _fitting(chunk, _own_units(chunk, limits), limits), limits)
    ids = (
        [chunk.chunk_id]
        if len(parts) == 1
        else [f"{chunk.chunk_id}#{nth}" for nth in range(len(parts))]
    )
    return [
        _passage(chunk, part, passage_id, title, _fitting_summary(summary, part, limits))
        for passage_id, part in zip(ids, parts, strict=True)
    ]


def _fitting_summary(summary: str, part: PlannedPassage, limits: ReadingLimits) -> str:
    """The beginning of a summary that leaves the model room for the whole passage."""
    n_left = limits.longest + limits.n_special - part.n_tokens - 1
    return leading_piece(summary, n_left, limits.count)


def _passage(
    chunk: Chunk, part: PlannedPassage, passage_id: str, title: str, summary: str
) -> Passage:
    first, last = part.units[0], part.units[-1]
    start, end = first.start, last.end
    page_start, page_end = page_range(known_spans(spans_between(chunk.spans, start, end)))
    section_title, section_path = chunk.section_at(start)
    headings = heading_text(title, section_path)
    kept = (
        section_title,
        chunk.chunk_id,
        chunk.paper_id,
        part.text,
        page_start,
        page_end,
        headings,
        summary,
    )
    return Passage(
        passage_id=passage_id,
        chunk_id=chunk.chunk_id,
        paper_id=chunk.paper_id,
        text=part.text,
        n_tokens=part.n_tokens,
        char_start=first.char_start,
        char_end=last.char_end,
        page_start=page_start,
        page_end=page_end,
        chunk_start=start,
        chunk_end=end,
        repeated_title=first.prefix,
        section_title=section_title,
        section_path=section_path,
        row_hash=fingerprint(*kept),
        heading_text=headings,
        summary=summary,
    )


def heading_text(title: str, section_path: str) -> str:
    """The titles of the paper and of the passage's sections, outermost first; a title that both
    have is given once."""
    short = title[:_MAX_TITLE_CHARS].strip()
    return section_path if section_path.startswith(short) else f"{short}\n{section_path}".strip()


def _own_units(chunk: Chunk, limits: ReadingLimits) -> list[PassageUnit]:
    """The chunk's own units, without sentences it repeats from the chunk before and without a
    repeated title."""
    prefixes = _prefixes(chunk, limits)
    section_starts = {part.start for part in chunk.sections}
    own = [unit for unit in chunk.units if unit.start >= chunk.own_start]
    return [
        PassageUnit(
            start=unit.start,
            end=unit.end,
            char_start=unit.char_start,
            char_end=unit.char_end,
            rank=_rank(chunk.text, before, unit, section_starts) if before else Rank.BLOCK_END,
            prefix="" if unit.kind is UnitKind.CAPTION else prefixes.get(unit.block, ""),
        )
        for before, unit in zip([None, *own], own, strict=False)
    ]


def _prefixes(chunk: Chunk, limits: ReadingLimits) -> dict[int, str]:
    """The part of a title that passages repeat, by the block of its table or figure."""
    captions: dict[int, list[ChunkUnit]] = {}
    for unit in chunk.units:
        if unit.kind is UnitKind.CAPTION:
            captions.setdefault(unit.block, []).append(unit)
    return {
        block: leading_piece(
            chunk.text[units[0].start : units[-1].end], limits.window.high // 4, limits.count
        )
        for block, units in captions.items()
    }


def _rank(text: str, before: ChunkUnit, unit: ChunkUnit, section_starts: Set[int]) -> Rank:
    """Rank of the boundary between two neighbouring units of a chunk's text."""
    if before.block == unit.block:
        is_below_caption = before.kind is UnitKind.CAPTION and unit.kind is not UnitKind.CAPTION
        return Rank.HELD_TOGETHER if is_below_caption else Rank.UNIT_END
    if before.kind is UnitKind.HEADING or text.endswith(":", before.start, before.end):
        return Rank.HELD_TOGETHER
    return Rank.SECTION_END if unit.start in section_starts else Rank.BLOCK_END


def _fitting(
    chunk: Chunk, units: Sequence[PassageUnit], limits: ReadingLimits
) -> list[PassageUnit]:
    """The units; one that the model cannot read in full is cut at sentences, else at clauses or
    words."""
    texts = [chunk.text[one.start : one.end] for one in units]
    leads = _leads(units, limits)
    fitting: list[PassageUnit] = []
    for unit, text, size in zip(units, texts, limits.count(texts), strict=True):
        budget = max(1, limits.longest - leads[unit.prefix])
        if size <= budget:
            fitting.append(unit)
            continue
        first, *others = [
            unit.piece(start + a, start + b)
            for start, end in sentence_spans(text)
            for a, b in fitting_pieces(text[start:end], budget, limits.count)
        ]
        fitting += [first, *(replace(other, rank=Rank.HELD_TOGETHER) for other in others)]
    return fitting


def _leads(units: Sequence[PassageUnit], limits: ReadingLimits) -> dict[str, int]:
    """Tokens of each title that a passage of the units may repeat, line end included."""
    titles = sorted({unit.prefix for unit in units} - {""})
    return {"": 0} | dict(
        zip(titles, limits.count([f"{title}\n" for title in titles]), strict=True)
    )


def _packed(
    chunk: Chunk, units: Sequence[PassageUnit], limits: ReadingLimits
) -> list[PlannedPassage]:
    """The units of each passage, with its text and its exact size.

    As with chunks, a text may have more tokens than its parts: then it is packed again with a
    tighter limit.
    """
    ends = [0, *(one.end for one in units)]
    sizes = limits.count(
        [
            chunk.text[max(end, one.start - 2) : one.end]
            for end, one in zip(ends, units, strict=False)
        ]
    )
    leads = _leads(units, limits)
    items = [
        Item(
            size + (leads[one.prefix] if at == 0 else 0),
            leads[one.prefix],
            _cost_before(chunk.text, units, at),
        )
        for at, (one, size) in enumerate(zip(units, sizes, strict=True))
    ]
    window = limits.window
    while True:
        parts = [units[first:last] for first, last in choose_cuts(items, window)]
        owns = [chunk.text[part[0].start : part[-1].end] for part in parts]
        texts = [
            f"{part[0].prefix}\n{own}" if part[0].prefix else own
            for part, own in zip(parts, owns, strict=True)
        ]
        counts = limits.count(texts)
        excess = max(counts) - max(limits.longest, window.high)
        if excess <= 0 or len(parts) == len(units):
            return [
                PlannedPassage(part, text, n_tokens + limits.n_special)
                for part, text, n_tokens in zip(parts, texts, counts, strict=True)
            ]
        window = Window(min(window.low, max(1, window.high - excess)), window.high - excess)


def _cost_before(text: str, units: Sequence[PassageUnit], at: int) -> float:
    if at == 0:
        return 0.0
    before, after = units[at - 1], units[at]
    return boundary_cost(text[before.start : before.end], text[after.start : after.end], after.rank)
