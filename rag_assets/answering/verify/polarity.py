"""Finds claims that say the opposite of their quotes or are surer than they are: negation,
direction, certainty.

Words of the claim are compared with those of its quotes. A negation governs the words after it, up
to the end of its clause. Synonyms are not compared. The word lists are English; a stem stands for
all forms of a word.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.terms import QUESTION_WORDS, stem_of


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem_of, words.split()))


_NEGATIONS = frozenset(
    "no not never neither nor none nobody nothing nowhere without cannot non hardly barely rarely seldom".split()
)
_NEGATIVE_STEMS = _stems(
    "fail failed failure lack lacking absence absent unable omit omitted exclude excluded unlikely impossible "
    "ineffective unaffected unchanged unreliable nonsignificant insignificant"
)
"""Words that contain a negation."""
_HEDGES = frozenset(
    "may might could possibly perhaps probably likely unlikely potentially presumably apparently possible possibility "
    "probable seemingly tentatively tentative arguably would should".split()
)
_HEDGE_STEMS = _stems(
    "seem appear suggest suggesting speculate hypothesize assume hint imply propose believe speculation"
)
_ALSO_CAUTIOUS = _stems(
    "can sometimes often tend argue allow ambiguous think hope indicate sign consistent plausible conceivable "
    "candidate unsettled open account explanation consider"
)
"""Words that keep the caution of a quote in a claim, but do not make a quote cautious."""
_OPPOSITES = {
    "amount": (
        "increase increasing more higher greater larger bigger rise rose risen raise grow grew growth gain enhance "
        "enlarge strengthen stronger upregulation above exceed longer steeper heavier high large elevate boost",
        "decrease decreasing less fewer lower smaller fall fell fallen drop decline reduce reduction loss shrink "
        "weaken weaker downregulation below shorter thinner low diminish cut",
    ),
    "value": (
        "better improve improvement benefit beneficial superior outperform success successful helpful accurate",
        "worse worsen impair impairment deteriorate harm harmful inferior spoil inaccurate",
    ),
    "speed": ("faster quicker fast quick", "slower slow"),
    "likeness": (
        "similar same equal equivalent identical alike",
        "differ different difference dissimilar unequal",
    ),
    "sign": ("positive positively", "negative negatively"),
    "knowledge": ("known understood clear", "unknown unclear"),
    "relation": (
        "dependent associated association linked correlated",
        "independent independently unrelated",
    ),
    "membership": ("keep kept retain include", "exclude drop omit discard remove"),
    "likelihood": ("likely probable", "unlikely improbable"),
    "judgement": ("overestimate", "underestimate"),
    "presence": ("present presence", "absent absence"),
}
_DIRECTIONS: Mapping[str, tuple[str, int]] = {
    stem_of(word): (what, sign)
    for what, sides in _OPPOSITES.items()
    for sign, words in zip((1, -1), sides, strict=True)
    for word in words.split()
}
"""By stem: the dimension, and the sign of the word's direction on it."""
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_CLAUSE_END = re.compile(
    r"[,;:()]|\b(?:but|whereas|while|although|though|however|and|because|since|which|that)\b",
    re.IGNORECASE,
)
_REACH = 8
"""Words from a negation on that it governs, itself included."""
_MOST_GOVERNED = 0.5
"""Share of the words in question that a negation must govern."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    stem: str
    is_negation: bool
    is_negated: bool
    """A negation before it in its clause governs it."""
    is_hedged: bool
    """A hedge before it in its sentence governs it."""

    @property
    def is_content(self) -> bool:
        return self.text not in QUESTION_WORDS and self.text not in _NEGATIONS

    @property
    def is_hedge(self) -> bool:
        return self.text in _HEDGES or self.stem in _HEDGE_STEMS

    @property
    def direction(self) -> tuple[str, int] | None:
        """The dimension of the word and its sign there; a negation before the word changes the
        sign. None for a word without a direction."""
        found = _DIRECTIONS.get(self.stem)
        return found and (
            found[0],
            -found[1] if self.is_negated and not self.is_negation else found[1],
        )


_Words = tuple[_Word, ...]


def turned_round(claim: str, quotes: Sequence[str]) -> str | None:
    """The word of the claim whose opposite its quotes say; "not" if only one of the claim and its
    quotes has a negation of what they share; None if neither is so."""
    said, quoted = _read_words(claim), _sentences(quotes)
    return _opposite_direction(said, quoted) or _negation_changed(said, quoted)


def is_surer(claim: str, quotes: Sequence[str]) -> bool:
    """Whether the claim has no word of caution, and every sentence of the quotes hedges some word
    that it shares with the claim."""
    said = _read_words(claim)
    if any(word.is_hedge or word.stem in _ALSO_CAUTIOUS for word in said):
        return False
    stems = {word.stem for word in said if word.is_content}
    shared = [
        {word.stem: word for word in reversed(words) if word.is_content and word.stem in stems}
        for words in _sentences(quotes)
    ]  # of a word that comes twice, the first
    return all(any(word.is_hedged for word in words.values()) for words in shared)


def _opposite_direction(said: _Words, quoted: Sequence[_Words]) -> str | None:
    """The first word of the claim whose direction ("more", "better") the quotes have only the other
    way; None if there is none. A claim that has both directions of a dimension is not objected
    to."""
    own = {word.direction for word in said}
    theirs = {word.direction for words in quoted for word in words}
    for word in said:
        if word.direction and word.direction not in theirs:
            what, sign = word.direction
            if (what, -sign) in theirs - own:
                return word.text
    return None


def _negation_changed(said: _Words, quoted: Sequence[_Words]) -> str | None:
    """Returns "not" if only the claim or only the quotes negate, and the negation concerns what
    both say; else None. If the claim negates, more than half of the words that it negates must be
    in the quotes. If the quotes negate, at least half of the words that they share with the claim
    must be negated in them."""
    every = tuple(word for words in quoted for word in words)
    is_negated, are_negated = _negates(said), _negates(every)
    if is_negated and not are_negated:
        stems = {word.stem for word in every}
        governed = [
            word.stem in stems
            for word in said
            if word.is_negated and word.is_content and not word.is_negation
        ]
        return "not" if sum(governed) > _MOST_GOVERNED * len(governed) else None
    if are_negated and not is_negated:
        stems = {word.stem for word in said}
        shared = [word for word in every if word.is_content and word.stem in stems]
        n_governed = sum(word.is_negated for word in shared)
        return "not" if n_governed and n_governed >= _MOST_GOVERNED * len(shared) else None
    return None


def _negates(words: Sequence[_Word]) -> bool:
    """Whether there is a negation, or a word that may replace one: "fewer", "worse",
    "different"."""
    return any(
        word.is_negation or (word.stem in _DIRECTIONS and _DIRECTIONS[word.stem][1] < 0)
        for word in words
    )


def _sentences(quotes: Sequence[str]) -> list[_Words]:
    return [
        _read_words(quote[start:end]) for quote in quotes for start, end in sentence_spans(quote)
    ]


@lru_cache(maxsize=512)
def _read_words(text: str) -> _Words:
    """Reads the words of a text, each with the negation and the hedge that govern it. A negation
    governs itself and the next words, eight in all, but ends with its clause; a second negation
    within its reach ends it too ("not without pain"). A hedge governs itself and all words up to
    the end of the text."""
    ends = [match.end() for match in _CLAUSE_END.finditer(text)]
    words: list[_Word] = []
    is_hedged = False
    n_left_negated = 0
    for match in _WORD.finditer(text):
        while ends and ends[0] <= match.start():
            n_left_negated = 0
            ends.pop(0)
        word = match[0].lower().replace("’", "'")
        stem = stem_of(word)
        is_negation = word in _NEGATIONS or word.endswith("n't") or stem in _NEGATIVE_STEMS
        if is_negation:
            n_left_negated = 0 if n_left_negated else _REACH
        is_negated = n_left_negated > 0
        n_left_negated -= is_negated
        is_hedged = is_hedged or word in _HEDGES or stem in _HEDGE_STEMS
        words.append(_Word(word, stem, is_negation, is_negated, is_hedged))
    return tuple(words)
