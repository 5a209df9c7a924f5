"""Opens the models that the settings name: the one that writes answers and the one that judges them.
The adapters are in `model`.

Opening a model loads nothing and sends nothing: its SDK is loaded by the first question, its
`identity` is known before. What only models that write need is imported for them.
"""

from typing import TYPE_CHECKING

from rag_assets.answering.drafts import EXTRACTIVE, Answerer, Readers, SentenceEncoder
from rag_assets.answering.extractive import ExtractiveAnswerer
from rag_assets.answering.verify.verification import EmbeddedSupport, SupportScorer
from rag_assets.core.kept import kept_file
from rag_assets.core.settings import Settings
from rag_assets.hosted.access import PROVIDERS, ModelName
from rag_assets.hosted.budget import require_model
from rag_assets.hosted.connections import Connections
from rag_assets.questions import ReadQuestion, read

if TYPE_CHECKING:
    from rag_assets.answering.model.synthesis import Synthesis

NO_JUDGE = EmbeddedSupport.identity
SAME_MODEL = "same"
"""Value of `answering.judge.model` for the model that writes."""


def open_answerer(
    settings: Settings, readers: Readers, connections: Connections, read: ReadQuestion = read
) -> Answerer:
    """The model that `answering.model` names. connections: to models behind an API. read: reads what
    a question asks for.

    Raises InvalidSettings for a model that does not exist, MissingKey.
    """
    wanted = settings.answering
    if wanted.model == EXTRACTIVE:
        return ExtractiveAnswerer(
            readers, wanted.extractive, min_sources=wanted.min_sources, read=read
        )
    from rag_assets.answering.model.answerer import HostedAnswerer
    from rag_assets.answering.model.compression import CompressedAnswerer

    model = HostedAnswerer(ModelName.of_answers(settings.answering.model), connections, wanted)
    return (
        CompressedAnswerer(model, readers.tokens, wanted.compress_to)
        if wanted.compress_to < 1
        else model
    )


def open_scorer(
    settings: Settings, encoder: SentenceEncoder, connections: Connections
) -> SupportScorer:
    """The embedded scorer, with the second look of the model that `answering.judge.model` means.

    Raises as `open_answerer`.
    """
    scorer = EmbeddedSupport(encoder)
    named = _judge(settings)
    if named is None:
        return scorer
    from rag_assets.answering.model.judges import ClaimJudge, JudgedSupport, judge_name

    judge = ClaimJudge(judge_name(named), connections)
    is_own = named == settings.answering.model
    return JudgedSupport(judge, scorer, kept_file(settings), is_own=is_own)


def open_synthesis(
    settings: Settings, scorer: SupportScorer, connections: Connections
) -> "Synthesis | None":
    """The model that writes the paragraph above an answer; None where it is switched off, no model
    writes, or nothing is judged. Raises as `open_answerer`."""
    if not settings.answering.synthesis or _judge(settings) is None:
        return None
    from rag_assets.answering.model.synthesis import Synthesis

    return Synthesis(
        ModelName.of_answers(settings.answering.model), connections, scorer, kept_file(settings)
    )


def require_models(settings: Settings) -> None:
    """Check, before any work is done, that the models answers need exist and can be asked.

    Raises InvalidSettings, MissingKey.
    """
    asked = (
        []
        if settings.answering.model == EXTRACTIVE
        else [ModelName.of_answers(settings.answering.model)]
    )
    if judge := _judge(settings):
        from rag_assets.answering.model.judges import judge_name

        asked.append(judge_name(judge))
    for name in dict.fromkeys(asked):
        require_model(name, settings.model_access)


def n_at_once(settings: Settings) -> int:
    """Questions that may be answered side by side: as many as the provider takes, or one per
    core."""
    provider = settings.answering.model.partition(":")[0]
    if provider not in PROVIDERS:
        return settings.execution.n_workers
    return settings.model_access.limits_of(provider).max_concurrent


def _judge(settings: Settings) -> str | None:
    """The judge by its name in settings; None if no model writes, since claims are then their own
    quotes."""
    writer, named = settings.answering.model, settings.answering.judge.model
    if named == NO_JUDGE or writer == EXTRACTIVE:
        return None
    return writer if named == SAME_MODEL else named
