"""What is counted of one question: where the first right hit stands, what the contexts hold, what
an answer says.

Definitions, with "right" as the set's target has it: hit@k is 1 when one of the first k is right;
MRR@10 is 1/rank of the first right one, 0 below rank 10 (Voorhees 1999); nDCG@10 is that of
Jaervelin and Kekaelaeinen 2002 with gains of 0 and 1. Answers and pages are looked for in the list
of chunks, papers in the list of distinct papers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.quality.folding import folded
from benchmarks.quality.questions import AskedQuestion

DEPTH = 30
"""Chunks that are looked at."""
DEPTHS = (1, 3, 5, 10, 20)
MIN_QUOTED_CHARS = 20
"""A published sentence inside the expert's answer counts as right when it is longer."""


@dataclass(frozen=True)
class Found:
    """A text that was found, and where it stands."""

    text: str
    paper_id: str
    page_start: int | None
    page_end: int | None

    @property
    def pages(self) -> range:
        """A text without page breaks is one page."""
        return range(self.page_start or 1, (self.page_end or 1) + 1)


@dataclass(frozen=True)
class SaidSentence:
    """A claim of a keyless answer."""

    quote: str
    papers: frozenset[str]


def retrieval_measures(
    question: AskedQuestion, found: Sequence[Found], contexts: Mapping[int, Sequence[Found]]
) -> dict[str, float]:
    """All measures that apply. found: chunks, best first. contexts: what is packed, by budget of
    tokens."""
    measures = _document_measures(question, list(dict.fromkeys(one.paper_id for one in found)))
    if question.pages:
        measures |= _of_first("page", [_is_on_page(question, one) for one in found])
    if question.answer:
        measures |= _of_first("answer", [_has_answer(question, one) for one in found])
    for budget, packed in contexts.items():
        if question.pages:
            measures[f"page in {budget}"] = float(any(_is_on_page(question, one) for one in packed))
        if question.answer:
            measures[f"answer in {budget}"] = float(
                any(_has_answer(question, one) for one in packed)
            )
    return measures


def sentence_measures(
    question: AskedQuestion, said: Sequence[SaidSentence], nearest: Sequence[SaidSentence] = ()
) -> dict[str, float]:
    """Of a keyless answer; a refusal says nothing. "right paper", the share of claims from the
    paper that answers, and "right claims", the share that holds the answer, are left out where
    nothing was said. "complete": the answer is there with at most one other claim beside it. "or
    near": it is there, or among the nearest sentences beside it."""
    right = [_says_answer(question, one) for one in said]
    measures = {
        "answered": float(bool(said)),
        "first": float(any(right[:1])),
        "any": float(any(right)),
        "complete": float(any(right) and right.count(False) <= 1),
        "or near": float(any(right) or any(_says_answer(question, one) for one in nearest)),
        "claims": float(len(said)),
        "near": float(len(nearest)),
    }
    if said:
        from_right_paper = [bool(one.papers & question.papers) for one in said]
        measures["right paper"] = sum(from_right_paper) / len(said)
        measures["right claims"] = sum(right) / len(said)
    return measures


def ndcg(is_relevant: Sequence[bool], n_relevant: int, depth: int = 10) -> float:
    """nDCG@depth of a ranking with gains of 0 and 1."""
    gain = sum(
        1 / math.log2(rank + 1) for rank, hit in enumerate(is_relevant[:depth], start=1) if hit
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(n_relevant, depth) + 1))
    return gain / ideal if ideal else 0.0


def _document_measures(question: AskedQuestion, papers: Sequence[str]) -> dict[str, float]:
    is_right = [paper in question.papers for paper in papers]
    measures = _of_first("document", is_right)
    measures["document nDCG@10"] = ndcg(is_right, len(question.papers))
    measures["document recall@10"] = sum(is_right[:10]) / len(question.papers)
    return measures


def _of_first(target: str, is_right: Sequence[bool]) -> dict[str, float]:
    rank = is_right.index(True) + 1 if True in is_right else None
    measures = {
        f"{target} hit@{depth}": float(rank is not None and rank <= depth) for depth in DEPTHS
    }
    measures[f"{target} MRR@10"] = 1 / rank if rank is not None and rank <= 10 else 0.0
    measures[f"{target} nDCG@10"] = (
        1 / math.log2(rank + 1) if rank is not None and rank <= 10 else 0.0
    )
    return measures


def _is_on_page(question: AskedQuestion, found: Found) -> bool:
    return any((found.paper_id, page) in question.pages for page in found.pages)


def _has_answer(question: AskedQuestion, found: Found) -> bool:
    return folded(question.answer) in folded(found.text)


def _says_answer(question: AskedQuestion, said: SaidSentence) -> bool:
    answer, quote = folded(question.answer), folded(said.quote)
    return answer in quote or (quote in answer and len(quote) > MIN_QUOTED_CHARS)
