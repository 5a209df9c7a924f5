"""Which candidates are published: relevant ones, from two papers where two have something to say, that differ."""

from collections.abc import Mapping, Sequence, Set

import numpy as np

from rag_assets.answering.extractive.candidates import Candidate, CandidateKind
from rag_assets.answering.extractive.publishing import continues_one, stretches_of
from rag_assets.answering.extractive.relevance import Part
from rag_assets.answering.extractive.repetition import is_new
from rag_assets.domain import Context
from rag_assets.settings import ExtractiveSettings
from rag_assets.text.terms import held

_FURTHER_SHARE, _FURTHER_SHARE_OF_READ = 0.8, 0.7
"""Another sentence of a quoted paper is used from this share of the best one's relevance on; from the smaller one where
the candidates were read, since their relevances lie further apart."""
_OTHER_PAPER_SHARE = 0.9
"""One of another paper from this share on, and above `min_relevance`: a paper that can help says nearly as much."""
_OWN_WORDS_SOME, _OWN_WORDS_MOST = 0.25, 0.6
"""Shares of the weight of the words that only one part of a question has (benchmarks/unanswered_parts.py)."""
_FURTHER_CLAIMS = 1
"""Claims of the same papers beside the best ones for the parts of the question, sentences that follow each other being
one. A second further one holds the answer seldom, and hides it (docs/adr/0051)."""
_BESIDE_SHARE = 0.85
"""A sentence of a paragraph that is quoted anyway answers a part from this share of `min_relevance` on."""
_ANSWERED_SHARE = 0.8
"""A part is not called open where a sentence that is published for another one comes so near to answering it: "27 of
5,040 reviews were kept" answers how many were kept, and out of how many."""
_NEIGHBOUR_SHARE = 0.5
"""A sentence right before or behind a quoted one is quoted with it from this share of `min_relevance` on, where
candidates were read: an answer may go on in the next sentence (docs/adr/0055)."""


class Selection:
    """The sentences chosen for a question, as indexes of `candidates`, best first."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        parts: Sequence[Part],
        contexts: Sequence[Context],
        settings: ExtractiveSettings,
    ) -> None:
        self.chosen: list[int] = []
        self._n_best = 0
        self._contexts = contexts
        self._candidates = candidates
        self._parts = parts
        self._settings = settings

    def choose(self, *, min_papers: int) -> None:
        """The best sentence for each part, the best of other papers, then those that add most."""
        for part in self._parts:
            best = int(np.argmax(part.relevance))
            if part.relevance[best] >= self._settings.min_relevance and best not in self.chosen:
                self.chosen.append(best)
        self._n_best = len(self.chosen)
        if not self.chosen:
            return
        n_papers = len({self._candidates[i].paper_id for i in self.chosen})
        while len(papers := {self._candidates[i].paper_id for i in self.chosen}) < min_papers:
            others = self._usable()
            if not self._take_best([i for i in others if self._candidates[i].paper_id not in papers]):
                break
        n_claims = self._n_best + _FURTHER_CLAIMS + len(papers) - n_papers
        while len(self.chosen) < self._settings.max_claims and self._take_best(self._fitting(self._usable(), n_claims)):
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
            best = max(naming, key=self.relevance, default=None)
            if best is None or self.relevance(best) < _BESIDE_SHARE * self._settings.min_relevance:
                open_sides.append(side)
            else:
                self.chosen[self._settings.max_claims - 1 :] = [best]
        return open_sides

    def with_neighbours(self) -> list[int]:
        """The chosen ones, then the sentences right beside the best of each part that are nearly as sure, as far as a
        claim may be long."""
        floor, chosen = _NEIGHBOUR_SHARE * self._settings.min_relevance, list(self.chosen)
        best = [self._candidates[i] for i in chosen[: self._n_best]]
        read = [part.relevance for part in self._parts if part.is_read]
        for i in np.argsort(-np.max(read, axis=0), kind="stable").tolist() if read else ():
            if max(relevance[i] for relevance in read) < floor:
                break
            published = stretches_of([(self._candidates[j], 0.0) for j in chosen], self._contexts)
            of_best = [one for one in published if any(one.of is it for it in best)]
            if i not in chosen and continues_one(self._candidates[i], of_best, self._contexts):
                chosen.append(i)
        return chosen

    def relevance(self, i: int) -> float:
        """Of a candidate to the part of the question that it answers best."""
        return max(float(part.relevance[i]) for part in self._parts)

    def _is_answered(self, part: Part, own: Mapping[str, float]) -> bool:
        """Whether a chosen sentence is relevant to a part and holds some of its own words, or a paragraph holds most.

        A part whose candidates were read with it is judged by relevance alone, and so is one with one word of its own
        ("and how was it chosen?") and one that is asked of a paper: several parts may ask the same of different papers.
        So is a row, which has a relevance only to the parts that it answers.
        """
        is_judged_by_words = len(own) > 1 and not part.is_described and not part.is_read
        floor = self._settings.min_relevance * (_ANSWERED_SHARE if part.is_read else 1.0)
        some = _OWN_WORDS_SOME if is_judged_by_words else 0.0
        relevant = [self._candidates[i] for i in self.chosen if part.relevance[i] >= floor]
        if any(one.kind is CandidateKind.ROW or held(one.terms, own) >= some for one in relevant):
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

    def _usable(self) -> list[int]:
        """Sentences that may be added: not published yet, no near-duplicates, and relevant enough."""
        chosen = [self._candidates[i] for i in self.chosen]
        papers = {one.paper_id for one in chosen}
        return [
            i
            for i, candidate in enumerate(self._candidates)
            if i not in self.chosen
            and (self._adds(i) if candidate.paper_id in papers else self._opens_a_paper(i))
            and is_new(candidate, chosen)
        ]

    def _fitting(self, usable: Sequence[int], n_claims: int) -> list[int]:
        """Those that make no more claims than `n_claims`: where there are as many, what continues one of them."""
        published = stretches_of([(self._candidates[i], 0.0) for i in self.chosen], self._contexts)
        if len(published) < n_claims:
            return list(usable)
        return [i for i in usable if continues_one(self._candidates[i], published, self._contexts)]

    def _adds(self, i: int) -> bool:
        """Whether a sentence of a quoted paper is nearly as relevant to an answered part as the best one is."""
        for part in self._parts:
            most, share = float(part.relevance.max()), _FURTHER_SHARE_OF_READ if part.is_read else _FURTHER_SHARE
            if most >= self._settings.min_relevance and part.relevance[i] >= share * most:
                return True
        return False

    def _opens_a_paper(self, i: int) -> bool:
        """Whether a sentence of another paper would answer a part by itself, and nearly as well as the best one."""
        floor = self._settings.min_relevance
        return any(
            part.relevance[i] >= max(floor, _OTHER_PAPER_SHARE * float(part.relevance.max())) for part in self._parts
        )

    def _take_best(self, usable: Sequence[int]) -> bool:
        """Choose the candidate that adds most, the most relevant row where none is chosen yet: beside sentences about a
        thing it holds the value. Whether there was one."""
        has_row = any(self._is_row(i) for i in self.chosen)
        if rows := [] if has_row else [i for i in usable if self._is_row(i)]:
            self.chosen.append(max(rows, key=self.relevance))
        elif usable:
            self.chosen.append(max(usable, key=self._gain))
        return bool(usable)

    def _is_row(self, i: int) -> bool:
        return self._candidates[i].kind is CandidateKind.ROW

    def _gain(self, i: int) -> float:
        """Its relevance, plus the weight of question words that no chosen sentence holds."""
        covered = frozenset[str]().union(*(self._candidates[j].terms for j in self.chosen))
        new = self._candidates[i].terms - covered
        return max(float(part.relevance[i]) + held(new, part.weights) for part in self._parts)
