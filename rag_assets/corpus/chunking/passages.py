"""Chunks become passages: the texts that are searched.

A passage is a run of a chunk's own units (sentences, table rows, list items, lines of code) that is
short enough for the embedding model. Units that a chunk repeats from the chunk before are in the
passages of that earlier chunk only. How chunks are cut is in `chunker`, how cuts are chosen in
`cuts`.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from types import MappingProxyType

from rag_assets.core.domain import (
    Chunk,
    ChunkUnit,
    Passage,
    StatementKind,
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
"""Longest part of a title that is searched with every passage. A parser may have taken the whole
first paragraph of a file for its title."""


@dataclass(frozen=True, slots=True)
class PassageUnit:
    """`chunk.text[start:end]`: a unit of a chunk, or a piece of a unit that is too long for the
    model."""

    start: int
    end: int
    char_start: int
    """Offset in `Document.text`."""
    char_end: int
    rank: Rank
    """Rank of a cut before this unit."""
    prefix: str = ""
    """Title of the table or figure, which a passage beginning here repeats."""

    def piece(self, start: int, end: int) -> "PassageUnit":
        """The characters `[start, end)` of this unit.

        The text of a table row written as "label: value" differs from the document's, so such a
        piece keeps the document offsets of its whole line.
        """
        moved = replace(self, start=self.start + start, end=self.start + end)
        if self.char_end - self.char_start != self.end - self.start:
            return moved
        return replace(moved, char_start=self.char_start + start, char_end=self.char_start + end)


@dataclass(frozen=True, slots=True)
class PlannedPassage:
    """The units of one passage."""

    units: Sequence[PassageUnit]
    text: str
    """The text that is embedded: the repeated title, if there is one, then the units."""
    n_tokens: int
    """Tokens of the text, special tokens included."""


@dataclass(frozen=True)
class ReadingLimits:
    """What the embedding model can read."""

    count_tokens: CountAll
    n_special: int
    """Tokens the model adds to every text."""
    window: Window
    """Sizes a passage should have, without special tokens."""
    longest: int
    """Most tokens the model reads, without special tokens."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens."""
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

    `chunks`: all chunks of the paper, in order. `count_tokens`: counts with the embedding model's
    tokenizer, special tokens included, without truncation. `max_tokens`: the most tokens the model
    reads; no passage is longer. `title`: of the paper. `summaries`: by chunk_id, for chunks that
    have one.
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
    """The passages of one chunk. A chunk that is one passage gives it its own id; otherwise the
    passages are numbered: "id#0", "id#1"."""
    units = _fitting_units(chunk, _own_units(chunk, limits), limits)
    planned = _planned_passages(chunk, units, limits)
    if len(planned) == 1:
        ids = [chunk.chunk_id]
    else:
        ids = [f"{chunk.chunk_id}#{number}" for number in range(len(planned))]
    return [
        _passage(chunk, plan, passage_id, title, _fitting_summary(summary, plan, limits))
        for passage_id, plan in zip(ids, planned, strict=True)
    ]


def _fitting_summary(summary: str, plan: PlannedPassage, limits: ReadingLimits) -> str:
    """The beginning of a summary that is short enough for the model to read it together with the
    whole passage."""
    n_left = limits.longest + limits.n_special - plan.n_tokens - 1
    return leading_piece(summary, n_left, limits.count)


def _passage(
    chunk: Chunk, plan: PlannedPassage, passage_id: str, title: str, summary: str
) -> Passage:
    """The passage of a plan, with the places and titles that readers and indexes need."""
    first, last = plan.units[0], plan.units[-1]
    start, end = first.start, last.end
    page_start, page_end = page_range(known_spans(spans_between(chunk.spans, start, end)))
    section_title, section_path = chunk.section_at(start)
    headings = heading_text(title, section_path)
    return Passage(
        passage_id=passage_id,
        chunk_id=chunk.chunk_id,
        paper_id=chunk.paper_id,
        text=plan.text,
        n_tokens=plan.n_tokens,
        char_start=first.char_start,
        char_end=last.char_end,
        page_start=page_start,
        page_end=page_end,
        chunk_start=start,
        chunk_end=end,
        repeated_title=first.prefix,
        section_title=section_title,
        section_path=section_path,
        # the indexes write a passage again when one of these values changes
        row_hash=fingerprint(
            section_title,
            chunk.chunk_id,
            chunk.paper_id,
            plan.text,
            page_start,
            page_end,
            headings,
            summary,
        ),
        heading_text=headings,
        summary=summary,
    )


def heading_text(title: str, section_path: str) -> str:
    """The titles of the paper and of the passage's sections, outermost first. The paper's title is
    left out if the section path already begins with it."""
    short = title[:_MAX_TITLE_CHARS].strip()
    return section_path if section_path.startswith(short) else f"{short}\n{section_path}".strip()


def _own_units(chunk: Chunk, limits: ReadingLimits) -> list[PassageUnit]:
    """The units that belong to this chunk alone: without sentences repeated from the chunk before
    and without a repeated title."""
    titles = _repeated_titles(chunk, limits)
    section_starts = {section.start for section in chunk.sections}
    own_units = [unit for unit in chunk.units if unit.start >= chunk.own_start]
    return [
        PassageUnit(
            start=unit.start,
            end=unit.end,
            char_start=unit.char_start,
            char_end=unit.char_end,
            rank=_rank(chunk.text, previous, unit, section_starts) if previous else Rank.BLOCK_END,
            prefix="" if unit.kind is StatementKind.CAPTION else titles.get(unit.block, ""),
        )
        for previous, unit in zip([None, *own_units], own_units, strict=False)
    ]


def _repeated_titles(chunk: Chunk, limits: ReadingLimits) -> dict[int, str]:
    """The beginning of each table's or figure's title, which its passages repeat, by the index of
    its block. It takes at most a quarter of a passage."""
    captions: dict[int, list[ChunkUnit]] = {}
    for unit in chunk.units:
        if unit.kind is StatementKind.CAPTION:
            captions.setdefault(unit.block, []).append(unit)
    return {
        block: leading_piece(
            chunk.text[units[0].start : units[-1].end], limits.window.high // 4, limits.count
        )
        for block, units in captions.items()
    }


def _rank(text: str, previous: ChunkUnit, unit: ChunkUnit, section_starts: Set[int]) -> Rank:
    """Rank of a cut between two neighbouring units of a chunk's text."""
    if previous.block == unit.block:
        is_below_caption = (
            previous.kind is StatementKind.CAPTION and unit.kind is not StatementKind.CAPTION
        )
        return Rank.HELD_TOGETHER if is_below_caption else Rank.UNIT_END
    if previous.kind is StatementKind.HEADING or text.endswith(":", previous.start, previous.end):
        return Rank.HELD_TOGETHER
    return Rank.SECTION_END if unit.start in section_starts else Rank.BLOCK_END


def _fitting_units(
    chunk: Chunk, units: Sequence[PassageUnit], limits: ReadingLimits
) -> list[PassageUnit]:
    """The units in order. A unit that is too long for the model is split into sentences, and a
    sentence that is too long at clauses or words."""
    texts = [chunk.text[unit.start : unit.end] for unit in units]
    title_sizes = _title_sizes(units, limits)
    fitting: list[PassageUnit] = []
    for unit, text, size in zip(units, texts, limits.count(texts), strict=True):
        budget = max(1, limits.longest - title_sizes[unit.prefix])
        if size <= budget:
            fitting.append(unit)
            continue
        first_piece, *later_pieces = [
            unit.piece(start + a, start + b)
            for start, end in sentence_spans(text)
            for a, b in fitting_pieces(text[start:end], budget, limits.count)
        ]
        fitting += [
            first_piece,
            *(replace(piece, rank=Rank.HELD_TOGETHER) for piece in later_pieces),
        ]
    return fitting


def _title_sizes(units: Sequence[PassageUnit], limits: ReadingLimits) -> dict[str, int]:
    """Tokens of each title that a passage may repeat, line end included; 0 for no title ("")."""
    titles = sorted({unit.prefix for unit in units} - {""})
    return {"": 0} | dict(
        zip(titles, limits.count([f"{title}\n" for title in titles]), strict=True)
    )


def _planned_passages(
    chunk: Chunk, units: Sequence[PassageUnit], limits: ReadingLimits
) -> list[PlannedPassage]:
    """Group a chunk's units into passages, with their texts and exact sizes.

    A text may have more tokens than its units counted one by one. If a passage is too long for the
    model, all are grouped again with a lower limit.
    """
    previous_ends = [0, *(unit.end for unit in units)]
    # each unit is counted with at most two characters of the white space before it
    sizes = limits.count(
        [
            chunk.text[max(end, unit.start - 2) : unit.end]
            for end, unit in zip(previous_ends, units, strict=False)
        ]
    )
    title_sizes = _title_sizes(units, limits)
    items = [
        Item(
            size + (title_sizes[unit.prefix] if index == 0 else 0),
            title_sizes[unit.prefix],
            _cost_before(chunk.text, units, index),
        )
        for index, (unit, size) in enumerate(zip(units, sizes, strict=True))
    ]
    window = limits.window
    while True:
        groups = [units[first:last] for first, last in choose_cuts(items, window)]
        own_texts = [chunk.text[group[0].start : group[-1].end] for group in groups]
        texts = [
            f"{group[0].prefix}\n{own_text}" if group[0].prefix else own_text
            for group, own_text in zip(groups, own_texts, strict=True)
        ]
        counts = limits.count(texts)
        excess = max(counts) - max(limits.longest, window.high)
        if excess <= 0 or len(groups) == len(units):
            return [
                PlannedPassage(group, text, n_tokens + limits.n_special)
                for group, text, n_tokens in zip(groups, texts, counts, strict=True)
            ]
        window = Window(min(window.low, max(1, window.high - excess)), window.high - excess)


def _cost_before(text: str, units: Sequence[PassageUnit], index: int) -> float:
    """Cost of a cut before `units[index]`; 0 before the first unit."""
    if index == 0:
        return 0.0
    before, after = units[index - 1], units[index]
    return boundary_cost(text[before.start : before.end], text[after.start : after.end], after.rank)
