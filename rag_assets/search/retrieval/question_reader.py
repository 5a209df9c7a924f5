"""Reads in any language what a question asks for, and which of its words name a paper or an author.

No rule knows these wordings: a small trained network reads what two inner layers of
multilingual-e5-small say of each token (docs/adr/0022). The inner layers tell more of how a word is
used than the last one, which tells what a text is about. `benchmarks/question_reader` has the
questions that it was trained with, and trains it.
"""

import logging
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.questions.reading import NOTHING_ASKED, Asked, QuestionKind
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.local_model import E5_INT8, MultilingualE5, checked_file

logger = logging.getLogger(__name__)

FILE = Path(__file__).with_name("question_reader.safetensors")
SHA256 = "d802e397bbe77df72fe475dfb74c683679cd73fa0faababe4321b1b7f5b0a87f"
LINES = {
    "title": "Title",
    "authors": "Authors",
    "venue": "Published in",
    "year": "Publication date",
    "identifier": "DOI",
    "affiliation": "Affiliations",
}
"""By label, the beginning of the line of a title page that answers."""
KINDS = {
    "statements": QuestionKind.STATEMENTS,
    "related": QuestionKind.RELATED_WORK,
    "maker": QuestionKind.MAKER,
}
_ELSEWHERE = {"related", "maker"}
"""Labels of questions about something else than the paper that they name."""
LABELS = (*LINES, *KINDS)
"""In the order of the columns of the weights."""
MARKS = ("work", "person")
"""What a token may be a part of: the name of a work, or of a person by whom it is."""
SHARPNESS = 3.0
"""The higher it is, the nearer is the pooled score of all tokens to the highest of them."""
LEAST_LABEL, LEAST_MARK = -1.0, -0.5
"""Scores from which a label and a mark count. Below 0, because more questions about content were
trained on than people ask."""
_IN_TITLES, _IN_NAMES = " -–—:,;.?!'’\"“”()/&", " -.'’"
"""What may stand between two marked words of one title, and of the name of one person."""
_AROUND = " \"'“”„«»‘’「」『』《》.,;:?!()"
_FIRST_WITHOUT_SPACES = "\u2e80"
_MOST_KEPT = 512
_LONGEST = 400
"""Characters of a question that are read."""


class InnerStates(Protocol):
    """`local_model.MultilingualE5`."""

    def inner_states(self, text: str) -> tuple[Vectors, NDArray[np.int32]]:
        """What the inner layers say of each token, and where the token is."""
        ...


class QuestionReader:
    """Safe to use from several threads."""

    def __init__(self, model: InnerStates) -> None:
        self._model = model
        self._is_missing = False
        self.asked = lru_cache(_MOST_KEPT)(self._asked)

    def _asked(self, question: str) -> Asked:
        """What a question asks for. Without the packaged model nothing is read; that is logged
        once."""
        if self._is_missing or not question.strip():
            return NOTHING_ASKED
        try:
            states, spans = self._model.inner_states(question[:_LONGEST])
        except MissingModel as error:
            logger.warning(
                "Questions about authors, journals and the like are not known: %s", error
            )
            self._is_missing = True
            return NOTHING_ASKED
        if not len(states):
            return NOTHING_ASKED
        of_labels, of_marks = scores(states, _weights())
        score_of = dict(zip(LABELS, of_labels.tolist(), strict=True))
        certain = {label for label, score in score_of.items() if score > LEAST_LABEL}
        # A question asks for the record of the paper that it names, or for something else.
        certain -= (
            set(LINES) if max(score_of, key=score_of.__getitem__) in _ELSEWHERE else _ELSEWHERE
        )
        lines = tuple(line for label, line in LINES.items() if label in certain)
        kinds = {kind for label, kind in KINDS.items() if label in certain}
        if lines:
            kinds.add(QuestionKind.PUBLICATION)
        works, persons = (
            tuple(_marked(question, spans, column > LEAST_MARK, joins))
            for column, joins in zip(of_marks.T, (_IN_TITLES, _IN_NAMES), strict=True)
        )
        return Asked(frozenset(kinds), lines, works, persons)


def open_question_reader(models_folder: Path) -> QuestionReader:
    """The reader with the packaged model, whatever model makes the vectors of passages."""
    return QuestionReader(MultilingualE5(E5_INT8, models_folder, n_threads=1))


def scores(states: Vectors, weights: Mapping[str, Vectors]) -> tuple[Vectors, Vectors]:
    """For each of `LABELS` how likely a question asks for it, shape (n labels,); for each token and
    each of `MARKS` how likely it is a part of such a name, shape (n_tokens, n marks). Both as log
    odds.

    The score of a label is about the most that one token says (log-sum-exp pooling: Pinheiro and
    Collobert 2015, "From Image-level to Pixel-level Labeling with Convolutional Networks"), and
    what all say together. A mark is read in a token and its neighbours. states: as of
    `MultilingualE5.inner_states`.
    """
    hidden = np.maximum(
        states @ weights["tokens"] + states.mean(axis=0) @ weights["context"] + weights["constant"],
        0,
    )
    of_tokens = SHARPNESS * (hidden @ weights["highest"])
    highest = of_tokens.max(axis=0)
    pooled = (highest + np.log(np.exp(of_tokens - highest).mean(axis=0))) / SHARPNESS
    of_labels = pooled + hidden.mean(axis=0) @ weights["mean"] + weights["label_constant"]
    padded = np.pad(hidden, ((1, 1), (0, 0)))
    with_neighbours = np.concatenate([padded[:-2], hidden, padded[2:]], axis=1)
    return of_labels, with_neighbours @ weights["marks"] + weights["mark_constant"]


@lru_cache(1)
def _weights() -> dict[str, Vectors]:
    """The weights by name, as float32."""
    from safetensors.numpy import load_file

    checked = checked_file(FILE, SHA256, "the reader of questions")
    return {name: values.astype(np.float32) for name, values in load_file(checked).items()}


def _marked(
    text: str, spans: NDArray[np.int32], are_marked: NDArray[np.bool_], joins: str
) -> Iterator[str]:
    """The names in a text: each run of marked tokens, widened to whole words. Only characters of
    `joins` stand between two tokens of a name."""
    runs: list[list[int]] = []
    for start, end in spans[are_marked].tolist():
        if runs and not text[runs[-1][1] : start].strip(joins):
            runs[-1][1] = end
        else:
            runs.append([start, end])
    for start, end in runs:
        while start and _are_of_one_word(text[start - 1 : start + 1]):
            start -= 1
        while _are_of_one_word(text[end - 1 : end + 1]):
            end += 1
        if name := text[start:end].strip(_AROUND):
            yield name


def _are_of_one_word(two: str) -> bool:
    """Whether two characters that follow each other are letters of one word, in a script with
    spaces between words."""
    return len(two) > 1 and two.isalnum() and max(two) < _FIRST_WITHOUT_SPACES
