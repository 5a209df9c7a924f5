"""Models in fastembed's list. A model is downloaded once and run by fastembed (ONNX). Each text is
embedded by itself, as in `local_model`, so that every vector is reproducible."""

import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

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
    shared,
    side_by_side,
    slug,
    unit,
)

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import DenseModelDescription

Model = TypeVar("Model")
Description = TypeVar("Description")
FETCH_ANEW = "Delete that folder and run again: it will be fetched anew."


def fetched(
    download: Callable[..., Path], description: object, name: str, models_folder: Path, instead: str
) -> Path:
    """The folder with a model's files, which are downloaded if necessary. Raises MissingModel.

    download: `download_model` of one of fastembed's classes. instead: what the error message
    suggests if the hub cannot be reached.
    """
    models_folder.mkdir(parents=True, exist_ok=True)
    try:
        # the default of three retries would wait 39 s
        return download(description, cache_dir=str(models_folder), retries=1)
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"{name} is not in {models_folder} and cannot be fetched from its hub ({error}). Connect once, {instead}"
        ) from error


def loaded(
    kind: Callable[..., Model], name: str, folder: Path, n_threads: int, what: str, remedy: str
) -> Model:
    """A model of one of fastembed's classes, loaded from its folder once per process. Raises
    MissingModel.

    what, remedy: the kind of model and the advice in the error message.
    """

    def load() -> Model:
        # some models do not use threads, and warn
        with warnings.catch_warnings(action="ignore"):
            return kind(
                name,
                cache_dir=str(folder.parent),
                threads=n_threads,
                specific_model_path=str(folder),
                local_files_only=True,
            )

    try:
        return shared(folder, load)
    except Exception as error:  # errors of onnxruntime and fastembed have no common class
        raise MissingModel(
            f"The {what} in {folder} cannot be loaded ({type(error).__name__}: {error}). {remedy}"
        ) from error


def described(kind: Callable[..., Description], model: dict[str, Any]) -> Description:
    """fastembed's entry about a model, as the class of descriptions that its downloads take."""
    from fastembed.common.model_description import ModelSource

    return kind(**(model | {"sources": ModelSource(**model["sources"])}))


def file_hashes(folder: Path, description: Any) -> dict[str, str]:
    """File name -> SHA-256 of the files that a model consists of."""
    names = [description.model_file, *description.additional_files, "tokenizer.json"]
    return {name: file_sha256(folder / name) for name in names}


class HubModel(ModelEmbedder):
    """A model in fastembed's list. Its files are stored below `models_folder`; it is loaded for the
    first vector."""

    def __init__(
        self, name: str, settings: EmbeddingSettings, models_folder: Path, n_threads: int
    ) -> None:
        self._name = name
        self._models_folder = models_folder
        self._n_threads = n_threads
        self.prefixes = fastembed_prefixes(name).overridden(
            settings.query_prefix, settings.passage_prefix
        )

    @cached_property
    def facts(self) -> EmbedderFacts:
        content = fingerprint(file_hashes(self._folder, self._description))
        identity = f"fastembed-{slug(self._name)}-{content[:12]}"
        if self.prefixes != NO_PREFIXES:
            identity += f"-p{fingerprint(self.prefixes.query, self.prefixes.passage)[:8]}"
        tokenizer = self._truncating_tokenizer()
        max_tokens = int(tokenizer.truncation["max_length"])
        # to count the prefix, which takes a part of what the model reads
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return EmbedderFacts(
            identity=identity,
            dimension=int(self._description.dim or 0),
            max_tokens=max_tokens
            - len(tokenizer.encode(self.prefixes.passage, add_special_tokens=False).ids),
            tokenizer_id=f"tokenizer-{file_sha256(self._tokenizer_file)[:12]}",
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._tokenizer.count_tokens(texts)

    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        embed = self._model.query_embed if role == "query" else self._model.passage_embed

        def vector_of(text: str) -> Vectors:
            # one text per call: in a batch, a vector could depend on the other texts
            (vector,) = embed([text])
            return unit(vector)

        return np.array(side_by_side(vector_of, texts, self._n_threads)).reshape(
            -1, self.facts.dimension
        )

    @cached_property
    def _tokenizer(self) -> ModelTokenizer:
        return ModelTokenizer(self._tokenizer_file)

    @property
    def _tokenizer_file(self) -> Path:
        return self._folder / "tokenizer.json"

    @cached_property
    def _model(self) -> "TextEmbedding":
        from fastembed import TextEmbedding

        return loaded(TextEmbedding, self._name, self._folder, 1, "embedding model", FETCH_ANEW)

    def _truncating_tokenizer(self) -> Any:
        """The tokenizer as fastembed loads it: it truncates texts to the length that the model
        reads."""
        # a static model: a table of vectors instead of an ONNX graph
        if self._description.model_file.endswith(".safetensors"):
            from fastembed.text.static_embedding import load_static_tokenizer

            return load_static_tokenizer(self._folder)[0]
        from fastembed.common.preprocessor_utils import load_tokenizer

        return load_tokenizer(self._folder)[0]

    @cached_property
    def _description(self) -> "DenseModelDescription":
        """fastembed's description of the model. Raises InvalidSettings if fastembed does not have
        it."""
        from fastembed import TextEmbedding
        from fastembed.common.model_description import DenseModelDescription

        descriptions = {model["model"]: model for model in TextEmbedding.list_supported_models()}
        if self._name not in descriptions:
            names = ", ".join(sorted(descriptions))
            raise InvalidSettings(
                f"embedding.model: fastembed does not know {self._name!r}, only: {names}."
            )
        return described(DenseModelDescription, descriptions[self._name])

    @cached_property
    def _folder(self) -> Path:
        from fastembed import TextEmbedding

        instead = 'or set embedding.model = "local:all-MiniLM-L6-v2-int8" in rag_assets.toml.'
        return fetched(
            TextEmbedding.download_model,
            self._description,
            self._name,
            self._models_folder,
            instead,
        )
