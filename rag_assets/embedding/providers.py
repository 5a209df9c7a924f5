"""Which embedding model a setting means.

A new provider of models that run here gets a line in `_PROVIDERS`; one that is asked over the network begins in
`hosted.access`, and its models are described in `hosted_models`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rag_assets.embedding.base import Embedder, EmbedderFacts, ModelFiles, TokenCounts
from rag_assets.embedding.fastembed_embedder import FastembedEmbedder
from rag_assets.embedding.hosted_embedder import HostedEmbedder
from rag_assets.embedding.hosted_models import chosen_model, is_hosted
from rag_assets.embedding.hub_model import HubModel
from rag_assets.embedding.local_model import LocalModel, Precision
from rag_assets.embedding.prefixes import fastembed_prefixes
from rag_assets.embedding.query_vectors import CachedQueryEmbedder
from rag_assets.embedding.stand_in_tokens import StandInTokenizer
from rag_assets.errors import InvalidSettings
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.prices import require_price
from rag_assets.hosted.providers import EMBEDDING_REQUESTS
from rag_assets.settings import EmbeddingSettings, ModelAccessSettings
from rag_assets.text.tokens import ModelTokenizer

_LOCAL_MODELS = {"all-MiniLM-L6-v2-int8": Precision.INT8, "all-MiniLM-L6-v2": Precision.FLOAT32}


@dataclass(frozen=True)
class Hosting:
    """What a model behind an API needs besides its name; no concern of a model that runs here."""

    connections: Connections
    """Those of the run: its budget, and the providers' limits, hold for all that it asks."""
    query_vectors: Path | None = None
    """Folder in which vectors of questions are kept; None where only passages are embedded."""


def open_embedder(
    settings: EmbeddingSettings, models_folder: Path, *, n_threads: int, hosting: Hosting | None = None
) -> Embedder:
    """The model that `settings` names.

    A model that runs here uses `n_threads` threads; it is built below `models_folder`, or fetched there from its hub,
    when the first vector is asked for. A model behind an API is asked through `hosting`, without which it is refused.

    Raises InvalidSettings for a name that does not exist and MissingKey for a key that is not set; then and later,
    MissingModel for files that cannot be had.
    """
    if not is_hosted(settings.model):
        return FastembedEmbedder(_model_files(settings, models_folder), n_threads=n_threads)
    chosen = chosen_model(settings)
    if hosting is None:
        raise ValueError(f"{settings.model} is behind an API, and no connections were given")
    require_embedder(settings, models_folder, hosting.connections.settings)
    embedder = HostedEmbedder(chosen, hosting.connections)
    return CachedQueryEmbedder(embedder, hosting.query_vectors) if hosting.query_vectors else embedder


def require_embedder(settings: EmbeddingSettings, models_folder: Path, access: ModelAccessSettings) -> None:
    """Refuse, before any work, what cannot work: a name that does not exist, a key that is not set, a budget in money
    for a model of unknown price. Sends and fetches nothing. Raises InvalidSettings, MissingKey."""
    if not is_hosted(settings.model):
        _model_files(settings, models_folder)
        return
    chosen = chosen_model(settings)
    if access.budget_usd is not None:
        require_price(chosen.name, chosen.access)


def embedder_facts(settings: EmbeddingSettings, models_folder: Path) -> EmbedderFacts:
    """Identity, dimension and reach of the model that `settings` names; loads no model and asks none.

    A hub model is fetched when it is not there. Raises as `open_embedder`.
    """
    if is_hosted(settings.model):
        return chosen_model(settings).facts
    return _model_files(settings, models_folder).facts


def open_token_counter(settings: EmbeddingSettings, models_folder: Path) -> TokenCounts:
    """The tokenizer of the model that `settings` names, or what stands in for it, without the model.

    Raises as `open_embedder`.
    """
    if is_hosted(settings.model):
        return StandInTokenizer()
    return ModelTokenizer(_model_files(settings, models_folder).tokenizer_file())


def _model_files(settings: EmbeddingSettings, models_folder: Path) -> ModelFiles:
    provider, _, name = settings.model.partition(":")
    if provider not in _PROVIDERS:
        raise _unknown(settings.model)
    for field in ("dimensions", "max_tokens"):
        if getattr(settings, field) is not None:
            raise InvalidSettings(
                f"embedding.{field} is for models behind an API; of {settings.model} it is known. Leave it empty."
            )
    return _PROVIDERS[provider](name, models_folder, settings)


def _local_model(name: str, models_folder: Path, settings: EmbeddingSettings) -> ModelFiles:
    if name not in _LOCAL_MODELS:
        raise _unknown(settings.model)
    if settings.query_prefix or settings.passage_prefix:
        raise InvalidSettings(
            f"embedding.query_prefix and embedding.passage_prefix: {settings.model} was trained without. Leave them "
            "empty."
        )
    return LocalModel(name, _LOCAL_MODELS[name], models_folder)


def _hub_model(name: str, models_folder: Path, settings: EmbeddingSettings) -> ModelFiles:
    prefixes = fastembed_prefixes(name).overridden(settings.query_prefix, settings.passage_prefix)
    return HubModel(name, models_folder, prefixes)


def _unknown(model: str) -> InvalidSettings:
    known = ", ".join(f"local:{name}" for name in _LOCAL_MODELS)
    hosted = ", ".join(f"{provider}:<model>" for provider in EMBEDDING_REQUESTS)
    return InvalidSettings(
        f"embedding.model = {model!r} does not exist. It can be: {known}, fastembed:<a model of fastembed's list>, "
        f"{hosted}."
    )


_PROVIDERS: dict[str, Callable[[str, Path, EmbeddingSettings], ModelFiles]] = {
    "local": _local_model,
    "fastembed": _hub_model,
}
