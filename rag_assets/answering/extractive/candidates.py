"""Candidates for an answer: statements and rows of tables in the contexts that can be published verbatim.

A row answers only a question that names it. It is published below its caption: "Table 2: Translation | Model: X |
BLEU: 28.4"; of a wide one, its name and the columns that were asked for. Captions alone are no answer. A row of which
it is not certain whose values it holds is no claim; its table is named instead.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum

from rag_assets.answering.verify.quoted_text import SEPARATOR, Table, TableRow, tables_in
from rag_assets.core.domain import GROUP_SEPARATOR, Context, ContextPassage, UnitKind
from rag_assets.core.text.sentences import RAISED_MARK, sentence_spans
from rag_assets.core.text.terms import terms_of, words_of

MIN_WORDS, MAX_WORDS = 3, 90
_LEADS_UP_WORDS = 15
"""A sentence of so many words without a number often only leads up to what the next one says."""
_STATEMENT = re.compile(rf"^[\"“'(\[]?[A-Z0-9].*[.!][\"”')\]]*(?:\s?(?:\[?\d*\]?|{RAISED_MARK}))?$", re.DOTALL)
"""A whole sentence, with the numbers of notes and references behind its period: "[3]", "³⁻⁵"."""
_LEANS_BACK = re.compile(
    r"^(?:(?:in|for|with|by|of) )?(?:this|these|those|they|their|it|its|such|he|she)\b", re.IGNORECASE
)
_MAY_END = re.compile(r"[.!?]\s+(?=[A-Z])")
_ENDS = frozenset(".!?:;,-–")
_ENDS_WITHIN = re.compile(
    r"\b(?:a|an|the|and|or|of|on|in|at|to|by|for|from|with|as|than|that|which|is|are|was|were)$", re.IGNORECASE
)
"""Ends a line that was cut within a sentence."""
_LINE = re.compile(r"[^\n]+")
_LIST_MARK = re.compile(r"[ \t]*(?:[-*+•▪◦‣–]|\(?\d{1,3}[.)]|\(?(?:[a-z]|[ivx]{2,4})\)|[a-z]\.)[ \t]+(?=\S)")
"""Begins an item of a list: "- ", "2. ", "(b) "."""
Span = tuple[int, int]


class CandidateKind(StrEnum):
    """Kinds of candidates."""

    SENTENCE = "sentence"
    ROW = "row"
    """A row of a table with its header."""


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
    """Span to publish: the candidate, with the sentence before it if it begins with a pronoun, or the one after it if
    it only introduces that ("There are two reasons:"). Verbatim in the chunk, so that it is its own quote."""
    passage: ContextPassage
    """The passage that it is in, or begins in."""
    terms: frozenset[str]
    """Stems of its content words."""
    terms_so_far: frozenset[str]
    """`terms`, and the stems of the sentence before it in its paragraph."""
    read: tuple[Span, ...]
    """Stretches of its passage's text that are compared with the question; for a row, also the lines above it."""
    kind: CandidateKind = CandidateKind.SENTENCE
    leans_back: bool = False
    """Whether it begins with "this", "they", ... and the sentence before it cannot be published with it."""
    quote: str = ""
    """Quoted as its evidence where that is more than `text`: the whole row."""
    pointer: str = ""
    """Said in its place where it is no claim, and only among what is near: the table that it stands in."""


def candidate(
    context: Context, nth: int, start: int, end: int, kind: CandidateKind = CandidateKind.SENTENCE
) -> Candidate:
    """`text[start:end]` of a context as a candidate that is published alone. nth: number of the context."""
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
    )


def sentences(contexts: Sequence[Context]) -> list[Candidate]:
    """Statements of the authors, each once."""
    found: dict[tuple[str, str], Candidate] = {}
    for nth, context in enumerate(contexts):
        if context.is_generated:
            continue
        for before, span, after in _with_neighbours(context.text):
            text = context.text[slice(*span)]
            if (
                not _is_title(context, span[0])
                and (context.paper_id, text) not in found
                and _says_something(f"{text}." if _ends_item(context, span[1]) else text)
            ):
                found[context.paper_id, text] = _sentence(context, candidate(context, nth, *span), before, after)
    return list(found.values())


def _is_title(context: Context, place: int) -> bool:
    """Whether a place belongs to the title of a table or figure: it says what is shown, not what was found."""
    if context.passages and place < context.passages[0].start:
        return True
    return any(one.start <= place < one.end for one in context.units if one.kind is UnitKind.CAPTION)


def _ends_item(context: Context, end: int) -> bool:
    """Whether an item of a list ends at a place without a mark: items need none to be whole, unless they were cut."""
    is_end = context.text[end : end + 1] in ("", "\n") and context.text[end - 1 : end] not in _ENDS
    is_end = is_end and _ENDS_WITHIN.search(context.text, max(0, end - 8), end) is None
    return is_end and any(one.start < end <= one.end for one in context.units if one.kind is UnitKind.ITEM)


def _sentence(context: Context, alone: Candidate, before: Span | None, after: Span | None) -> Candidate:
    leans, shown = _LEANS_BACK.match(alone.text) is not None, alone.shown
    if leans and before is not None:
        shown = before[0], alone.end
    elif not leans and after is not None and _leads_up(alone.text):
        shown = alone.start, after[1]
    if not _is_prose(context.text[slice(*shown)]):
        shown = alone.shown
    so_far = alone.terms if before is None else alone.terms | terms_of(context.text[slice(*before)])
    return replace(alone, shown=shown, terms_so_far=so_far, leans_back=leans and shown == alone.shown)


def _with_neighbours(text: str) -> Iterator[tuple[Span | None, Span, Span | None]]:
    for line in _LINE.finditer(text):
        spans = _sentences_of(text, *_without_mark(text, *line.span()))
        yield from zip([None, *spans], spans, [*spans[1:], None], strict=False)


def _without_mark(text: str, start: int, end: int) -> Span:
    mark = _LIST_MARK.match(text, start, end)
    return (mark.end() if mark else start), end


def _sentences_of(text: str, start: int, end: int) -> list[Span]:
    found = [(start + a, start + b) for a, b in sentence_spans(text[start:end])]
    pieces = [piece for span in found for piece in _pieces(text, *span)]
    return [_without_mark(text, *span) if text[span[0]] == "(" else span for span in pieces]


def _pieces(text: str, start: int, end: int) -> list[Span]:
    """A sentence too long to be one, because a bracket or quotation mark was never closed, at all its full stops."""
    if len(words_of(text[start:end])) <= MAX_WORDS:
        return [(start, end)]
    cuts = [match.end() for match in _MAY_END.finditer(text, start, end)]
    return [(a, a + len(text[a:b].rstrip())) for a, b in zip([start, *cuts], [*cuts, end], strict=True)]


def _passage_at(context: Context, place: int) -> ContextPassage:
    behind = (one for one in context.passages if place < one.end)
    whole = ContextPassage(context.chunk_id, 0, len(context.text), context.text, context.score)
    return next(behind, context.passages[-1] if context.passages else whole)


def _says_something(text: str) -> bool:
    return len(words_of(text)) >= MIN_WORDS and _is_prose(text) and _STATEMENT.match(text) is not None


def _leads_up(text: str) -> bool:
    """ "The vector has several advantages.": what they are, the next sentence says."""
    return len(words_of(text)) <= _LEADS_UP_WORDS and not any(character.isdigit() for character in text)


def _is_prose(text: str) -> bool:
    return len(words_of(text)) <= MAX_WORDS and " | " not in text and "\n" not in text


_MAX_ROW_CHARS = 240
"""A longer row is narrowed to the columns that were asked for."""
_MAX_TITLE_CHARS, _LEAST_TITLE_CHARS = 140, 12
_TABLE_NUMBER = re.compile(r"(?:table|exhibit|tab\.)\s+[\w.-]*\w", re.IGNORECASE)
_MAX_NAME_WORDS = 12
"""A longer cell is prose and names no row."""
_MOST_ALIKE = 2
"""An answer has room for so many rows that a question names alike: the best one and a further one."""
_ROUND_WORDS = ".,;:?!()\"'“”‘’"
_LEAST_COMMON_START = 5
"""Stems that begin alike with so many letters are one word: "params" and "parameters"."""


def table_rows(contexts: Sequence[Context], question: str) -> list[Candidate]:
    """The rows that the question means, each once, in the order of the contexts. Where it names more rows of a table
    alike than an answer has room for, it does not tell which one it means, and the table is named instead."""
    asked, words = terms_of(question), _words(question)
    found: dict[tuple[str, str], Candidate] = {}
    for nth, context in enumerate(contexts):
        for table in () if context.is_generated else tables_in(context.text):
            meant = list(_meant(table.rows, asked, words))
            alike = Counter(named for _, named in meant)
            for row, named in meant:
                one = _candidate(context, nth, table, row, asked)
                if alike[named] > _MOST_ALIKE or not table.says_whose(row):
                    one = replace(one, pointer=_pointer(table, row))
                found.setdefault((one.paper_id, one.quote), one)
    return list(found.values())


def _meant(rows: Sequence[TableRow], asked: Set[str], words: Set[str]) -> Iterator[tuple[TableRow, frozenset[str]]]:
    """The rows that are named, with the words asked for that name them; of those named by the same words, the ones with
    the fewest other words in their label, or in all names: "income" is asked of "Income", not of "Net income"."""
    named = [(row, its) for row in rows if (its := _named_by(row, asked))]
    left = [[_words(said) - words for said in (_label(row), " ".join(_names(row)))] for row, _ in named]
    for (row, own), own_left in zip(named, left, strict=True):
        if not any(
            own <= its and any(fewer < more for fewer, more in zip(its_left, own_left, strict=True))
            for (_, its), its_left in zip(named, left, strict=True)
        ):
            yield row, own


def rows_of(context: Context) -> Iterator[tuple[Table, TableRow]]:
    """Every row of a context's tables, in order, with its table."""
    return ((table, row) for table in tables_in(context.text) for row in table.rows)


def title_of(table: Table) -> str:
    """The text above a table, word for word: its whole title, or only its number where that is long; may be empty."""
    title = table.caption.split("\n")[0]
    sentence = next((title[start:end] for start, end in sentence_spans(title) if end > _LEAST_TITLE_CHARS), title)
    numbered = _TABLE_NUMBER.match(title)
    whole = title[: title.find(sentence) + len(sentence)]
    return whole if len(whole) <= _MAX_TITLE_CHARS else numbered[0] if numbered else ""


def _named_by(row: TableRow, asked: Set[str]) -> frozenset[str]:
    """The words asked for that name the row; empty where it holds nothing else."""
    terms = frozenset[str]().union(*(terms_of(name) for name in _names(row) if len(name.split()) <= _MAX_NAME_WORDS))
    has_values = any(cell.text and (cell.is_value or cell.position) for cell in row.cells)
    return frozenset(term for term in asked if has_values and _holds(terms, term))


def _names(row: TableRow) -> list[str]:
    """The names of a row and of its groups, and what its first cell holds: "2024-10-17" is the name of a day."""
    return [level for name in dict.fromkeys((row.cells[0].text, *row.names)) for level in name.split(GROUP_SEPARATOR)]


def _label(row: TableRow) -> str:
    """Without its groups."""
    return row.cells[0].text.rpartition(GROUP_SEPARATOR)[2]


def _words(text: str) -> Set[str]:
    """The words as written, "NG+" and "NG" apart."""
    return {word.strip(_ROUND_WORDS).casefold() for word in text.split()} - {""}


def _holds(terms: Set[str], term: str) -> bool:
    if term in terms or len(term) < _LEAST_COMMON_START:
        return term in terms
    longer = (other for other in terms if len(other) >= _LEAST_COMMON_START)
    return any(other.startswith(term) or term.startswith(other) for other in longer)


def _candidate(context: Context, nth: int, table: Table, row: TableRow, asked: Set[str]) -> Candidate:
    one = candidate(context, nth, row.start, row.end, CandidateKind.ROW)
    heading, title = row.heading, title_of(table)
    place = f"{context.section_title} {context.paper_id.replace('_', ' ')}"
    said = terms_of(" ".join((one.text, heading, table.caption, place)))
    above, whole = (*table.caption.split("\n"), heading), one.passage.text
    places = ((at, at + len(line)) for line in above if line and (at := whole.find(line)) >= 0)
    read = (*one.read, *places)
    text = one.text if len(one.text) <= _MAX_ROW_CHARS else _narrowed(context, row, asked)
    return replace(
        one,
        text=SEPARATOR.join(filter(None, (title, text))),
        quote=one.text,
        terms_so_far=said,
        read=read,
    )


def _pointer(table: Table, row: TableRow) -> str:
    title = title_of(table)
    numbered = _TABLE_NUMBER.match(title)
    columns = ", ".join(dict.fromkeys(cell.column for cell in row.cells if cell.column))
    named = numbered[0] if numbered else title or (f"the table of {columns}" if columns else "a table of this paper")
    return f"The answer may be in {named}"


def _narrowed(context: Context, row: TableRow, asked: Set[str]) -> str:
    shares = [len(terms_of(cell.column) & asked) / max(1, len(terms_of(cell.column))) for cell in row.cells]
    if not (best := max(shares)):
        return context.text[row.start : row.end]
    cells = [cell for cell, share in zip(row.cells, shares, strict=True) if share == best or not cell.position]
    return SEPARATOR.join(context.text[cell.start : cell.end].strip() for cell in cells)
