"""The text of a chunk, and what stands where in it: spans with their pages, sections, units."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import BlockKind, ChunkUnit, SectionPart, Span, UnitKind
from rag_assets.corpus.chunking.sizes import as_line
from rag_assets.corpus.chunking.units import Unit

PATH_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class Rendered:
    """The text of a chunk and what stands where in it."""

    text: str
    own_start: int
    spans: tuple[Span, ...]
    sections: tuple[SectionPart, ...]
    units: tuple[ChunkUnit, ...]


def rendered(units: Sequence[Unit], prefix: str, n_repeated: int) -> Rendered:
    """The text of a chunk of those units.

    Neighbouring spans of a block that differ in nothing become one. Nothing stands before the first unit but a
    repeated title; `n_repeated` units are repeated too.
    """
    pieces = [as_line(prefix)]
    at = own_start = len(pieces[0])
    spans = list(units[0].prefix_spans) if prefix else []
    sections: list[SectionPart] = []
    placed: list[ChunkUnit] = []
    if prefix:
        placed.append(ChunkUnit(0, len(prefix), UnitKind.CAPTION, units[0].block, units[0].start, units[0].start))
    block = None
    for nth, unit in enumerate(units):
        gap = unit.gap if nth else ""
        pieces += (gap, unit.text)
        at += len(gap)
        if nth == n_repeated:
            own_start = at
        for span in _moved(unit.spans, at):
            if spans and unit.block == block and _continues(spans[-1], span):
                spans[-1] = replace(spans[-1], end=span.end)
            else:
                spans.append(span)
        _extend(sections, unit, at if nth else 0, at + len(unit.text))
        placed.append(ChunkUnit(at, at + len(unit.text), unit.unit_kind, unit.block, unit.start, unit.end))
        block = unit.block
        at += len(unit.text)
    return Rendered("".join(pieces), own_start, tuple(spans), tuple(sections), tuple(placed))


def _extend(sections: list[SectionPart], unit: Unit, start: int, end: int) -> None:
    """Add a unit that stands at `[start, end)` to the section it belongs to."""
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


def _moved(spans: Sequence[Span], offset: int) -> Iterator[Span]:
    return (replace(span, start=span.start + offset, end=span.end + offset) for span in spans)


def _continues(span: Span, following: Span) -> bool:
    """Whether both are one stretch of the document with the same pages and boxes."""
    if span.source_start is None or following.source_start is None:
        return replace(span, start=0, end=0) == replace(following, start=0, end=0)
    expected = replace(
        span, start=following.start, end=following.end, source_start=span.source_start + following.start - span.start
    )
    return expected == following
