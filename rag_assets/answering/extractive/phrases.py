"""Phrases: content words that stand side by side in a text, and what stands around them."""

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from rag_assets.core.text.terms import QUESTION_WORDS, holds, stem_of, terms_of

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+(?:[-/][^\W_]+)*")
_IN_ONE_PHRASE = re.compile(r"[^\w,;:.!?()|/]*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ARTICLES = frozenset({"a", "an", "the", "their", "its", "his", "her", "this", "that"})
_PREPOSITIONS = frozenset(
    "in of for on with by at from to among during under against between over after before".split()
)
_SMALL_WORDS = (
    QUESTION_WORDS | _PREPOSITIONS | set("we our us he she not no only also both".split())
)
_AUXILIARIES = frozenset("be been being is are was were has have had to".split())
_ASKING = frozenset({"how", "what", "which"})
"""The word behind one of these says what kind of thing is asked for."""
_JOINED = re.compile(r",|;|/|\b(?:and|or|nor|versus|vs|than)\b")
_CONJUNCTION = re.compile(r"(?:\W*\w+){0,3}?,?\s*\b(?:and|or|nor|versus|vs|than)\b")
_MOST_WORDS_OF_MEMBER = 3
_NUMBER = "#"
"""A number as a neighbour."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Content words that stand side by side in a text."""

    text: str
    words: frozenset[str]
    """Their stems."""
    left: str
    """Stem of the nearest content word before it; empty for none."""
    right: str
    before: str
    """The preposition before it; empty for none."""
    follows: bool = False
    """Whether the word on its left stands directly before it: "7" of "day 7"."""
    leads: bool = False
    """Whether the word on its right follows directly: "20 mg" of "the 20 mg group"."""
    is_behind_auxiliary: bool = False
    """Whether it follows a form of "be", "have" or "to": "shown" of "has been shown"."""

    @property
    def is_number(self) -> bool:
        """Whether it begins with a number, or is a letter: "group B"."""
        return self.text[0].isdigit() or len(self.text) == 1

    @property
    def may_be_a_verb(self) -> bool:
        """Whether it stands where verbs do: "rose" of "antibodies rose in women"."""
        is_behind = self.follows or self.is_behind_auxiliary
        return is_behind and not self.leads and self.text[0].islower()

    def shares_neighbour(self, other: "Phrase", *, or_number: bool = False) -> bool:
        """Whether the same word is beside both; directly beside numbers."""
        says_nothing = {""} if or_number else {"", _NUMBER}
        is_close = self.is_number or other.is_number
        on_left = self.left not in says_nothing and self.left == other.left
        on_right = self.right not in says_nothing and self.right == other.right
        if is_close:
            on_left = on_left and self.follows and other.follows
            on_right = on_right and self.leads and other.leads
        return on_left or on_right

    def qualifies_the_same_as(self, other: "Phrase") -> bool:
        """Whether the same word follows both directly, or a name or number is behind the same
        word."""
        is_before = self.leads and other.leads and self.right == other.right
        is_behind = self.follows and other.follows and self.left == other.left
        return is_before or (is_behind and not self.text[0].islower())

    def may_stand_for(self, other: "Phrase") -> bool:
        """Whether a phrase of a question and one of a sentence are in one place."""
        is_one_kind = self.is_number == other.is_number
        return self.shares_neighbour(other) or (
            is_one_kind and not self.is_number and self.before != "" and other.before != ""
        )

    def takes_turns_with(self, other: "Phrase") -> bool:
        """Whether phrases of two parallel sentences are in one place."""
        is_one_kind = self.is_number == other.is_number
        return self.shares_neighbour(other, or_number=True) or (
            is_one_kind and self.before != "" and self.before == other.before
        )


def phrases_in(
    text: str,
    known: Set[str],
    forms: Mapping[str, str] = MappingProxyType({}),
    *,
    is_question: bool = False,
) -> list[Phrase]:
    """The longest phrases without a known word, in order. A number begins a phrase, and names are
    phrases of their own. forms: stems to read in place of others."""
    tokens = list(_TOKEN.finditer(text))
    stems = [_stem(token, forms) for token in tokens]
    runs: list[list[int]] = []
    for at, stem in enumerate(stems):
        is_kind = is_question and at > 0 and tokens[at - 1][0].casefold() in _ASKING
        if not stem or is_kind or _YEAR.fullmatch(stem) or _is_known(stem, known):
            continue
        goes_on = (
            runs
            and runs[-1][-1] == at - 1
            and not stem[0].isdigit()
            and tokens[at][0][0].isupper() == tokens[at - 1][0][0].isupper()
            and _are_joined(text, tokens[at - 1], tokens[at])
        )
        if goes_on:
            runs[-1].append(at)
        else:
            runs.append([at])
    return [_phrase(text, tokens, stems, run[0], run[-1] + 1) for run in runs]


def _are_joined(text: str, one: re.Match[str], following: re.Match[str]) -> bool:
    return _IN_ONE_PHRASE.fullmatch(text, one.end(), following.start()) is not None


def _phrase(
    text: str, tokens: list[re.Match[str]], stems: list[str], first: int, end: int
) -> Phrase:
    outside = [token[0].casefold() for token in tokens[max(0, first - 2) : first]]
    outside = [word for word in outside if word not in _ARTICLES]
    return Phrase(
        text[tokens[first].start() : tokens[end - 1].end()],
        frozenset(stems[first:end]),
        next((_number_or(stem) for stem in reversed(stems[:first]) if stem), ""),
        next((_number_or(stem) for stem in stems[end:] if stem), ""),
        outside[-1] if outside and outside[-1] in _PREPOSITIONS else "",
        first > 0 and stems[first - 1] != "" and _are_joined(text, *tokens[first - 1 : first + 1]),
        end < len(stems) and stems[end] != "" and _are_joined(text, *tokens[end - 1 : end + 1]),
        first > 0 and tokens[first - 1][0].casefold() in _AUXILIARIES,
    )


@lru_cache(maxsize=2**12)
def stems_in(text: str) -> frozenset[str]:
    """All stems that `phrases_in` may know."""
    return terms_of(text) | {_stem(token, {}) for token in _TOKEN.finditer(text)} - {""}


def _stem(token: re.Match[str], forms: Mapping[str, str]) -> str:
    """Empty for words that say nothing; "A" names something within a sentence."""
    word = token[0].casefold()
    is_letter = token[0] == "A" and token.start() > 0
    stem = "" if word in _SMALL_WORDS and not is_letter else stem_of(word)
    return forms.get(stem, stem)


def _is_known(stem: str, known: Set[str]) -> bool:
    parts = re.split("[-/]", stem)
    return holds(known, stem) if len(parts) == 1 else stem in known or set(parts) <= known


def _number_or(stem: str) -> str:
    return _NUMBER if stem[0].isdigit() else stem


def are_enumerated(text: str, one: Phrase, other: Phrase) -> bool:
    """Whether phrases of a text are members of one enumeration: short, with nothing but short
    members between them, and a conjunction before the last."""
    (start, end), (its_start, its_end) = (_place_of(text, it.words) for it in (one, other))
    between, behind = (
        (text[end:its_start], its_end) if start < its_start else (text[its_end:start], end)
    )
    members = _JOINED.split(between)
    is_short = all(len(_TOKEN.findall(it)) <= _MOST_WORDS_OF_MEMBER for it in members)
    has_conjunction = _CONJUNCTION.search(between) or _CONJUNCTION.match(text, behind)
    return len(members) > 1 and is_short and has_conjunction is not None


def _place_of(text: str, words: Set[str]) -> tuple[int, int]:
    own = [token for token in _TOKEN.finditer(text) if _stem(token, {}) in words]
    return (own[0].start(), own[min(len(words), len(own)) - 1].end()) if own else (0, 0)
