"""Which lines are near a question, in meaning and in words, without answering it: hard negatives.

A reader that has seen only far lines beside the right one learns to tell the subject, which the
vectors know already. One that has seen only near ones takes the nearest line of a field that no
paper is about for an answer.
"""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.reader_training.lines import Line
from benchmarks.reader_training.questions import Question
from rag_assets.core.text.terms import terms_of, words_of
from rag_assets.search.embedding.base import Embedder

N_NEAR, N_FAR, N_STRANGE = 40, 16, 16
"""Lines that are kept for a question, of its own paper, of all others and of papers of other
fields."""
_OTHER_FIELDS = 0.55
"""Share of the papers that count as of other fields than a paper: those whose mean vectors are
farthest off."""
_STRANGE_PAPERS = 12
"""Papers of other fields whose nearest lines are kept."""
_WORDS = 0.5
"""Weight of the share of the question's words that a line holds; the cosine has 1."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A question beside the lines that it is easily answered wrongly with, the nearest first."""

    question: Question
    near: tuple[Line, ...]
    """Of its own paper, at most N_NEAR; none says what an answer says."""
    far: tuple[Line, ...]
    """Of other papers, at most N_FAR."""
    strange: tuple[Line, ...]
    """Of papers of other fields, at most N_STRANGE."""


class NearLines:
    """Lines with their vectors and words. lines: those of the papers that are asked about."""

    def __init__(self, lines: Sequence[Line], embedder: Embedder) -> None:
        self._lines = lines
        self._embedder = embedder
        self._vectors = embedder.embed_passages([line.text for line in lines])
        self._terms = [terms_of(f"{line.before} {line.text}") for line in lines]
        places = defaultdict(list)
        for place, line in enumerate(lines):
            places[line.paper].append(place)
        self._places = {paper: np.array(own) for paper, own in places.items()}
        self._subjects = {
            paper: self._vectors[own].mean(axis=0) for paper, own in self._places.items()
        }

    def compared(self, question: Question) -> Compared:
        """The question beside what does not answer it."""
        cosines = self._cosines(question)
        answers = [_bare(line) for line in question.answers]
        near = [self._lines[place] for place in self._nearest(question, cosines)]
        own = self._places[question.paper]
        strange = self._strange(question, cosines)
        cosines[own] = -np.inf
        n_far = min(N_FAR + len(answers), len(self._lines) - len(own))
        places = np.argpartition(-cosines, n_far - 1)[:n_far] if n_far else np.array([], int)
        far = [
            self._lines[place]
            for place in sorted(places.tolist(), key=lambda place: -cosines[place])
        ]
        return Compared(
            question, _others(near, answers)[:N_NEAR], _others(far, answers)[:N_FAR], strange
        )

    def _strange(self, question: Question, cosines: NDArray[np.float32]) -> tuple[Line, ...]:
        """The nearest lines of some papers whose subjects are far from that of the question's
        paper."""
        subject = self._subjects[question.paper]
        subjects = {
            paper: float(other @ subject)
            for paper, other in self._subjects.items()
            if paper != question.paper
        }
        farthest = sorted(subjects, key=subjects.__getitem__)[: int(_OTHER_FIELDS * len(subjects))]
        some = random.Random(question.text).sample(farthest, min(_STRANGE_PAPERS, len(farthest)))
        places = sorted(
            (place for paper in some for place in self._places[paper].tolist()),
            key=lambda at: -cosines[at],
        )
        return tuple(self._lines[place] for place in places[:N_STRANGE])

    def nearest(self, question: Question, n: int) -> list[Line]:
        """The n lines of its paper that come nearest to a question, answers among them."""
        return [
            self._lines[place] for place in self._nearest(question, self._cosines(question))[:n]
        ]

    def _cosines(self, question: Question) -> NDArray[np.float32]:
        cosines: NDArray[np.float32] = self._vectors @ self._embedder.embed_query(question.text)
        return cosines

    def _nearest(self, question: Question, cosines: NDArray[np.float32]) -> list[int]:
        """Places of all lines of its paper, the nearest first."""
        own, terms = self._places[question.paper], terms_of(question.text)
        shares = np.array([len(terms & self._terms[place]) / max(1, len(terms)) for place in own])
        order = np.argsort(-(cosines[own] + _WORDS * shares), kind="stable")
        return [int(place) for place in own[order]]


def _others(lines: Sequence[Line], answers: Sequence[str]) -> tuple[Line, ...]:
    """The lines that neither hold the words of an answer nor stand within them. answers: as `_bare`
    makes them."""
    bare = ((line, _bare(line)) for line in lines)
    return tuple(
        line for line, own in bare if not any(own in answer or answer in own for answer in answers)
    )


def _bare(line: Line) -> str:
    return f" {' '.join(words_of(line.text.casefold()))} "
