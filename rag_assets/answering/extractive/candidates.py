"""Candidates for an answer: what the contexts say that can be published verbatim.

Here are the statements of the authors and lines of code; captions alone are no answer. Rows of
tables are in `table_rows`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from rag_assets.core.domain import Context, ContextPassage, UnitKind
from rag_assets.core.text.headings import heading_number
from rag_assets.core.text.sentences import RAISED_MARK, sentence_spans
from rag_assets.core.text.terms import terms_of, words_of
from rag_assets.corpus.references import supposes

MIN_WORDS, MAX_WORDS = 3, 90
_LEADS_UP_WORDS = 15
"""A sentence of so many words without a number often only leads up to what the next one says."""
_SMALL = r"[a-zß-öø-ÿ]"
_STATEMENT = re.compile(
    rf"^[\"“'(\[「『]?(?!{_SMALL})[^\W_].*[.!。！][\"”')\]]*(?:\s?(?:\[?\d*\]?|{RAISED_MARK}))?$",
    re.DOTALL,
)
"""A whole sentence in any script, begun with no small letter, with the numbers of notes and
references behind its period: "[3]", "³⁻⁵"."""
_LEANS_BACK = re.compile(
    r"^(?:(?:in|for|with|by|of) )?(?:this|these|those|they|their|it|its|such|he|she)\b",
    re.IGNORECASE,
)
_MAY_END = re.compile(r"[.!?]\s+(?=[A-Z])")
_ENDS = frozenset(".!?:;,-–")
_ENDS_WITHIN = re.compile(
    r"\b(?:a|an|the|and|or|of|on|in|at|to|by|for|from|with|as|than|that|which|is|are|was|were)$",
    re.IGNORECASE,
)
"""Ends a line that was cut within a sentence."""
_ITEM = re.compile(r"[^\s,;](?:[^,;]|,(?=\d))*")
"""A member of a list within a sentence; a comma before a digit is part of a number."""
_LINE = re.compile(r"[^\n]+")
_LIST_MARK = re.compile(
    r"[ \t]*(?:[-*+•▪◦‣–]|\(?\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{2,4})\)|[a-z]\.)[ \t]+(?=\S)"
)
"""Begins an item of a list: "- ", "2. ", "(b) "."""
Span = tuple[int, int]


class CandidateKind(StrEnum):
    SENTENCE = "sentence"
    ROW = "row"
    """A row of a table with its header."""
    LINE = "line"
    """A line of code."""


@dataclass(frozen=True)
class Candidate:
    """Something an answer can publish: `contexts[context].text[start:end]`."""

    text: str
    paper_id: str
    chunk_id: str
    context: int
    """Its number among the contexts."""
    start: int
    end: int
    shown: Span
    """Span to publish: the candidate, with the sentence before it if it begins with a pronoun, or
    the one after it if it only introduces that ("There are two reasons:"). Verbatim in the chunk,
    so that it is its own quote."""
    passage: ContextPassage
    """The passage that it is in, or begins in."""
    terms: frozenset[str]
    """Stems of its content words."""
    terms_so_far: frozenset[str]
    """`terms`, and the stems of the sentence before it in its paragraph."""
    read: tuple[Span, ...]
    """Stretches of its passage's text that are compared with the question; for a row, also the
    lines above it."""
    kind: CandidateKind = CandidateKind.SENTENCE
    lead: str = ""
    """What it is said under: the heading of its section, or the question that the line before it
    asks."""
    is_supposed: bool = False
    """Whether it tells a hypothesis, a plan or the claim of others, and no finding."""
    leans_back: bool = False
    """Whether it begins with "this", "they", ... and the sentence before it cannot be published
    with it."""
    quote: str = ""
    """Quoted as its evidence where that is more than `text`: the whole row."""
    is_note: bool = False
    """Whether it is a sentence of a footnote."""
    pointer: str = ""
    """Said in its place where it is no claim, and only among what is near: the table that it stands
    in."""


def candidate(
    context: Context, nth: int, start: int, end: int, kind: CandidateKind = CandidateKind.SENTENCE
) -> Candidate:
    """`text[start:end]` of a context as a candidate that is published alone. nth: number of the
    context."""
    text, passage = context.text[start:end], _passage_at(context, start)
    is_note = any(
        one.start <= start < one.end for one in context.units if one.kind is UnitKind.NOTE
    )
    terms, shift = terms_of(text), passage.own_start - passage.start
    return Candidate(
        text=text,
        paper_id=context.paper_id,
        chunk_id=context.chunk_id,
        context=nth,
        start=start,
        end=end,
        shown=(start, end),
        passage=passage,
        terms=terms,
        terms_so_far=terms,
        read=((start + shift, end + shift),),
        kind=kind,
        is_note=is_note,
    )


def sentences(contexts: Sequence[Context]) -> list[Candidate]:
    """Statements of the authors, each once."""
    found: dict[tuple[str, str], Candidate] = {}
    for nth, context in enumerate(contexts):
        if context.is_generated:
            continue
        for lead, before, span, after in _with_neighbours(context):
            text = context.text[slice(*span)]
            if (
                not _is_title(context, span[0])
                and (context.paper_id, text) not in found
                and _says_something(f"{text}." if _ends_item(context, span[1]) else text)
            ):
                is_supposed = supposes(text, context.section_at(span[0]))
                alone = replace(candidate(context, nth, *span), lead=lead, is_supposed=is_supposed)
                whole = _sentence(context, alone, before, after)
                found[context.paper_id, text] = whole
                for one in _by_item(whole):
                    found.setdefault((context.paper_id, one.text), one)
        for span in _lists_led_up_to(context):
            found.setdefault(
                (context.paper_id, context.text[slice(*span)]), candidate(context, nth, *span)
            )
    return list(found.values())


def _by_item(whole: Candidate) -> Iterator[Candidate]:
    """A sentence that lists values behind a colon, once for each of them: it is read with what
    leads up to the list and one item, and published whole. Read at once, each price hides the
    others."""
    lead, colon, behind = whole.text.partition(": ")
    items = list(_ITEM.finditer(behind))
    is_list = len(items) > 1 and all(any(map(str.isdigit, item[0])) for item in items)
    shift = whole.read[0][0]
    for item in items if is_list else ():
        text = f"{lead}{colon}{item[0].rstrip('.')}."
        start = shift + len(lead) + len(colon) + item.start()
        read = ((shift, shift + len(lead)), (start, start + len(item[0])))
        yield replace(whole, text=text, terms=terms_of(text), read=read)


def _lists_led_up_to(context: Context) -> Iterator[Span]:
    """Each list with the sentence before it that ends in a colon: neither says alone what both say
    together."""
    lead_in: Span | None = None
    for is_item, run in groupby(context.units, key=lambda one: one.kind is UnitKind.ITEM):
        units = list(run)
        if not is_item:
            is_open = context.text[units[-1].start : units[-1].end].rstrip().endswith(":")
            lead_in = (units[-1].start, units[-1].end) if is_open else None
        elif lead_in and len(words_of(context.text[lead_in[0] : units[-1].end])) <= MAX_WORDS:
            yield lead_in[0], units[-1].end


def code_lines(contexts: Sequence[Context]) -> Iterator[Candidate]:
    """The lines of code, each below the first one of its block."""
    for nth, context in enumerate(contexts):
        firsts: dict[int, str] = {}
        for unit in () if context.is_generated else context.units:
            text = context.text[unit.start : unit.end]
            if unit.kind is not UnitKind.LINE or len(words_of(text)) < MIN_WORDS:
                continue
            first, start = firsts.setdefault(unit.block, text), unit.end - len(text.lstrip())
            one = candidate(context, nth, start, unit.end, CandidateKind.LINE)
            yield replace(one, lead=first, terms_so_far=one.terms | terms_of(first))


def _is_title(context: Context, place: int) -> bool:
    """Whether a place belongs to the title of a table or figure: it says what is shown, not what
    was found."""
    if context.passages and place < context.passages[0].start:
        return True
    return any(
        one.start <= place < one.end for one in context.units if one.kind is UnitKind.CAPTION
    )


def _ends_item(context: Context, end: int) -> bool:
    """Whether an item of a list ends at a place without a mark: items need none to be whole, unless
    they were cut."""
    is_end = context.text[end : end + 1] in ("", "\n") and context.text[end - 1 : end] not in _ENDS
    is_end = is_end and _ENDS_WITHIN.search(context.text, max(0, end - 8), end) is None
    return is_end and any(
        one.start < end <= one.end for one in context.units if one.kind is UnitKind.ITEM
    )


def _sentence(
    context: Context, alone: Candidate, before: Span | None, after: Span | None
) -> Candidate:
    leans, shown = _LEANS_BACK.match(alone.text) is not None, alone.shown
    if leans and before is not None:
        shown = before[0], alone.end
    elif not leans and after is not None and _leads_up(alone.text):
        shown = alone.start, after[1]
    if not _is_prose(context.text[slice(*shown)]):
        shown = alone.shown
    so_far = alone.terms | terms_of(alone.lead)
    if before is not None:
        so_far |= terms_of(context.text[slice(*before)])
    return replace(
        alone, shown=shown, terms_so_far=so_far, leans_back=leans and shown == alone.shown
    )


def _with_neighbours(context: Context) -> Iterator[tuple[str, Span | None, Span, Span | None]]:
    """Every sentence of a context with what it is said under, and with those before and after it in
    its line."""
    text, asked = context.text, ""
    for line in _LINE.finditer(text):
        spans = _sentences_of(text, *_without_mark(text, *line.span()))
        lead = asked or title_of(context.section_at(line.start()))
        yield from (
            (lead, *three) for three in zip([None, *spans], spans, [*spans[1:], None], strict=False)
        )
        last = text[slice(*spans[-1])] if spans else ""
        asked = last if last.endswith("?") else ""


def title_of(section_path: str) -> str:
    """The innermost heading of a path, without its number."""
    title = section_path.rpartition(" > ")[2]
    number = heading_number(title)
    return title if number is None else number.title


def _without_mark(text: str, start: int, end: int) -> Span:
    mark = _LIST_MARK.match(text, start, end)
    return (mark.end() if mark else start), end


def _sentences_of(text: str, start: int, end: int) -> list[Span]:
    found = [(start + a, start + b) for a, b in sentence_spans(text[start:end])]
    pieces = [piece for span in found for piece in _pieces(text, *span)]
    return [_without_mark(text, *span) if text[span[0]] == "(" else span for span in pieces]


def _pieces(text: str, start: int, end: int) -> list[Span]:
    """A sentence too long to be one, because a bracket or quotation mark was never closed, at all
    its full stops."""
    if len(words_of(text[start:end])) <= MAX_WORDS:
        return [(start, end)]
    cuts = [match.end() for match in _MAY_END.finditer(text, start, end)]
    return [
        (a, a + len(text[a:b].rstrip())) for a, b in zip([start, *cuts], [*cuts, end], strict=True)
    ]


def _passage_at(context: Context, place: int) -> ContextPassage:
    behind = (one for one in context.passages if place < one.end)
    whole = ContextPassage(context.chunk_id, 0, len(context.text), context.text, context.score)
    return next(behind, context.passages[-1] if context.passages else whole)


def _says_something(text: str) -> bool:
    return (
        len(words_of(text)) >= MIN_WORDS and _is_prose(text) and _STATEMENT.match(text) is not None
    )


def _leads_up(text: str) -> bool:
    """ "The vector has several advantages.": what they are, the next sentence says."""
    return len(words_of(text)) <= _LEADS_UP_WORDS and not any(
        character.isdigit() for character in text
    )


def _is_prose(text: str) -> bool:
    return len(words_of(text)) <= MAX_WORDS and " | " not in text and "\n" not in text
