"""The embedded answerer: whole sentences of the contexts, chosen by relevance and diversity. No model is called.

A sentence's relevance is the mean of its cosine with the question and of the weight of the question's words it
holds. Words are weighted by their rarity in the contexts, and a word that occurs in none weighs most: a question
about something the corpus never names keeps a low relevance whatever its sentences look like.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from py_rust_stemmers import SnowballStemmer

from rag_assets.answering.drafts import DraftAnswer, DraftCitation, DraftClaim
from rag_assets.incremental import fingerprint
from rag_assets.model import Context
from rag_assets.sentences import sentence_spans
from rag_assets.settings import AnsweringSettings

EXTRACTIVE_VERSION = 1
MIN_WORDS, MAX_WORDS = 6, 90
_NEAR_DUPLICATE = 0.97
_SECOND_PAPER_SHARE = 0.6
"""A second paper's best sentence is used from this share of the best sentence's relevance on."""
_FURTHER_SHARE = 0.75
_SENTENCE = re.compile(r"^[\"“'(\[]?[A-Z0-9].*[.!?][\"”')\]]*(?:\s?\[?\d*\]?)?$", re.DOTALL)
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_STEMMER = SnowballStemmer("english")
_QUESTION_WORDS = frozenset(
    "a about according an and any are as at be been between but by can could did do does during each either for from "
    "get give given had has have how if in into is it its kind list many may me mean means might most much must name "
    "of on one or paper papers report reported say says shall should show some such tell than that the their them "
    "then there these they this those to two under up use used uses using was were what when where which while who "
    "whom whose why will with would you your".split()
)


class SentenceEncoder(Protocol):
    """The part of an embedding model that is needed here; unit vectors."""

    @property
    def model_id(self) -> str: ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]: ...

    def embed_query(self, text: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class _Candidate:
    text: str
    paper_id: str
    chunk_id: str
    terms: frozenset[str]


class ExtractiveAnswerer:
    """Answers with verbatim sentences from two papers where two have something to say."""

    def __init__(self, encoder: SentenceEncoder, settings: AnsweringSettings) -> None:
        self._encoder = encoder
        self._settings = settings

    @property
    def model_id(self) -> str:
        return f"extractive-v{EXTRACTIVE_VERSION}:{fingerprint(self._encoder.model_id)[:8]}"

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        candidates = _candidates(contexts)
        if not candidates:
            return DraftAnswer()
        vectors = self._encoder.embed_passages([candidate.text for candidate in candidates])
        cosines = vectors @ self._encoder.embed_query(question)
        weights = _term_weights(question, candidates)
        overlaps = np.array([_held(candidate.terms, weights) for candidate in candidates])
        relevance = (np.clip(cosines, 0.0, 1.0) + overlaps) / 2
        chosen = _choose(candidates, relevance, vectors, weights, self._settings)
        return DraftAnswer(
            tuple(
                DraftClaim(candidate.text, (DraftCitation(candidate.chunk_id, candidate.text),))
                for candidate in (candidates[i] for i in chosen)
            )
        )


def _candidates(contexts: Sequence[Context]) -> list[_Candidate]:
    """Sentences that can stand alone: authors' prose, with a beginning, an end and a sane length; each once."""
    found: dict[tuple[str, str], _Candidate] = {}
    for context in contexts:
        if context.is_generated:
            continue
        for start, end in sentence_spans(context.text):
            text = context.text[start:end]
            words = _WORD.findall(text)
            if not MIN_WORDS <= len(words) <= MAX_WORDS or " | " in text or "\n" in text or not _SENTENCE.match(text):
                continue
            candidate = _Candidate(text, context.paper_id, context.chunk_id, _terms(text))
            found.setdefault((context.paper_id, text), candidate)
    return list(found.values())


def _terms(text: str) -> frozenset[str]:
    """Stems of the content words; a hyphenated word counts as itself and as its parts."""
    words = [word.lower() for word in _WORD.findall(text)]
    parts = [part for word in words if "-" in word for part in word.split("-")]
    return frozenset(_STEMMER.stem_word(word) for word in (*words, *parts) if word not in _QUESTION_WORDS)


def _term_weights(question: str, candidates: Sequence[_Candidate]) -> dict[str, float]:
    """Weight of each question term, summing to 1: log(1 + N / (1 + df)) over the candidate sentences."""
    occurrences = Counter(term for candidate in candidates for term in candidate.terms)
    raw = {term: math.log1p(len(candidates) / (1 + occurrences[term])) for term in _terms(question)}
    total = sum(raw.values())
    return {term: weight / total for term, weight in sorted(raw.items())} if total else {}


def _held(terms: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weight for term, weight in weights.items() if term in terms)


def _choose(
    candidates: Sequence[_Candidate],
    relevance: NDArray[np.float32],
    vectors: NDArray[np.float32],
    weights: Mapping[str, float],
    settings: AnsweringSettings,
) -> list[int]:
    """Indexes of the chosen sentences: the best, the best of another paper, then what adds most.

    What a sentence adds is its relevance, plus the weight of question words nobody chosen holds, minus its likeness
    to what is chosen (maximal marginal relevance, Carbonell and Goldstein 1998).
    """
    best = int(np.argmax(relevance))
    if relevance[best] < settings.min_relevance:
        return []
    chosen = [best]
    similarities = vectors @ vectors.T

    def marginal(i: int) -> float:
        covered = frozenset().union(*(candidates[j].terms for j in chosen))
        new = _held(candidates[i].terms - covered, weights)
        return float(relevance[i] + new - settings.diversity * similarities[i, chosen].max())

    def usable(floor: float) -> list[int]:
        floor = max(floor, settings.min_relevance)
        return [
            i
            for i in range(len(candidates))
            if i not in chosen and relevance[i] >= floor and similarities[i, chosen].max() < _NEAR_DUPLICATE
        ]

    others = [
        i
        for i in usable(_SECOND_PAPER_SHARE * float(relevance[best]))
        if candidates[i].paper_id != candidates[best].paper_id
    ]
    if others:
        chosen.append(max(others, key=marginal))
    while len(chosen) < settings.max_claims and (further := usable(_FURTHER_SHARE * float(relevance[best]))):
        chosen.append(max(further, key=marginal))
    return chosen
