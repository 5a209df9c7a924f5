"""Rows of tables that a question names, as candidates for its answer.

A row is published after its caption: "Table 2: Translation | Model: X | BLEU: 28.4". Of a wide row
only its name and the columns that were asked for are published. If it is not certain whose values
the row has, or which row is asked for, there is no claim, and the table is named instead.
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
"""If a question names more rows of a table by the same words, the table is named instead."""
_ROUND_WORDS = ".,;:?!()\"'“”‘’"


def table_rows(contexts: Sequence[Context], question: str) -> list[Candidate]:
    """The rows that the question means, each once, in the order of the contexts.

    A row is left out if another row of the same paper has the same words of the question and more.
    If the question names more than `_MOST_ALIKE` rows of a table by the same words, they get a
    `pointer` to the table.
    """
    asked, words = terms_of(question), _words(question)
    found: dict[tuple[str, str], Candidate] = {}
    for nth, context in enumerate(contexts):
        for table in () if context.is_generated else tables_in(context.text):
            meant = list(_meant(table.rows, asked, words))
            n_named_by = Counter(named_by for _, named_by in meant)
            for row, named_by in meant:
                one = _candidate(context, nth, table, row, asked)
                if n_named_by[named_by] > _MOST_ALIKE or not table.says_whose(row):
                    one = replace(one, pointer=_pointer(table, row))
                found.setdefault((one.paper_id, one.quote), one)
    shared = [(one.paper_id, one.terms & asked) for one in found.values()]
    return [
        one
        for one, (paper, stems) in zip(found.values(), shared, strict=True)
        if not any(paper == other and stems < other_stems for other, other_stems in shared)
    ]


def _meant(
    rows: Sequence[TableRow], asked: Set[str], words: Set[str]
) -> Iterator[tuple[TableRow, frozenset[str]]]:
    """The rows that a question names, each with the words of the question that name it.

    A row is left out if another row is named by the same words and has fewer other words in its
    label, or in all its names: "income" means the row "Income", not "Net income".

    asked, words: of the question, as stems and as written.
    """
    named = [(row, stems) for row in rows if (stems := _named_by(row, asked))]
    # For each named row the words that the question does not have: of its label, of all its names.
    extra_words = [
        [_words(text) - words for text in (_label(row), " ".join(_names(row)))] for row, _ in named
    ]
    for (row, stems), extra in zip(named, extra_words, strict=True):
        if not any(
            stems <= other_stems
            and any(fewer < more for fewer, more in zip(other_extra, extra, strict=True))
            for (_, other_stems), other_extra in zip(named, extra_words, strict=True)
        ):
            yield row, stems


def rows_of(context: Context) -> Iterator[tuple[QuotedTable, TableRow]]:
    """Every row of a context's tables, in order, with its table."""
    return ((table, row) for table in tables_in(context.text) for row in table.rows)


def title_of(table: QuotedTable) -> str:
    """The title above a table, word for word: its first sentence. If that is too long, only the
    number, "Table 2", or nothing if it has none."""
    title = table.caption.split("\n")[0]
    sentence = next(
        (title[start:end] for start, end in sentence_spans(title) if end > _LEAST_TITLE_CHARS),
        title,
    )
    # "Table 2. Income in 2019." has two sentences: the number belongs to the title.
    whole = title[: title.find(sentence) + len(sentence)]
    if len(whole) <= _MAX_TITLE_CHARS:
        return whole
    number = _TABLE_NUMBER.match(title)
    return number[0] if number else ""


def _named_by(row: TableRow, asked: Set[str]) -> frozenset[str]:
    """The stems of the question that are in a row's names; empty if the row has no values."""
    terms = frozenset[str]().union(
        *(terms_of(name) for name in _names(row) if len(name.split()) <= _MAX_NAME_WORDS)
    )
    has_values = any(cell.text and (cell.is_value or cell.position) for cell in row.cells)
    return frozenset(term for term in asked if has_values and has_term(terms, term))


def _names(row: TableRow) -> list[str]:
    """The names of a row and of its groups, and the text of its first cell, even if that is a
    value: "2024-10-17" is the name of a day."""
    return [
        level
        for name in dict.fromkeys((row.cells[0].text, *row.names))
        for level in name.split(GROUP_SEPARATOR)
    ]


def _label(row: TableRow) -> str:
    """The text of a row's first cell without the names of its groups."""
    return row.cells[0].text.rpartition(GROUP_SEPARATOR)[2]


def _words(text: str) -> Set[str]:
    """The words without punctuation around them, case folded. Other signs stay: "NG+" and "NG" are
    different words."""
    return {word.strip(_ROUND_WORDS).casefold() for word in text.split()} - {""}


def _candidate(
    context: Context, nth: int, table: QuotedTable, row: TableRow, asked: Set[str]
) -> Candidate:
    """A row as a candidate: published after its table's title, quoted whole, and compared with the
    question together with the lines above it. nth: number of the context. asked: stems of the
    question."""
    one = candidate(context, nth, row.start, row.end, CandidateKind.ROW)
    section_and_paper = f"{context.section_title} {context.paper_id.replace('_', ' ')}"
    passage = one.passage.text
    lines_above = (
        (start, start + len(line))
        for line in (*table.caption.split("\n"), row.heading)
        if line and (start := passage.find(line)) >= 0
    )
    text = one.text if len(one.text) <= _MAX_ROW_CHARS else _narrowed(context, row, asked)
    return replace(
        one,
        text=SEPARATOR.join(filter(None, (title_of(table), text))),
        quote=one.text,
        terms_so_far=terms_of(" ".join((one.text, row.heading, table.caption, section_and_paper))),
        read=(*one.read, *lines_above),
    )


def _pointer(table: QuotedTable, row: TableRow) -> str:
    """Names a table by its number, else its title, else its columns: "The answer may be in Table
    2"."""
    title = title_of(table)
    columns = ", ".join(dict.fromkeys(cell.column for cell in row.cells if cell.column))
    if number := _TABLE_NUMBER.match(title):
        name = number[0]
    elif title:
        name = title
    else:
        name = f"the table of {columns}" if columns else "a table of this paper"
    return f"The answer may be in {name}"


def _narrowed(context: Context, row: TableRow, asked: Set[str]) -> str:
    """The cells of a row that name it, and those whose column names share most with the question;
    the whole row if no column shares a word."""
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
