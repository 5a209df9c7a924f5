"""The paragraph that opens an answer: it orders, compares and counts the published claims.

A sentence that names no claim, that the rules object to or even doubt, that brings words of its
own, or that the judge does not find supported by the claims it points to, is cut. Nothing else
depends on the paragraph: where it fails, the answer is shown without one. It is not asked for where
nothing is judged, since rules do not see a wrong comparison.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from rag_assets.answering.drafts import DraftClaim
from rag_assets.answering.model.replies import claim_text
from rag_assets.answering.trace import Lead
from rag_assets.answering.verify.objections import checked_claim
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.verification import (
    ClaimOutcome,
    SupportScorer,
    VerifiedClaims,
    n_works,
)
from rag_assets.core.domain import FULL_SUPPORT_FROM, Claim, LeadSentence, Usage, summed
from rag_assets.core.errors import BudgetExhausted, ModelFault
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.text.terms import terms_of
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, FaultPause, LazyModel
from rag_assets.hosted.prompts import load_prompt, neutral

logger = logging.getLogger(__name__)
SYNTHESIS_VERSION = 1
"""Raise it when the code asks for another paragraph, or keeps other sentences of it."""
_INSTRUCTIONS = load_prompt("rag_assets.answering.model", "lead", frozenset())
_MAX_OUTPUT_TOKENS = 4096
_FEWEST_CLAIMS = 2
_MOST_SENTENCES = 6
_LEAST_SHARED = 0.5
"""Share of a sentence's content words that the claims it points to, or the question, must have."""


class SentenceReply(BaseModel):
    """One sentence of the paragraph."""

    text: str
    claims: list[int] = Field(description="Numbers of all statements that it rests on.")


class LeadReply(BaseModel):
    """The paragraph."""

    sentences: list[SentenceReply] = Field(description="In reading order; empty for none.")


@dataclass(frozen=True)
class _Written:
    """A paragraph before it is checked, as it is kept."""

    sentences: tuple[LeadSentence, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0


class Synthesis:
    """Asks one model once per answer. Safe to use from several threads."""

    def __init__(
        self, name: ModelName, connections: Connections, scorer: SupportScorer, kept: KeptFile
    ) -> None:
        """scorer: has a judge. kept: keeps the paragraphs. Raises MissingKey, InvalidSettings as
        `require_access`."""
        self._model = LazyModel(
            name,
            connections,
            LeadReply,
            instructions=_INSTRUCTIONS.text,
            max_output_tokens=_MAX_OUTPUT_TOKENS,
        )
        self._scorer = scorer
        self._kept = kept.replies("leads", _Written)
        self._pause = FaultPause()

    @property
    def identity(self) -> str:
        """The model, readably, and a hash of the prompt."""
        return (
            f"{self._model.model_id} lead-{fingerprint(_INSTRUCTIONS.text, SYNTHESIS_VERSION)[:8]}"
        )

    def lead(self, question: str, parts: Sequence[str], claims: Sequence[Claim]) -> Lead:
        """The sentences that hold. parts: of the question, where they were answered one by one."""
        if len(claims) < _FEWEST_CLAIMS:
            return Lead()
        statements = [
            {"number": number, "statement": neutral(claim.text), "papers": _papers(claim)}
            for number, claim in enumerate(claims, start=1)
        ]
        asked = {"question": question, "parts": list(parts), "statements": statements}
        prompt = json.dumps(asked, ensure_ascii=False)
        try:
            written, is_cached = self._kept.once(
                fingerprint(self.identity, prompt), lambda: self._written(prompt)
            )
        except (ModelFault, BudgetExhausted) as fault:
            if self._pause.failed(fault):
                logger.warning("No paragraph opens the answer to %r: %s", question, fault)
            return Lead()
        proposed = [
            outcome
            for one in written.sentences[:_MOST_SENTENCES]
            if (outcome := _proposed(one, question, claims)) is not None
        ]
        scoring = self._scorer.scores(
            VerifiedClaims(tuple(outcome for _, outcome in proposed)), question
        )
        supported = [(support.judged or 0.0) >= FULL_SUPPORT_FROM for support in scoring.supports]
        spent = [
            usage
            for usage, is_kept in (
                (written.usage, is_cached),
                (scoring.usage, scoring.is_cached),
            )
            if not is_kept
        ]
        return Lead(
            tuple(one for (one, _), holds in zip(proposed, supported, strict=True) if holds),
            summed([written.usage, scoring.usage]),
            summed(spent),
            (0.0 if is_cached else written.seconds) + scoring.seconds,
        )

    def _written(self, prompt: str) -> _Written:
        """Empty for an unreadable reply, which would else be paid for again and again."""
        self._pause.check()
        reply = self._model.ask(prompt)
        if reply.output is None and reply.fault is not None:
            raise reply.fault
        sentences = reply.output.sentences if reply.output else []
        kept = tuple(
            LeadSentence(claim_text(one.text), tuple(dict.fromkeys(one.claims)))
            for one in sentences
        )
        return _Written(kept, reply.usage, reply.seconds)


def _papers(claim: Claim) -> list[str]:
    names = (neutral(one.cited_as or one.paper_id) for one in claim.citations)
    return list(dict.fromkeys(names))


def _proposed(
    one: LeadSentence, question: str, claims: Sequence[Claim]
) -> tuple[LeadSentence, ClaimOutcome] | None:
    """The sentence as a claim whose quotes are the claims that it points to; None where the rules
    cut it. It may count claims and papers."""
    if not one.text or not one.claims or not all(1 <= n <= len(claims) for n in one.claims):
        return None
    told = [claims[number - 1] for number in one.claims]
    quotes = tuple(
        QuotedText(claim.text, 0, len(claim.text), title="; ".join(_papers(claim)))
        for claim in told
    )
    counts = {len(told), n_works(told), len(claims), n_works(claims)}
    asked = " ".join([question, *map(str, counts)])
    own = terms_of(one.text)
    held = terms_of(" ".join([question, *(claim.text for claim in told)]))
    brings_words = len(own & held) < _LEAST_SHARED * len(own)
    if brings_words or checked_claim(one.text, quotes, asked).objection is not None:
        return None
    return one, ClaimOutcome(DraftClaim(one.text, ()), Claim(one.text, ()), quotes=quotes)
