"""Models in fastembed's list. A model is downloaded once and run by fastembed (ONNX). Each text is
embedded by itself, as in `local_model`, so that every vector is reproducible.

A sparse vector (SPLADE) is a weight for each word of the model's vocabulary that a text is about,
even if the text does not contain the word. Sparse vectors are stored like dense ones
(`vector_cache`). Source: Formal et al. 2021, "SPLADE v2: Sparse Lexical and Expansion Model for
Information Retrieval".
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings, MissingModel
from rag_assets.core.incremental import file_sha256, fingerprint, make_folder
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import EmbeddingSettings, Settings
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
from rag_assets.search.embedding.vector_cache import TextCache

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
    make_folder(models_folder)
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


if TYPE_CHECKING:
    from fastembed import SparseTextEmbedding
    from fastembed.common.model_description import SparseModelDescription

MOST_TERMS = 512
"""Only so many terms of a vector are kept, those with the largest weights. A passage of 160 tokens
has about 200 to 300."""


class SparseModel:
    """One model of fastembed's list of sparse models. Safe to use from several threads.

    Creating it is cheap. Raises InvalidSettings for an unknown name; MissingModel, now or later, if
    its files are not available.
    """

    def __init__(self, name: str, models_folder: Path, n_threads: int = 1) -> None:
        self._description = _described(name)
        self._models_folder = models_folder
        self._n_threads = n_threads

    @cached_property
    def identity(self) -> str:
        """Part of every cache key and of the index. It changes with everything that changes a
        vector."""
        content = fingerprint(file_hashes(self._folder, self._description), MOST_TERMS)
        return f"sparse-{slug(self._description.model)}-{content[:12]}"

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]:
        """The vector of each text, in order."""
        return side_by_side(self._vector, texts, self._n_threads)

    def _vector(self, text: str) -> SparseVector:
        (embedding,) = self._model.embed([text])
        kept_terms = np.sort(np.argsort(-embedding.values, kind="stable")[:MOST_TERMS])
        return SparseVector(
            tuple(embedding.indices[kept_terms].tolist()),
            tuple(embedding.values[kept_terms].tolist()),
        )

    @cached_property
    def _model(self) -> "SparseTextEmbedding":
        from fastembed import SparseTextEmbedding

        name = self._description.model
        return loaded(SparseTextEmbedding, name, self._folder, 1, "sparse model", FETCH_ANEW)

    @cached_property
    def _folder(self) -> Path:
        from fastembed import SparseTextEmbedding

        download, name = SparseTextEmbedding.download_model, self._description.model
        return fetched(
            download,
            self._description,
            name,
            self._models_folder,
            'or set embedding.sparse_model = "none".',
        )


def _described(name: str) -> "SparseModelDescription":
    """fastembed's description of a model. Raises InvalidSettings for an unknown name."""
    from fastembed import SparseTextEmbedding
    from fastembed.common.model_description import SparseModelDescription

    # other models also need statistics of the corpus
    descriptions = {
        entry["model"]: entry
        for entry in SparseTextEmbedding.list_supported_models()
        if not entry["requires_idf"]
    }
    descriptions.pop("prithvida/Splade_PP_en_v1", None)  # an old name of a model in the list
    provider, _, model = name.partition(":")
    if provider != "fastembed" or model not in descriptions:
        names = ", ".join(f"fastembed:{entry}" for entry in sorted(descriptions))
        raise InvalidSettings(
            f"embedding.sparse_model = {name!r} does not exist. It can be: none, {names}."
        )
    return described(SparseModelDescription, descriptions[model])


OFF = "none"


class SparseEmbedder(Protocol):
    """Makes sparse vectors. A vector depends on its own text and the model only. `SparseModel`
    implements it."""

    @property
    def identity(self) -> str: ...

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]: ...


class SparseVectors:
    """A sparse model, and the vectors of passages that it made, which are stored in `cache`."""

    def __init__(self, file: KeptFile, model: SparseEmbedder) -> None:
        self._file = file
        self._model = model

    @cached_property
    def cache(self) -> TextCache[SparseVector]:
        return TextCache(self._file, "sparse vectors", self.identity, _packed, _unpacked)

    @property
    def identity(self) -> str:
        return self._model.identity

    def of_question(self, text: str) -> SparseVector:
        return self._model.vectors([text])[0]

    def embed(
        self, texts: Iterable[str], *, batch_size: int, report: Callable[[int, int], None]
    ) -> int:
        """Make the missing vectors, batch by batch, and save each batch. Returns how many were
        made."""
        missing = self.cache.missing(texts)
        for start in range(0, len(missing), batch_size):
            batch = missing[start : start + batch_size]
            self.cache.add(batch, self._model.vectors(batch))
            report(start + len(batch), len(missing))
        return len(missing)


def open_sparse_vectors(settings: Settings) -> SparseVectors | None:
    """The sparse model and vectors that `settings` ask for, or None. No model is loaded.

    Raises InvalidSettings for an unknown model, or if the vector store cannot search sparse
    vectors.
    """
    name = settings.embedding.sparse_model
    if name == OFF:
        return None
    if settings.indexing.vector_store != "qdrant":
        raise InvalidSettings(
            f"embedding.sparse_model = {name!r} is searched by Qdrant only. Set indexing.vector_store = "
            '"qdrant" and retrieval.fusion = "server_rrf", or embedding.sparse_model = "none".'
        )
    paths = settings.paths
    return SparseVectors(
        KeptFile(paths.vectors), SparseModel(name, paths.models, settings.execution.n_workers)
    )


def _packed(vector: SparseVector) -> bytes:
    """A vector as bytes: all indexes, then all weights."""
    return np.array(vector.places, "<u4").tobytes() + np.array(vector.weights, "<f4").tobytes()


def _unpacked(content: bytes) -> SparseVector:
    half = len(content) // 2
    indexes, weights = np.frombuffer(content[:half], "<u4"), np.frombuffer(content[half:], "<f4")
    return SparseVector(tuple(indexes.tolist()), tuple(weights.tolist()))
