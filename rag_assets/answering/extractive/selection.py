"""Which candidates are published: relevant ones, from two papers where two have something to say, that differ."""

from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.relevance import Part
from rag_assets.answering.extractive.words import held
from rag_assets.settings import ExtractiveSettings

_NEAR_DUPLICATE = 0.97
_SECOND_PAPER_SHARE = 0.6
"""A second paper's best sentence is used from this share of the best sentence's relevance on."""
_FURTHER_SHARE = 0.75
_OWN_WORDS_SOME, _OWN_WORDS_MOST = 0.25, 0.6
"""Shares of the weight of the words that only one part of a question has (benchmarks/unanswered_parts.py)."""
_BESIDE_SHARE = 0.75
"""A sentence of a paragraph that is quoted anyway answers a part from this share of `min_relevance` on."""


class Selection:
    """The sentences chosen for a question, as indexes of `candidates`, best first."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        parts: Sequence[Part],
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

    def unanswered_parts(self) -> list[Part]:
        """The parts of a compound question that no chosen sentence answers, judged by the words only they have.

        Where another sentence of a quoted paragraph answers such a part, that sentence is chosen too.
        """
        unanswered: list[Part] = []
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

    def open_sides(self, sides: Mapping[str, Set[str]]) -> list[str]:
        """The sides of a comparison that no chosen candidate names; one that another candidate names, which is relevant
        enough, gets that one. sides: their names, each with the stems that tell it from the other."""
        open_sides: list[str] = []
        for side, terms in sides.items() if self.chosen else ():
            naming = [i for i, one in enumerate(self._candidates) if len(terms & one.terms) > len(terms) / 2]
            if not set(naming).isdisjoint(self.chosen):
                continue
            best = max(naming, key=self._best_relevance, default=None)
            if best is None or self._best_relevance(best) < _BESIDE_SHARE * self._settings.min_relevance:
                open_sides.append(side)
            else:
                self.chosen[self._settings.max_claims - 1 :] = [best]
        return open_sides

    def _best_relevance(self, i: int) -> float:
        return max(float(part.relevance[i]) for part in self._parts)

    def _is_answered(self, part: Part, own: Mapping[str, float]) -> bool:
        """Whether a chosen sentence is relevant to a part and holds some of its own words, or a paragraph holds most.

        A part with one word of its own ("and how was it chosen?") is judged by relevance alone.
        """
        floor, some = self._settings.min_relevance, _OWN_WORDS_SOME if len(own) > 1 else 0.0
        if any(part.relevance[i] >= floor and held(self._candidates[i].terms, own) >= some for i in self.chosen):
            return True
        paragraphs: dict[tuple[str, int, int], frozenset[str]] = {}
        for one in (self._candidates[i] for i in self.chosen):
            paragraphs[one.paragraph] = paragraphs.get(one.paragraph, frozenset()) | one.terms
        return any(held(terms, own) >= _OWN_WORDS_MOST for terms in paragraphs.values())

    def _beside(self, part: Part, own: Mapping[str, float]) -> int | None:
        """The sentence of a quoted paragraph that answers a part best, below the usual floor; None when none does."""
        floor = _BESIDE_SHARE * self._settings.min_relevance
        paragraphs = {self._candidates[i].paragraph for i in self.chosen}
        near = [
            i
            for i, candidate in enumerate(self._candidates)
            if candidate.paragraph in paragraphs
            and i not in self.chosen
            and part.relevance[i] >= floor
            and held(candidate.terms, own) >= _OWN_WORDS_MOST
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
        worth = max(float(part.relevance[i]) + held(new, part.weights) for part in self._parts)
        return worth - self._settings.diversity * float(self._similarities[i, self.chosen].max())
