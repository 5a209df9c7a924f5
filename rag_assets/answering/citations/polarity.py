"""Tells whether a claim turns its quotes round or is surer than they are: negation, direction, certainty.

Words of the claim are compared with those of the sentences of its quotes that share most words with it. A negation
turns round the words behind it, up to the end of its clause. What is told in quite other words cannot be compared here.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.answering.citations.opposites import (
    ALSO_CAUTIOUS,
    CERTAIN_STEMS,
    DIRECTIONS,
    HEDGE_STEMS,
    HEDGES,
    NEGATIONS,
    NEGATIVE_STEMS,
    OPEN_WORDS,
)
from rag_assets.text.numbers.words import TENS, UP_TO_NINETEEN
from rag_assets.text.sentences import sentence_spans
from rag_assets.text.terms import QUESTION_WORDS, stem_of

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CLAUSE_END = re.compile(
    r"[,;:()]|\b(?:but|whereas|while|although|though|however|and|because|since|which|that)\b", re.IGNORECASE
)
_REACH = 8
"""Words behind a negation that it governs, itself included."""
_NEAR_BEST = 0.6
"""Sentences of the quotes with this share of the most shared words are compared."""
_MOST_GOVERNED = 0.5
"""Share of the words in question that a negation must govern."""
_MOST_HEDGED = 0.25
"""Share of the words that claim and sentence share, which a hedge must govern to make the sentence cautious."""
_WINDOW = 8
"""Words on either side of a direction that tell what it is about."""
_CLEARLY_NEARER = 2
"""So many more shared words around the opposite direction than around the same one decide for it."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a statement."""

    text: str
    stem: str
    is_negation: bool
    is_negated: bool
    """A negation before it in its clause governs it."""
    is_hedged: bool
    """A hedge before it in its sentence, or "whether" before it in its clause, governs it."""

    @property
    def is_content(self) -> bool:
        return self.text not in QUESTION_WORDS and self.text not in NEGATIONS

    @property
    def is_hedge(self) -> bool:
        return self.text in HEDGES or self.text in OPEN_WORDS or self.stem in HEDGE_STEMS

    @property
    def direction(self) -> tuple[str, int] | None:
        """What it speaks of and which way, with its negation."""
        found = DIRECTIONS.get(self.stem)
        return found and (found[0], -found[1] if self.is_negated and not self.is_negation else found[1])


_Statement = tuple[_Word, ...]


def turned_round(claim: str, quotes: Sequence[str]) -> str | None:
    """The word of the claim that its quotes say the other way round, or "not" for a negation too many or too few; None
    where nothing is."""
    said, quoted = _read(claim), [_read(text) for text in _compared_sentences(claim, quotes)]
    directions = [(at, word) for at, word in enumerate(said) if word.direction and not _is_bound(said, at)]
    opposite = next((word.text for at, word in directions if _is_opposite(said, at, quoted)), None)
    return opposite or _negation_changed(said, quoted)


def _is_bound(said: _Statement, at: int) -> bool:
    """Whether a direction is that of a limit, "less than ten", which numbers are compared by."""
    return at + 2 < len(said) and said[at + 1].text == "than" and _is_number(said[at + 2].text)


def _is_number(word: str) -> bool:
    return word[0].isdigit() or word in UP_TO_NINETEEN or word in TENS


def is_surer(claim: str, quotes: Sequence[str]) -> bool:
    """Whether every sentence that carries the claim is hedged where it does, and the claim is not."""
    said = _read(claim)
    is_certain = any(word.stem in CERTAIN_STEMS for word in said)
    if not is_certain and any(word.is_hedge or word.stem in ALSO_CAUTIOUS for word in said):
        return False
    stems = {word.stem for word in said if word.is_content}
    shared = [
        list({word.stem: word for word in reversed(_read(text)) if word.is_content and word.stem in stems}.values())
        for text in _compared_sentences(claim, quotes)
    ]  # of a word that comes twice, the first
    least = 0.0 if is_certain else _MOST_HEDGED
    return all(
        any(w.is_hedged for w in words) and sum(w.is_hedged for w in words) >= least * len(words) for words in shared
    )


def _is_opposite(said: _Statement, at: int, quoted: Sequence[_Statement]) -> bool:
    """Whether the quotes speak of the same thing as the word, and only, or clearly nearer to it, the other way."""
    word = said[at]
    assert word.direction is not None
    what, sign = word.direction
    if (what, -sign) in {other.direction for other in said}:
        return False  # "positive and negative", "better or worse": which is meant, words do not tell
    about = _stems_around(said, at) - {word.stem}
    shared: dict[int, list[int]] = defaultdict(list)
    for statement in quoted:
        for place, other in enumerate(statement):
            if other.direction and other.direction[0] == what:
                shared[other.direction[1]].append(len(about & _stems_around(statement, place)))
    opposite, same = shared.get(-sign), shared.get(sign)
    if not opposite:
        return False
    return not same or max(opposite) >= max(same) + _CLEARLY_NEARER


def _negation_changed(said: _Statement, quoted: Sequence[_Statement]) -> str | None:
    every = tuple(word for statement in quoted for word in statement)
    is_negated, are_negated = _negates(said), _negates(every)
    if is_negated and not are_negated:
        return "not" if _is_mostly_shared(_governed(said), every) else None
    if are_negated and not is_negated:
        stems = {word.stem for word in said}
        shared = [word for word in every if word.is_content and word.stem in stems]
        n_governed = sum(word.is_negated for word in shared)
        return "not" if n_governed and n_governed >= _MOST_GOVERNED * len(shared) else None
    return None


def _negates(words: Sequence[_Word]) -> bool:
    """Whether there is a negation, or a word that may stand for one: "fewer", "worse", "different"."""
    return any(word.is_negation or (word.stem in DIRECTIONS and DIRECTIONS[word.stem][1] < 0) for word in words)


def _governed(words: Sequence[_Word]) -> list[_Word]:
    return [word for word in words if word.is_negated and word.is_content and not word.is_negation]


def _is_mostly_shared(words: Sequence[_Word], others: Sequence[_Word]) -> bool:
    stems = {word.stem for word in others}
    return bool(words) and sum(word.stem in stems for word in words) > _MOST_GOVERNED * len(words)


def _stems_around(words: _Statement, at: int) -> set[str]:
    return {word.stem for word in words[max(0, at - _WINDOW) : at + _WINDOW + 1] if word.is_content}


def _compared_sentences(claim: str, quotes: Sequence[str]) -> list[str]:
    """The sentences of the quotes that share nearly as many words with the claim as the best does; all if none does."""
    stems = {word.stem for word in _read(claim) if word.is_content}
    sentences = [quote[start:end] for quote in quotes for start, end in sentence_spans(quote)]
    shared = [len(stems & {word.stem for word in _read(text) if word.is_content}) for text in sentences]
    least = max(1, _NEAR_BEST * max(shared, default=0))
    return [text for text, n_shared in zip(sentences, shared, strict=True) if n_shared >= least] or sentences


@lru_cache(maxsize=512)
def _read(text: str) -> _Statement:
    ends = [match.end() for match in _CLAUSE_END.finditer(text)]
    words: list[_Word] = []
    is_hedged = is_open = False
    n_left_negated = 0
    for match in _WORD.finditer(text):
        while ends and ends[0] <= match.start():
            n_left_negated, is_open = 0, False
            ends.pop(0)
        word = match[0].lower().replace("’", "'")
        stem = stem_of(word)
        is_negation = word in NEGATIONS or word.endswith("n't") or stem in NEGATIVE_STEMS
        if is_negation:
            n_left_negated = 0 if n_left_negated else _REACH
        is_negated = n_left_negated > 0
        n_left_negated -= is_negated
        is_hedged = is_hedged or word in HEDGES or stem in HEDGE_STEMS
        is_open = is_open or word in OPEN_WORDS
        words.append(_Word(word, stem, is_negation, is_negated, is_hedged or is_open))
    return tuple(words)
