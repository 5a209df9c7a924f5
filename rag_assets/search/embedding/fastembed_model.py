"""Runs an embedding model with fastembed (ONNX) so that every vector is reproducible.

The model is built here (`local_model`), or any dense model of fastembed's own list, fetched once from its hub.

Each text is embedded by itself on one thread, several texts side by side: a quantised model takes its scales from all
texts of a batch, so in a batch a vector would depend on its neighbours. On two cores this is also as fast as batches
sorted by length, and faster than unsorted ones (benchmarks/embedding_speed.py).
"""

import re
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import InvalidSettings, MissingModel
from rag_assets.core.incremental import file_sha256, fingerprint
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.core.text.tokens import ModelTokenizer
from rag_assets.search.embedding.base import (
    NO_PREFIXES,
    EmbedderFacts,
    ModelEmbedder,
    Role,
    Vectors,
    fastembed_prefixes,
    unit,
)

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import DenseModelDescription

Model = TypeVar("Model")
Made = TypeVar("Made")
_LOADED: "WeakValueDictionary[tuple[Path, str], TextEmbedding]" = WeakValueDictionary()
"""Models in use, by folder and name: whoever asks for one that is loaded shares its memory (35 MB for int8)."""
_LOADING = Lock()


class FastembedModel(ModelEmbedder):
    """A model on fastembed; it is loaded when the first vector is asked for."""

    def __init__(self, fastembed_name: str, models_folder: Path, n_threads: int) -> None:
        """fastembed_name: under which fastembed knows how to pool and normalise the model's output."""
        self.fastembed_name = fastembed_name
        self.models_folder = models_folder
        self._n_threads = n_threads
        self._loading = Lock()
        self._model: TextEmbedding | None = None

    @abstractmethod
    def tokenizer_file(self) -> Path:
        """The model's tokenizer.json, without building or loading the model if that can be avoided."""

    @abstractmethod
    def ready_folder(self) -> Path:
        """The folder fastembed loads; built or fetched first when it is not there. Raises MissingModel."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.count_tokens(texts)

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        model = self._loaded()
        embed = model.query_embed if role == "query" else model.passage_embed

        def vector_of(text: str) -> Vectors:
            (vector,) = embed([text])
            return unit(vector)

        return np.array(side_by_side(vector_of, texts, self._n_threads)).reshape(-1, self.facts.dimension)

    def pooled_and_tokens(self, text: str) -> tuple[Vectors, Vectors, NDArray[np.int32]]:
        """The unit vector of a text, the model's vector of each token before it pools them, and the characters of
        each token.

        Special tokens are left out, and so is what follows the last token that the model reads. Returns shapes
        (dimension,), (n_tokens, dimension), of any length, and (n_tokens, 2). Raises MissingModel, also for a model
        that is no encoder of tokens.
        """
        from fastembed.text.onnx_text_model import OnnxTextModel

        model = self._loaded().model
        if not isinstance(model, OnnxTextModel):
            raise MissingModel(f"{self.fastembed_name} has no vectors of single tokens.")
        (encoding,) = model.tokenize([text])
        is_special = np.array(encoding.special_tokens_mask, np.bool_)
        output = model.onnx_embed([text])
        (pooled,) = model._post_process_onnx_output(output)
        spans = np.array(encoding.offsets, np.int32).reshape(-1, 2)
        hidden = output.model_output[0].astype(np.float32, copy=False)
        return unit(pooled), hidden[~is_special], spans[~is_special]

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return ModelTokenizer(self.tokenizer_file())

    def _loaded(self) -> "TextEmbedding":
        with self._loading:
            if self._model is None:
                self._model = _shared(self.ready_folder(), self.fastembed_name)
        return self._model


def side_by_side(work: Callable[[str], Made], texts: Sequence[str], n_threads: int) -> list[Made]:
    """What `work` makes of each text by itself, in the order given."""
    if len(texts) < 2:
        return [work(text) for text in texts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, texts))


def fetched(download: Callable[..., Path], description: object, name: str, models_folder: Path, instead: str) -> Path:
    """The folder with a model's files, fetched from its hub if necessary. Raises MissingModel.

    download: `download_model` of one of fastembed's classes. instead: the alternative where the hub is out of reach.
    """
    models_folder.mkdir(parents=True, exist_ok=True)
    try:
        return download(description, cache_dir=str(models_folder), retries=1)  # three would pause for 39 s
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"{name} is not in {models_folder} and cannot be fetched from its hub ({error}). Connect once, {instead}"
        ) from error


def loaded(kind: Callable[..., Model], name: str, folder: Path, n_threads: int, what: str, remedy: str) -> Model:
    """A model of one of fastembed's classes, loaded from its folder. Raises MissingModel with the remedy."""
    try:
        with warnings.catch_warnings(action="ignore"):  # some models have no use for threads, and warn
            return kind(
                name,
                cache_dir=str(folder.parent),
                threads=n_threads,
                specific_model_path=str(folder),
                local_files_only=True,
            )
    except Exception as error:  # onnxruntime's and fastembed's loading errors share no narrower base
        raise MissingModel(
            f"The {what} in {folder} cannot be loaded ({type(error).__name__}: {error}). {remedy}"
        ) from error


def _shared(folder: Path, fastembed_name: str) -> "TextEmbedding":
    from fastembed import TextEmbedding

    key = (folder.resolve(), fastembed_name)
    with _LOADING:
        model = _LOADED.get(key)
        if model is None:
            model = _LOADED[key] = loaded(
                TextEmbedding,
                fastembed_name,
                folder,
                1,
                "embedding model",
                "Delete that folder and run again: it will be made anew.",
            )
        return model


class HubModel(FastembedModel):
    """A model of fastembed's list; its files are kept below `models_folder`."""

    def __init__(self, name: str, settings: EmbeddingSettings, models_folder: Path, n_threads: int) -> None:
        super().__init__(name, models_folder, n_threads)
        self.prefixes = fastembed_prefixes(name).overridden(settings.query_prefix, settings.passage_prefix)

    @cached_property
    def facts(self) -> EmbedderFacts:
        files = [self._description.model_file, *self._description.additional_files, "tokenizer.json"]
        content = fingerprint({name: file_sha256(self._folder / name) for name in files})
        identity = f"fastembed-{re.sub(r'[^A-Za-z0-9.]+', '-', self.fastembed_name)}-{content[:12]}"
        if self.prefixes != NO_PREFIXES:
            identity += f"-p{fingerprint(self.prefixes.query, self.prefixes.passage)[:8]}"
        tokenizer = self._cutting_tokenizer()
        max_tokens = int(tokenizer.truncation["max_length"])
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return EmbedderFacts(
            identity=identity,
            dimension=int(self._description.dim or 0),
            max_tokens=max_tokens - len(tokenizer.encode(self.prefixes.passage, add_special_tokens=False).ids),
            tokenizer_id=f"tokenizer-{file_sha256(self.tokenizer_file())[:12]}",
        )

    def tokenizer_file(self) -> Path:
        return self._folder / "tokenizer.json"

    def ready_folder(self) -> Path:
        return self._folder

    def _cutting_tokenizer(self) -> Any:
        """The tokenizer as fastembed loads it: it cuts texts at what the model reads."""
        if self._description.model_file.endswith(".safetensors"):  # a static model: a table of vectors, no ONNX graph
            from fastembed.text.static_embedding import load_static_tokenizer

            return load_static_tokenizer(self._folder)[0]
        from fastembed.common.preprocessor_utils import load_tokenizer

        return load_tokenizer(self._folder)[0]

    @cached_property
    def _description(self) -> "DenseModelDescription":
        from fastembed import TextEmbedding
        from fastembed.common.model_description import DenseModelDescription, ModelSource

        known = {model["model"]: model for model in TextEmbedding.list_supported_models()}
        if self.fastembed_name not in known:
            names = ", ".join(sorted(known))
            raise InvalidSettings(f"embedding.model: fastembed does not know {self.fastembed_name!r}, only: {names}.")
        model = known[self.fastembed_name]
        return DenseModelDescription(**(model | {"sources": ModelSource(**model["sources"])}))

    @cached_property
    def _folder(self) -> Path:
        from fastembed import TextEmbedding

        instead = 'or set embedding.model = "local:all-MiniLM-L6-v2-int8" in rag_assets.toml.'
        return fetched(
            TextEmbedding.download_model, self._description, self.fastembed_name, self.models_folder, instead
        )
