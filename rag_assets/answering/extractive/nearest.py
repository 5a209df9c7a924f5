"""The candidates that come next to those that are published: near the question, and not sure enough to be an answer.

Half of the refused questions that the papers do answer have the answer among them (docs/adr/0054).
"""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

import numpy as np

from rag_assets.answering.drafts import MOST_NEAREST
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.relevance import Part
from rag_assets.answering.extractive.repetition import is_new

_NEAR_FROM = 0.1
"""The least relevance; a question about what no paper treats has hardly a candidate above it."""


def nearest(
    candidates: Sequence[Candidate], parts: Sequence[Part], chosen: Sequence[int], min_relevance: float
) -> list[tuple[Candidate, float]]:
    """The candidates with their relevance, those of parts without a sure answer first.

    parts: only those whose candidates were read count, since other relevances lie too close together. chosen: the
    published ones, as indexes of `candidates`. min_relevance: from which on an answer is sure.
    """
    read = sorted(
        (part for part in parts if part.is_read), key=lambda part: float(part.relevance.max()) >= min_relevance
    )
    said = [candidates[i] for i in chosen]
    found: list[tuple[Candidate, float]] = []
    for i, relevance in _in_turns([_near(part) for part in read]):
        if len(found) == MOST_NEAREST:
            break
        if is_new(candidates[i], said):
            said.append(candidates[i])
            found.append((candidates[i], relevance))
    return found


def _near(part: Part) -> Iterator[tuple[int, float]]:
    """Index and relevance of what is near to a part, best first."""
    order = np.argsort(-part.relevance, kind="stable").tolist()
    return ((i, float(part.relevance[i])) for i in order if part.relevance[i] >= _NEAR_FROM)


def _in_turns(queues: Sequence[Iterator[tuple[int, float]]]) -> Iterator[tuple[int, float]]:
    """The first of each, then the second of each, and so on; of an answered part the first is its claim."""
    return (one for one in chain.from_iterable(zip_longest(*queues)) if one is not None)
