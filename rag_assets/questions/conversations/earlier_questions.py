"""Finds an earlier question that was answered and asks the same in other words.

Two questions ask the same if their vectors are near and these are equal: the version of the answers,
the filter, the names, the numbers, the words that change a meaning (not, more, before) and the words
for what is asked (who, when). Vectors alone are not enough: those of "in 2019" and "in 2020", or of
"raised" and "lowered", are near.
"""

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.text.names import words_of, words_written_as_names
from rag_assets.core.text.numbers.quantities import quantities
from rag_assets.questions import Question

MAX_QUESTIONS = 1_000
"""About 2 MB of vectors. The least recently asked questions are removed first."""
_TURNING = frozenset(
    "no not never neither nor none without except only all any some each every most least more less fewer few many "
    "before after during until since above below over under within between against with for "
    "higher lower larger smaller greater better worse longer shorter older younger earlier later first last "
    "increase increases increased decrease decreases decreased raise raises raised reduce reduces reduced rise rises "
    "rose fall falls fell gain gains gained lose loses lost improve improves improved worsen worsens worsened "
    "maximum minimum highest lowest advantage advantages disadvantage disadvantages "
    "women woman men man girls boys male males female females mothers fathers children adults adolescents elderly "
    "who whom whose when where why how which".split()
)
_ASKS_MANNER = re.compile(r"\bhow (?:many|much|long|often|far|old|large)\b", re.IGNORECASE)
Embed = Callable[[str], NDArray[np.float32]]


@dataclass(frozen=True)
class _EarlierQuestion:
    text: str
    vector: NDArray[np.float32]
    must_agree: tuple[object, ...]


class EarlierQuestions:
    """The questions that were answered recently, kept in memory; safe to use from several
    threads."""

    def __init__(
        self, embed: Embed, threshold: float, *, max_questions: int = MAX_QUESTIONS
    ) -> None:
        """embed: returns the unit vector of a question. threshold: the least cosine of two
        questions that ask the same."""
        self._embed = embed
        self._threshold = threshold
        self._max_questions = max_questions
        self._lock = Lock()
        self._asked: OrderedDict[tuple[str, object], _EarlierQuestion] = OrderedDict()

    def same_as(self, question: Question, version: str) -> str | None:
        """The nearest earlier question that asks the same. None if there is none, or if this very
        question was asked before.

        version: of everything that answers depend on (`Engine.answers_version`).
        """
        own = self._of(question, version)
        with self._lock:
            others = [one for one in self._asked.values() if one.must_agree == own.must_agree]
        if any(one.text == own.text for one in others):
            return None
        near = [(float(one.vector @ own.vector), one.text) for one in others]
        cosine, text = max(near, default=(0.0, ""))
        return text if text and cosine >= self._threshold else None

    def remember(self, question: Question, version: str) -> None:
        """Keep a question that was answered."""
        own = self._of(question, version)
        with self._lock:
            self._asked[(own.text, own.must_agree)] = own
            self._asked.move_to_end((own.text, own.must_agree))
            while len(self._asked) > self._max_questions:
                self._asked.popitem(last=False)

    def _of(self, question: Question, version: str) -> _EarlierQuestion:
        text = question.question
        words = words_of(text)
        must_agree = (
            version,
            str(question.filter),
            frozenset(words_written_as_names(text)),
            frozenset((one.kind, one.value) for one in quantities(text)),
            frozenset(word for word in words if any(map(str.isdigit, word))),
            frozenset(_TURNING.intersection(words)),
            frozenset(match.casefold() for match in _ASKS_MANNER.findall(text)),
        )
        return _EarlierQuestion(text, self._embed(text), must_agree)
