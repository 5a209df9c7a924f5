"""The best candidates of a question are read once more, each together with the question.

Nearness tells which sentences speak of what is asked, not which of them answers; a model that reads both does. It costs
a pass of the model for each candidate, so only the best by nearness are read.
"""

from collections.abc import Sequence

import numpy as np

from rag_assets.answering.drafts import PrecededText, SentenceReader
from rag_assets.answering.extractive.candidates import Candidate, CandidateKind
from rag_assets.answering.extractive.relevance import Relevances

N_AT_ONCE = 16
"""Candidates of a part of the question that are read before looking whether one is sure."""
N_READ_OF_A_PART, N_READ_OF_ALL_PARTS = 48, 96
"""At most so many are read of one part, and of all parts together (docs/adr/0057)."""
_NEARNESS_WEIGHT = 10.0
"""Of the relevance so far, beside the score. With less of it, questions from fields of which no paper is are answered:
there the score, which was trained on questions about the papers, is too high."""
_ROW_AHEAD = 0.3
"""Rows are that much more relevant than sentences before they are read: they had to match the question by name."""
_ANSWERS_FROM = 0.6
"""The relevance that a candidate gets whose score and relevance so far are just enough together."""
_ENOUGH = 6.5
"""That sum."""
_SURE_FROM = 0.9
"""Nothing more is read for a part once a candidate has this relevance."""
_BEFORE_CHARS = 200


def read_again(
    question: str, candidates: Sequence[Candidate], relevance: Relevances, reader: SentenceReader, n_parts: int = 1
) -> Relevances:
    """The relevance of every candidate after the best were read with the question, shape (n,), 0 to 1.

    relevance: by nearness, 0 for what cannot answer. n_parts: of the whole question, each of which has its own
    candidates read. What is not read is no more relevant afterwards than the least of what is.
    """
    most = min(N_READ_OF_A_PART, N_READ_OF_ALL_PARTS // n_parts)
    order = np.argsort(-relevance, kind="stable")
    near = order[relevance[order] > 0][:most]
    found = np.empty(0, np.float32)
    while len(found) < len(near) and found.max(initial=0.0) < _SURE_FROM:
        read = near[len(found) : len(found) + N_AT_ONCE]
        ahead = np.array([_ROW_AHEAD if candidates[i].kind is CandidateKind.ROW else 0.0 for i in read], np.float32)
        scores = reader.scores(question, [preceded(candidates[i]) for i in read])
        found = np.append(found, _share(scores + _NEARNESS_WEIGHT * (relevance[read] - ahead)))
    if not len(found):
        return relevance
    moved: Relevances = np.minimum(relevance, found.min())
    moved[near[: len(found)]] = found
    return moved


def _share(sums: Relevances) -> Relevances:
    """0 to 1, `_ANSWERS_FROM` where a sum is just enough (logistic function)."""
    shift = np.log(_ANSWERS_FROM / (1 - _ANSWERS_FROM)) - _ENOUGH
    return np.asarray(1 / (1 + np.exp(-(sums + shift))), np.float32)


def preceded(candidate: Candidate) -> PrecededText:
    """The candidate behind the end of its paragraph up to it, as far as its passage has it."""
    passage = candidate.passage
    start = candidate.start + passage.own_start - passage.start
    before = passage.text[max(0, start - _BEFORE_CHARS) : max(0, start)].rpartition("\n")[2]
    return PrecededText(candidate.text, before if candidate.kind is CandidateKind.SENTENCE else "")
