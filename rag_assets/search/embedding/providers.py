"""The embedding adapters, and which of them a setting `provider:model` means.

A new provider of models that run here gets a line in `ADAPTERS`; a new provider behind an API gets
a row in `hosted.access`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

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
    """The model that `settings` name. Opening it is cheap: no model is loaded, downloaded or asked.

    A model that runs here uses `n_threads` threads. It is built below `models_folder`, or
    downloaded there, when the first vector is needed. A model behind an API is asked through
    `connections`, and the vectors of questions are kept in `kept`, if it is given.

    Raises InvalidSettings for an unknown name, or for a budget in money without a price; MissingKey
    if a key is not set; MissingModel, now or later, if files of the model are not available.
    """
    provider, _, name = settings.model.partition(":")
    if provider not in ADAPTERS:
        raise _unknown(settings.model)
    model = ADAPTERS[provider](name, settings, _Resources(models_folder, n_threads, connections))
    # a model that runs here is as fast as reading a file
    if kept is not None and is_hosted(settings.model):
        model.query_vectors = query_vectors(kept)
    return model


def query_vectors(kept: KeptFile) -> Kept[Vectors]:
    """The stored vectors of questions, by model and text."""
    return Kept(
        kept,
        "query_vectors",
        lambda vector: vector.astype("<f4").tobytes(),
        lambda content: np.frombuffer(content, "<f4").astype(np.float32),
    )


def require_embedder(
    settings: EmbeddingSettings, models_folder: Path, access: ModelAccessSettings
) -> None:
    """Raise the errors of `open_embedder` before any work is done. Sends and downloads nothing."""
    open_embedder(settings, models_folder, connections=Connections(access))


def embedder_facts(settings: EmbeddingSettings, models_folder: Path) -> EmbedderFacts:
    """The facts of the model that `settings` name, such as its identity and dimension. Loads no
    model and asks none.

    The files of a model in fastembed's list are downloaded if they are missing. Raises like
    `open_embedder`.
    """
    return open_embedder(settings, models_folder).facts


def _local(name: str, settings: EmbeddingSettings, resources: _Resources) -> ModelEmbedder:
    _refuse_sizes(settings)
    if name not in LOCAL_MODELS:
        raise _unknown(settings.model)
    if settings.query_prefix or settings.passage_prefix:
        raise InvalidSettings(
            f"embedding.query_prefix and embedding.passage_prefix: {settings.model} has its own, or none. Leave "
            "them empty."
        )
    return open_local_model(name, resources.models_folder, resources.n_threads)


def _hub(name: str, settings: EmbeddingSettings, resources: _Resources) -> ModelEmbedder:
    _refuse_sizes(settings)
    return HubModel(name, settings, resources.models_folder, resources.n_threads)


def _hosted(_name: str, settings: EmbeddingSettings, resources: _Resources) -> ModelEmbedder:
    chosen = chosen_model(settings)
    if resources.connections is not None and resources.connections.settings.budget_usd is not None:
        require_price(chosen.name, chosen.access)
    return HostedEmbedder(chosen, resources.connections)


ADAPTERS: dict[str, Callable[[str, EmbeddingSettings, _Resources], ModelEmbedder]] = {
    "local": _local,
    "fastembed": _hub,
    **dict.fromkeys(EMBEDDING_REQUESTS, _hosted),
}
"""The function that opens a model, by provider."""


def _refuse_sizes(settings: EmbeddingSettings) -> None:
    """Raise InvalidSettings if sizes are set that only models behind an API need."""
    for field in ("dimensions", "max_tokens"):
        if getattr(settings, field) is not None:
            raise InvalidSettings(
                f"embedding.{field} is for models behind an API; of {settings.model} it is known. Leave it empty."
            )


def _unknown(model: str) -> InvalidSettings:
    """The error for a model that does not exist."""
    local = ", ".join(f"local:{name}" for name in LOCAL_MODELS)
    hosted = ", ".join(f"{provider}:<model>" for provider in EMBEDDING_REQUESTS)
    return InvalidSettings(
        f"embedding.model = {model!r} does not exist. It can be: {local}, fastembed:<a model of fastembed's list>, "
        f"{hosted}."
    )


MAX_VECTORS = 10_000
"""About 20 MB with 384 numbers each; the least recently used ones are deleted first."""


class KeptVectors:
    """An Embedder that keeps the vectors of recent texts in memory. Safe for several threads."""

    def __init__(self, embedder: Embedder, *, max_vectors: int = MAX_VECTORS) -> None:
        self._embedder = embedder
        self._max_vectors = max_vectors
        self._lock = Lock()
        self._vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        """("passage" or "query", text) -> vector; the most recently used last."""

    @property
    def identity(self) -> str:
        return self._embedder.identity

    @property
    def facts(self) -> EmbedderFacts:
        return self._embedder.facts

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.request_sizes(texts)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = self._kept("passage", texts, self._embedder.embed_passages)
        return np.stack(vectors) if texts else np.empty((0, self.facts.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self._kept("query", [text], lambda _: [self._embedder.embed_query(text)])[0]

    def _kept(
        self, kind: str, texts: Sequence[str], embed: Callable[[Sequence[str]], Iterable[Vectors]]
    ) -> list[Vectors]:
        """The vector of each text; `embed` is called for those that are not kept."""
        with self._lock:
            found = {
                text: self._vectors[kind, text] for text in texts if (kind, text) in self._vectors
            }
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            # copies, because a view would keep the whole batch
            found |= {
                text: vector.copy() for text, vector in zip(missing, embed(missing), strict=True)
            }
        with self._lock:
            for text, vector in found.items():
                self._vectors[kind, text] = vector
                self._vectors.move_to_end((kind, text))
            while len(self._vectors) > self._max_vectors:
                self._vectors.popitem(last=False)
        return [found[text] for text in texts]
