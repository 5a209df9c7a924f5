"""Answers that are an element of a paper, as a figure's caption, a theorem or a section. The
question asks for it by its label or name.

An element begins where a block, a caption or a short sentence begins with its label. It ends with
its block; if the block is only a label, or code follows, it ends with the next block. A section is
all text below its heading.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from rag_assets.answering.drafts import DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import MAX_WORDS, Span
from rag_assets.answering.extractive.table_rows import rows_of
from rag_assets.core.domain import Context, StatementKind
from rag_assets.core.text.terms import words_of
from rag_assets.search.retrieval.elements import (
    ITSELF,
    NEAR,
    AskedElements,
    label_before,
    labels_in,
    papers_asked,
)

_WORDS_OF_A_LABEL = 4
"""A text with no more words is only a label, "Algorithm 2 (Search)"; the element follows."""
Places = Mapping[int, Sequence[Span]]
"""Spans of the texts of contexts, by the index of the context."""


def places_asked(asked: AskedElements, contexts: Sequence[Context]) -> Places:
    """The spans of the elements that are asked for. If there are none, the spans of texts that
    refer to them, or of sections of the same kind."""
    meant = papers_asked(asked, {one.paper_id: one.paper for one in contexts})
    found: dict[int, dict[int, list[Span]]] = {NEAR: {}, ITSELF: {}}
    for nth, context in enumerate(contexts):
        for how, span in (
            _places(asked, context)
            if context.paper_id in meant and not context.is_generated
            else ()
        ):
            found[how].setdefault(nth, []).append(span)
    return found[ITSELF] or found[NEAR]


def _places(asked: AskedElements, context: Context) -> Iterator[tuple[int, Span]]:
    """The spans of a context that fit, each with how well: `ITSELF` or `NEAR`."""
    text = context.text
    for (start, path), (end, _) in pairwise([*context.sections, (len(text), "")]):
        if how := max(map(asked.is_titled, path.split(" > "))):
            yield how, (start, end)
    blocks = [list(block) for _, block in groupby(context.units, key=lambda unit: unit.block)]
    for block, after in zip(blocks, [*blocks[1:], []], strict=False) if asked.labels else ():
        for unit in block:
            own = text[unit.start : unit.end]
            is_opening = unit is block[0] or unit.kind is StatementKind.CAPTION or _is_label(own)
            if is_opening and label_before(own) in asked.labels:
                is_short = _is_label(text[unit.start : block[-1].end])
                goes_on = bool(after) and (is_short or after[0].kind is StatementKind.LINE)
                yield ITSELF, (unit.start, (after if goes_on else block)[-1].end)
            elif not asked.labels.isdisjoint(one.label for one in labels_in(own)):
                yield NEAR, (unit.start, unit.end)


def beginnings(contexts: Sequence[Context], places: Places) -> Iterator[DraftClaim]:
    """Claims of the first sentences or lines of each element, each text once; then of the rows of
    tables that are asked for."""
    elements = {
        contexts[nth].text[slice(*span)]: (contexts[nth], span)
        for nth, spans in places.items()
        for span in spans
    }
    for context, span in elements.values():
        start, end = _beginning(context, span)
        if quote := context.text[start:end]:
            yield DraftClaim(
                " ".join(quote.split()), (DraftCitation(context.chunk_id, quote),), relevance=1.0
            )
    for context, (start, end) in elements.values():
        for table, row in rows_of(context):
            is_asked = context.text.startswith(table.caption, start) and row.end <= end
            if is_asked and start < row.start and table.says_whose(row):
                quote = context.text[row.start : row.end]
                yield DraftClaim(quote, (DraftCitation(context.chunk_id, quote),), relevance=1.0)


def _beginning(context: Context, span: Span) -> Span:
    """The first block of an element, cut at the longest claim (`MAX_WORDS`). If it is only a label,
    the block or the code after it is included."""
    units = [one for one in context.units if span[0] <= one.start and one.end <= span[1]]
    units = [one for one in units if one.kind is not StatementKind.HEADING]
    start = end = units[0].start if units else span[0]
    for before, unit in zip([*units[:1], *units], units, strict=False):
        is_further = unit.kind is StatementKind.ROW or (
            unit.block != before.block and unit.kind is not StatementKind.LINE
        )
        is_long = len(words_of(context.text[start : unit.end])) > MAX_WORDS
        if (is_further or is_long) and end > start and not _is_label(context.text[start:end]):
            break
        end = unit.end
    return start, end


def _is_label(text: str) -> bool:
    return len(words_of(text)) <= _WORDS_OF_A_LABEL
