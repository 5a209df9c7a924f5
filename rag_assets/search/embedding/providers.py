"""The table of embedding adapters, and which of them a setting `provider:model` means.

A new provider of models that run here gets a line in `ADAPTERS`; one behind an API a row in
`hosted.access`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.kept import Kept, KeptFile
from rag_assets.core.settings import EmbeddingSettings, ModelAccessSettings
from rag_assets.hosted.access import EMBEDDING_REQUESTS
from rag_assets.hosted.budget import require_price
from rag_assets.hosted.connections import Connections
from rag_assets.search.embedding.base import Embedder, EmbedderFacts, ModelEmbedder, Vectors
from rag_assets.search.embedding.fastembed_model import HubModel
from rag_assets.search.embedding.hosted_models import HostedEmbedder, chosen_model, is_hosted
from rag_assets.search.embedding.local_model import LOCAL_MODELS, open_local_model


@dataclass(frozen=True)
class _Resources:
    """What an adapter may use."""

    models_folder: Path
    n_threads: int
    connections: Connections | None


def open_embedder(
    settings: EmbeddingSettings,
    models_folder: Path,
    *,
    n_threads: int = 1,
    connections: Connections | None = None,
    kept: KeptFile | None = None,
) -> Embedder:
    """The model that `settings` names. Opening it is free: no model is loaded, fetched or asked.

    A model that runs here uses `n_threads` threads; it is built below `models_folder`, or fetched
    there from its hub, when the first vector is asked for. A model behind an API is asked through
    `connections`; the vectors of questions that it was asked before are taken from `kept`, if
    given.

    Raises InvalidSettings for a name that does not exist or a budget in money without a price, and
    MissingKey for a key that is not set; then and later, MissingModel for files that cannot be had.
    """
    provider, _, name = settings.model.partition(":")
    if provider not in ADAPTERS:
        raise _unknown(settings.model)
    model = ADAPTERS[provider](name, settings, _Resources(models_folder, n_threads, connections))
    if kept is not None and is_hosted(
        settings.model
    ):  # a model that runs here is as fast as reading a file
        model.query_vectors = query_vectors(kept)
    return model


def query_vectors(kept: KeptFile) -> Kept[Vectors]:
    """Vectors of questions, by model and text."""
    return Kept(
        kept,
        "query_vectors",
        lambda vector: vector.astype("<f4").tobytes(),
        lambda found: np.frombuffer(found, "<f4").astype(np.float32),
    )


def require_embedder(
    settings: EmbeddingSettings, models_folder: Path, access: ModelAccessSettings
) -> None:
    """Raises, before any work, what `open_embedder` raises; sends and fetches nothing."""
    open_embedder(settings, models_folder, connections=Connections(access))


def embedder_facts(settings: EmbeddingSettings, models_folder: Path) -> EmbedderFacts:
    """Identity, dimension and reach of the model that `settings` names; loads no model and asks
    none.

    A hub model is fetched when it is not there. Raises as `open_embedder`.
    """
    return open_embedder(settings, models_folder).facts


def _local(name: str, settings: EmbeddingSettings, means: _Resources) -> ModelEmbedder:
    _refuse_sizes(settings)
    if name not in LOCAL_MODELS:
        raise _unknown(settings.model)
    if settings.query_prefix or settings.passage_prefix:
        raise InvalidSettings(
            f"embedding.query_prefix and embedding.passage_prefix: {settings.model} has its own, or none. Leave "
            "them empty."
        )
    return open_local_model(name, means.models_folder, means.n_threads)


def _hub(name: str, settings: EmbeddingSettings, means: _Resources) -> ModelEmbedder:
    _refuse_sizes(settings)
    return HubModel(name, settings, means.models_folder, means.n_threads)


def _hosted(_name: str, settings: EmbeddingSettings, means: _Resources) -> ModelEmbedder:
    chosen = chosen_model(settings)
    if means.connections is not None and means.connections.settings.budget_usd is not None:
        require_price(chosen.name, chosen.access)
    return HostedEmbedder(chosen, means.connections)


ADAPTERS: dict[str, Callable[[str, EmbeddingSettings, _Resources], ModelEmbedder]] = {
    "local": _local,
    "fastembed": _hub,
    **dict.fromkeys(EMBEDDING_REQUESTS, _hosted),
}
"""By provider."""


def _refuse_sizes(settings: EmbeddingSettings) -> None:
    for field in ("dimensions", "max_tokens"):
        if getattr(settings, field) is not None:
            raise InvalidSettings(
                f"embedding.{field} is for models behind an API; of {settings.model} it is known. Leave it empty."
            )


def _unknown(model: str) -> InvalidSettings:
    known = ", ".join(f"local:{name}" for name in LOCAL_MODELS)
    hosted = ", ".join(f"{provider}:<model>" for provider in EMBEDDING_REQUESTS)
    return InvalidSettings(
        f"embedding.model = {model!r} does not exist. It can be: {known}, fastembed:<a model of fastembed's list>, "
        f"{hosted}."
    )
