"""Scores how well the quotes of a claim support it, and applies the verdicts of a second look by a model.

The score is shown only: embedding models place "treatment raised ferritin" near "treatment lowered ferritin".
`objections` and the second look decide what is published.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from rag_assets.answering.drafts import SentenceEncoder
from rag_assets.answering.verify.objections import Objection, Reason
from rag_assets.answering.verify.verification import Outcome, VerifiedClaims
from rag_assets.core.domain import FULL_SUPPORT_FROM, HALF_SUPPORT_FROM, Claim, Support, Usage
from rag_assets.core.text.sentences import sentence_spans

_N_DECIMALS = 4
"""Further ones differ between machines."""
_NOT_SUPPORTED = "a model that compared it with its quotes found that they do not carry it"
_QUOTED = Support(score=None)


@dataclass(frozen=True)
class Scoring:
    """Scores of the claims of one draft."""

    supports: tuple[Support, ...] = ()
    """One per candidate, in order."""
    whys: tuple[str, ...] = ()
    """For each candidate, what the second look found wrong, or an empty text; empty without a second look."""
    usage: Usage = field(default_factory=Usage)
    """Cost of the second look, now or earlier."""
    is_cached: bool = False
    """The verdicts of the second look were kept from an earlier one."""
    seconds: float = 0.0
    """Time of the second look."""
    unjudged: str = ""
    """Why no model could take the second look; empty when one did, or none is asked to."""


class SupportScorer(Protocol):
    """Scores how well claims are supported by their quotes."""

    @property
    def identity(self) -> str:
        """Names the model that takes the second look; part of the key of published answers."""
        ...

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring: ...


def looked_at(verified: VerifiedClaims, scoring: Scoring) -> VerifiedClaims:
    """The claims with their support. A claim that the second look finds unsupported is objected to; one that it finds
    supported is published, even if the rules doubt it."""
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
    """Gives no scores; a second look may still judge the claims."""

    identity = "none"

    def scores(self, verified: VerifiedClaims, _question: str) -> Scoring:
        return Scoring((_QUOTED,) * len(verified.candidates))


class EmbeddedSupport:
    """Scores claims by an embedding model; calls no language model."""

    identity = "none"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder

    def scores(self, verified: VerifiedClaims, _question: str) -> Scoring:
        claims = [one.claim for one in verified.candidates if one.claim is not None]
        found = iter(self._similarities([claim for claim in claims if not claim.is_quote]))
        return Scoring(tuple(_QUOTED if one.is_quote else Support(round(next(found), _N_DECIMALS)) for one in claims))

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


def _pieces(claim: Claim) -> list[str]:
    """The quotes of a claim, whole and by sentence."""
    quotes = [citation.quote for citation in claim.citations]
    return [*quotes, *(quote[start:end] for quote in quotes for start, end in sentence_spans(quote))]
