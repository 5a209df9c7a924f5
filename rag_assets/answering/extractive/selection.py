"""Chooses the candidates that become the claims of an answer, and those that are shown as near.

    candidates of all contexts, each with its relevance to each part of the question
     |
     |  choose        what is chosen                       relevance that it needs at least
     |                1. the best of each part             the floor
     |                2. of other papers, until so many    the floor, and .9 of the best of a part
     |                   are quoted as are wanted
     |                3. the next best, while there is     the floor, and .7 (same paper) or .9
     |                   room: one more claim              (other paper, footnote) of that best
     |  published     4. sentences right beside those      half the floor
     |                   of step 1, in the same claim
     v
    published_spans   sentences that follow each other are one span: apart they read as two
     |                findings, and the second may begin with "it"
     v
    claims_of         one claim per span, verbatim and quoted as its own evidence; what several
                      papers state is one claim with a citation of each

A candidate that is only supposed (a hypothesis, a plan, the claim of others) is replaced by a finding
in step 1 if one is about as relevant, and is not chosen in the other steps. Repetitions (`is_new`)
are left out; sentences of different papers with other figures or the opposite direction are not
repetitions. The best of the remaining candidates are `nearest`.
"""

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from rag_assets.answering.drafts import MOST_NEAREST, DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import MAX_WORDS, Candidate, CandidateKind, Span
from rag_assets.answering.extractive.relevance import Relevances, ScoredPart
from rag_assets.answering.verify.polarity import turned_round
from rag_assets.core.domain import Context
from rag_assets.core.text.quantities import YEAR, quantities
from rag_assets.core.text.terms import terms_of, words_of
from rag_assets.corpus.references import asks_what_is_supposed

_FURTHER_SHARE, _OTHER_SHARE = 0.7, 0.9
"""Least relevance of a further candidate from the text of a quoted paper, and of one from a
footnote or another paper, as a share of the best one's."""
_FINDING_SHARE = 0.95
"""If the best candidate of a part is only supposed, a finding with this share of its relevance
replaces it. A finding about the same matter needs `_FURTHER_SHARE` only."""
_FURTHER_CLAIMS = 1
"""The number of claims that may be added to the best ones of the parts (step 3); sentences that
follow each other are one claim. A second added claim seldom has the answer, and distracts from it
(docs/adr/0023)."""
_NEIGHBOUR_SHARE = 0.5
"""A sentence directly before or after the best one of a part is quoted with it if its relevance has
this share of the floor and the claim does not become too long. An answer may continue in the next
sentence (docs/adr/0023)."""
_ANSWERED_SHARE = 0.8
"""A part counts as answered if a chosen candidate has this share of the floor, even one that was
chosen for another part: "27 of 5,040 reviews were kept" answers how many were kept, and out of how
many."""
_NEAR_FROM = 0.1
"""The least relevance of candidates that are shown as near. If the papers answer a question that is
refused, the answer is among these in half of the cases (docs/adr/0023)."""
_NEAR_DUPLICATE = 0.8
"""Two sentences are near-duplicates if they share so much of all their content words."""
_LEAST_FIGURES = 2
"""Figures that texts of two papers must share to state one fact in different words."""
_N_DECIMALS = 4
_BEFORE = re.compile(
    r"^\W*(?i:abstract|summary)\s?[:.—–]\s*(?=\S)"
    r"|^(?:\[?\d{1,3}(?:[–-]\d{1,3})?\]?\s*[,;]\s*)+\[?\d{1,3}(?:[–-]\d{1,3})?\]?\s+(?=[A-Z])"
    r"|^\[\d{1,3}\]\s+(?=[A-Z])"
)
"""Text before a sentence that is no part of it: the label of an abstract, or the numbers of the
references of the sentence before. A single number without brackets may belong to the sentence."""
_BEHIND = re.compile(r"(?P<end>[.!?][\"”')\]]*)\s+\d{1,3}(?:\s?[,–-]\s?\d{1,3})*$")


class Selection:
    """Chooses candidates by their indexes; `choose` is called first, then the other methods."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        parts: Sequence[ScoredPart],
        contexts: Sequence[Context],
        *,
        floor: float,
        max_claims: int,
    ) -> None:
        """floor: the least relevance of a candidate that answers a part."""
        self._candidates = candidates
        self._parts = parts
        self._contexts = contexts
        self._floor = floor
        self._max_claims = max_claims
        self._best: Relevances = np.max([part.relevance for part in parts], axis=0)
        self._order: list[int] = np.argsort(-self._best, kind="stable").tolist()
        self.chosen: list[int] = []
        self._n_best = 0
        """The number of candidates at the beginning of `chosen` that are the best of a part."""

    def choose(self, *, min_papers: int) -> None:
        """Steps 1 to 3 of the module. min_papers: how many papers should be quoted."""
        # 1. The best of each part.
        for part in self._parts:
            best = self._best_of(part)
            is_claim = not self._candidates[best].pointer
            if is_claim and part.relevance[best] >= self._floor and best not in self.chosen:
                self.chosen.append(best)
        if not self.chosen:
            return
        self._n_best = len(self.chosen)
        # 2. Other papers.
        n_claims = self._n_best + _FURTHER_CLAIMS
        while len(papers := self._papers()) < min_papers:
            others = (i for i in self._order if self._work(i) not in papers)
            other = next(filter(self._may_follow, others), None)
            if other is None:
                break
            self.chosen.append(other)
            n_claims += 1
        # 3. The next best.
        for i in self._order:
            is_full = len(self.chosen) >= self._max_claims
            if not is_full and self._may_follow(i) and self._has_room(i, n_claims):
                self.chosen.append(i)
        del self.chosen[self._max_claims :]

    def _best_of(self, part: ScoredPart) -> int:
        """The index of the best candidate of a part. If that is only supposed, a finding that is
        about as relevant is preferred, unless the part asks what is supposed."""
        best = int(part.relevance.argmax())
        if asks_what_is_supposed(part.text):
            return best
        of_findings = np.where([one.is_supposed for one in self._candidates], 0.0, part.relevance)
        finding = int(of_findings.argmax())
        share = _FURTHER_SHARE if self._are_of_one_matter(finding, best) else _FINDING_SHARE
        return finding if of_findings[finding] >= share * part.relevance[best] else best

    def _is_supposed(self, i: int) -> bool:
        """Whether a candidate is only supposed, and no part asks what is supposed."""
        return self._candidates[i].is_supposed and not any(
            asks_what_is_supposed(part.text) for part in self._parts
        )

    @property
    def tells_no_finding(self) -> bool:
        """Whether all chosen candidates are hypotheses, plans or claims of others."""
        return bool(self.chosen) and all(map(self._is_supposed, self.chosen))

    def unanswered_parts(self) -> tuple[str, ...]:
        """The texts of the parts that no chosen candidate answers."""
        enough = _ANSWERED_SHARE * self._floor
        return tuple(
            part.text
            for part in self._parts
            if not any(part.relevance[i] >= enough for i in self.chosen)
        )

    def published(self) -> list[tuple[Candidate, float]]:
        """The chosen candidates with their relevance, best first; then the neighbours of the best
        ones (step 4)."""
        best = [self._candidates[i] for i in self.chosen[: self._n_best]]
        published = self._chosen()
        for i in self._order if published else ():
            if self._best[i] < _NEIGHBOUR_SHARE * self._floor:
                break
            spans = published_spans(published, self._contexts)
            best_spans = [span for span in spans if any(span.of is one for one in best)]
            may_join = i not in self.chosen and not self._is_supposed(i)
            if may_join and _joined(self._candidates[i], best_spans, self._contexts):
                published.append((self._candidates[i], self.relevance(i)))
        return published

    def nearest(self) -> list[tuple[Candidate, float]]:
        """The best candidates that are not published, with their relevance. Of candidates that only
        name their table, one per table is returned."""
        shown = [one for one, _ in self.published()]
        nearest: list[tuple[Candidate, float]] = []
        for i in self._order:
            if len(nearest) == MOST_NEAREST or self._best[i] < _NEAR_FROM:
                break
            candidate = self._candidates[i]
            if self.chosen and (self._is_supposed(i) or self._is_contrary(i)):
                continue
            names_again = any(one.pointer == candidate.pointer for one in shown if one.pointer)
            if is_new(candidate, shown) and not names_again:
                shown.append(candidate)
                nearest.append((candidate, self.relevance(i)))
        return nearest

    def _is_contrary(self, i: int) -> bool:
        """Whether a candidate says the opposite of a published one about the same matter."""
        return any(
            self._are_of_one_matter(i, j)
            and turned_round(self._candidates[i].text, [self._candidates[j].text]) is not None
            for j in self.chosen
        )

    def _are_of_one_matter(self, i: int, j: int) -> bool:
        """Whether two candidates share half of the content words of the shorter one."""
        one, other = self._candidates[i].terms, self._candidates[j].terms
        return 2 * len(one & other) >= min(len(one), len(other))

    def relevance(self, i: int) -> float:
        """Relevance of a candidate to the part of the question that it answers best."""
        return float(self._best[i])

    def _chosen(self) -> list[tuple[Candidate, float]]:
        return [(self._candidates[i], self.relevance(i)) for i in self.chosen]

    def _papers(self) -> set[str]:
        """The ids of the quoted works; a preprint and its published version are one work."""
        return {self._work(i) for i in self.chosen}

    def _work(self, i: int) -> str:
        one = self._candidates[i]
        return self._contexts[one.context].paper.work or one.paper_id

    def _may_follow(self, i: int) -> bool:
        """Whether a candidate may be published beside those that are chosen."""
        one = self._candidates[i]
        if i in self.chosen or one.pointer or self._is_supposed(i):
            return False
        is_of_quoted = self._work(i) in self._papers() and not one.is_note
        share = _FURTHER_SHARE if is_of_quoted else _OTHER_SHARE
        is_relevant = any(
            part.relevance[i] >= max(self._floor, share * float(part.relevance.max()))
            for part in self._parts
        )
        of_work = [self._candidates[j] for j in self.chosen if self._work(j) == self._work(i)]
        return is_relevant and is_new(one, of_work)

    def _has_room(self, i: int, n_claims: int) -> bool:
        """Whether the answer has at most `n_claims` claims after a candidate is added: it becomes
        part of a claim, or there are fewer claims."""
        spans = published_spans(self._chosen(), self._contexts)
        joined = _joined(self._candidates[i], spans, self._contexts)
        return len(spans) < n_claims or joined is not None


def is_new(one: Candidate, others: Sequence[Candidate]) -> bool:
    """Whether a candidate repeats none of the others: it is not part of their text, does not
    contain them, and does not say the same in nearly the same words."""
    return not any(_repeats(one, other) for other in others)


def _repeats(one: Candidate, other: Candidate) -> bool:
    """Whether a candidate repeats another, see `is_new`."""
    if one.context == other.context and _overlap(one, other):
        return True
    if one.paper_id == other.paper_id:
        return _are_alike(one.terms, other.terms)
    return _says_the_same(one.text, other.text)


def _overlap(one: Candidate, other: Candidate) -> bool:
    """Whether a candidate is published with another one of its context, or contains it."""
    is_shown = other.shown[0] <= one.start and one.end <= other.shown[1]
    return is_shown or (one.start <= other.start and other.end <= one.end)


def _are_alike(one: Set[str], other: Set[str]) -> bool:
    """Whether two sets of content words are those of near-duplicates."""
    return len(one & other) >= _NEAR_DUPLICATE * max(1, len(one | other))


def _says_the_same(one: str, other: str) -> bool:
    """Whether texts of two papers state one fact, and not with opposite directions.

    They have the same figures and nearly the same words. Or one has all figures of the other, at
    least two, and both share half of the words of the one with fewer words.
    """
    fewer_figures, more_figures = sorted((_figures(one), _figures(other)), key=len)
    fewer, more = sorted((terms_of(one), terms_of(other)), key=len)
    is_alike = fewer_figures == more_figures and _are_alike(fewer, more)
    shares_figures = (
        len(fewer_figures) >= _LEAST_FIGURES
        and fewer_figures <= more_figures
        and 2 * len(fewer & more) >= len(fewer)
    )
    return (is_alike or shares_figures) and turned_round(one, [other]) is None


def _figures(text: str) -> set[tuple[str, Decimal]]:
    """The kinds and values of the quantities in a text, without years."""
    return {
        (quantity.kind, quantity.value) for quantity in quantities(text) if quantity.kind != YEAR
    }


@dataclass
class PublishedSpan:
    """The text of one claim, `text[start:end]` of a context. `of` is the best candidate in it, and
    `relevance` that of `of`."""

    of: Candidate
    start: int
    end: int
    relevance: float

    def can_take(self, start: int, end: int, text: str) -> bool:
        """Whether `text[start:end]` overlaps this span or is next to it in the same line, and both
        together are short enough for a claim."""
        between = text[min(self.end, end) : max(self.start, start)]
        whole = text[min(self.start, start) : max(self.end, end)]
        return not between.strip() and "\n" not in whole and len(words_of(whole)) <= MAX_WORDS


def published_spans(
    chosen: Sequence[tuple[Candidate, float]], contexts: Sequence[Context]
) -> list[PublishedSpan]:
    """The spans of text to publish, best first, each text once. chosen: candidates with their
    relevance, best first."""
    spans: list[PublishedSpan] = []
    for one, relevance in chosen:
        beside = _sentences_beside(one, spans)
        if any(span.start <= one.start and one.end <= span.end for span in beside):
            continue
        if joined := _joined(one, spans, contexts):
            span, (start, end) = joined
            span.start, span.end = min(span.start, start), max(span.end, end)
            continue
        # A new span, with the neighbouring sentence that it needs unless that is published already.
        is_free = not any(span.start < one.shown[1] and one.shown[0] < span.end for span in beside)
        start, end = one.shown if is_free else (one.start, one.end)
        spans.append(PublishedSpan(one, start, end, relevance))
    return spans


def claims_of(
    chosen: Sequence[tuple[Candidate, float]], contexts: Sequence[Context]
) -> list[DraftClaim]:
    """The claims, best first; a statement of several papers is one claim with a citation of each.
    chosen: as for `published_spans`."""
    claims: list[DraftClaim] = []
    papers: list[set[str]] = []
    for span in published_spans(chosen, contexts):
        claim, paper = _claim(span, contexts[span.of.context].text), span.of.paper_id
        alike = (
            nth
            for nth, one in enumerate(claims)
            if paper not in papers[nth] and _says_the_same(one.text, claim.text)
        )
        nth = next(alike, None)
        if nth is None:
            claims.append(claim)
            papers.append({paper})
        else:
            claims[nth] = replace(claims[nth], citations=(*claims[nth].citations, *claim.citations))
            papers[nth].add(paper)
    return claims


def _joined(
    one: Candidate, spans: Sequence[PublishedSpan], contexts: Sequence[Context]
) -> tuple[PublishedSpan, Span] | None:
    """The first span that a candidate can become a part of, and the part of the text to add: the
    candidate with the neighbouring sentence that it needs, or the candidate alone. None if there is
    no such span."""
    text = contexts[one.context].text
    for start, end in (one.shown, (one.start, one.end)):
        for span in _sentences_beside(one, spans):
            if span.can_take(start, end, text):
                return span, (start, end)
    return None


def _sentences_beside(one: Candidate, spans: Sequence[PublishedSpan]) -> list[PublishedSpan]:
    """The spans of sentences in the context of a sentence; empty if the candidate is no
    sentence."""
    return [
        span
        for span in spans
        if span.of.context == one.context and _is_sentence(span.of) and _is_sentence(one)
    ]


def _is_sentence(one: Candidate) -> bool:
    return one.kind is CandidateKind.SENTENCE


def _claim(span: PublishedSpan, text: str) -> DraftClaim:
    """The claim of a span, with itself or the candidate's `quote` as evidence. text: of the
    context."""
    candidate = span.of
    verbatim = _trimmed(text[span.start : span.end]) if _is_sentence(candidate) else candidate.text
    quote = candidate.quote or verbatim
    return DraftClaim(
        candidate.pointer or verbatim,
        (DraftCitation(candidate.chunk_id, quote),),
        relevance=round(span.relevance, _N_DECIMALS),
    )


def _trimmed(text: str) -> str:
    """The sentences of a text without reference numbers, labels and page numbers around them: "3,
    4, 6 Our results suggest it. 17" -> "Our results suggest it."."""
    before = _BEFORE.match(text)
    start = before.end() if before else 0
    behind = _BEHIND.search(text, start)
    return text[start : behind.end("end") if behind else len(text)]
