"""Which papers a question may mean, told by what was found for it.

Each of them is searched by itself for what is asked: `answering.extractive.meant_papers` chooses among them.
"""

from collections.abc import Sequence

_PAPERS, _BEST_PASSAGES = 3, 5
PASSAGES_A_PAPER = 6
"""Passages of each likely paper that are given for each part of a question."""


def likely_papers(paper_ids: Sequence[str], scores: Sequence[float]) -> list[str]:
    """The papers whose best few passages score most, best first. Of every passage found, best first, its paper and its
    score."""
    of_papers: dict[str, list[float]] = {}
    for paper, score in zip(paper_ids, scores, strict=True):
        of_papers.setdefault(paper, []).append(score)
    sums = {paper: sum(own[:_BEST_PASSAGES]) for paper, own in of_papers.items()}
    return sorted(sums, key=lambda paper: -sums[paper])[:_PAPERS]
