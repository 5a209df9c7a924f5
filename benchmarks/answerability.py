"""Fits the weights by which keyless answers judge whether a sentence answers, and prints how well they carry over.

    rag-assets index build --data DIR        (DIR/papers: the COVID-QA papers as text files)
    python benchmarks/answerability.py DIR CORPORA [N]

CORPORA holds qa/covidqa. Of each question (N of them; default 400) five kinds of rows are made: its sentences with the
expert's answer, the same for the question in other words, the best sentence where its paper is left out, and where one
word is replaced by an unlike one. Weights are fitted on the tuning half of the papers. Areas under the curve: of right
best sentences against those of questions without an answer.
"""

import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.folding import folded
from benchmarks.quality.questions import AskedQuestion, covidqa
from rag_assets.answering.extractive.announcements import only_announces
from rag_assets.answering.extractive.answerability import WEIGHTS
from rag_assets.answering.extractive.asked_words import AskedWord, asked_words
from rag_assets.answering.extractive.candidates import sentences
from rag_assets.answering.extractive.close_reading import closely_read, standings
from rag_assets.answering.extractive.features import FEATURES, Comparison, Matrix
from rag_assets.answering.extractive.words import term_weights
from rag_assets.domain import Context
from rag_assets.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.engine import Engine, open_engine
from rag_assets.questions import Question
from rag_assets.settings import load_settings

PENALTY = 0.1
"""On the squares of the weights of standardised features."""
NEAR_FROM, UNLIKE_TO = 0.62, 0.5
"""Cosines of words alone: a near word from the first on, an unlike one below the second."""


@dataclass(frozen=True)
class Case:
    """A question as it was asked, with the features of its sentences."""

    kind: str
    half: str
    features: Matrix
    is_right: NDArray[np.bool_]


class OtherWords:
    """Replaces words of questions by other words of the questions."""

    def __init__(self, questions: Sequence[AskedQuestion], reader: PassageTokens) -> None:
        self._words = sorted({word.text for one in questions for word in _content_words(one.text)})
        means = [tokens.vectors.mean(axis=0) for tokens in reader.of_texts(self._words)]
        self._vectors = np.array([mean / np.linalg.norm(mean) for mean in means])
        self._rng = random.Random(5)

    def near(self, question: str) -> str:
        """The question with half of its words replaced by near ones, where there are any."""
        for word in _content_words(question):
            cosines = self._cosines(word.text)
            near = [other for other, cosine in zip(self._words, cosines, strict=True) if NEAR_FROM < cosine < 0.97]
            if near and self._rng.random() < 0.5:
                question = _replaced(question, word.text, self._rng.choice(near))
        return question

    def unlike(self, question: str) -> str:
        """The question with one of the words that it is about replaced by one that has nothing to do with it."""
        words = [word.text for word in _content_words(question) if word.weight >= 1.0] or [question]
        word = self._rng.choice(words)
        cosines = self._cosines(word)
        unlike = [other for other, cosine in zip(self._words, cosines, strict=True) if cosine < UNLIKE_TO]
        return _replaced(question, word, self._rng.choice(unlike))

    def _cosines(self, word: str) -> NDArray[np.float64]:
        if word not in self._words:
            return np.zeros(len(self._words))
        return np.asarray(self._vectors @ self._vectors[self._words.index(word)])


def cases(engine: Engine, reader: PassageTokens, questions: Sequence[AskedQuestion]) -> Iterator[Case]:
    papers = sorted({paper for one in questions for paper in one.papers})
    other = OtherWords(questions, reader)
    for one in questions:
        asked = Question(id=one.id, question=one.text)
        left_out = Question(id=one.id, question=one.text, paper_ids=tuple(p for p in papers if p not in one.papers))
        own, others = engine.evidence(asked).contexts, engine.evidence(left_out).contexts
        yield _case("own", one, one.text, own, reader)
        yield _case("other words", one, other.near(one.text), own, reader)
        yield _case("left out", one, one.text, others, reader)
        yield _case("replaced", one, other.unlike(one.text), own, reader)


def fitted(rows: Matrix, is_right: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    """Weights and bias of a logistic regression, both classes weighing the same; Newton's method."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    design = np.hstack([(rows - mean) / spread, np.ones((len(rows), 1))])
    shares = np.where(is_right, 0.5 / is_right.sum(), 0.5 / (~is_right).sum())
    penalty = np.diag([PENALTY] * rows.shape[1] + [0.0])
    weights = np.zeros(design.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (shares * (chance - is_right)) + penalty @ weights
        curvature = (design * (shares * chance * (1 - chance))[:, None]).T @ design + penalty
        weights -= np.linalg.solve(curvature, gradient)
    own = weights[:-1] / spread
    return own, float(weights[-1] - mean @ own)


def area_under_curve(right: Sequence[float], wrong: Sequence[float]) -> float:
    return float((np.array(right)[:, None] > np.array(wrong)).mean())


def main(data: Path, corpora: Path, n_questions: int) -> None:
    settings = load_settings({"data_dir": str(data)})
    encoder = open_token_encoder(settings.embedding, settings.paths.models, settings.execution.n_workers)
    reader = PassageTokens(encoder, max_mb=1000.0)
    with open_engine(settings) as engine:
        found = [one for one in cases(engine, reader, covidqa(corpora).sample(n_questions)) if len(one.features)]
    weights = np.array([WEIGHTS[name] for name in FEATURES])
    for _ in range(3):  # which sentence is best depends on the weights
        rows, is_right = _rows([one for one in found if one.half == "tuning"], weights)
        weights, bias = fitted(rows, is_right)
    print({name: round(float(weight), 3) for name, weight in zip(FEATURES, weights, strict=True)}, f"bias {bias:.3f}")
    for half in ("tuning", "checking"):
        best = {kind: _best([one for one in found if (one.kind, one.half) == (kind, half)], weights) for kind in KINDS}
        right = {kind: [score for score, is_right in best[kind] if is_right] for kind in KINDS}
        for kind in ("own", "other words"):
            areas = [area_under_curve(right[kind], [score for score, _ in best[wrong]]) for wrong in KINDS[2:]]
            first = np.mean([is_right for _, is_right in best[kind]])
            print(f"{half:9} {kind:12} first right {first:.3f}  left out {areas[0]:.3f}  replaced {areas[1]:.3f}")


KINDS = ("own", "other words", "left out", "replaced")


def _case(kind: str, one: AskedQuestion, text: str, contexts: Sequence[Context], reader: PassageTokens) -> Case:
    candidates = [it for it in sentences(contexts, text) if not only_announces(it.text, text)]
    terms = [candidate.terms for candidate in candidates]
    candidates = closely_read(candidates, standings(candidates), [term_weights(text, terms)])
    features = Comparison(candidates, contexts, reader).features(text) if candidates else np.zeros((0, len(FEATURES)))
    answer = folded(one.answer)
    shown = [folded(contexts[it.context].text[slice(*it.shown)]) for it in candidates]
    return Case(kind, one.half, features, np.array([kind in KINDS[:2] and answer in said for said in shown], bool))


def _rows(found: Sequence[Case], weights: NDArray[np.float64]) -> tuple[Matrix, NDArray[np.bool_]]:
    """The best sentence of each case; of answerable questions only where it is right."""
    chosen = [(one, int(np.argmax(one.features @ weights))) for one in found]
    kept = [(one, at) for one, at in chosen if one.kind in KINDS[2:] or one.is_right[at]]
    return np.array([one.features[at] for one, at in kept]), np.array([one.is_right[at] for one, at in kept], bool)


def _best(found: Sequence[Case], weights: NDArray[np.float64]) -> list[tuple[float, bool]]:
    at = [int(np.argmax(one.features @ weights)) for one in found]
    return [(float(one.features[i] @ weights), bool(one.is_right[i])) for one, i in zip(found, at, strict=True)]


def _content_words(question: str) -> list[AskedWord]:
    return [word for word in asked_words(question, []) if word.text.isalpha() and len(word.text) > 3]


def _replaced(question: str, word: str, other: str) -> str:
    return re.sub(rf"\b{re.escape(word)}\b", other, question, flags=re.IGNORECASE)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 400)
