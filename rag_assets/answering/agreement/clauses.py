"""What a part of a sentence says rose or fell, and whether it says that there was an effect.

A shallow reading, without a parser: the words behind "higher", "a rise in" and transitive verbs, or those before.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag_assets.answering.agreement import wordings
from rag_assets.answering.agreement.terms import AUXILIARIES, WORD, is_content, sign_of, terms_of

_TOKEN = re.compile(rf"{WORD.pattern}|[,;]")
_LINKS = frozenset(
    "of the a an its their his her this these that and or in rate rates level levels value values number numbers "
    "magnitude amount extent degree".split()
)
"""Words that may stand between a word of change and what changes: "a decrease in the rate of heat transfer"."""
_PREPOSITIONS = frozenset("with as by when from than at for on during after before if where if per among under".split())
_MOST_SUBJECT_WORDS = 8
_NEGATED_WORDS = 4


@dataclass(frozen=True)
class Direction:
    """A word of change or comparison with what it is said of."""

    sign: int
    """1 for more, -1 for less."""
    terms: frozenset[str]
    """Stems of the words that rise or fall."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence that states one thing."""

    terms: frozenset[str]
    directions: tuple[Direction, ...]
    is_effect: bool
    """It says that something makes a difference, or that it does not."""
    is_absent: bool
    """It says so of the absence: no effect, not significant, unaffected."""
    effect_of: frozenset[str]
    """Stems of what the effect or difference is said to be of; empty where no such words stand beside it."""
    is_driven: bool
    """It says that one thing follows another."""
    kinds: frozenset[str]
    """Kinds of effect it names: an interaction, an indirect effect, a correlation."""


def clause_of(text: str) -> Clause:
    words = [match[0].lower() for match in _TOKEN.finditer(text)]
    return Clause(
        terms=frozenset(terms_of(words)),
        directions=tuple(_directions(words)),
        is_effect=any(wordings.EFFECT.fullmatch(word) for word in words),
        is_absent=_is_absent(words),
        effect_of=frozenset(terms_of(_effect_of(words))),
        is_driven=wordings.DRIVEN.search(text) is not None,
        kinds=frozenset(match[1].lower() for match in wordings.STATISTIC.finditer(text)),
    )


def _directions(words: list[str]) -> Iterator[Direction]:
    for at, word in enumerate(words):
        sign = 0 if "upper" in words[max(0, at - 2) : at + 3] else sign_of(word)
        terms = frozenset(terms_of(_said_of(words, at))) if sign else frozenset()
        if terms:
            yield Direction(sign, terms)


def _said_of(words: list[str], at: int) -> list[str]:
    """The words of what rises or falls: those behind "higher", "a rise in" and a verb, else those before it."""
    behind = _object(words, at + 1)
    return behind or _subject(words, at)


def _object(words: list[str], start: int) -> list[str]:
    if start < len(words) and words[start] == "in" and not _is_noun(words, start - 1):
        return []
    taken: list[str] = []
    for word in words[start:]:
        if word in _LINKS or (not taken and (word in AUXILIARIES or word.endswith("ly"))):
            continue
        if not is_content(word) or word in _PREPOSITIONS:
            break
        taken.append(word)
    return taken


def _is_absent(words: list[str]) -> bool:
    """Whether an effect or a change is denied: "no significant difference", "did not rise", "unaffected"."""
    for at, word in enumerate(words):
        if word in wordings.ABSENT:
            return True
        if wordings.NEGATION.fullmatch(word) and words[at + 1 : at + 2] != ["only"]:
            reach = _NEGATED_WORDS if word != "none" else 2 * _NEGATED_WORDS
            denied = words[at + 1 : at + 1 + reach]
            if any(wordings.EFFECT.fullmatch(one) or sign_of(one) for one in denied):
                return True
    return False


def _effect_of(words: list[str]) -> list[str]:
    """What stands behind "effect of", "difference in", "interaction between"."""
    for at, word in enumerate(words[:-1]):
        is_named = wordings.EFFECT.fullmatch(word) or word.startswith("interaction")
        if is_named and words[at + 1] in ("of", "in", "between", "for"):
            return _object([*words[: at + 1], *words[at + 2 :]], at + 1)
    return []


def _is_noun(words: list[str], at: int) -> bool:
    """Whether "increase", "rise" or "reduction" is a noun here: an article or an adjective stands before it."""
    word = words[at]
    if not wordings.CHANGE_AS_NOUN.fullmatch(word):
        return False
    return at == 0 or (words[at - 1] not in AUXILIARIES and (not word.endswith("s") or words[at - 1] in _LINKS))


def _subject(words: list[str], at: int) -> list[str]:
    taken: list[str] = []
    for word in reversed(words[:at]):
        if sign_of(word) or word in ",;":
            if taken:
                break
            continue
        if is_content(word):
            taken.append(word)
        if len(taken) == _MOST_SUBJECT_WORDS:
            break
    return taken
