"""A paper as contexts to summarise, and those of them that a model reads for one point."""

from collections.abc import Iterator, Mapping, Sequence

from rag_assets.core.domain import Chunk, Context, ContextUnit, Point, SectionKind, UnitKind
from rag_assets.core.text.section_names import section_kinds

_CHARS_PER_TOKEN = 4
"""Of English; only the size of a request depends on it."""
_SECTIONS: Mapping[Point, tuple[SectionKind, ...]] = {
    Point.ASKED: (SectionKind.ABSTRACT, SectionKind.INTRODUCTION),
    Point.DONE: (SectionKind.METHODS, SectionKind.ABSTRACT),
    Point.FOUND: (SectionKind.ABSTRACT, SectionKind.CONCLUSION, SectionKind.DISCUSSION, SectionKind.RESULTS),
    Point.LIMITS: (SectionKind.DISCUSSION, SectionKind.CONCLUSION),
}
"""The sections that usually tell a point, in the order in which a model reads them."""


def paper_contexts(chunks: Sequence[Chunk]) -> list[Context]:
    """One per section of each chunk, in order, without headings and what a chunk repeats of an earlier one.

    chunks: of one paper, in reading order.
    """
    return [context for chunk in chunks for context in _sections(chunk) if context.text.strip()]


def contexts_for(contexts: Sequence[Context], max_tokens: int) -> Mapping[Point, tuple[Context, ...]]:
    """What a model reads for each point, about `max_tokens` each: first the sections that usually tell it, then the
    paper from its beginning, for what limits it from its end."""
    return {point: _up_to(_in_turn(point, contexts), max_tokens) for point in Point}


def _sections(chunk: Chunk) -> Iterator[Context]:
    for part in chunk.sections:
        start = max(part.body_start, chunk.own_start)
        yield Context(
            paper_id=chunk.paper_id,
            chunk_id=chunk.chunk_id,
            page_start=chunk.page_start,
            page_end=chunk.page_end,
            n_tokens=max(0, part.end - start) // _CHARS_PER_TOKEN,
            text=chunk.text[start : part.end],
            is_generated=chunk.is_generated,
            section_title=part.section_path,
            units=tuple(
                ContextUnit(unit.start - start, unit.end - start, unit.kind, unit.block)
                for unit in chunk.units
                if unit.kind is UnitKind.CAPTION and start <= unit.start < part.end
            ),
        )


def _in_turn(point: Point, contexts: Sequence[Context]) -> Iterator[Context]:
    for kind in _SECTIONS[point]:
        yield from (one for one in contexts if kind in section_kinds(one.section_title.split(" > ")))
    yield from reversed(contexts) if point is Point.LIMITS else contexts


def _up_to(contexts: Iterator[Context], max_tokens: int) -> tuple[Context, ...]:
    chosen: dict[Context, None] = {}
    n_tokens = 0
    for context in contexts:
        if context in chosen or context.is_generated:
            continue
        n_tokens += context.n_tokens
        if chosen and n_tokens > max_tokens:
            break
        chosen[context] = None
    return tuple(chosen)
