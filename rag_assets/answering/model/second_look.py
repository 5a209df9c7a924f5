"""A second look at the claims of an answer, by the judge that a setting names; it sees each claim
and its quotes only.

What it finds unsupported is not published, what it finds half supported is marked. Numbers, names
and opposites need no model: see `verify.objections`.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from rag_assets.answering.model.cross_encoder_judge import CrossEncoderJudge
from rag_assets.answering.model.judges import (
    ClaimJudge,
    ClaimVerdicts,
    HostedJudge,
    YesOrNoJudge,
    answers_yes_or_no,
)
from rag_assets.answering.verify.verification import Outcome, Scoring, SupportScorer, VerifiedClaims
from rag_assets.core.errors import BudgetExhausted, MissingModel, ModelFault
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import Settings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections, FaultPause
from rag_assets.search.reranking.cross_encoder import CrossEncoderFiles, FolderFiles, HubFiles

logger = logging.getLogger(__name__)
SETTING = "answering.judge.model"
_INSTEAD = f"name a folder that has it (folder:PATH), or set {SETTING} to none."


class JudgedSupport:
    """The figures of another scorer, with the verdicts of a judge."""

    def __init__(
        self,
        judge: ClaimJudge,
        scorer: SupportScorer,
        kept: KeptFile,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """kept: keeps the verdicts, so that nothing is judged twice."""
        self._judge = judge
        self._scorer = scorer
        self._kept = kept.replies("verdicts", ClaimVerdicts)
        self._pause = FaultPause(clock)

    @property
    def identity(self) -> str:
        return self._judge.identity

    def scores(self, verified: VerifiedClaims, question: str) -> Scoring:
        """Judges every claim that is not simply a quote. If the judge cannot be asked, the rules
        alone decide, and `unjudged` has the reason; see `FaultPause` for when it is asked again."""
        scoring = self._scorer.scores(verified, question)
        held = verified.candidates
        judged = [
            nth for nth, one in enumerate(held) if one.claim is not None and not one.claim.is_quote
        ]
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
            unjudged=f"Its reply held no verdict. Delete {self._kept.file.path} to ask it again."
            if is_silent
            else "",
        )

    def _verdicts(self, outcomes: Sequence[Outcome]) -> tuple[ClaimVerdicts, bool]:
        claims = [
            (one.proposed.text, [(quote.quote, quote.place) for quote in one.quotes])
            for one in outcomes
        ]
        key = fingerprint(claims, self._judge.identity)

        def judged() -> ClaimVerdicts:
            self._pause.check()
            return self._judge.verdicts(outcomes)

        return self._kept.once(key, judged)


def judge_files(named: str, models_folder: Path) -> CrossEncoderFiles | None:
    """The files of a judge that runs here, folder:PATH or fastembed:REPOSITORY; None for any other
    judge."""
    kind, _, place = named.partition(":")
    if kind == "folder" and place:
        return FolderFiles(Path(place), SETTING)
    return HubFiles(place, models_folder, _INSTEAD) if kind == "fastembed" and place else None


def judge_name(named: str) -> ModelName:
    """The name of a judge behind an API. Raises InvalidSettings."""
    return ModelName.parse(
        named, setting=SETTING, instead="same, none, folder:PATH, fastembed:REPOSITORY"
    )


def open_judge(named: str, settings: Settings, connections: Connections) -> ClaimJudge:
    """The judge that `named` means; nothing is loaded or sent. Raises InvalidSettings,
    MissingKey."""
    files = judge_files(named, settings.paths.models)
    if files is not None:
        return CrossEncoderJudge(named, files, settings.execution.n_workers)
    name = judge_name(named)
    return (
        YesOrNoJudge(name, connections)
        if answers_yes_or_no(name)
        else HostedJudge(name, connections)
    )
