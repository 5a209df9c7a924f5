"""Rows of tables as candidates: a row answers a question that names it, and one of its columns where it has several.

A row is published as it stands in its paper, below its caption: "Table 2: Translation | Model: X | BLEU: 28.4"; of a
wide one, its name and the columns that were asked for. Captions alone are no answer. Which row matches is found in
`row_matching`; tables are read by `citations.table_quotes.rows`, as they are in verification.

Where the best candidates are read together with the question (`second_reading`), that tells which rows answer: then the
rows that match best are candidates even if the question names none of them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice

from rag_assets.answering.citations.table_quotes.rows import SEPARATOR, tables_in
from rag_assets.answering.drafts import TokenReader
from rag_assets.answering.extractive.candidates import Candidate, CandidateKind, candidate
from rag_assets.answering.extractive.row_matching import FoundRow, RowMatch, RowMatcher
from rag_assets.domain import Context
from rag_assets.questions import question_parts
from rag_assets.text.sentences import sentence_spans
from rag_assets.text.terms import terms_of

_MAX_ROW_CHARS = 240
"""A longer row is narrowed to the columns that were asked for."""
_MAX_TITLE_CHARS, _LEAST_TITLE_CHARS = 140, 12
_TABLE_NUMBER = re.compile(r"(?:table|exhibit|tab\.)\s+[\w.-]*\w", re.IGNORECASE)
_NAMED_FROM, _NEARLY_BEST = 0.4, 0.3
"""Share of a column's name from which a question names it, and of the best column's share."""
_BESIDE_BEST = 0.97
"""A second row is used from this share of the best row's rank on."""
_MOST_ROWS = 2
_ASKS_FOR_A_VALUE = re.compile(
    r"\bhow (?!do\b|does\b|did\b|is\b|are\b|was\b|were\b|has\b|have\b|had\b|can\b|could\b|would\b|should\b|to\b)[a-z]+"
    r"|\b(?:what|which)\b(?! (?:do|does|did)\b).{0,80}?\b"
    r"(?:shares?|percentages?|per ?cent|proportions?|fractions?|numbers?|means?|averages?|"
    r"medians?|scores?|rates?|ratings?|values?|coefficients?|correlations?|estimates?|effects?|sizes?|ratios?|risks?|"
    r"odds|probabilit\w+|accurac\w+|precision|recall|doses?|times?|durations?|ages?|costs?|prices?|amounts?|levels?|"
    r"thresholds?|margins?|expens\w+|expenditures?|revenues?|sales|incomes?|earnings|profits?|assets|debts?|"
    r"dividends?|cash|tax(?:es)?|f1|auc|bleu|map|weights?|betas?|errors?|intervals?|deviations?|frequenc\w+|prevalence|"
    r"incidence|temperatures?|concentrations?|lengths?|widths?|heights?|depths?|speeds?|distances?|counts?|totals?)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_NAMES_SEVERAL = re.compile(r"\b(?:and|or|than|versus|vs|between|both)\b", re.IGNORECASE)
_VALUE_FROM, _OTHER_FROM = 0.52, 0.68
"""Scores from which a row answers a question that asks for a value, and any other question."""
_HARDLY_COVERED, _HARDLY_COVERED_FROM = 0.2, 0.56
"""A row that covers less than this share of the question's words needs a higher score: often it shares only its name
with the question, as a row for the system that the whole paper is about."""
_COLUMN_FROM = 0.18
"""How far the question must name one of the columns, in meaning at least, where they have names."""
_LEAST_RELEVANCE = 0.9
"""Of a row with the least score, on the scale of sentences: above most of them, as a row that matches says more."""

_MOST_LIKELY, _LIKELY_FROM = 8, 0.3
"""Rows that a reader gets for each part of a question, and the least score of one."""
_AHEAD_WITH_VALUE, _AHEAD = 0.4, 0.3
"""Added to the score of a likely row where a value is asked for and the row names its values, and elsewhere;
`second_reading` takes 0.3 off."""
Place = tuple[int, int]
"""Of a row: the number of its context and its offset there."""
RelevancesOf = Callable[[RowMatcher, str], Mapping[Place, float]]
"""matcher, part of the question -> the relevance of the rows that may answer it."""


def table_rows(contexts: Sequence[Context], question: str, reader: TokenReader) -> list[Candidate]:
    """The rows that a part of the question names, each once, in the order of the contexts."""
    return _candidates(contexts, question, reader, _of_named)


def likely_rows(contexts: Sequence[Context], question: str, reader: TokenReader) -> list[Candidate]:
    """The rows that match a part of the question best, named or not, for a reader that tells which of them answer; each
    once, in the order of the contexts."""
    return _candidates(contexts, question, reader, _of_likely)


def _candidates(
    contexts: Sequence[Context], question: str, reader: TokenReader, relevances_of: RelevancesOf
) -> list[Candidate]:
    own = [(nth, context) for nth, context in enumerate(contexts) if not context.is_generated]
    rows = [row for nth, context in own for row in rows_of(nth, context)]
    if not rows:
        return []
    matcher = RowMatcher([context for _, context in own], rows, reader)
    parts = question_parts(question)
    relevances = {part.text: relevances_of(matcher, part.searched) for part in parts}
    asked = frozenset[str]().union(*(terms_of(part.searched) for part in parts))
    found: dict[tuple[str, str], Candidate] = {}
    for row in rows:
        relevance = {text: of_rows.get(_place(row), 0.0) for text, of_rows in relevances.items()}
        if any(relevance.values()):
            one = candidate(row.context, row.nth, row.row.start, row.row.end, CandidateKind.ROW)
            one = replace(one, text=_published(row, asked, matcher), quote=row.quote, relevance=relevance)
            found.setdefault((row.context.paper_id, row.quote), one)
    return list(found.values())


def rows_of(nth: int, context: Context) -> Iterator[FoundRow]:
    """Every row of a context's tables, in order. nth: number of the context."""
    for table in tables_in(context.text):
        for row in table.rows:
            yield FoundRow(nth, context, table, row)


def _place(row: FoundRow) -> Place:
    return row.nth, row.row.start


def _of_likely(matcher: RowMatcher, part: str) -> Mapping[Place, float]:
    """The relevance of the rows that match a part of the question best: how sure it is that they answer it."""
    asks_for_a_value = _ASKS_FOR_A_VALUE.search(part) is not None
    fitting = (one for one in matcher.best(part, within=0.0) if not asks_for_a_value or _has_value(one))
    best = [one for one in islice(fitting, _MOST_LIKELY) if one.score >= _LIKELY_FROM]
    leads = [_AHEAD_WITH_VALUE if asks_for_a_value and _names_values(one) else _AHEAD for one in best]
    return {_place(one.row): min(1.0, one.score + lead) for one, lead in zip(best, leads, strict=True)}


def _of_named(matcher: RowMatcher, part: str) -> Mapping[Place, float]:
    """The relevance of the rows that answer a part of the question, on the scale of sentences."""
    asks_for_a_value = _ASKS_FOR_A_VALUE.search(part) is not None
    least = _VALUE_FROM if asks_for_a_value else _OTHER_FROM
    best = [one for one in matcher.best(part, within=_BESIDE_BEST) if _answers(one, least)]
    if asks_for_a_value:
        best = [one for one in best if _has_value(one)]
    beside = [one for one in best[1:] if _is_asked_beside(one, best[0], part)]
    most = _relevance(best[0], least) if best else 0.0
    return {_place(one.row): min(most, _relevance(one, least)) for one in [*best[:1], *beside][:_MOST_ROWS]}


def _has_value(match: RowMatch) -> bool:
    return any(_DIGIT.search(cell.text) for cell, _ in match.row.columns)


def _names_values(match: RowMatch) -> bool:
    """Whether a reader can tell what each value of a row is."""
    return len(match.row.columns) == 1 or any(cell.column for cell, _ in match.row.columns)


def _answers(match: RowMatch, least: float) -> bool:
    needed = max(least, _HARDLY_COVERED_FROM) if match.covered < _HARDLY_COVERED else least
    has_column = match.column >= _COLUMN_FROM or not any(cell.column for cell, _ in match.row.columns)
    return (has_column and match.score >= needed) or match.is_named_in_words


def _is_asked_beside(match: RowMatch, best: RowMatch, part: str) -> bool:
    """Whether a row is asked for as much as the best one: it has the same name, or the question names several."""
    has_same_name = match.row.names[:1] == best.row.names[:1]
    return has_same_name or (_NAMES_SEVERAL.search(part) is not None and match.named == 1 == best.named)


def _relevance(match: RowMatch, least: float) -> float:
    above = min(1.0, max(0.0, match.score - least) / (1 - least))
    return _LEAST_RELEVANCE + (1 - _LEAST_RELEVANCE) * above


def _published(row: FoundRow, asked: Set[str], matcher: RowMatcher) -> str:
    """The row below its caption and heading, as far as they fit; of a long one, its name and the columns that the
    question names best."""
    text = row.quote if len(row.quote) <= _MAX_ROW_CHARS else _narrowed(row, asked, matcher) or row.quote
    return SEPARATOR.join([*titles_of(row), text])


def titles_of(row: FoundRow) -> Iterator[str]:
    """What stands above a row, word for word: the table's number or its whole title, and the heading in the table."""
    title = row.table.caption.split("\n")[0]
    sentence = next((title[start:end] for start, end in sentence_spans(title) if end > _LEAST_TITLE_CHARS), title)
    numbered = _TABLE_NUMBER.match(title)
    whole = title[: title.find(sentence) + len(sentence)]
    shown = whole if len(whole) <= _MAX_TITLE_CHARS else numbered[0] if numbered else ""
    yield from (one for one in (shown, row.heading) if one)


def _narrowed(row: FoundRow, asked: Set[str], matcher: RowMatcher) -> str:
    """The row's name and the columns that the question names best; empty where it names none."""
    shares = [(cell, matcher.share(header, asked)) for cell, header in row.columns]
    best = max((share for _, share in shares), default=0.0)
    chosen = {cell.position for cell, share in shares if share >= _NEARLY_BEST * best} | {0}
    cells = [cell for cell in row.row.cells if cell.position in chosen]
    texts = [row.context.text[cell.start : cell.end].strip() for cell in cells]
    return SEPARATOR.join(texts) if best >= _NAMED_FROM else ""
