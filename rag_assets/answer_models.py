"""Which models answers are made by: the one that writes, the one that judges and the one that compares sentences.

What they are asked is decided in `answering`, how in `hosted`; questions are put to them in `asking`.
"""

from rag_assets.answering.citations.support import EmbeddedSupport, SupportScorer
from rag_assets.answering.drafts import EXTRACTIVE, Answerer
from rag_assets.answering.engine import ENGINE_VERSION
from rag_assets.answering.extractive import EXTRACTIVE_VERSION, ExtractiveAnswerer
from rag_assets.answering.hosted_identity import hosted_answerer_id, judge_id
from rag_assets.embedding.base import Embedder
from rag_assets.embedding.hosted_models import is_hosted
from rag_assets.embedding.providers import embedder_facts, open_embedder
from rag_assets.hosted.access import ModelName, require_access
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.prices import require_price
from rag_assets.incremental import fingerprint
from rag_assets.retrieval.search import SEARCH_VERSION
from rag_assets.settings import EmbeddingSettings, Settings

NO_JUDGE = "none"


def require_models(settings: Settings) -> None:
    """Check, before any work is done, that the models answers need exist and can be asked.

    Raises InvalidSettings, MissingKey.
    """
    for name in _hosted_models(settings).values():
        access = require_access(name.provider)
        if settings.model_access.budget_usd is not None:
            require_price(name, access)


def _hosted_models(settings: Settings) -> dict[str, ModelName]:
    """The models behind an API that answers need, by the setting that names them."""
    named = {
        "answering.model": (settings.answering.model, EXTRACTIVE),
        "answering.judge.model": (settings.answering.judge.model, NO_JUDGE),
    }
    return {
        setting: ModelName.parse(model, setting=setting, instead=without)
        for setting, (model, without) in named.items()
        if model != without
    }


def open_models(settings: Settings, encoder: Embedder, models: Connections) -> tuple[Answerer, SupportScorer]:
    """Who writes and who scores; `encoder` compares sentences, `models` lead to models behind an API."""
    hosted = _hosted_models(settings)
    answerer: Answerer = ExtractiveAnswerer(
        encoder, settings.answering.extractive, min_sources=settings.answering.min_sources
    )
    scorer: SupportScorer = EmbeddedSupport(encoder)
    if writer := hosted.get("answering.model"):
        from rag_assets.answering.hosted_answerer import HostedAnswerer

        answerer = HostedAnswerer(writer, models.to(require_access(writer.provider)), settings.answering)
    if judge := hosted.get("answering.judge.model"):
        from rag_assets.answering.judge import open_judge

        scorer = open_judge(judge, models.to(require_access(judge.provider)), scorer, settings.paths.verdicts)
    return answerer, scorer


def open_sentence_model(settings: Settings) -> Embedder:
    """The model that compares sentences: that of the index where it runs here, else the embedded one, so that scoring
    costs no request. Raises as `open_embedder`."""
    model = EmbeddingSettings() if is_hosted(settings.embedding.model) else settings.embedding
    return open_embedder(model, settings.paths.models, n_threads=settings.execution.n_workers)


def n_at_once(settings: Settings) -> int:
    """Questions that may be answered side by side."""
    if settings.answering.model == EXTRACTIVE:
        return 1
    provider = _hosted_models(settings)["answering.model"].provider
    return settings.model_access.limits_of(provider).max_concurrent


def answerer_fingerprint(settings: Settings) -> str:
    """Changes with anything but the index that an answer follows from; opens no model."""
    return fingerprint(
        settings.retrieval.fingerprint(),
        settings.answering.fingerprint(),
        _answerer_id(settings),
        _judge_id(settings),
        embedder_facts(settings.embedding, settings.paths.models).model_id,
        ENGINE_VERSION,
        SEARCH_VERSION,
    )


def _judge_id(settings: Settings) -> str:
    name = _hosted_models(settings).get("answering.judge.model")
    return judge_id(name, require_access(name.provider)) if name else NO_JUDGE


def _answerer_id(settings: Settings) -> str:
    if settings.answering.model == EXTRACTIVE:
        return f"{EXTRACTIVE}-{EXTRACTIVE_VERSION} {settings.answering.extractive.fingerprint()}"
    name = _hosted_models(settings)["answering.model"]
    return hosted_answerer_id(name, require_access(name.provider))
