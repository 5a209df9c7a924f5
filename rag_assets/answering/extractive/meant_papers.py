"""Which paper each part of a question is asked of.

Readers describe the paper they mean in words of their own, and these words come near to much of it: its best few
passages tell it better than its best one. The whole question counts too, since a part may leave the description out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import TokenReader
from rag_assets.answering.extractive.close_reading import Vectors, texts_of
from rag_assets.answering.extractive.relevance import nearness_of
from rag_assets.domain import Context
from rag_assets.questions import QuestionPart

_BEST_PASSAGES = 5
_WHOLE_WEIGHT = 0.5
"""Of the whole question, beside the part."""
_CLEAR_MARGIN = 0.12
"""By how much a paper must pass the next one, and be the nearest to the part alone, where the question describes
none."""


@dataclass(frozen=True)
class AskedPart:
    """A part of a question and the paper it is asked of."""

    part: QuestionPart
    paper_id: str | None
    """None: of any paper."""

    @property
    def compared(self) -> str:
        """What sentences are compared with: of a described paper, what is asked without the words that describe it."""
        return self.part.asked if self.part.about else self.part.searched


def with_papers(
    question: str, parts: Sequence[QuestionPart], contexts: Sequence[Context], reader: TokenReader
) -> list[AskedPart]:
    """Each part with the paper that it describes, or that comes clearly nearer to it than any other."""
    passages = list(dict.fromkeys(text for one in contexts if not one.is_generated for text in texts_of(one)))
    if not passages:
        return [AskedPart(part, None) for part in parts]
    vectors = [tokens.vectors for tokens in reader.of(passages)]
    papers = np.array([passage.paper_id for passage in passages])
    asked = reader.of_texts([question, *(part.searched for part in parts)])
    whole, *each = [_nearness(tokens.vectors, vectors, papers) for tokens in asked]
    return [AskedPart(part, _meant(part, near, whole)) for part, near in zip(parts, each, strict=True)]


Best = Mapping[str, Vectors]
"""Of each paper how near its best passages come to a text, best first, shape (at most `_BEST_PASSAGES`,)."""


def _meant(part: QuestionPart, near: Best, whole: Best) -> str | None:
    alone = {paper: float(scores.sum()) for paper, scores in near.items()}
    total = {paper: own + _WHOLE_WEIGHT * float(whole[paper].sum()) for paper, own in alone.items()}
    best, *others = sorted(total, key=lambda paper: -total[paper])
    is_nearest = alone[best] == max(alone.values())
    is_clear = is_nearest and all(_lead(best, other, near, whole) >= _CLEAR_MARGIN for other in others[:1])
    return best if part.about or is_clear else None


def _lead(paper: str, other: str, near: Best, whole: Best) -> float:
    """By how much a paper is nearer than another, on average over as many passages as were found of both."""
    n = min(len(near[paper]), len(near[other]))
    leads = [float((each[paper][:n] - each[other][:n]).mean()) for each in (near, whole)]
    return leads[0] + _WHOLE_WEIGHT * leads[1]


def _nearness(asked: Vectors, passages: Sequence[Vectors], papers: NDArray[np.str_]) -> Best:
    near = nearness_of(asked, passages)
    return {str(paper): np.sort(near[papers == paper])[::-1][:_BEST_PASSAGES] for paper in np.unique(papers)}
