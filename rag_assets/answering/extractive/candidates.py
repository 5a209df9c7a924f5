"""Candidates for an answer: texts of the contexts that can be published verbatim.

This module finds sentences, lists and lines of code; captions are left out, since they do not
answer by themselves. `table_rows` finds rows of tables.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby

from rag_assets.core.domain import BREAK, Context, ContextPassage, StatementKind
from rag_assets.core.text.headings import heading_number
from rag_assets.core.text.sentences import RAISED_MARK, sentence_spans
from rag_assets.core.text.terms import terms_of, words_of
from rag_assets.corpus.references import supposes

MIN_WORDS, MAX_WORDS = 3, 90
_LEADS_UP_WORDS = 15
"""A sentence with at most so many words and no number may only introduce the next sentence."""
_SMALL = r"[a-zß-öø-ÿ]"
_STATEMENT = re.compile(
    rf"^[\"“'(\[「『]?(?!{_SMALL})[^\W_].*[.!。！][\"”')\]]*(?:\s?(?:\[?\d*\]?|{RAISED_MARK}))?$",
    re.DOTALL,
)
"""A whole sentence in any script that does not begin with a small letter. Numbers of notes and
references may follow its period: "[3]", "³⁻⁵"."""
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
    """Its index among the contexts."""
    start: int
    end: int
    shown: Span
    """Span to publish: the candidate, with the sentence before it if it begins with a pronoun, or
    the one after it if it only introduces that ("There are two reasons:"). Verbatim in the chunk,
    so that it is its own quote."""
    passage: ContextPassage
    """The passage in which it begins."""
    terms: frozenset[str]
    """Stems of its content words."""
    terms_so_far: frozenset[str]
    """`terms`, and the stems of the sentence before it in its paragraph."""
    read: tuple[Span, ...]
    """Spans of its passage's text that are compared with the question; for a row, also the lines
    above it."""
    kind: CandidateKind = CandidateKind.SENTENCE
    lead: str = ""
    """The heading of its section, or the question with which the line before it ends; for code, the
    first line of its block."""
    is_supposed: bool = False
    """Whether it is a hypothesis, a plan or the claim of others, and not a finding."""
    leans_back: bool = False
    """Whether it begins with "this", "they", ... and the sentence before it cannot be published
    with it."""
    quote: str = ""
    """The quote that proves it, if that is not the published text: the whole row. Else empty."""
    is_note: bool = False
    """Whether it is a sentence of a footnote."""
    pointer: str = ""
    """Set if it must not become a claim: a text that names its table, which is shown instead of it
    among what is near."""


def candidate(
    context: Context, nth: int, start: int, end: int, kind: CandidateKind = CandidateKind.SENTENCE
) -> Candidate:
    """`text[start:end]` of a context as a candidate that is published alone. nth: index of the
    context."""
    text, passage = context.text[start:end], _passage_at(context, start)
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
        is_note=_kind_at(context, start) is StatementKind.NOTE,
    )


def sentences(contexts: Sequence[Context]) -> list[Candidate]:
    """The whole sentences of the authors, once each, and lists with the sentence that introduces
    them."""
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
    """A candidate for each item if a sentence lists values after a colon: "Prices: beef 3, milk 2."
    becomes "Prices: beef 3." and "Prices: milk 2.". None for other sentences.

    Only this text is compared with the question, because in the whole list each item hides the
    others. The whole sentence is published.
    """
    lead, colon, listed = whole.text.partition(": ")
    items = list(_ITEM.finditer(listed))
    is_list = len(items) > 1 and all(any(map(str.isdigit, item[0])) for item in items)
    if not is_list:
        return
    shift = whole.read[0][0]
    for item in items:
        text = f"{lead}{colon}{item[0].rstrip('.')}."
        start = shift + len(lead) + len(colon) + item.start()
        read = ((shift, shift + len(lead)), (start, start + len(item[0])))
        yield replace(whole, text=text, terms=terms_of(text), read=read)


def _lists_led_up_to(context: Context) -> Iterator[Span]:
    """The spans of lists together with the sentence before them, if that ends with a colon: only
    together they can be understood."""
    lead_in: Span | None = None
    for is_item, run in groupby(context.units, key=lambda one: one.kind is StatementKind.ITEM):
        units = list(run)
        if not is_item:
            is_open = context.text[units[-1].start : units[-1].end].rstrip().endswith(":")
            lead_in = (units[-1].start, units[-1].end) if is_open else None
        elif lead_in and len(words_of(context.text[lead_in[0] : units[-1].end])) <= MAX_WORDS:
            yield lead_in[0], units[-1].end


def code_lines(contexts: Sequence[Context]) -> Iterator[Candidate]:
    """The lines of code. The `lead` of each is the first line of its block."""
    for nth, context in enumerate(contexts):
        firsts: dict[int, str] = {}
        for unit in () if context.is_generated else context.units:
            text = context.text[unit.start : unit.end]
            if unit.kind is not StatementKind.LINE or len(words_of(text)) < MIN_WORDS:
                continue
            first, start = firsts.setdefault(unit.block, text), unit.end - len(text.lstrip())
            one = candidate(context, nth, start, unit.end, CandidateKind.LINE)
            yield replace(one, lead=first, terms_so_far=one.terms | terms_of(first))


def _is_title(context: Context, offset: int) -> bool:
    """Whether an offset is in the title of a table or figure, or a note below one. They say what is
    shown, not what was found, so they are no answers."""
    if context.passages and offset < context.passages[0].start:  # the title that is repeated
        return True
    return _kind_at(context, offset) is StatementKind.CAPTION


def _kind_at(context: Context, offset: int) -> StatementKind | None:
    """The kind of the unit at an offset. A note below a table or a title counts as its caption."""
    kinds = [one.kind for one in context.units if one.start <= offset]
    is_note = bool(kinds) and kinds[-1] is StatementKind.NOTE
    before = next((kind for kind in reversed(kinds) if kind is not StatementKind.NOTE), None)
    if is_note and before in (StatementKind.ROW, StatementKind.CAPTION):
        return StatementKind.CAPTION
    return kinds[-1] if kinds else None


def _ends_item(context: Context, end: int) -> bool:
    """Whether an item of a list ends at an offset without punctuation, and was not cut there. Such
    an item is a whole statement although it has no period."""
    is_end = context.text[end : end + 1] in ("", "\n") and context.text[end - 1 : end] not in _ENDS
    is_end = is_end and _ENDS_WITHIN.search(context.text, max(0, end - 8), end) is None
    return is_end and any(
        one.start < end <= one.end for one in context.units if one.kind is StatementKind.ITEM
    )


def _sentence(
    context: Context, alone: Candidate, before: Span | None, after: Span | None
) -> Candidate:
    """The candidate with the neighbouring sentence that it needs (`Candidate.shown`).

    before, after: the spans of the neighbours in its line; None if there is none.
    """
    points_back, shown = _LEANS_BACK.match(alone.text) is not None, alone.shown
    if points_back and before is not None:
        shown = before[0], alone.end
    elif not points_back and after is not None and _leads_up(alone.text):
        shown = alone.start, after[1]
    if not _is_prose(context.text[slice(*shown)]):  # too long together
        shown = alone.shown
    so_far = alone.terms | terms_of(alone.lead)
    if before is not None:
        so_far |= terms_of(context.text[slice(*before)])
    return replace(
        alone, shown=shown, terms_so_far=so_far, leans_back=points_back and shown == alone.shown
    )


def _with_neighbours(context: Context) -> Iterator[tuple[str, Span | None, Span, Span | None]]:
    """Every sentence of a context: its `Candidate.lead`, the span of the sentence before it in its
    line, its own span, and the span of the sentence after it."""
    text, question = context.text, ""
    for line in _LINE.finditer(text):
        start, end = _without_mark(text, *line.span())
        if _kind_at(context, start) is StatementKind.NOTE:
            number, _, words = text[start:end].partition(" ")
            start = end - len(words) if number.isdigit() else start
        spans = _sentences_of(text, start, end)
        lead = question or title_of(context.section_at(line.start()))
        for before, span, after in zip([None, *spans], spans, [*spans[1:], None], strict=False):
            yield lead, before, span, after
        last = text[slice(*spans[-1])] if spans else ""
        question = last if last.endswith("?") else ""


def title_of(section_path: str) -> str:
    """The innermost heading of a path, without its number."""
    title = section_path.rpartition(" > ")[2]
    number = heading_number(title)
    return title if number is None else number.title


def _without_mark(text: str, start: int, end: int) -> Span:
    """The span without the mark of a list item at its beginning."""
    mark = _LIST_MARK.match(text, start, end)
    return (mark.end() if mark else start), end


def _sentences_of(text: str, start: int, end: int) -> list[Span]:
    """The spans of the sentences in `text[start:end]`, without marks of list items: "(b) "."""
    found = [(start + a, start + b) for a, b in sentence_spans(text[start:end])]
    pieces = [piece for span in found for piece in _pieces(text, *span)]
    return [_without_mark(text, *span) if text[span[0]] == "(" else span for span in pieces]


def _pieces(text: str, start: int, end: int) -> list[Span]:
    """The span of a sentence. If it has too many words, because a bracket or quotation mark in it
    was never closed, it is split at all its full stops."""
    if len(words_of(text[start:end])) <= MAX_WORDS:
        return [(start, end)]
    cuts = [match.end() for match in _MAY_END.finditer(text, start, end)]
    return [
        (a, a + len(text[a:b].rstrip())) for a, b in zip([start, *cuts], [*cuts, end], strict=True)
    ]


def _passage_at(context: Context, offset: int) -> ContextPassage:
    """The passage at an offset in a context. Between two passages it is the next one, after all of
    them the last one. If the passages are not known, it is the whole context."""
    for passage in context.passages:
        if offset < passage.end:
            return passage
    if context.passages:
        return context.passages[-1]
    return ContextPassage(context.chunk_id, 0, len(context.text), context.text, context.score)


def _says_something(text: str) -> bool:
    """Whether a text is a whole sentence of a length that can be published."""
    return (
        len(words_of(text)) >= MIN_WORDS and _is_prose(text) and _STATEMENT.match(text) is not None
    )


def _leads_up(text: str) -> bool:
    """Whether a sentence may only introduce the next one: "The vector has several advantages."."""
    return len(words_of(text)) <= _LEADS_UP_WORDS and not any(
        character.isdigit() for character in text
    )


def _is_prose(text: str) -> bool:
    """Whether a text is short enough for a claim and has neither table cells nor line breaks, nor
    words that may belong to another text."""
    return len(words_of(text)) <= MAX_WORDS and not any(
        sign in text for sign in (" | ", "\n", BREAK)
    )
