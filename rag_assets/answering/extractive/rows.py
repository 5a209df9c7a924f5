"""Rows of tables as candidates: a row answers only a question that names it.

A row is published verbatim, below its caption: "Table 2: Translation | Model: X | BLEU: 28.4"; of a
wide one, its name and the columns that were asked for. Captions alone are no answer. Tables are read by
`verify.quoted_text`, as they are in verification.
"""

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from itertools import chain

from rag_assets.answering.extractive.candidates import Candidate, CandidateKind, candidate
from rag_assets.answering.verify.quoted_text import SEPARATOR, Table, TableRow, tables_in
from rag_assets.core.domain import Context
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.terms import terms_of

_MAX_ROW_CHARS = 240
"""A longer row is narrowed to the columns that were asked for."""
_MAX_TITLE_CHARS, _LEAST_TITLE_CHARS = 140, 12
_TABLE_NUMBER = re.compile(r"(?:table|exhibit|tab\.)\s+[\w.-]*\w", re.IGNORECASE)
_MAX_NAME_WORDS = 12
"""A longer cell is prose and names no row."""
_LEAST_COMMON_START = 5
"""Stems that begin alike with so many letters are one word: "params" and "parameters"."""


def table_rows(contexts: Sequence[Context], question: str) -> list[Candidate]:
    """The rows that the question names, each once, in the order of the contexts."""
    asked = terms_of(question)
    found: dict[tuple[str, str], Candidate] = {}
    for nth, context in enumerate(contexts):
        for table, row in () if context.is_generated else rows_of(context):
            if _is_named(row, asked):
                one = _candidate(context, nth, table, row, asked)
                found.setdefault((one.paper_id, one.quote), one)
    return list(found.values())


def rows_of(context: Context) -> Iterator[tuple[Table, TableRow]]:
    """Every row of a context's tables, in order, with its table."""
    return ((table, row) for table in tables_in(context.text) for row in table.rows)


def titles_of(table: Table, row: TableRow) -> Iterator[str]:
    """The text above a row, word for word: the table's number or its whole title, and the heading in the table."""
    title = table.caption.split("\n")[0]
    sentence = next((title[start:end] for start, end in sentence_spans(title) if end > _LEAST_TITLE_CHARS), title)
    numbered = _TABLE_NUMBER.match(title)
    whole = title[: title.find(sentence) + len(sentence)]
    shown = whole if len(whole) <= _MAX_TITLE_CHARS else numbered[0] if numbered else ""
    yield from (one for one in (shown, heading_of(table, row)) if one)


def heading_of(table: Table, row: TableRow) -> str:
    """The nearest heading within the table above the row; the first may stand below the caption."""
    return row.heading or "".join(table.caption.split("\n")[1:][-1:])


def _is_named(row: TableRow, asked: Set[str]) -> bool:
    names = chain.from_iterable(terms_of(name) for name in row.names if len(name.split()) <= _MAX_NAME_WORDS)
    return any(_holds(asked, term) for term in names) and any(
        cell.text and (cell.is_value or cell.position) for cell in row.cells
    )


def _holds(terms: Set[str], term: str) -> bool:
    if term in terms or len(term) < _LEAST_COMMON_START:
        return term in terms
    longer = (other for other in terms if len(other) >= _LEAST_COMMON_START)
    return any(other.startswith(term) or term.startswith(other) for other in longer)


def _candidate(context: Context, nth: int, table: Table, row: TableRow, asked: Set[str]) -> Candidate:
    one = candidate(context, nth, row.start, row.end, CandidateKind.ROW)
    heading = heading_of(table, row)
    place = f"{context.section_title} {context.paper_id.replace('_', ' ')}"
    said = terms_of(" ".join((one.text, heading, table.caption, place)))
    above, whole = (*table.caption.split("\n"), heading), one.passage.text
    places = ((at, at + len(line)) for line in above if line and (at := whole.find(line)) >= 0)
    read = (*one.read, *places)
    text = one.text if len(one.text) <= _MAX_ROW_CHARS else _narrowed(context, row, asked)
    return replace(
        one, text=SEPARATOR.join([*titles_of(table, row), text]), quote=one.text, terms_so_far=said, read=read
    )


def _narrowed(context: Context, row: TableRow, asked: Set[str]) -> str:
    shares = [len(terms_of(cell.column) & asked) / max(1, len(terms_of(cell.column))) for cell in row.cells]
    if not (best := max(shares)):
        return context.text[row.start : row.end]
    cells = [cell for cell, share in zip(row.cells, shares, strict=True) if share == best or not cell.position]
    return SEPARATOR.join(context.text[cell.start : cell.end].strip() for cell in cells)
