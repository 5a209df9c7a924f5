"""How relevant every candidate is to each part of a question, seen from the paper that the part is asked of.

Inside a paper that is meant all passages are read: what is asked of it may stand anywhere, while the search found what
describes it. A part that asks for something of which that paper does not speak has no relevant candidate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rag_assets.answering.drafts import Readers
from rag_assets.answering.extractive.answer_types import raised_by_type
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.close_reading import closely_read, standings, vectors_of
from rag_assets.answering.extractive.meant_papers import AskedPart
from rag_assets.answering.extractive.relevance import Part, Relevances, nearness_of, relevances
from rag_assets.answering.extractive.second_reading import read_again
from rag_assets.answering.extractive.unmentioned import unmentioned
from rag_assets.domain import Context
from rag_assets.settings import ExtractiveSettings
from rag_assets.text.terms import term_weights

_DESCRIBED_STANDING = 1.4
"""Of every passage of a paper that the question describes; 1 is that of the first passage found. Where paper and
question fit, less is asked of the sentence."""
_SHARE_OF_NO_ANSWER = 0.4
"""Of `min_relevance`: what the best sentence is brought down to. It is shown as near, and calls no part answered."""


class _Doubt(NamedTuple):
    """When a part is not answered for words of which its paper does not speak. Above, and for fewer words, the answer
    says that they are missing (`missing_words`)."""

    below: float
    """The relevance of its best candidate."""
    n_words: int


_DOUBT = _Doubt(below=0.63, n_words=1)
_DOUBT_OF_READ = _Doubt(below=0.9, n_words=2)
"""Where the candidates were read together with the part."""


class PartScorer:
    """Scores the candidates for the parts of one question."""

    def __init__(self, readers: Readers, settings: ExtractiveSettings) -> None:
        self._reader = readers.tokens
        self._sentences = readers.sentences
        self._settings = settings

    def scored(
        self, asked: Sequence[AskedPart], candidates: Sequence[Candidate], contexts: Sequence[Context]
    ) -> tuple[list[Candidate], list[Part]]:
        """The candidates that were read, and the parts with the relevance of each."""
        weights = [term_weights(one.compared, [it.terms for it in _weighed_among(one, candidates)]) for one in asked]
        standing = standings(candidates)
        read = closely_read(candidates, standing, weights, {one.paper_id for one in asked})
        vectors = vectors_of(read, self._reader)
        questions = self._reader.of_texts([one.compared for one in asked])
        parts = [
            self._part(one, weight, (read, nearness_of(tokens.vectors, vectors)), standing, len(asked))
            for one, weight, tokens in zip(asked, weights, questions, strict=True)
        ]
        return read, [self._if_mentioned(one, part, read, contexts) for one, part in zip(asked, parts, strict=True)]

    def _part(
        self,
        asked: AskedPart,
        weights: Mapping[str, float],
        read: tuple[Sequence[Candidate], Relevances],
        standing: Mapping[str, float],
        n_parts: int,
    ) -> Part:
        """Other papers than a described one are left out. read: the candidates and how near each comes to the part.
        n_parts: of the question."""
        candidates, nearness = read
        text = asked.part.text
        relevance = relevances(text, candidates, weights, nearness, _standing(asked, standing))
        relevance = raised_by_type(text, candidates, relevance, self._settings)
        if asked.part.about:
            relevance = relevance * np.array([one.paper_id == asked.paper_id for one in candidates], np.float32)
        if self._sentences is not None:
            relevance = read_again(asked.part.searched, candidates, relevance, self._sentences, n_parts)
        is_read = self._sentences is not None
        return Part(text, weights, relevance, asked.paper_id, is_described=bool(asked.part.about), is_read=is_read)

    def _if_mentioned(
        self, asked: AskedPart, part: Part, candidates: Sequence[Candidate], contexts: Sequence[Context]
    ) -> Part:
        """The part; with candidates that are not relevant enough for an answer where its paper does not speak of what
        it asks."""
        best = float(part.relevance.max(initial=0.0))
        doubt = _DOUBT_OF_READ if part.is_read else _DOUBT
        paper = candidates[int(part.relevance.argmax())].paper_id if part.is_read and candidates else part.paper_id
        if paper is None or not self._settings.min_relevance <= best < doubt.below:
            return part
        own = [one for one in contexts if one.paper_id == paper]
        if len(unmentioned(asked.part.asked, own, self._reader)) < doubt.n_words:
            return part
        return replace(part, relevance=part.relevance * (_SHARE_OF_NO_ANSWER * self._settings.min_relevance / best))


def _weighed_among(asked: AskedPart, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates among which the rarity of words counts: inside a described paper its own."""
    return [one for one in candidates if not asked.part.about or one.paper_id == asked.paper_id]


def _standing(asked: AskedPart, standing: Mapping[str, float]) -> Mapping[str, float]:
    return dict.fromkeys(standing, _DESCRIBED_STANDING) if asked.part.about else standing
