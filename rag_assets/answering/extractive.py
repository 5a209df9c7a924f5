"""The embedded answerer: whole sentences of the contexts, chosen by relevance and diversity. No model is called.

The relevance of a sentence is the mean of its cosine with the question and of the weight of the question's words in it.
Words are weighted by their rarity in the contexts; a word that occurs in none weighs most, so that a question about
something the corpus never names finds no relevant sentence. A compound question is answered part by part.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from py_rust_stemmers import SnowballStemmer

from rag_assets.answering.boilerplate import states_only_formalities
from rag_assets.answering.drafts import EXTRACTIVE, DraftAnswer, DraftCitation, DraftClaim, SentenceEncoder
from rag_assets.domain import BLOCK_SEPARATOR, Context
from rag_assets.incremental import fingerprint
from rag_assets.questions import QuestionPart, question_parts
from rag_assets.settings import ExtractiveSettings
from rag_assets.text.sentences import sentence_spans

EXTRACTIVE_VERSION = 4
MIN_WORDS, MAX_WORDS = 6, 90
_NEAR_DUPLICATE = 0.97
_SECOND_PAPER_SHARE = 0.6
"""A second paper's best sentence is used from this share of the best sentence's relevance on."""
_FURTHER_SHARE = 0.75
_OWN_WORDS_SOME, _OWN_WORDS_MOST = 0.25, 0.6
"""Shares of the weight of the words that only one part of a question has (benchmarks/unanswered_parts.py)."""
_BESIDE_SHARE = 0.75
"""A sentence of a paragraph that is quoted anyway answers a part from this share of `min_relevance` on."""
_N_DECIMALS = 4
_STATEMENT = re.compile(r"^[\"“'(\[]?[A-Z0-9].*[.!][\"”')\]]*(?:\s?\[?\d*\]?)?$", re.DOTALL)
_ANNOUNCEMENT = re.compile(
    r"^(?:this|the (?:present|following)) (?:paper|note|review|article|section|chapter|work|appendix) (?:\w+ )?"
    r"(?:introduces|describes|presents|discusses|reviews|outlines|summari[sz]es|explains|surveys|covers|lists)\b",
    re.IGNORECASE,
)
_LEANS_BACK = re.compile(
    r"^(?:(?:in|for|with|by|of) )?(?:this|these|those|they|their|it|its|such|he|she)\b", re.IGNORECASE
)
_LEANING_DISCOUNT = 0.9
"""A sentence that begins by pointing at the one before it reads badly alone."""
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_STEMMER = SnowballStemmer("english")
_QUESTION_WORDS = frozenset(
    "a about according an and any are as at be been between but by can could did do does during each either for from "
    "get give given had has have how if in into is it its kind list many may me mean means might most much must name "
    "of on one or paper papers report reported say says shall should show some such tell than that the their them "
    "then there these they this those to two under up use used uses using was were what when where which while who "
    "whom whose why will with would you your".split()
)


@dataclass(frozen=True)
class _Candidate:
    text: str
    paper_id: str
    chunk_id: str
    terms: frozenset[str]
    paragraph: tuple[str, int, int]
    """Chunk, number of the context, number of the paragraph in it."""


@dataclass(frozen=True)
class _Part:
    """One question inside the question: the weights of its words, and every candidate's relevance to it."""

    text: str
    weights: Mapping[str, float]
    relevance: NDArray[np.float32]

    def own_weights(self, others: Iterable["_Part"]) -> dict[str, float]:
        """The weights of the words that no other part has, summing to 1; of all its words when it has no others."""
        shared = frozenset[str]().union(*(other.weights for other in others if other is not self))
        own = {term: weight for term, weight in self.weights.items() if term not in shared} or dict(self.weights)
        total = sum(own.values())
        return {term: weight / total for term, weight in own.items()} if total else {}


class ExtractiveAnswerer:
    """Answers with verbatim sentences from two papers where two have something to say."""

    def __init__(self, encoder: SentenceEncoder, settings: ExtractiveSettings, *, min_sources: int) -> None:
        self._encoder = encoder
        self._settings = settings
        self._min_sources = min_sources

    @property
    def identity(self) -> str:
        made_with = fingerprint(self._encoder.identity, self._settings.fingerprint())
        return f"{EXTRACTIVE}-v{EXTRACTIVE_VERSION}:{made_with[:8]}"

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        candidates = _candidates(contexts, question)
        if not candidates:
            return DraftAnswer()
        vectors = self._encoder.embed_passages([candidate.text for candidate in candidates])
        parts = [self._part(part, candidates, vectors) for part in question_parts(question)]
        selection = _Selection(candidates, parts, vectors @ vectors.T, self._settings)
        selection.choose(min_papers=self._min_sources)
        unanswered = selection.unanswered_parts()
        return DraftAnswer(
            claims=tuple(
                DraftClaim(
                    candidates[i].text,
                    (DraftCitation(candidates[i].chunk_id, candidates[i].text),),
                    relevance=round(max(float(part.relevance[i]) for part in parts), _N_DECIMALS),
                )
                for i in selection.chosen
            ),
            unanswered=tuple(part.text for part in unanswered),
        )

    def _part(self, part: QuestionPart, candidates: Sequence[_Candidate], vectors: NDArray[np.float32]) -> _Part:
        cosines = vectors @ self._encoder.embed_query(part.searched)
        weights = _term_weights(part.searched, candidates)
        overlaps = np.array([_held(candidate.terms, weights) for candidate in candidates], np.float32)
        standing = np.array([_LEANING_DISCOUNT if _LEANS_BACK.match(c.text) else 1.0 for c in candidates], np.float32)
        return _Part(part.text, weights, standing * (np.clip(cosines, 0.0, 1.0) + overlaps) / 2)


def _candidates(contexts: Sequence[Context], question: str) -> list[_Candidate]:
    """Statements of the authors that can be read alone, each once; formalities only where the question asks for
    them."""
    found: dict[tuple[str, str], _Candidate] = {}
    for nth, context in enumerate(contexts):
        if context.is_generated:
            continue
        for start, end in sentence_spans(context.text):
            text = context.text[start:end]
            if _says_something(text) and not states_only_formalities(text, question):
                paragraph = (context.chunk_id, nth, context.text.count(BLOCK_SEPARATOR, 0, start))
                candidate = _Candidate(text, context.paper_id, context.chunk_id, _terms(text), paragraph)
                found.setdefault((context.paper_id, text), candidate)
    return list(found.values())


def _says_something(text: str) -> bool:
    """Whether a text is one statement in prose: no row, heading, question or announcement of what follows."""
    return (
        MIN_WORDS <= len(_WORD.findall(text)) <= MAX_WORDS
        and " | " not in text
        and "\n" not in text
        and _STATEMENT.match(text) is not None
        and _ANNOUNCEMENT.match(text) is None
    )


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


class _Selection:
    """The sentences chosen for a question, as indexes of `candidates`, best first."""

    def __init__(
        self,
        candidates: Sequence[_Candidate],
        parts: Sequence[_Part],
        similarities: NDArray[np.float32],
        settings: ExtractiveSettings,
    ) -> None:
        """similarities: cosines of all candidates with each other, shape (n, n)."""
        self.chosen: list[int] = []
        self._candidates = candidates
        self._parts = parts
        self._similarities = similarities
        self._settings = settings

    def choose(self, *, min_papers: int) -> None:
        """The best sentence for each part, the best of other papers, then those that add most."""
        for part in self._parts:
            best = int(np.argmax(part.relevance))
            if part.relevance[best] >= self._settings.min_relevance and best not in self.chosen:
                self.chosen.append(best)
        if not self.chosen:
            return
        while len(papers := {self._candidates[i].paper_id for i in self.chosen}) < min_papers:
            others = self._usable(_SECOND_PAPER_SHARE)
            if not self._take_best([i for i in others if self._candidates[i].paper_id not in papers]):
                break
        while len(self.chosen) < self._settings.max_claims and self._take_best(self._usable(_FURTHER_SHARE)):
            pass
        del self.chosen[self._settings.max_claims :]

    def unanswered_parts(self) -> list[_Part]:
        """The parts of a compound question that no chosen sentence answers, judged by the words only they have.

        Where another sentence of a quoted paragraph answers such a part, that sentence is chosen too.
        """
        unanswered: list[_Part] = []
        for part in self._parts if self.chosen and len(self._parts) > 1 else ():
            own = part.own_weights(self._parts)
            if self._is_answered(part, own):
                continue
            beside = self._beside(part, own)
            if beside is not None and len(self.chosen) < self._settings.max_claims:
                self.chosen.append(beside)
            else:
                unanswered.append(part)
        return unanswered

    def _is_answered(self, part: _Part, own: Mapping[str, float]) -> bool:
        """Whether a chosen sentence is relevant to a part and holds some of its own words, or a paragraph holds most.

        A part with one word of its own ("and how was it chosen?") is judged by relevance alone.
        """
        floor, some = self._settings.min_relevance, _OWN_WORDS_SOME if len(own) > 1 else 0.0
        if any(part.relevance[i] >= floor and _held(self._candidates[i].terms, own) >= some for i in self.chosen):
            return True
        paragraphs: dict[tuple[str, int, int], frozenset[str]] = {}
        for one in (self._candidates[i] for i in self.chosen):
            paragraphs[one.paragraph] = paragraphs.get(one.paragraph, frozenset()) | one.terms
        return any(_held(terms, own) >= _OWN_WORDS_MOST for terms in paragraphs.values())

    def _beside(self, part: _Part, own: Mapping[str, float]) -> int | None:
        """The sentence of a quoted paragraph that answers a part best, below the usual floor; None when none does."""
        floor = _BESIDE_SHARE * self._settings.min_relevance
        paragraphs = {self._candidates[i].paragraph for i in self.chosen}
        near = [
            i
            for i, candidate in enumerate(self._candidates)
            if candidate.paragraph in paragraphs
            and i not in self.chosen
            and part.relevance[i] >= floor
            and _held(candidate.terms, own) >= _OWN_WORDS_MOST
        ]
        return max(near, key=lambda i: float(part.relevance[i]), default=None)

    def _usable(self, share_of_best: float) -> list[int]:
        """Sentences not chosen, no near-duplicates, and relevant enough for some part of the question."""
        floors = [
            max(self._settings.min_relevance, share_of_best * float(part.relevance.max())) for part in self._parts
        ]
        return [
            i
            for i in range(len(self._candidates))
            if i not in self.chosen
            and self._similarities[i, self.chosen].max() < _NEAR_DUPLICATE
            and any(part.relevance[i] >= floor for part, floor in zip(self._parts, floors, strict=True))
        ]

    def _take_best(self, usable: Sequence[int]) -> bool:
        """Choose the sentence that adds most; whether there was one."""
        if usable:
            self.chosen.append(max(usable, key=self._gain))
        return bool(usable)

    def _gain(self, i: int) -> float:
        """Its relevance, plus the weight of question words that no chosen sentence holds, minus its likeness to the
        chosen ones (maximal marginal relevance, Carbonell and Goldstein 1998)."""
        covered = frozenset[str]().union(*(self._candidates[j].terms for j in self.chosen))
        new = self._candidates[i].terms - covered
        worth = max(float(part.relevance[i]) + _held(new, part.weights) for part in self._parts)
        return worth - self._settings.diversity * float(self._similarities[i, self.chosen].max())
