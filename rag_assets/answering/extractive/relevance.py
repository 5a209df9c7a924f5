"""How relevant each candidate is to each part of a question, 0 to 1, and comparable between
questions.

First each candidate gets a relevance by three figures: how near its token vectors are to each token
of the part (MaxSim; Khattab and Zaharia 2020, "ColBERT"), the share of the part's words that it and
the sentence before it have, and the rank of its passage in the search. The figures show which
candidates are about the subject, but not which of them answer. A small trained model decides that:
it reads the best candidates once more, each together with the question. It knows English only. In
other languages a candidate answers if it shares words with the question, or is much nearer to it
than the other candidates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import (
    Readers,
    SentenceReader,
    TokenReader,
)
from rag_assets.answering.extractive.candidates import Candidate, CandidateKind
from rag_assets.core.text.terms import (
    covered_weight,
    is_in_latin_script,
    may_be_english,
    term_weights,
    terms_of,
    words_of,
)
from rag_assets.questions import QuestionPart
from rag_assets.search.reranking.trained_reader import PrecededText

Vectors = NDArray[np.float32]
Relevances = NDArray[np.float32]
_NEARNESS_WEIGHT, _WORDS_WEIGHT, _RANK_WEIGHT = 0.5, 0.25, 0.25
_POINTER_DISCOUNT = 0.95
"""Factor for a sentence that begins with "this" or the like and is published without the sentence
before it: it is hard to understand alone."""
_RANK_STEP, _LEAST_RANK_SCORE = 0.07, 0.3
"""Each further context scores so much less for its rank, down to the least score."""
N_PASSAGES = 8
"""Passages per part whose sentences are compared token by token. With eight the same sentences are
chosen as with all 25 or so (COVID-QA and OHR-Bench)."""
_RANK_WEIGHT_OF_PASSAGE = 0.5
"""Weight of a passage's rank when these passages are chosen; its words of the part have weight 1."""
N_AT_ONCE = 16
"""Candidates of a part that are read before checking whether one has `_SURE_FROM`."""
N_READ_OF_A_PART, N_READ_OF_ALL_PARTS = 48, 96
"""Most candidates that are read of one part, and of all parts together (docs/adr/0023)."""
_RELEVANCE_SO_FAR = 10.0
"""Weight of the relevance by the three figures, which is added to the model's score. With a lower
weight, questions are answered that no paper is about: the model was trained only on questions that
the papers are about, and its score for other questions is too high."""
_ANSWERS_FROM, _ENOUGH = 0.6, 6.5
"""A candidate has the first relevance if its score and weighted relevance sum up to the second."""
_LEAST_SHARED = 0.5
"""A candidate in another language has the relevance `_ANSWERS_FROM` if it has this share of the
question's words."""
_USUAL, _N_USUAL, _STEEPNESS = 0.33, 8, 25.0
"""The usual nearness of sentences that do not answer; the number of such sentences that are added
when the mean over the candidates is taken; and the steepness of the relevance above it. XQuAD with
questions in one language and paragraphs in another: 79 % of the questions are answered, and 21 % if
their paragraph is left out; 67 % of the sentences have the answer."""
_LEAST_TELLING_WORDS = 15
"""With fewer words it is not known whether a paper is in English: they may be a list of names."""
_SURE_FROM = 0.9
"""Nothing more is read for a part once a candidate has this relevance."""
_BEFORE_CHARS = 200


@dataclass(frozen=True)
class RestrictedPart:
    """A part of a question, and the only paper whose candidates may answer it."""

    part: QuestionPart
    paper: str | None = None
    """None: all papers."""


@dataclass(frozen=True)
class ScoredPart:
    """One question inside the question, and every candidate's relevance to it."""

    text: str
    relevance: Relevances
    """Shape (n_candidates,)."""


def read_closely(
    asked: Sequence[RestrictedPart], candidates: Sequence[Candidate], readers: Readers
) -> tuple[list[Candidate], list[ScoredPart]]:
    """The candidates of the most promising passages, and for each part their relevance to it."""
    parts = [one.part for one in asked]
    weights = [term_weights(part.searched, [one.terms for one in candidates]) for part in parts]
    rank_scores = _rank_scores(candidates)
    promising = _promising_passages(candidates, rank_scores, weights, [one.paper for one in asked])
    read = [one for one in candidates if one.passage.passage_id in promising]
    vectors = _vectors_of(read, readers.tokens)
    questions = readers.tokens.of_texts([part.searched for part in parts])
    is_english = _are_english(read)
    found = []
    for one, weight, tokens in zip(asked, weights, questions, strict=True):
        nearness = nearness_of(tokens.vectors, vectors)
        relevance = _by_figures(read, weight, nearness, rank_scores)
        if one.paper is not None:
            relevance = relevance * np.array([it.paper_id == one.paper for it in read], np.float32)
        question = one.part.searched
        # The model that reads sentences knows English only: it gets candidates that are in English
        # like the question; all others are judged by likeness.
        is_other = ~is_english if is_asked_in_english(question) else np.ones(len(read), np.bool_)
        of_english = np.where(is_other, np.float32(0), relevance)
        judged = read_again(question, read, of_english, readers.sentences, len(parts))
        # `sign` keeps 0 for candidates of papers that this part is not asked of.
        judged[is_other] = np.sign(relevance[is_other]) * _by_likeness(
            question,
            [it for it, other in zip(read, is_other, strict=True) if other],
            nearness[is_other],
            readers.tokens.scale.answers_from,
        )
        found.append(ScoredPart(one.part.text, judged))
    return read, found


def nearness_of(asked: Vectors, candidates: Sequence[Vectors]) -> Relevances:
    """How near each candidate is to a question, 0 to 1, shape (n,): the cosine of each token of the
    question with the nearest token of the candidate, averaged over the question's tokens.

    asked: vectors of the question's tokens. candidates: for each candidate the vectors of its
    tokens; if it has none, its nearness is 0. All vectors have unit length.
    """
    best = [
        (asked @ vectors.T).max(axis=1).mean() if len(vectors) else 0.0 for vectors in candidates
    ]
    return np.clip(np.array(best, np.float32), 0.0, 1.0)


def read_again(
    question: str,
    candidates: Sequence[Candidate],
    relevance: Relevances,
    reader: SentenceReader,
    n_parts: int = 1,
) -> Relevances:
    """The relevance of every candidate after the model has read the best ones together with the
    question, shape (n,), 0 to 1.

    A candidate that is not read gets at most the lowest relevance of those that are. relevance: by
    the three figures; 0 for candidates that must not answer. n_parts: number of parts of the whole
    question, which share the limit of candidates to read.
    """
    most = min(N_READ_OF_A_PART, N_READ_OF_ALL_PARTS // n_parts)
    order = np.argsort(-relevance, kind="stable")
    to_read = order[relevance[order] > 0][:most]
    judged = np.empty(0, np.float32)  # the new relevance of the first ones of `to_read`
    while len(judged) < len(to_read) and judged.max(initial=0.0) < _SURE_FROM:
        batch = to_read[len(judged) : len(judged) + N_AT_ONCE]
        scores = reader.scores(question, [preceded(candidates[i]) for i in batch])
        judged = np.append(judged, _share(scores + _RELEVANCE_SO_FAR * relevance[batch]))
    if not len(judged):
        return relevance
    result: Relevances = np.minimum(relevance, judged.min())
    result[to_read[: len(judged)]] = judged
    return result


def _rank_scores(candidates: Iterable[Candidate]) -> dict[str, float]:
    """The score of each passage for its rank: 1 in the first context, less in each further one.
    Search scores are not used, because they change with every added paper.
    """
    found: dict[str, float] = {}
    for one in candidates:
        score = max(_LEAST_RANK_SCORE, 1.0 - _RANK_STEP * one.context)
        found.setdefault(one.passage.passage_id, score)
    return found


def _promising_passages(
    candidates: Sequence[Candidate],
    rank_scores: Mapping[str, float],
    weights: Sequence[Mapping[str, float]],
    papers: Sequence[str | None],
) -> set[str]:
    """Ids of the `N_PASSAGES` passages for each part that have a high rank or many of its words.

    weights: for each part the weights of its words. papers: for each part the only paper that may
    answer, or None.
    """
    terms = {one.passage.passage_id: terms_of(one.passage.text) for one in candidates}
    paper_of = {one.passage.passage_id: one.paper_id for one in candidates}
    chosen: set[str] = set()
    for weight, paper in zip(weights, papers, strict=True):
        own = [id_ for id_ in terms if paper is None or paper_of[id_] == paper]
        promise = {
            id_: _RANK_WEIGHT_OF_PASSAGE * rank_scores[id_] + covered_weight(terms[id_], weight)
            for id_ in own
        }
        chosen.update(sorted(own, key=promise.__getitem__, reverse=True)[:N_PASSAGES])
    return chosen


def _vectors_of(candidates: Sequence[Candidate], reader: TokenReader) -> list[Vectors]:
    """For each candidate the vectors of its tokens as they are read within its passage. If the
    model does not read the passage that far, the candidate is read alone."""
    passages = list(dict.fromkeys(one.passage.text for one in candidates))
    read = dict(zip(passages, reader.of(passages), strict=True))
    found: list[Vectors] = []
    for one in candidates:
        tokens = read[one.passage.text]
        starts, ends = tokens.spans[:, 0], tokens.spans[:, 1]
        own = np.zeros(len(starts), np.bool_)
        for start, end in one.read:
            own |= (starts < end) & (ends > start)
        within = tokens.vectors[own]
        found.append(within if len(within) else reader.of_texts([one.text])[0].vectors)
    return found


def _by_figures(
    candidates: Sequence[Candidate],
    weights: Mapping[str, float],
    nearness: Relevances,
    rank_scores: Mapping[str, float],
) -> Relevances:
    """The relevance of each candidate by the three figures, shape (n,). weights: of the part's
    words; their sum is 1."""
    words = np.array([covered_weight(one.terms_so_far, weights) for one in candidates], np.float32)
    discounts = np.array(
        [_POINTER_DISCOUNT if one.leans_back else 1.0 for one in candidates], np.float32
    )
    ranks = np.array([rank_scores[one.passage.passage_id] for one in candidates], np.float32)
    figures = _NEARNESS_WEIGHT * nearness + _WORDS_WEIGHT * words + _RANK_WEIGHT * ranks
    return np.asarray(discounts * figures, np.float32)


def is_asked_in_english(question: str) -> bool:
    """Whether a question is in English, or may be: words in Latin script without a question mark
    count as English, because they may be names."""
    is_listed = "?" not in question and is_in_latin_script(question)
    return is_listed or may_be_english(question)


def papers_in_other_languages(candidates: Iterable[Candidate]) -> set[str]:
    """Ids of the papers whose candidates are long enough to tell that they are not in English."""
    texts: dict[str, str] = {}
    for one in candidates:
        texts[one.paper_id] = f"{texts.get(one.paper_id, '')} {one.text}"
    return {
        paper
        for paper, text in texts.items()
        if len(words_of(text)) >= _LEAST_TELLING_WORDS and not may_be_english(text)
    }


def _are_english(candidates: Sequence[Candidate]) -> NDArray[np.bool_]:
    others = papers_in_other_languages(candidates)
    return np.array([one.paper_id not in others for one in candidates], np.bool_)


def _by_likeness(
    asked: str,
    candidates: Sequence[Candidate],
    nearness: Relevances,
    answers_from: float | None,
) -> Relevances:
    """The relevance of candidates if the question or their paper is not in English; shape (n,).

    A candidate reaches `_ANSWERS_FROM` if it has half of the question's words, or if it is nearer
    to the question than the mean of all candidates by `answers_from`. It is compared with the mean,
    because how near candidates usually are depends on the two languages.
    """
    wanted = terms_of(asked)
    shares = [len(one.terms & wanted) / max(1, len(wanted)) for one in candidates]
    by_words = np.clip(np.array(shares) * (_ANSWERS_FROM / _LEAST_SHARED), 0.0, 1.0)
    if answers_from is None:
        return np.asarray(by_words, np.float32)
    usual = (nearness.sum() + _N_USUAL * _USUAL) / (len(nearness) + _N_USUAL)
    nearer = _share(_STEEPNESS * (nearness - usual - answers_from) + _ENOUGH)
    return np.asarray(np.maximum(by_words, nearer), np.float32)


def _share(sums: Relevances) -> Relevances:
    """A logistic curve from 0 to 1 that is `_ANSWERS_FROM` where the sum is `_ENOUGH`."""
    shift = np.log(_ANSWERS_FROM / (1 - _ANSWERS_FROM)) - _ENOUGH
    return np.asarray(1 / (1 + np.exp(-(sums + shift))), np.float32)


def preceded(candidate: Candidate) -> PrecededText:
    """The text of a candidate with the text before it, as the model reads it.

    That is the end of its paragraph before it, within its passage. For a line of code it is the
    first line of its block; for the first sentence of a paragraph, the question that it answers, if
    there is one. Rows have nothing before them.
    """
    passage = candidate.passage
    start = candidate.start + passage.own_start - passage.start
    before = passage.text[max(0, start - _BEFORE_CHARS) : max(0, start)].rpartition("\n")[2]
    if candidate.kind is CandidateKind.LINE or (not before and candidate.lead.endswith("?")):
        before = candidate.lead
    return PrecededText(candidate.text, "" if candidate.kind is CandidateKind.ROW else before)
