"""Which embedding model a setting means. The only table of providers; a new one gets a line in `_PROVIDERS`."""

from collections.abc import Callable
from pathlib import Path

from rag_assets.embedding.base import Embedder, EmbedderFacts, ModelFiles, TokenCounts
from rag_assets.embedding.fastembed_embedder import FastembedEmbedder, ModelTokenizer
from rag_assets.embedding.hub_model import HubModel
from rag_assets.embedding.local_model import LocalModel, Precision
from rag_assets.errors import InvalidSettings
from rag_assets.settings import EmbeddingSettings

_LOCAL_MODELS = {"all-MiniLM-L6-v2-int8": Precision.INT8, "all-MiniLM-L6-v2": Precision.FLOAT32}


def open_embedder(settings: EmbeddingSettings, models_folder: Path, *, n_threads: int) -> Embedder:
    """The model that `settings` names, running on `n_threads` threads.

    Local models are built below `models_folder`, hub models fetched there, when the first vector is asked for.
    Raises InvalidSettings for a name that does not exist; then and later, MissingModel for files that cannot be had.
    """
    return FastembedEmbedder(_model_files(settings, models_folder), n_threads=n_threads)


def embedder_facts(settings: EmbeddingSettings, models_folder: Path) -> EmbedderFacts:
    """Identity, dimension and reach of the model that `settings` names; loads no model.

    Free for local models. A hub model is fetched when it is not there. Raises as `open_embedder`.
    """
    return _model_files(settings, models_folder).facts


def open_token_counter(settings: EmbeddingSettings, models_folder: Path) -> TokenCounts:
    """The tokenizer of the model that `settings` names, without the model. Raises as `open_embedder`."""
    return ModelTokenizer(_model_files(settings, models_folder).tokenizer_file())


def _model_files(settings: EmbeddingSettings, models_folder: Path) -> ModelFiles:
    provider, _, name = settings.model.partition(":")
    if provider not in _PROVIDERS:
        raise _unknown(settings.model)
    return _PROVIDERS[provider](name, models_folder)


def _local_model(name: str, models_folder: Path) -> ModelFiles:
    if name not in _LOCAL_MODELS:
        raise _unknown(f"local:{name}")
    return LocalModel(name, _LOCAL_MODELS[name], models_folder)


def _unknown(model: str) -> InvalidSettings:
    known = ", ".join(f"local:{name}" for name in _LOCAL_MODELS)
    return InvalidSettings(
        f"embedding.model = {model!r} does not exist. It can be: {known}, fastembed:<a model of fastembed's list>."
    )


_PROVIDERS: dict[str, Callable[[str, Path], ModelFiles]] = {"local": _local_model, "fastembed": HubModel}
