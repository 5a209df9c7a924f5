"""Which passages are read closely: token by token, which costs time where the reranker has not done so already.

A passage qualifies by its place in the search and by the words of the question that it holds. Eight passages per part
of the question choose the same sentences as all of them do, some 25 (COVID-QA and OHR-Bench).
"""

from collections.abc import Container, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import PaperText, TokenReader
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.domain import Context
from rag_assets.text.terms import held, terms_of

N_PASSAGES = 8
_STANDING_WEIGHT = 0.5
_STEP, _LAST_STANDING = 0.07, 0.3
Vectors = NDArray[np.float32]


def standings(candidates: Sequence[Candidate]) -> dict[str, float]:
    """How high each passage came in the search, by its id: 1 in the first context, a step less in each further one.

    The order of the contexts tells it, not their scores: scores move with every paper that is added, and with them
    answers would that nothing else has changed.
    """
    found: dict[str, float] = {}
    for one in candidates:
        found.setdefault(one.passage.passage_id, max(_LAST_STANDING, 1.0 - _STEP * one.context))
    return found


def texts_of(context: Context) -> list[PaperText]:
    """The passages of a context; all of it where it does not say what it is made of."""
    return [PaperText(context.paper_id, text) for text in [one.text for one in context.passages] or [context.text]]


def closely_read(
    candidates: Sequence[Candidate],
    standing: Mapping[str, float],
    weights_of_parts: Sequence[Mapping[str, float]],
    meant: Container[str | None],
) -> list[Candidate]:
    """The candidates of the passages that are read closely, and those whose relevance is known without reading.

    standing: of each passage, by its id. weights_of_parts: of the words of each part of the question. meant: the papers
    all of whose passages are read.
    """
    texts = {candidate.passage.passage_id: candidate.passage.text for candidate in candidates}
    terms = {id_: terms_of(text) for id_, text in texts.items()}
    chosen: set[str] = set()
    for weights in weights_of_parts:
        promise = {id_: _STANDING_WEIGHT * standing[id_] + held(terms[id_], weights) for id_ in texts}
        chosen.update(sorted(texts, key=promise.__getitem__, reverse=True)[:N_PASSAGES])
    return [
        one
        for one in candidates
        if one.relevance is not None or one.passage.passage_id in chosen or one.paper_id in meant
    ]


def vectors_of(candidates: Sequence[Candidate], reader: TokenReader) -> list[Vectors]:
    """The token vectors of each candidate, shape (n_tokens, dimension), as the model sees them within its passage.

    A sentence that is encoded alone has lost what its "it" stands for. A candidate of which the model read nothing,
    because its passage is too long, is encoded alone all the same. One whose relevance is known has none.
    """
    passages = list(dict.fromkeys(_passage_of(candidate) for candidate in candidates if candidate.relevance is None))
    read = dict(zip(passages, reader.of(passages), strict=True))
    found: list[Vectors] = []
    for candidate in candidates:
        if candidate.relevance is not None:
            found.append(np.empty((0, 0), np.float32))
            continue
        tokens, shift = read[_passage_of(candidate)], candidate.passage.own_start - candidate.passage.start
        starts, ends = tokens.spans[:, 0], tokens.spans[:, 1]
        within = tokens.vectors[(starts < candidate.end + shift) & (ends > candidate.start + shift)]
        found.append(within if len(within) else reader.of_texts([candidate.text])[0].vectors)
    return found


def _passage_of(candidate: Candidate) -> PaperText:
    return PaperText(candidate.paper_id, candidate.passage.text)
