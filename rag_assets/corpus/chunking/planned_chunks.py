"""The runs of a paper become planned chunks: long statements are split, short sections merged, texts
put together.

A planned chunk has its text; `chunker` counts its exact size.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import accumulate, takewhile
from typing import Any

from rag_assets.core.domain import (
    BlockKind,
    ChunkUnit,
    SectionPart,
    Span,
    Statement,
    StatementKind,
    n_text_chars,
    spans_between,
)
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
from rag_assets.corpus.chunking.sections import Run, common_path, merged_runs
from rag_assets.corpus.statements.pieces import clipped_spans

_PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.FOOTNOTE, BlockKind.FORMULA})
_TITLE_SHARE = 4
"""A repeated title takes at most a quarter (1 / `_TITLE_SHARE`) of a chunk."""


@dataclass(frozen=True, slots=True)
class Fragment(Statement):
    """A piece of a statement that is longer than a whole chunk."""


@dataclass(frozen=True, slots=True)
class SizedRun:
    """A run whose statements fit the maximum. The tuples have one value per statement."""

    run: Run
    units: tuple[Statement, ...]
    """The statements of the run and fragments of long ones; where sections were merged, also the
    headings between them."""
    prefix_sizes: tuple[int, ...]
    """Tokens of the title that a chunk repeats if it begins with the unit, line end included."""


def sized_runs(
    runs: Sequence[Run], settings: ChunkingSettings, counter: TokenCounter
) -> list[SizedRun]:
    """The runs that chunks are cut from: long statements are split, short sections merged."""
    sized = [*_counted(runs, settings, counter)]
    n_tokens = [
        sum(unit.n_tokens for unit in sized_run.units if not unit.is_heading) for sized_run in sized
    ]
    return [_merged(sized[first:last]) for first, last in merged_runs(runs, n_tokens, settings)]


def _counted(
    runs: Sequence[Run], settings: ChunkingSettings, counter: TokenCounter
) -> Iterator[SizedRun]:
    """Each run with its headings before its text. A statement that is too long for a chunk is
    split."""
    titles = _Titles(runs, settings.max_tokens, counter)
    for run in runs:
        units: list[Statement] = []
        for statement in (*run.headings, *run.statements):
            # chunks that begin with this statement repeat its title, so both must fit
            unit = titles.shortened(statement)
            budget = max(1, settings.max_tokens - titles.size(unit))
            units += _split(unit, budget, counter) if unit.n_tokens > budget else [unit]
        yield SizedRun(run, tuple(units), tuple(titles.size(unit) for unit in units))


def _split(unit: Statement, budget: int, counter: TokenCounter) -> list[Statement]:
    """The fragments of a statement of more than `budget` tokens; itself if it is not longer without
    the gap before it."""
    pieces = fitting_pieces(unit.text, budget, counter.count_all)
    if len(pieces) < 2:
        return [unit]
    parts = _fragments(unit, pieces)
    counts = counter.count_all([part.gap + part.text for part in parts])
    return [
        replace(part, n_tokens=max(1, n_tokens))
        for part, n_tokens in zip(parts, counts, strict=True)
    ]


def _fragments(unit: Statement, pieces: Sequence[tuple[int, int]]) -> list[Fragment]:
    """Split a statement into the given ranges of its text."""
    given: dict[str, Any] = {field.name: getattr(unit, field.name) for field in fields(unit)}
    parts: list[Fragment] = []
    previous_end = 0
    for start, end in pieces:
        text = unit.text[start:end]
        # a row written as "label: value" cannot be mapped to the characters of its line: the first
        # fragment gets the whole line, the others an empty range at its end
        changes: dict[str, Any] = {
            "char_start": unit.char_end if parts else unit.char_start,
            "n_chars": 0 if parts else unit.n_chars,
        }
        if unit.is_verbatim:
            changes = {
                "char_start": unit.char_start + start,
                "char_end": unit.char_start + end,
                "n_chars": n_text_chars(text),
            }
        elif unit.kind is StatementKind.CAPTION:
            changes["n_chars"] = n_text_chars(text)
        changes |= {
            "text": text,
            "spans": _cut_spans(unit, start, end),
            "gap": unit.text[previous_end:start] if parts else unit.gap,
        }
        parts.append(Fragment(**given | changes))
        previous_end = end
    return parts


def _cut_spans(unit: Statement, start: int, end: int) -> tuple[Span, ...]:
    """The spans of a statement's characters `[start, end)`. In a table row written as
    "label: value" each fragment has the place of the whole row."""
    if unit.is_verbatim:
        return clipped_spans(unit.spans, start, end, unit.char_start)
    if unit.kind is StatementKind.CAPTION:
        return clipped_spans(unit.spans, start, end, None)
    return tuple(
        replace(span, start=0, end=end - start) for span in spans_between(unit.spans, start, end)
    )


class _Titles:
    """The titles of tables and figures that chunks repeat, shortened where they would fill a chunk,
    with their sizes."""

    def __init__(self, runs: Sequence[Run], max_tokens: int, counter: TokenCounter) -> None:
        titles = sorted({one.title for run in runs for one in run.statements} - {""})
        self._short: Mapping[str, str] = {
            title: leading_piece(title, max_tokens // _TITLE_SHARE, counter.count_all)
            for title in titles
        }
        shortened = list(dict.fromkeys(self._short.values()))
        counts = counter.count_all([as_line(text) for text in shortened])
        self._sizes = {"": 0} | dict(zip(shortened, counts, strict=True))

    def shortened(self, unit: Statement) -> Statement:
        """The statement with its title shortened."""
        if not unit.title:
            return unit
        title = self._short[unit.title]
        return replace(
            unit, title=title, title_spans=clipped_spans(unit.title_spans, 0, len(title), None)
        )

    def size(self, unit: Statement) -> int:
        """Tokens of a statement's shortened title, line end included; 0 without a title."""
        return self._sizes[unit.title]


def as_line(prefix: str) -> str:
    """A repeated title with its line end; "" without a title."""
    return f"{prefix}\n" if prefix else ""


def _merged(members: Sequence[SizedRun]) -> SizedRun:
    """Join the runs of `members` into one run.

    Leading headings that name a section of the common path are left out, since the chunk's section
    path shows them. A single run loses all its headings.
    """
    first = members[0]
    run = first.run
    if len(members) == 1:
        n_named = sum(unit.is_heading for unit in first.units)
    else:
        path = common_path([member.run.section_path for member in members])
        n_named = sum(1 for _ in takewhile(lambda unit: is_named_by(path, unit), first.units))
        merged_from = fingerprint("sections", [member.run.section_id for member in members])[:12]
        run = replace(
            run, section_path=path, section_id=f"{run.section_id.rpartition(':')[0]}:{merged_from}"
        )
    return SizedRun(
        run=run,
        units=tuple(unit for member in members for unit in member.units)[n_named:],
        prefix_sizes=tuple(size for member in members for size in member.prefix_sizes)[n_named:],
    )


def is_named_by(path: tuple[str, ...], unit: Statement) -> bool:
    """Whether the unit is the heading of one of the sections on a path."""
    return unit.is_heading and unit.section_path == path[: len(unit.section_path)]


PATH_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of a chunk, and where its parts are in it."""

    text: str
    own_start: int
    """Offset in `text` after everything that is repeated from before."""
    spans: tuple[Span, ...]
    sections: tuple[SectionPart, ...]
    units: tuple[ChunkUnit, ...]


def rendered(units: Sequence[Statement], prefix: str, n_repeated: int) -> Rendered:
    """Put the text of a chunk together from its units.

    prefix: the table's or figure's title that is repeated first, or "". n_repeated: how many of the
    first units are repeated from the chunk before. Neighbouring spans of one block are joined if
    they are on the same pages and have the same boxes.
    """
    pieces = [as_line(prefix)]
    # `offset` is the length of the text so far
    offset = own_start = len(pieces[0])
    spans = list(units[0].title_spans) if prefix else []
    sections: list[SectionPart] = []
    chunk_units: list[ChunkUnit] = []
    if prefix:
        chunk_units.append(
            ChunkUnit(
                0,
                len(prefix),
                StatementKind.CAPTION,
                units[0].number,
                units[0].block,
                units[0].char_start,
                units[0].char_start,
            )
        )
    previous_block = None
    for index, unit in enumerate(units):
        # add the unit's text; before the first unit there is only the title
        gap = unit.gap if index else ""
        pieces += (gap, unit.text)
        offset += len(gap)
        if index == n_repeated:
            own_start = offset
        # move its spans to where the text is now, and join them with the last span if possible
        for unit_span in unit.spans:
            span = replace(unit_span, start=unit_span.start + offset, end=unit_span.end + offset)
            if spans and unit.block == previous_block and _continues(spans[-1], span):
                spans[-1] = replace(spans[-1], end=span.end)
            else:
                spans.append(span)
        # the first section also includes the repeated title
        _extend(sections, unit, offset if index else 0, offset + len(unit.text))
        chunk_units.append(
            ChunkUnit(
                offset,
                offset + len(unit.text),
                unit.kind,
                unit.number,
                unit.block,
                unit.char_start,
                unit.char_end,
            )
        )
        previous_block = unit.block
        offset += len(unit.text)
    return Rendered("".join(pieces), own_start, tuple(spans), tuple(sections), tuple(chunk_units))


def _extend(sections: list[SectionPart], unit: Statement, start: int, end: int) -> None:
    """Add a unit, placed at `[start, end)` in the chunk's text, to the last section, or begin a new
    section: where the path changes, and at a heading that follows text."""
    path = PATH_SEPARATOR.join(unit.section_path)
    is_heading = unit.is_heading
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
    """Whether `following` directly continues `span` in the document, with the same pages and
    boxes."""
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
    """What a chunk repeats from before its first own unit."""

    first: int
    """Index of the first repeated unit; the chunk's own first unit if nothing is repeated."""
    prefix: str = ""
    n_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PlannedChunk:
    """A chunk whose exact size is not known yet: `units[start:last]` of its run. Its own units are
    `units[first:last]`; those before are repeated."""

    start: int
    first: int
    last: int
    section_path: tuple[str, ...]
    """The titles that the paths of all its sections begin with."""
    rendered: Rendered


def planned_chunks(run: SizedRun, settings: ChunkingSettings, limit: int) -> list[PlannedChunk]:
    """Cut the run into chunks of at most `limit` tokens, counted by the sizes of its units. A chunk
    of one unit may be longer.

    limit: `settings.max_tokens`, or less after a try in which a chunk was too long: the tokens of a
    whole text may be more than those of its units.
    """
    # as far below the target as the maximum is above it, but at least half of the target
    low = max(2 * settings.target_tokens - settings.max_tokens, settings.target_tokens // 2, 1)
    sizes = [unit.n_tokens for unit in run.units]
    leads = _leads(run, sizes, settings.overlap_tokens, limit)
    items = [
        Item(size, lead.n_tokens, _cost_before(run.units, index))
        for index, (size, lead) in enumerate(zip(sizes, leads, strict=True))
    ]
    cuts = choose_cuts(items, Window(min(low, max(limit, 1)), limit))
    planned = (_planned(run, leads[first], first, last) for first, last in cuts)
    return [chunk for chunk in planned if chunk is not None]


def _planned(run: SizedRun, lead: Lead, first: int, last: int) -> PlannedChunk | None:
    """The chunk whose own units are `[first, last)`; None if these are only headings.

    Headings at its end are left out: they belong to the next chunk. Headings at its beginning are
    left out if the section path names them.
    """
    while last > first and run.units[last - 1].is_heading:
        last -= 1
    body_paths = [unit.section_path for unit in run.units[lead.first : last] if not unit.is_heading]
    if not body_paths:
        return None
    path = common_path(list(dict.fromkeys(body_paths)))
    start = lead.first
    while is_named_by(path, run.units[start]):
        start += 1
    first = max(first, start)
    return PlannedChunk(
        start, first, last, path, rendered(run.units[start:last], lead.prefix, first - start)
    )


def _leads(run: SizedRun, sizes: Sequence[int], overlap_tokens: int, limit: int) -> list[Lead]:
    """For each unit, what a chunk repeats if its own text begins there: the last sentences of the
    same section, or the title of the unit's table or figure."""
    tokens_before = [0, *accumulate(sizes)]
    leads = [Lead(0)] if run.units else []  # nothing is before the first unit
    prose_start = 0
    for index in range(1, len(run.units)):
        unit, previous, room = run.units[index], run.units[index - 1], limit - sizes[index]
        # only sentences without an interruption before this unit can be repeated
        if (
            previous.block_kind not in _PROSE
            or isinstance(previous, Fragment)
            or previous.section_path != unit.section_path
        ):
            prose_start = index
        if unit.title and previous.block == unit.block and run.prefix_sizes[index] <= room:
            # within a table or figure: its title
            leads.append(Lead(index, unit.title, run.prefix_sizes[index]))
        elif unit.block_kind not in _PROSE or isinstance(unit, Fragment):
            leads.append(Lead(index))  # nothing
        else:
            # the last sentences that fit the overlap; `first` is the first of them
            budget = max(0, min(overlap_tokens, room))
            first = max(
                prose_start, bisect_left(tokens_before, tokens_before[index] - budget, hi=index)
            )
            leads.append(Lead(first, "", tokens_before[index] - tokens_before[first]))
    return leads


def _cost_before(units: Sequence[Statement], index: int) -> float:
    """Cost of a cut before `units[index]`; 0 before the first unit."""
    if index == 0:
        return 0.0
    before, after = units[index - 1], units[index]
    return boundary_cost(before.text, after.text, _rank(before, after))


def _rank(before: Statement, after: Statement) -> Rank:
    """Rank of a cut between two neighbouring units."""
    are_of_one_block = before.block == after.block
    if before.is_heading or before.text.endswith(":"):
        return Rank.HELD_TOGETHER
    if after.is_heading or before.section_path != after.section_path:
        return Rank.SECTION_END
    if StatementKind.FORMULA in (before.kind, after.kind):
        return Rank.HELD_TOGETHER
    are_fragments = isinstance(before, Fragment) and isinstance(after, Fragment)
    if are_of_one_block and (before.kind is StatementKind.CAPTION or are_fragments):
        return Rank.HELD_TOGETHER
    return Rank.UNIT_END if are_of_one_block else Rank.BLOCK_END
