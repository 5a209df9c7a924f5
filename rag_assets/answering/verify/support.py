"""Scores how well the quotes of a claim support it. These scores are shown; they never decide what is published.

`objections` and a second look by a model do. Embedding models place "treatment raised ferritin" near "treatment lowered
ferritin".
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from rag_assets.answering.drafts import SentenceEncoder
from rag_assets.answering.verify.missing_names import names_missing_in
from rag_assets.answering.verify.names import NameKind, names_in
from rag_assets.answering.verify.number_agreement import confirmed_share
from rag_assets.answering.verify.objections import Objection, Reason
from rag_assets.answering.verify.verification import Outcome, VerifiedClaims
from rag_assets.core.domain import FULL_SUPPORT_FROM, HALF_SUPPORT_FROM, Claim, Support, Usage
from rag_assets.core.text.sentences import sentence_spans

_N_DECIMALS = 4
"""Further ones differ between machines."""
_NOT_SUPPORTED = "a model that compared it with its quotes found that they do not carry it"
_QUOTED = Support(score=None, similarity=None, numbers=None, entities=None)


@dataclass(frozen=True)
class Scoring:
    """Scores of the claims of one draft."""

    supports: tuple[Support, ...] = ()
    """One per candidate, in order."""
    whys: tuple[str, ...] = ()
    """What the second look says is wrong with each; an empty text where nothing is. Empty where no model looked."""
    usage: Usage = field(default_factory=Usage)
    """Of the second look, whenever it was taken."""
    is_cached: bool = False
    """The second look was taken before."""
    seconds: float = 0.0
    """How long the model took over it."""
    unjudged: str = ""
    """Why no model could take the second look; empty when one did, or none is asked to."""


class SupportScorer(Protocol):
    """Scores how well claims are supported by their quotes."""

    @property
    def identity(self) -> str:
        """Of the model that takes the second look; part of the key of published answers."""
        ...

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring: ...


def looked_at(verified: VerifiedClaims, scoring: Scoring) -> VerifiedClaims:
    """The claims with their support. What the second look does not find supported is objected to; what it does is
    published, also against a doubt of the rules."""
    whys = scoring.whys or ("",) * len(scoring.supports)
    looked = (_looked_at(*one) for one in zip(verified.candidates, scoring.supports, whys, strict=True))
    return verified.with_candidates(list(looked))


def _looked_at(outcome: Outcome, support: Support, why: str) -> Outcome:
    if support.judged is not None and support.judged < HALF_SUPPORT_FROM:
        return replace(outcome, objection=Objection(Reason.NOT_SUPPORTED, why or _NOT_SUPPORTED))
    is_overruled = support.judged is not None and support.judged >= FULL_SUPPORT_FROM
    claim = outcome.claim and replace(outcome.claim, support=support)
    return replace(outcome, claim=claim, objection=None if is_overruled else outcome.objection)


class Unscored:
    """Gives no figures; a second look may stand beside them."""

    identity = "none"

    def scores(self, verified: VerifiedClaims, _question: str) -> Scoring:
        return Scoring((_QUOTED,) * len(verified.candidates))


class EmbeddedSupport:
    """Scores by an embedding model, by numbers and by names; calls no language model."""

    identity = "none"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        claims = [one.claim for one in verified.candidates if one.claim is not None]
        similarities = iter(self._similarities([claim for claim in claims if not claim.is_quote]))
        return Scoring(
            tuple(_QUOTED if claim.is_quote else _support(claim, next(similarities), question) for claim in claims)
        )

    def _similarities(self, claims: Sequence[Claim]) -> list[float]:
        """Cosine of each claim and the nearest of its quotes and their sentences, 0 to 1; one batch for all."""
        texts = [[claim.text, *_pieces(claim)] for claim in claims]
        every = list(dict.fromkeys(text for some in texts for text in some))
        if not every:
            return []
        vectors = dict(zip(every, self._encoder.embed_passages(every), strict=True))
        return [
            max((float(np.clip(vectors[claim] @ vectors[piece], 0.0, 1.0)) for piece in pieces), default=0.0)
            for claim, *pieces in texts
        ]


def _support(claim: Claim, similarity: float, question: str) -> Support:
    quotes = [citation.quote for citation in claim.citations]
    numbers, entities = confirmed_share(claim.text, quotes, question), _confirmed_names_share(claim.text, quotes)
    applying = [one for one in (similarity, numbers, entities) if one is not None]
    return Support(
        score=round(sum(applying) / len(applying), _N_DECIMALS),
        similarity=round(similarity, _N_DECIMALS),
        numbers=None if numbers is None else round(numbers, _N_DECIMALS),
        entities=None if entities is None else round(entities, _N_DECIMALS),
    )


def _pieces(claim: Claim) -> list[str]:
    """The quotes of a claim, whole and by sentence."""
    quotes = [citation.quote for citation in claim.citations]
    return [*quotes, *(quote[start:end] for quote in quotes for start, end in sentence_spans(quote))]


def _confirmed_names_share(text: str, quotes: Sequence[str]) -> float | None:
    """Share of the names of a text that the quotes hold; None when it has none.

    Names of the question do not count: a claim that gives one method's result to the method that was asked about is the
    error this figure should show.
    """
    names = [name for name in names_in(text) if name.kind not in (NameKind.YEAR, NameKind.NUMBER)]
    return sum(not names_missing_in(quotes, [name]) for name in names) / len(names) if names else None
