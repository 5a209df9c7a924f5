"""Rows of tables that a question names, as candidates for its answer.

A row is published below its caption: "Table 2: Translation | Model: X | BLEU: 28.4"; of a wide one,
its name and the columns that were asked for. Where it is not certain whose values it holds, or
which row is asked for, it is no claim; its table is named instead.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from rag_assets.answering.extractive.candidates import Candidate, CandidateKind, candidate
from rag_assets.answering.verify.quoted_text import SEPARATOR, QuotedTable, TableRow, tables_in
from rag_assets.core.domain import GROUP_SEPARATOR, Context
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.terms import has_term, terms_of

_MAX_ROW_CHARS = 240
"""A longer row is narrowed to the columns that were asked for."""
_MAX_TITLE_CHARS, _LEAST_TITLE_CHARS = 140, 12
_TABLE_NUMBER = re.compile(
    r"(?:table|exhibit|tab\.)\s+(?=[\w.-]*\d|(?-i:[A-Z]|[IVX]+)\b)[\w.-]*\w", re.IGNORECASE
)
_MAX_NAME_WORDS = 12
"""A longer cell is prose and names no row."""
_MOST_ALIKE = 2
"""An answer has room for so many rows that a question names alike: the best one and a further
one."""
_ROUND_WORDS = ".,;:?!()\"'“”‘’"


def table_rows(contexts: Sequence[Context], question: str) -> list[Candidate]:
    """The rows that the question means, each once, in the order of the contexts: no other row of
    the paper has all words of the question that they have, and more.

    Where it names more rows of a table alike than an answer has room for, the table is named
    instead.
    """
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
    held = [(one.paper_id, one.terms & asked) for one in found.values()]
    return [
        one
        for one, its in zip(found.values(), held, strict=True)
        if not any(_is_less(its, other) for other in held)
    ]


def _is_less(one: tuple[str, Set[str]], other: tuple[str, Set[str]]) -> bool:
    """Whether another row of the paper has all words of the question that a row has, and more."""
    return one[0] == other[0] and one[1] < other[1]


def _meant(
    rows: Sequence[TableRow], asked: Set[str], words: Set[str]
) -> Iterator[tuple[TableRow, frozenset[str]]]:
    """The rows that are named, with the words asked for that name them; of those named by the same
    words, the ones with the fewest other words in their label, or in all names: "income" is asked
    of "Income", not of "Net income"."""
    named = [(row, its) for row in rows if (its := _named_by(row, asked))]
    left = [
        [_words(said) - words for said in (_label(row), " ".join(_names(row)))] for row, _ in named
    ]
    for (row, own), own_left in zip(named, left, strict=True):
        if not any(
            own <= its and any(fewer < more for fewer, more in zip(its_left, own_left, strict=True))
            for (_, its), its_left in zip(named, left, strict=True)
        ):
            yield row, own


def rows_of(context: Context) -> Iterator[tuple[QuotedTable, TableRow]]:
    """Every row of a context's tables, in order, with its table."""
    return ((table, row) for table in tables_in(context.text) for row in table.rows)


def title_of(table: QuotedTable) -> str:
    """The text above a table, word for word: its whole title, or only its number where that is
    long; may be empty."""
    title = table.caption.split("\n")[0]
    sentence = next(
        (title[start:end] for start, end in sentence_spans(title) if end > _LEAST_TITLE_CHARS),
        title,
    )
    numbered = _TABLE_NUMBER.match(title)
    whole = title[: title.find(sentence) + len(sentence)]
    return whole if len(whole) <= _MAX_TITLE_CHARS else numbered[0] if numbered else ""


def _named_by(row: TableRow, asked: Set[str]) -> frozenset[str]:
    """The words asked for that name the row; empty where it holds nothing else."""
    terms = frozenset[str]().union(
        *(terms_of(name) for name in _names(row) if len(name.split()) <= _MAX_NAME_WORDS)
    )
    has_values = any(cell.text and (cell.is_value or cell.position) for cell in row.cells)
    return frozenset(term for term in asked if has_values and has_term(terms, term))


def _names(row: TableRow) -> list[str]:
    """The names of a row and of its groups, and what its first cell holds: "2024-10-17" is the name
    of a day."""
    return [
        level
        for name in dict.fromkeys((row.cells[0].text, *row.names))
        for level in name.split(GROUP_SEPARATOR)
    ]


def _label(row: TableRow) -> str:
    """Without its groups."""
    return row.cells[0].text.rpartition(GROUP_SEPARATOR)[2]


def _words(text: str) -> Set[str]:
    """The words as written, "NG+" and "NG" apart."""
    return {word.strip(_ROUND_WORDS).casefold() for word in text.split()} - {""}


def _candidate(
    context: Context, nth: int, table: QuotedTable, row: TableRow, asked: Set[str]
) -> Candidate:
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


def _pointer(table: QuotedTable, row: TableRow) -> str:
    title = title_of(table)
    numbered = _TABLE_NUMBER.match(title)
    columns = ", ".join(dict.fromkeys(cell.column for cell in row.cells if cell.column))
    named = (
        numbered[0]
        if numbered
        else title or (f"the table of {columns}" if columns else "a table of this paper")
    )
    return f"The answer may be in {named}"


def _narrowed(context: Context, row: TableRow, asked: Set[str]) -> str:
    shares = [
        len(terms_of(cell.column) & asked) / max(1, len(terms_of(cell.column)))
        for cell in row.cells
    ]
    if not (best := max(shares)):
        return context.text[row.start : row.end]
    cells = [
        cell
        for cell, share in zip(row.cells, shares, strict=True)
        if share == best or not cell.position
    ]
    return SEPARATOR.join(context.text[cell.start : cell.end].strip() for cell in cells)
