"""A second look at the claims of an answer, by a judge that sees nothing but each claim and its quotes.

What it finds unsupported is not published, what it finds half supported is marked. Numbers, names and opposites, which
are told without a model, are in `citations.objections`.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_assets.answering.model.judges.base import ClaimJudge, ClaimVerdicts
from rag_assets.answering.verify.support import Scoring, SupportScorer
from rag_assets.answering.verify.verification import Outcome, VerifiedClaims
from rag_assets.core.errors import BudgetExhausted, MissingModel, ModelFault
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.hosted.asking import FaultPause

logger = logging.getLogger(__name__)


class JudgedSupport:
    """Another scorer's figures, with the verdicts of a judge beside them."""

    def __init__(
        self,
        judge: ClaimJudge,
        scorer: SupportScorer,
        kept: KeptFile,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """kept: keeps the verdicts by what was judged: nothing is judged twice."""
        self._judge = judge
        self._scorer = scorer
        self._kept = kept.replies("verdicts", ClaimVerdicts)
        self._pause = FaultPause(clock)

    @property
    def identity(self) -> str:
        return self._judge.identity

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        """An answer does not wait for its judge: where it cannot be asked, the rules alone decide, and the scoring says
        why. After a fault that is not this question's own, the judge is left alone for a while; once the budget is
        spent, for good. A claim that is a quote as it stands is not judged."""
        scoring = self._scorer.scores(verified, question)
        held = verified.candidates
        judged = [nth for nth, one in enumerate(held) if one.claim is not None and not one.claim.is_quote]
        if not judged:
            return scoring
        try:
            kept, is_cached = self._verdicts([held[nth] for nth in judged])
        except (ModelFault, BudgetExhausted, MissingModel) as fault:
            if self._pause.failed(fault):
                logger.warning("The claims of the answer to %r are not judged: %s", question, fault)
            return replace(scoring, unjudged=str(fault))
        supports, whys = list(scoring.supports), [""] * len(held)
        for nth, support, why in zip(judged, kept.supports, kept.whys, strict=True):
            supports[nth], whys[nth] = replace(supports[nth], judged=support), why
        is_silent = all(support is None for support in kept.supports)
        return replace(
            scoring,
            supports=tuple(supports),
            whys=tuple(whys),
            usage=kept.usage,
            is_cached=is_cached,
            seconds=0.0 if is_cached else kept.seconds,
            unjudged=f"Its reply held no verdict. Delete {self._kept.file.path} to ask it again." if is_silent else "",
        )

    def _verdicts(self, outcomes: Sequence[Outcome]) -> tuple[ClaimVerdicts, bool]:
        """The verdicts, and whether they were kept from before."""
        claims = [(one.proposed.text, [(quote.quote, quote.place) for quote in one.quotes]) for one in outcomes]
        key = fingerprint(claims, self._judge.identity)

        def judged() -> ClaimVerdicts:
            self._pause.check()
            return self._judge.verdicts(outcomes)

        return self._kept.once(key, judged)
