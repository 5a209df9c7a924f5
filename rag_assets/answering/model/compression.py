"""Shorter contexts for a model that is paid, or limited, by the token: without what is farthest
from the question.

Whole sentences, table rows and items are left out, never words inside a sentence as by LLMLingua-2
(Pan et al. 2024): a quote of what stays is found in its chunk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import (
    Background,
    DraftAnswer,
    MendingAnswerer,
    MendRequest,
    TokenReader,
)
from rag_assets.answering.extractive.relevance import nearness_of
from rag_assets.core.domain import Context, ContextUnit, StatementKind
from rag_assets.core.incremental import fingerprint
from rag_assets.core.text.terms import covered_weight, term_weights, terms_of
from rag_assets.search.embedding.token_vectors import TokenVectors

COMPRESSION_VERSION = 2
"""Raise it when the code leaves other units out."""
LEFT_OUT = "[…]"
_NEARNESS_WEIGHT, _WORDS_WEIGHT, _RANK_WEIGHT = 0.5, 0.25, 0.25
_STEP, _LEAST_RANK_SCORE = 0.07, 0.3
"""The first context counts 1, each further one a step less."""
Vectors = NDArray[np.float32]


class _UnitPosition(NamedTuple):
    """A unit among all contexts, by its numbers."""

    context: int
    unit: int


class CompressedAnswerer:
    """Shows another answerer the sentences nearest to the question. Quotes are still verified
    against whole chunks."""

    def __init__(self, inside: MendingAnswerer, reader: TokenReader, share: float) -> None:
        """share: of the contexts' characters that is shown, 0 to 1."""
        self._inside = inside
        self._reader = reader
        self._share = share

    @property
    def identity(self) -> str:
        """The identity of the answerer inside, and a hash of how contexts are shortened."""
        shortened = fingerprint(COMPRESSION_VERSION, self._share, self._reader.identity)
        return f"{self._inside.identity} compressed-{shortened[:8]}"

    def read(self, context: Context) -> Context:
        """The context without the scores of passages, which change with every added paper and are
        not read here."""
        passages = tuple(replace(one, score=0.0) for one in context.passages)
        return replace(self._inside.read(context), passages=passages, units=context.units)

    def within(self, background: Background) -> "CompressedAnswerer":
        return CompressedAnswerer(self._inside.within(background), self._reader, self._share)

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        return self._inside.draft(
            question, nearest_units(question, contexts, self._reader, self._share)
        )

    def mended(
        self, question: str, contexts: Sequence[Context], asked_to_mend: MendRequest
    ) -> DraftAnswer:
        """Reads the contexts whole: a claim is mended with the words that its quote left out."""
        return self._inside.mended(question, contexts, asked_to_mend)


def nearest_units(
    question: str, contexts: Sequence[Context], reader: TokenReader, share: float
) -> list[Context]:
    """Shortens contexts to `share` of their characters: the units nearest to the question, and at
    least one of each context, so that their number and order stay. LEFT_OUT marks each gap.

    Nearness is that of the keyless answerer: MaxSim of the unit's tokens as encoded within its
    passage, words of the question in it and the unit before it, and the place of its context in the
    search. share: 0 to 1.
    """
    scores = _scores(question, contexts, reader)
    places_by_context = [
        [_UnitPosition(nth, i) for i in range(len(one.units))] for nth, one in enumerate(contexts)
    ]
    n_left = share * sum(
        _n_chars(place, contexts) for places in places_by_context for place in places
    )
    kept = {max(places, key=scores.__getitem__) for places in places_by_context if places}
    n_left -= sum(_n_chars(place, contexts) for place in kept)
    for place in sorted(scores.keys() - kept, key=lambda one: (-scores[one], one)):
        needed = {place, _first_row(place, contexts)} - kept
        n_chars = sum(_n_chars(one, contexts) for one in needed)
        if n_chars <= n_left:
            kept |= needed
            n_left -= n_chars
    kept |= {_first_row(place, contexts) for place in kept}
    return [_shortened(context, [i for i in range(len(context.units)) if _UnitPosition(nth, i) in kept])
            for nth, context in enumerate(contexts)]  # fmt: skip


def _scores(
    question: str, contexts: Sequence[Context], reader: TokenReader
) -> dict[_UnitPosition, float]:
    asked = reader.of_texts([question])[0].vectors
    passages = list(
        dict.fromkeys(passage.text for context in contexts for passage in context.passages)
    )
    tokens = dict(zip(passages, reader.of(passages), strict=True))
    terms = [
        [terms_of(context.text[unit.start : unit.end]) for unit in context.units]
        for context in contexts
    ]
    weights = term_weights(question, [one for of_context in terms for one in of_context])
    scores: dict[_UnitPosition, float] = {}
    for nth, context in enumerate(contexts):
        rank_score = max(_LEAST_RANK_SCORE, 1.0 - _STEP * nth)
        nearness = nearness_of(asked, [_vectors(context, unit, tokens) for unit in context.units])
        before = [frozenset[str](), *terms[nth]]
        words = [
            covered_weight(own | earlier, weights)
            for own, earlier in zip(terms[nth], before, strict=False)
        ]
        for i, (near, held_words) in enumerate(zip(nearness.tolist(), words, strict=True)):
            scores[_UnitPosition(nth, i)] = (
                _NEARNESS_WEIGHT * near + _WORDS_WEIGHT * held_words + _RANK_WEIGHT * rank_score
            )
    return scores


def _vectors(context: Context, unit: ContextUnit, tokens: Mapping[str, TokenVectors]) -> Vectors:
    """Vectors of the unit's tokens, taken from the first passage that has any."""
    for passage in context.passages:
        if passage.start < unit.end and passage.end > unit.start:
            read = tokens[passage.text]
            shift = passage.own_start - passage.start
            within = read.vectors[
                (read.spans[:, 0] < unit.end + shift) & (read.spans[:, 1] > unit.start + shift)
            ]
            if len(within):
                return within
    return np.empty((0, 0), np.float32)


def _n_chars(place: _UnitPosition, contexts: Sequence[Context]) -> int:
    unit = contexts[place.context].units[place.unit]
    return unit.end - unit.start


def _first_row(place: _UnitPosition, contexts: Sequence[Context]) -> _UnitPosition:
    units = contexts[place.context].units
    own = units[place.unit]
    if own.kind is not StatementKind.ROW:
        return place
    is_first = (unit.kind is StatementKind.ROW and unit.block == own.block for unit in units)
    return _UnitPosition(place.context, next(i for i, found in enumerate(is_first) if found))


def _shortened(context: Context, kept: Sequence[int]) -> Context:
    if len(kept) == len(context.units):
        return context
    title = context.text[: context.units[0].start]  # the one that its first passage repeats
    text = title if kept[0] == 0 else f"{title}{LEFT_OUT}\n"
    units: list[ContextUnit] = []
    for at, number in enumerate(kept):
        unit = context.units[number]
        if at:
            text += _between(context, kept[at - 1], number)
        units.append(replace(unit, start=len(text), end=len(text) + unit.end - unit.start))
        text += context.text[unit.start : unit.end]
    if kept[-1] != len(context.units) - 1:
        text += f"\n{LEFT_OUT}"
    return replace(context, text=text, passages=(), units=tuple(units))


def _between(context: Context, earlier: int, later: int) -> str:
    """The text between two kept units; LEFT_OUT is on a line of its own, so that no quote takes it
    along."""
    if later > earlier + 1:
        return f"\n{LEFT_OUT}\n"
    return context.text[context.units[earlier].end : context.units[later].start]
