"""How relevant each candidate is to each part of a question, 0 to 1, and comparable between
questions.

First by three figures: how near the candidate comes to each token of the part (MaxSim over its
token vectors, Khattab and Zaharia 2020, "ColBERT"), what share of the part's words it holds
together with the sentence before it, and how high its passage came in the search. They show which
candidates are about the subject, not which answer. A small trained model decides that: it reads the
best candidates once more, each together with the question. It knows English only: in other languages
the answer is what shares words with the question or stands out by its nearness.
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
from rag_assets.core.domain import Context
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
_NEARNESS_WEIGHT, _WORDS_WEIGHT, _STANDING_WEIGHT = 0.5, 0.25, 0.25
_LEANING_DISCOUNT = 0.95
"""A sentence that begins by pointing at one that is not published with it reads badly alone."""
_STEP, _LAST_STANDING = 0.07, 0.3
N_PASSAGES = 8
"""Passages per part whose sentences are compared token by token. Eight choose the same sentences as
all of them do, some 25 (COVID-QA and OHR-Bench)."""
_STANDING_OF_PASSAGE = 0.5
"""Weight of a passage's place in the search beside the words of the part that it holds, where these
are chosen."""
N_AT_ONCE = 16
"""Candidates of a part that are read before looking whether one is sure."""
N_READ_OF_A_PART, N_READ_OF_ALL_PARTS = 48, 96
"""Most candidates that are read of one part, and of all parts together (docs/adr/0041)."""
_RELEVANCE_SO_FAR = 10.0
"""Weight of the relevance by the three figures beside the model's score. With less of it, questions
from fields of which no paper is are answered: the model was trained on questions about the papers,
and its score is too high there."""
_ANSWERS_FROM, _ENOUGH = 0.6, 6.5
"""The relevance of a candidate whose score and weighted relevance sum up to `_ENOUGH`."""
_LEAST_SHARED = 0.5
"""Share of the words of a question in another language that its answer has."""
_USUAL, _N_USUAL, _STEEPNESS = 0.33, 8, 25.0
"""Nearness of sentences that do not answer, and of how many it counts beside those found. XQuAD,
questions of one language, paragraphs of another: 79 % of the questions are answered, 21 % where
their paragraph is left out; 67 % of the sentences hold the answer."""
_LEAST_TELLING_WORDS = 15
"""Fewer words of a paper do not tell whether it is English: they may be a list of names."""
_SURE_FROM = 0.9
"""Nothing more is read for a part once a candidate has this relevance."""
_BEFORE_CHARS = 200


@dataclass(frozen=True)
class RestrictedPart:
    """A part of a question, and the only paper it is asked of."""

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
    """The candidates of the most promising passages, and the parts with the relevance of each of
    them."""
    parts = [one.part for one in asked]
    weights = [term_weights(part.searched, [one.terms for one in candidates]) for part in parts]
    standing = _standings(candidates)
    promising = _promising_passages(candidates, standing, weights, [one.paper for one in asked])
    read = [one for one in candidates if one.passage.passage_id in promising]
    vectors = _vectors_of(read, readers.tokens)
    questions = readers.tokens.of_texts([part.searched for part in parts])
    is_english = _are_english(read)
    found = []
    for one, weight, tokens in zip(asked, weights, questions, strict=True):
        nearness = nearness_of(tokens.vectors, vectors)
        relevance = _by_figures(read, weight, nearness, standing)
        if one.paper is not None:
            relevance = relevance * np.array([it.paper_id == one.paper for it in read], np.float32)
        asked_for = one.part.searched
        is_other = ~is_english if is_asked_in_english(asked_for) else np.ones(len(read), np.bool_)
        of_english = np.where(is_other, np.float32(0), relevance)
        judged = read_again(asked_for, read, of_english, readers.sentences, len(parts))
        judged[is_other] = np.sign(relevance[is_other]) * _by_likeness(
            asked_for,
            [it for it, other in zip(read, is_other, strict=True) if other],
            nearness[is_other],
            readers.tokens.scale.answers_from,
        )
        found.append(ScoredPart(one.part.text, judged))
    return read, found


def nearness_of(asked: Vectors, candidates: Sequence[Vectors]) -> Relevances:
    """For each candidate the mean over the question's tokens of the best cosine among its own, 0 to
    1, shape (n,).

    asked: vectors of the question's tokens; candidates: of each candidate's tokens; unit length. 0
    without tokens.
    """
    best = [
        (asked @ vectors.T).max(axis=1).mean() if len(vectors) else 0.0 for vectors in candidates
    ]
    return np.clip(np.array(best, np.float32), 0.0, 1.0)


def texts_of(context: Context) -> list[str]:
    """The passages of a context; all of it where it does not say what it is made of."""
    return [passage.text for passage in context.passages] or [context.text]


def read_again(
    question: str,
    candidates: Sequence[Candidate],
    relevance: Relevances,
    reader: SentenceReader,
    n_parts: int = 1,
) -> Relevances:
    """The relevance of every candidate after the best were read with the question, shape (n,), 0 to
    1.

    relevance: by the three figures, 0 for what may not answer. n_parts: of the whole question; each
    has its own candidates read. A candidate that is not read is no more relevant afterwards than
    the least relevant one that is.
    """
    most = min(N_READ_OF_A_PART, N_READ_OF_ALL_PARTS // n_parts)
    order = np.argsort(-relevance, kind="stable")
    near = order[relevance[order] > 0][:most]
    found = np.empty(0, np.float32)
    while len(found) < len(near) and found.max(initial=0.0) < _SURE_FROM:
        read = near[len(found) : len(found) + N_AT_ONCE]
        scores = reader.scores(question, [preceded(candidates[i]) for i in read])
        found = np.append(found, _share(scores + _RELEVANCE_SO_FAR * relevance[read]))
    if not len(found):
        return relevance
    moved: Relevances = np.minimum(relevance, found.min())
    moved[near[: len(found)]] = found
    return moved


def _standings(candidates: Iterable[Candidate]) -> dict[str, float]:
    """Weight of each passage: 1 in the first context, less in each further one. Search scores are
    not used, since they change with every added paper.
    """
    found: dict[str, float] = {}
    for one in candidates:
        found.setdefault(one.passage.passage_id, max(_LAST_STANDING, 1.0 - _STEP * one.context))
    return found


def _promising_passages(
    candidates: Sequence[Candidate],
    standing: Mapping[str, float],
    weights: Sequence[Mapping[str, float]],
    papers: Sequence[str | None],
) -> set[str]:
    """Ids of the passages that came high in the search or hold many words of a part. weights,
    papers: the words of each part, and the paper it is asked of."""
    terms = {one.passage.passage_id: terms_of(one.passage.text) for one in candidates}
    paper_of = {one.passage.passage_id: one.paper_id for one in candidates}
    chosen: set[str] = set()
    for weight, paper in zip(weights, papers, strict=True):
        own = [id_ for id_ in terms if paper is None or paper_of[id_] == paper]
        promise = {
            id_: _STANDING_OF_PASSAGE * standing[id_] + covered_weight(terms[id_], weight)
            for id_ in own
        }
        chosen.update(sorted(own, key=promise.__getitem__, reverse=True)[:N_PASSAGES])
    return chosen


def _vectors_of(candidates: Sequence[Candidate], reader: TokenReader) -> list[Vectors]:
    """Vectors of the tokens of each candidate within its passage; alone, if the passage is too long
    for the model."""
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
    standing: Mapping[str, float],
) -> Relevances:
    """Shape (n,). weights: of the part's words, summing to 1."""
    words = np.array([covered_weight(one.terms_so_far, weights) for one in candidates], np.float32)
    discounts = np.array(
        [_LEANING_DISCOUNT if one.leans_back else 1.0 for one in candidates], np.float32
    )
    passages = np.array([standing[one.passage.passage_id] for one in candidates], np.float32)
    figures = _NEARNESS_WEIGHT * nearness + _WORDS_WEIGHT * words + _STANDING_WEIGHT * passages
    return np.asarray(discounts * figures, np.float32)


def is_asked_in_english(question: str) -> bool:
    """Few words that are no sentence do not tell; they may be names."""
    is_listed = "?" not in question and is_in_latin_script(question)
    return is_listed or may_be_english(question)


def papers_in_other_languages(candidates: Iterable[Candidate]) -> set[str]:
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
    """The relevance of candidates where question or paper is in a language that the reader of
    sentences does not know: they share half of the question's words, or come nearer than the others
    by `answers_from`. How near all others come depends on the two languages."""
    wanted = terms_of(asked)
    shares = [len(one.terms & wanted) / max(1, len(wanted)) for one in candidates]
    by_words = np.clip(np.array(shares) * (_ANSWERS_FROM / _LEAST_SHARED), 0.0, 1.0)
    if answers_from is None:
        return np.asarray(by_words, np.float32)
    usual = (nearness.sum() + _N_USUAL * _USUAL) / (len(nearness) + _N_USUAL)
    nearer = _share(_STEEPNESS * (nearness - usual - answers_from) + _ENOUGH)
    return np.asarray(np.maximum(by_words, nearer), np.float32)


def _share(sums: Relevances) -> Relevances:
    shift = np.log(_ANSWERS_FROM / (1 - _ANSWERS_FROM)) - _ENOUGH
    return np.asarray(1 / (1 + np.exp(-(sums + shift))), np.float32)


def preceded(candidate: Candidate) -> PrecededText:
    """The candidate behind the end of its paragraph up to it, as far as its passage has it; where
    it begins the paragraph, behind the question that it answers, or behind the first line of its
    code."""
    passage = candidate.passage
    start = candidate.start + passage.own_start - passage.start
    before = passage.text[max(0, start - _BEFORE_CHARS) : max(0, start)].rpartition("\n")[2]
    if candidate.kind is CandidateKind.LINE or (not before and candidate.lead.endswith("?")):
        before = candidate.lead
    return PrecededText(candidate.text, "" if candidate.kind is CandidateKind.ROW else before)
