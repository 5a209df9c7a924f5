"""Leaves out of contexts what is farthest from the question: whole sentences, table rows and items.

What stays is verbatim, so a quote from it is found in its chunk. Words inside a sentence are never left out, as
LLMLingua-2 does (Pan et al. 2024): a model could then quote nothing that stands in the paper.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag_assets.answering.drafts import PaperText, TextTokens, TokenReader
from rag_assets.answering.extractive.relevance import nearness_of
from rag_assets.core.domain import Context, ContextPassage, ContextUnit, UnitKind
from rag_assets.core.text.terms import held, term_weights, terms_of

LEFT_OUT = "[…]"
_NEARNESS_WEIGHT, _WORDS_WEIGHT, _STANDING_WEIGHT = 0.5, 0.25, 0.25
_STEP, _LAST_STANDING = 0.07, 0.3
"""The first context stands at 1, each further one a step lower."""
Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class _Place:
    """A unit among all contexts."""

    context: int
    unit: int


def nearest_units(question: str, contexts: Sequence[Context], reader: TokenReader, share: float) -> list[Context]:
    """The contexts with at most `share` of their characters, the units nearest to the question; at least one of each
    context, so that their number and order stay. LEFT_OUT marks where something is missing.

    Nearness is that of the keyless answerer: MaxSim of the unit's tokens as encoded within its passage, words of the
    question in it and the unit before it, and the place of its context in the search. share: 0 to 1.
    """
    scores = _scores(question, contexts, reader)
    n_left = share * sum(_length(unit) for context in contexts for unit in context.units)
    kept = {max(places, key=scores.__getitem__) for places in _places_by_context(contexts) if places}
    n_left -= sum(_length(_unit(place, contexts)) for place in kept)
    for place in sorted(scores.keys() - kept, key=lambda one: (-scores[one], one.context, one.unit)):
        needed = {place, _first_row(place, contexts)} - kept
        n_chars = sum(_length(_unit(one, contexts)) for one in needed)
        if n_chars <= n_left:
            kept |= needed
            n_left -= n_chars
    kept |= {_first_row(place, contexts) for place in kept}
    return [_shortened(context, [i for i in range(len(context.units)) if _Place(nth, i) in kept])
            for nth, context in enumerate(contexts)]  # fmt: skip


def _scores(question: str, contexts: Sequence[Context], reader: TokenReader) -> dict[_Place, float]:
    asked = reader.of_texts([question])[0].vectors
    passages = list(
        dict.fromkeys(PaperText(one.paper_id, passage.text) for one in contexts for passage in one.passages)
    )
    tokens = dict(zip(passages, reader.of(passages), strict=True))
    terms = [[terms_of(context.text[unit.start : unit.end]) for unit in context.units] for context in contexts]
    weights = term_weights(question, [one for of_context in terms for one in of_context])
    scores: dict[_Place, float] = {}
    for nth, context in enumerate(contexts):
        standing = max(_LAST_STANDING, 1.0 - _STEP * nth)
        nearness = nearness_of(asked, [_vectors(context, unit, tokens) for unit in context.units])
        words = _words_so_far(terms[nth], weights)
        for i, (near, held_words) in enumerate(zip(nearness.tolist(), words, strict=True)):
            scores[_Place(nth, i)] = _NEARNESS_WEIGHT * near + _WORDS_WEIGHT * held_words + _STANDING_WEIGHT * standing
    return scores


def _words_so_far(terms: Sequence[Set[str]], weights: Mapping[str, float]) -> list[float]:
    """What each unit holds of the question together with the one before it."""
    before = [frozenset[str](), *terms[:-1]] if terms else []
    return [held(own | earlier, weights) for own, earlier in zip(terms, before, strict=True)]


def _vectors(context: Context, unit: ContextUnit, tokens: Mapping[PaperText, TextTokens]) -> Vectors:
    """Of the unit's tokens; of a unit that reaches over several passages, those in the first with any."""
    for passage in context.passages:
        if passage.start < unit.end and passage.end > unit.start:
            read = tokens[PaperText(context.paper_id, passage.text)]
            within = read.vectors[_is_within(read, unit, passage)]
            if len(within):
                return within
    return np.empty((0, 0), np.float32)


def _is_within(read: TextTokens, unit: ContextUnit, passage: ContextPassage) -> NDArray[np.bool_]:
    shift = passage.own_start - passage.start
    mask: NDArray[np.bool_] = (read.spans[:, 0] < unit.end + shift) & (read.spans[:, 1] > unit.start + shift)
    return mask


def _places_by_context(contexts: Sequence[Context]) -> list[list[_Place]]:
    return [[_Place(nth, i) for i in range(len(context.units))] for nth, context in enumerate(contexts)]


def _unit(place: _Place, contexts: Sequence[Context]) -> ContextUnit:
    return contexts[place.context].units[place.unit]


def _length(unit: ContextUnit) -> int:
    return unit.end - unit.start


def _first_row(place: _Place, contexts: Sequence[Context]) -> _Place:
    """The row that the header stands with, for a row of a table; the unit itself for any other."""
    units = contexts[place.context].units
    own = units[place.unit]
    if own.kind is not UnitKind.ROW:
        return place
    is_first = (unit.kind is UnitKind.ROW and unit.block == own.block for unit in units)
    return _Place(place.context, next(i for i, found in enumerate(is_first) if found))


def _shortened(context: Context, kept: Sequence[int]) -> Context:
    """The context with the units of those numbers; itself where that is all of them."""
    if len(kept) == len(context.units):
        return context
    title = context.text[: context.units[0].start]  # the one that its first passage repeats
    text = title if kept[0] == 0 else f"{title}{LEFT_OUT}\n"
    for at, number in enumerate(kept):
        unit = context.units[number]
        if at:
            text += _between(context, kept[at - 1], number)
        text += context.text[unit.start : unit.end]
    if kept[-1] != len(context.units) - 1:
        text += f"\n{LEFT_OUT}"
    return replace(context, text=text, passages=(), units=())


def _between(context: Context, earlier: int, later: int) -> str:
    """The mark stands on a line of its own, so that no quote takes it along."""
    if later > earlier + 1:
        return f"\n{LEFT_OUT}\n"
    return context.text[context.units[earlier].end : context.units[later].start]
