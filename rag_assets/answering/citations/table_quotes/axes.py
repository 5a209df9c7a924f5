"""Assigns each number of a claim to a row and a column of the quoted table.

Where the claim names several, a number belongs to the name before it (behind it, in a claim that begins with the
number), or they are assigned by order ("3 and 4 in A and B, respectively").
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rag_assets.answering.citations.table_quotes.naming import UNNAMED, Names, Naming, Word
from rag_assets.answering.citations.table_quotes.statement import Statement

_COMPETES_FROM = 0.5
"""Share of its name from which another row or column counts as named too."""
_MIN_OTHER_WORDS = 2
_ROUNDING = 1e-9
_BRACKETED = re.compile(r"\([^()]*\)")


@dataclass(frozen=True)
class Axis:
    """All rows of a table, or all its columns, and the one that a cell is in."""

    names: Names
    own: int
    runs: Sequence[Sequence[Word]]
    """Words of the claim that may name one of them, in runs of one name each."""
    named_from: float
    """Share of its name from which the cell's row or column counts as named; 0 where a claim may leave it unnamed."""

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word.stem for words in self.runs for word in words)

    @cached_property
    def own_naming(self) -> Naming:
        return self.names.naming(self.own, self._stems)

    @property
    def is_named_in_full(self) -> bool:
        return self.own_naming.coverage > 1 - _ROUNDING

    def fits(self, said: Statement, at: int) -> bool:
        """Whether the claim's number at offset `at` may belong to the cell's row or column."""
        own = self.own_naming
        if len(self.names.stems) < 2:
            return not own.words or own.coverage >= self.named_from or not self._names_something_else()
        if not own.words or own.coverage < self.named_from:
            return not self._rivals(self._stems, UNNAMED) and self._suits_question(said.question)
        rivals = self._rivals(self._stems, own)
        return not rivals or self._goes_with_number(said, at, rivals)

    def _names_something_else(self) -> bool:
        """Whether words beside the only name make another name of it: "older men" is not "men"."""
        own = self.own_naming.words
        runs = [frozenset(word.stem for word in words) for words in self.runs]
        return any(own & stems and len(stems - own) >= _MIN_OTHER_WORDS for stems in runs)

    def _rivals(self, stems: frozenset[str], own: Naming) -> list[int]:
        """The others that are named by more than the words they share with this one."""
        rivals = []
        for nth in range(len(self.names.stems)):
            other = self.names.naming(nth, stems)
            if nth == self.own or not other.words or other.words < own.words:
                continue
            if other.words == own.words:
                is_rival = other.coverage > own.coverage + _ROUNDING
            else:
                is_rival = other.coverage >= _COMPETES_FROM or not own.words
            if is_rival:
                rivals.append(nth)
        return rivals

    def _suits_question(self, question: frozenset[str]) -> bool:
        """A claim that names nothing is about what was asked, or about one that needs no name."""
        asked = self.names.naming(self.own, question)
        if asked.words and asked.coverage >= self.named_from:
            return True
        is_name_needed = self.named_from > 0 and self.own_naming.can_be_told
        return not is_name_needed and not self._rivals(question, UNNAMED)

    def _goes_with_number(self, said: Statement, at: int, rivals: Sequence[int]) -> bool:
        """Whether the number at `at` belongs to this name, where rivals are named too."""
        mentions = []
        for words in self.runs:
            stems = frozenset(word.stem for word in words)
            namings = {nth: self.names.naming(nth, stems) for nth in (self.own, *rivals)}
            best = max(namings, key=lambda nth: (len(namings[nth].words), namings[nth].coverage))
            if namings[best].words:
                mentions.append((words[0].at, best))
        return _nearest(_visible(said, mentions, at), said.number_places, at) == self.own


def _visible(said: Statement, mentions: list[tuple[int, int]], at: int) -> list[tuple[int, int]]:
    """The mentions a number can belong to: one in brackets that hold a number belongs to no number outside."""
    closed = [
        match.span()
        for match in _BRACKETED.finditer(said.text)
        if not match.start() < at < match.end()
        and any(match.start() < start < match.end() for start in said.number_places)
    ]
    return [item for item in mentions if not any(start < item[0] < end for start, end in closed)]


def _nearest(mentions: list[tuple[int, int]], numbers: list[int], at: int) -> int | None:
    """The mention a number belongs to; None when there are none."""
    if not mentions:
        return None
    turns = [item for i, item in enumerate(mentions) if i == 0 or item[1] != mentions[i - 1][1]]
    if len(turns) == len(numbers) > 1 and (turns[-1][0] < numbers[0] or numbers[-1] < turns[0][0]):
        return turns[numbers.index(at)][1]
    before = [which for place, which in mentions if place < at]
    behind = [which for place, which in mentions if place > at]
    if mentions[0][0] < numbers[0]:
        return before[-1] if before else behind[0]
    return behind[0] if behind else before[-1]
