"""The best candidates of a question are read once more, each together with the question.

Nearness tells which sentences speak of what is asked, not which of them answers; a model that reads both does. It costs
a pass of the model for each candidate, so only the best by nearness are read.
"""

from collections.abc import Sequence

import numpy as np

from rag_assets.answering.drafts import PrecededText, SentenceReader
from rag_assets.answering.extractive.candidates import Candidate, CandidateKind
from rag_assets.answering.extractive.relevance import Relevances

N_READ = 16
"""Candidates of a question, or of each part of one with two; more of them cost time and find no more answers
(docs/adr/0052)."""
N_READ_OF_ALL_PARTS, LEAST_READ_OF_A_PART = 32, 8
"""Of a question with more parts."""
_NEARNESS_WEIGHT = 10.0
"""Of the relevance so far, beside the score. Less of it answers questions from fields of which no paper is: there the
score, which was trained on questions about the papers, is too high."""
_ROW_AHEAD = 0.3
"""Rows are that much more relevant than sentences before they are read: they had to match the question by name."""
_ANSWERS_FROM = 0.6
"""The relevance that a candidate gets whose score and relevance so far are just enough together."""
_ENOUGH = 6.5
"""That sum."""
_BEFORE_CHARS = 200


def read_again(
    question: str, candidates: Sequence[Candidate], relevance: Relevances, reader: SentenceReader, n_parts: int = 1
) -> Relevances:
    """The relevance of every candidate after the best were read with the question, shape (n,), 0 to 1.

    relevance: by nearness, 0 for what cannot answer. n_parts: of the whole question, each of which has its own
    candidates read. What is not read is no more relevant afterwards than the least of what is.
    """
    n_read = max(LEAST_READ_OF_A_PART, min(N_READ, N_READ_OF_ALL_PARTS // n_parts))
    order = np.argsort(-relevance, kind="stable")
    read = order[relevance[order] > 0][:n_read]
    if not len(read):
        return relevance
    ahead = np.array([_ROW_AHEAD if candidates[i].kind is CandidateKind.ROW else 0.0 for i in read], np.float32)
    scores = reader.scores(question, [preceded(candidates[i]) for i in read])
    found = _share(scores + _NEARNESS_WEIGHT * (relevance[read] - ahead))
    moved: Relevances = np.minimum(relevance, found.min())
    moved[read] = found
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
