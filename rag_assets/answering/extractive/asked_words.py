"""The words of a question that an answer must be about, and how much each of them weighs.

"How many kids took part in the experiment?" is about kids and an experiment. "Took part" is said in other words by
every paper, so it weighs little; otherwise its absence would weigh most, being rarest. The list is English.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.words import QUESTION_WORDS, WORD, stem_of, term_weights

_LIGHT_WORDS = frozenset(
    "able across actually add ago all almost alone along already also although always among amount another answer "
    "anybody anyone anything appear apply around ask away back bad base based become before begin behind being belong "
    "below beneath besides best better beyond big both bring brought call called came cannot carried carry case cause "
    "certain change choose chose chosen claim come consider contain could count cover deal describe described develop "
    "differ difference different discuss done down due else end ended enough especially ever every everybody everyone "
    "everything exactly example explain fact far few find first follow form found full further gave general get "
    "getting go goes going gone good got great happen happened happens hard help her here high hold how however "
    "important include included including instead involve itself just keep keeps kept kind know known large last later "
    "least leave led left less let like likely little long look looked low made main mainly make makes making manage "
    "many matter mean meant meet more mostly move much must name near need needed never new next no nobody none "
    "nothing now number occur offer often old once only order other others otherwise out over own part particular "
    "pass past pick place play point possible present problem provide put question quite rather reach really receive "
    "regard relate remain respectively result role run said same saw say see seem seen serve set several sign signed "
    "since small so some somebody someone something sort specific spot start started state stay step still stop such "
    "take taken takes taking talk thing think though through thus time together too took toward tried true try turn "
    "type unit until upon used useful using usually various very via way ways well went whether whole within without "
    "work yet".split()
)
_LIGHT, _ONE_CHARACTER = 0.35, 0.2
_LEAST_RARITY, _MOST_RARITY = 0.4, 1.6
"""How much rarity among the candidates changes the weight of a word; 1 is the mean of the question's words."""


@dataclass(frozen=True)
class AskedWord:
    """A content word of a question."""

    text: str
    """In small letters."""
    stem: str
    start: int
    end: int
    """Where it stands first in the question."""
    weight: float
    """Relative: 1 is a word that says what is asked about and is as rare as the others."""


def asked_words(question: str, texts: Sequence[Set[str]]) -> list[AskedWord]:
    """The content words, each once. texts: the terms of each candidate, by which rarity is counted."""
    rarities = term_weights(question, texts)
    found: dict[str, tuple[int, int]] = {}
    for match in WORD.finditer(question):
        text = match[0].lower()
        if text not in QUESTION_WORDS:
            found.setdefault(text, match.span())
    mean = sum(rarities.get(stem_of(text), 0.0) for text in found) / max(1, len(found))
    return [
        AskedWord(text, stem, *span, _substance(text) * _rarity(rarities.get(stem, 0.0), mean))
        for text, span in found.items()
        for stem in [stem_of(text)]
    ]


def weights_of(words: Sequence[AskedWord]) -> NDArray[np.float64]:
    """Their weights, summing to 1, shape (n,)."""
    weights = np.array([word.weight for word in words], np.float64)
    return np.asarray(weights / max(float(weights.sum()), 1e-9))


def are_heavy(words: Sequence[AskedWord]) -> NDArray[np.bool_]:
    """Which words the question is about: those of at least the usual weight, or the heaviest, shape (n,)."""
    weights = np.array([word.weight for word in words], np.float64)
    return np.asarray(weights >= min(1.0, float(weights.max(initial=0.0))))


def _substance(text: str) -> float:
    if len(text) == 1:
        return _ONE_CHARACTER
    return _LIGHT if text in _LIGHT_WORDS else 1.0


def _rarity(rarity: float, mean: float) -> float:
    return min(max(rarity / mean, _LEAST_RARITY), _MOST_RARITY) if mean else 1.0
