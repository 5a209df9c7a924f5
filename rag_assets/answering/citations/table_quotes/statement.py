"""Reads a claim about a table: its numbers, and its words in runs of one name each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_assets.answering.citations.number_agreement import may_be_same
from rag_assets.answering.citations.table_quotes.cell_quantities import has_bracketed_numbers, without_brackets
from rag_assets.answering.citations.table_quotes.naming import Word, abbreviated, all_stems, words_of
from rag_assets.answering.citations.table_quotes.rows import QuotedRows, Table
from rag_assets.text.numbers.quantities import Quantity, placed_quantities

_PARTS_NAMES = re.compile(r"[,;:()]|\b(?:and|or|vs|versus|than|was|were|is|are|had|has)\b|\d")
"""Separates two names, except inside a name that is written as in the table."""
_WORD_BEFORE = re.compile(r"([^\W_]+)[^\w\d.]{1,3}$")
_WORD_BEHIND = re.compile(r"[^\w\d]{0,2}([^\W_]+)")
_JOINING = frozenset("and or of to in at for with was were is are be by from the a an on than".split())
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_LOOK_BACK_CHARS = 40
_NAME_WITH_NUMBER = re.compile(r"[^\W\d_]{2}.*\d|\d.*[^\W\d_]{2}", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """A claim and its numbers, read beside the rows it quotes."""

    text: str
    words: tuple[Word, ...]
    """Without the words of its values: the "%" of "5 %" names no column."""
    values: tuple[tuple[int, int, Quantity], ...]
    """Offsets in `text`, and the quantity. Numbers in names ("age 21", "Study 2") are left out, and small numbers in
    words where there are others."""
    question: frozenset[str]
    """Stems of the question."""

    @classmethod
    def of(cls, claim: str, question: str, rows: Sequence[QuotedRows]) -> "Statement":
        has_brackets = any(has_bracketed_numbers(cell.text) for some in rows for _, cell in some.cells)
        text = abbreviated(claim)
        names = [name for some in rows for name in _names_in(some.table)]
        literal = [place for name in names if _NAME_WITH_NUMBER.search(name) for place in literal_places([name], text)]
        years = {
            row.names[0] for some in rows for row in some.table.rows if row.names and _YEAR.fullmatch(row.names[0])
        }
        literal += [match.span() for year in years for match in re.finditer(rf"\b{year}\b", text)]
        values = tuple(
            item
            for item in placed_quantities(without_brackets(text) if has_brackets else text)
            if not is_within(item[0], literal) and not _belongs_to_name(text, item, names)
        )
        looked_up = [item for item in values if not item[2].is_vague] or values
        words = [word for word in words_of(text) if not is_within(word.at, [place[:2] for place in looked_up])]
        return cls(text, tuple(words), tuple(looked_up), all_stems(question))

    @cached_property
    def number_places(self) -> list[int]:
        return [start for start, _, _ in self.values]

    def runs(self, names: Sequence[tuple[int, int]]) -> list[list[Word]]:
        """The words in runs of at most one name; no run ends inside a place of `names`."""
        found: list[list[Word]] = []
        for word in self.words:
            if not found or self._are_apart(found[-1][-1], word, names):
                found.append([])
            found[-1].append(word)
        return found

    def _are_apart(self, one: Word, other: Word, names: Sequence[tuple[int, int]]) -> bool:
        if any(start <= one.at and other.at < end for start, end in names):
            return False
        has_number_between = any(one.at < at < other.at for at in self.number_places)
        return has_number_between or _PARTS_NAMES.search(self.text, one.end, other.at) is not None


def literal_places(names: Iterable[str], text: str) -> list[tuple[int, int]]:
    """Where names stand in a text as they do in the table, in upper or lower case."""
    plain = text.casefold()
    wanted = [abbreviated(name).casefold() for name in dict.fromkeys(names)]
    return [(at, at + len(one)) for one in wanted if one for at in [plain.find(one)] if at >= 0]


def is_within(at: int, places: Iterable[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in places)


def _names_in(table: Table) -> list[str]:
    of_rows = (name for row in table.rows for name in (*row.names[:1], row.heading))
    return [abbreviated(name) for name in dict.fromkeys((*of_rows, *table.columns, table.caption)) if name]


def _belongs_to_name(text: str, placed: tuple[int, int, Quantity], names: Iterable[str]) -> bool:
    """Whether a number stands beside the same word as in a name of the table: "age 21", "18-24", "Study 2"."""
    start, _, one = placed
    around = _around(text, start, one.written)
    return any(
        around & _around(name, at, other.written)
        for name in names
        if one.written in name
        for at, _, other in placed_quantities(name)
        if other.written == one.written and may_be_same(one, other)
    )


def _around(text: str, start: int, written: str) -> frozenset[tuple[str, str]]:
    """The words directly before and behind a number, marked with their side."""
    before = _WORD_BEFORE.search(text, max(0, start - _LOOK_BACK_CHARS), start)
    behind = _WORD_BEHIND.match(text, text.find(written, start) + len(written))
    words = ((side, match[1].casefold()) for side, match in (("before", before), ("behind", behind)) if match)
    return frozenset((side, word) for side, word in words if word not in _JOINING)
