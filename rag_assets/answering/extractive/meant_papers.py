"""Which paper each part of a question is asked of.

Readers describe the paper they mean in words of their own, and these words come near to much of it: its best few
passages tell it better than its best one. The whole question counts too, since a part may leave the description out.
Where it describes several papers, it would draw all parts to one of them: there the description counts in its place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import TokenReader
from rag_assets.answering.extractive.close_reading import Vectors, texts_of
from rag_assets.answering.extractive.relevance import nearness_of
from rag_assets.answering.extractive.unmentioned import telling_words, unmentioned
from rag_assets.domain import Context
from rag_assets.questions import QuestionPart

_BEST_PASSAGES = 5
_BESIDE_WEIGHT = 0.5
"""Of the whole question, or of the description, beside the part."""
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
    describes_several = len({part.about for part in parts if part.about}) > 1
    beside = [part.about if describes_several and telling_words(part.about) else question for part in parts]
    read = reader.of_texts([*(part.searched for part in parts), *beside])
    nearness = [_nearness(tokens.vectors, vectors, papers) for tokens in read]
    alone, besides = nearness[: len(parts)], nearness[len(parts) :]
    meant = [_meant(part, *near) for part, *near in zip(parts, alone, besides, strict=True)]
    asked = [AskedPart(part, paper) for part, paper in zip(parts, meant, strict=True)]
    return _each_of_its_own(asked, alone, contexts, reader)


Best = Mapping[str, Vectors]
"""Of each paper how near its best passages come to a text, best first, shape (at most `_BEST_PASSAGES`,)."""


def _meant(part: QuestionPart, near: Best, beside: Best) -> str | None:
    alone = {paper: float(scores.sum()) for paper, scores in near.items()}
    total = {paper: own + _BESIDE_WEIGHT * float(beside[paper].sum()) for paper, own in alone.items()}
    best, *others = sorted(total, key=lambda paper: -total[paper])
    is_nearest = alone[best] == max(alone.values())
    is_clear = is_nearest and all(_lead(best, other, near, beside) >= _CLEAR_MARGIN for other in others[:1])
    return best if part.about or is_clear else None


def _each_of_its_own(
    asked: Sequence[AskedPart], near: Sequence[Best], contexts: Sequence[Context], reader: TokenReader
) -> list[AskedPart]:
    """The parts; without a paper where another description fits the same paper better, and that paper does not speak of
    a word of theirs: theirs was not found, and the other would answer for it."""
    fits = [
        0.0 if one.paper_id is None else float(its[one.paper_id].mean()) for one, its in zip(asked, near, strict=True)
    ]
    found: list[AskedPart] = []
    for one, fit in zip(asked, fits, strict=True):
        is_passed = any(
            other.paper_id == one.paper_id and other.part.about not in ("", one.part.about) and its > fit
            for other, its in zip(asked, fits, strict=True)
        )
        own = [context for context in contexts if context.paper_id == one.paper_id]
        is_another = one.part.about and is_passed and unmentioned(one.part.about, own, reader)
        found.append(replace(one, paper_id=None) if is_another else one)
    return found


def _lead(paper: str, other: str, near: Best, beside: Best) -> float:
    """By how much a paper is nearer than another, on average over as many passages as were found of both."""
    n = min(len(near[paper]), len(near[other]))
    leads = [float((each[paper][:n] - each[other][:n]).mean()) for each in (near, beside)]
    return leads[0] + _BESIDE_WEIGHT * leads[1]


def _nearness(asked: Vectors, passages: Sequence[Vectors], papers: NDArray[np.str_]) -> Best:
    near = nearness_of(asked, passages)
    return {str(paper): np.sort(near[papers == paper])[::-1][:_BEST_PASSAGES] for paper in np.unique(papers)}
