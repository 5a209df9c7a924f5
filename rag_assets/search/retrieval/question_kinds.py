"""Reads in any language whether a question asks for a field of a paper's record, or for its
statements on funding, data and the like.

The rules of `questions.reading` know English wordings only. Here a trained layer reads the token
vectors of multilingual-e5-small (docs/adr/0036), so that "Wer hat das geschrieben?" asks for the
authors, too. `benchmarks/question_kinds` has the questions that it was trained with, and trains it.
"""

import logging
from functools import lru_cache
from pathlib import Path

import numpy as np

from rag_assets.core.errors import MissingModel
from rag_assets.questions.reading import NOTHING_ASKED, Asked, QuestionKind
from rag_assets.search.embedding.base import Vectors
from rag_assets.search.embedding.local_model import checked_file
from rag_assets.search.embedding.token_vectors import TokenEncoder

logger = logging.getLogger(__name__)

FILE = Path(__file__).with_name("question_kinds.safetensors")
SHA256 = "173599ac0f2cbf6e886d74090493eebd71ff4337f1e3ace779be25d7bc92368f"
TRAINED_ON = "tokens-local-multilingual-e5-small-int8-1571fc982750-b2"
"""Identity of the encoder whose vectors the layer reads."""
_RECORD = {
    "authors": "Authors",
    "year": "Publication date",
    "venue": "Published in",
    "identifier": "DOI",
    "affiliation": "Affiliations",
    "title": "Title",
}
"""By label, the beginning of the line of a title page that answers."""
_STATEMENTS = "statements"
LABELS = (*_RECORD, _STATEMENTS)
"""In the order of the rows of the weights."""
SHARPNESS = 3.0
_MOST_KEPT = 512
_LONGEST = 400
"""Characters of a question that are read."""


class QuestionKinds:
    """The layer. Safe to use from several threads."""

    def __init__(self, encoder: TokenEncoder) -> None:
        """encoder: with any other than the one that the layer was trained on, nothing is read."""
        self._encoder = encoder
        self._is_fitting = encoder.identity == TRAINED_ON
        self.asked = lru_cache(_MOST_KEPT)(self._asked)

    def _asked(self, question: str) -> Asked:
        """What a question asks for. Without the packaged model nothing is read; that is logged
        once."""
        if not self._is_fitting or not question.strip():
            return NOTHING_ASKED
        try:
            (tokens,) = self._encoder.encode([question[:_LONGEST]], "query")
        except MissingModel as error:
            logger.warning("Only English questions about records are known as such: %s", error)
            self._is_fitting = False
            return NOTHING_ASKED
        if not len(tokens.vectors):
            return NOTHING_ASKED
        certain = [
            label for label, score in zip(LABELS, scores(tokens.vectors), strict=True) if score > 0
        ]
        lines = tuple(_RECORD[label] for label in certain if label in _RECORD)
        kinds = {QuestionKind.STATEMENTS} if _STATEMENTS in certain else set()
        return Asked(frozenset(kinds | ({QuestionKind.PUBLICATION} if lines else set())), lines)


def scores(vectors: Vectors) -> Vectors:
    """For each of `LABELS` a number above 0 if a question asks for it. vectors: those of the
    question's tokens, shape (n_tokens, 384).

    It is the sum of what the mean vector says and of about the most that one token says (log-sum-exp
    pooling: Pinheiro and Collobert 2015, "From Image-level to Pixel-level Labeling with
    Convolutional Networks").
    """
    layer = _layer()
    of_tokens = SHARPNESS * (vectors @ layer["tokens"].T)
    highest = of_tokens.max(axis=0)
    pooled = highest + np.log(np.exp(of_tokens - highest).mean(axis=0))
    return np.asarray(
        pooled / SHARPNESS + layer["mean"] @ vectors.mean(axis=0) + layer["constant"], np.float32
    )


@lru_cache(1)
def _layer() -> dict[str, Vectors]:
    """The weights: "tokens" and "mean" of shape (n labels, 384), "constant" of shape (n labels,)."""
    from safetensors.numpy import load_file

    checked = checked_file(FILE, SHA256, "the layer for kinds of questions")
    return {name: values.astype(np.float32) for name, values in load_file(checked).items()}
