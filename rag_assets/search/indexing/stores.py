"""The stores: where the vectors and the words of the passages are kept, for writing and for reading.

A new store of vectors is one module with an adapter and one row here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from rag_assets.core.settings import Settings
from rag_assets.search.indexing.chroma import ChromaFiles, ChromaStore
from rag_assets.search.indexing.exact_vectors import VECTORS_FILE, ExactVectors
from rag_assets.search.indexing.folders import FolderTarget, is_intact, read_manifest
from rag_assets.search.indexing.protocols import (
    IndexManifest,
    IndexRow,
    IndexTarget,
    LexicalIndex,
    SparseSource,
    Vectors,
    VectorSource,
    VectorStore,
    for_reading_only,
)
from rag_assets.search.indexing.qdrant.target import QdrantIndex
from rag_assets.search.indexing.tantivy_index import TantivyFiles, TantivyIndex

Opened = TypeVar("Opened", VectorStore, LexicalIndex)
OpenedBy = TypeVar("OpenedBy", VectorStore, LexicalIndex, covariant=True)
EXACT_UP_TO_BYTES = 1_024_000_000
"""Vectors in a file of up to this size (about 660,000 passages) are compared with a question one by one, so that none
is missed; above, Chroma's graph is asked."""
VectorsOf = Callable[[Sequence[IndexRow]], Vectors]


class Index(IndexTarget, Protocol[OpenedBy]):
    """One index of the published passages, for writing (`IndexTarget`) and for reading."""

    @property
    def folder(self) -> Path:
        """Where its manifest is, which is replaced whenever a version is published."""
        ...

    def __str__(self) -> str:
        """Where it is, for messages."""
        ...

    def manifest(self) -> IndexManifest | None:
        """The manifest of the published version, if any. Changes nothing, and is cheap enough to be read before each
        question."""
        ...

    def is_intact(self) -> bool:
        """Whether the published version is as it was published. Raises StoreUnavailable or StoreRefused when a server
        does not answer."""
        ...

    def open(self) -> OpenedBy:
        """Open the published version, whatever is published later. Raises what its library raises."""
        ...


@dataclass(frozen=True)
class FolderIndex(FolderTarget, Generic[Opened]):
    """An index in a folder; see `Index`."""

    open_folder: Callable[[Path], Opened]

    def __str__(self) -> str:
        return str(self.folder)

    def manifest(self) -> IndexManifest | None:
        return read_manifest(self.folder)

    def is_intact(self) -> bool:
        return is_intact(self.folder)

    def open(self) -> Opened:
        return self.open_folder(self.folder)


def open_vectors(folder: Path) -> VectorStore:
    """The vectors of the index in `folder`: searched exactly unless there are very many, see `EXACT_UP_TO_BYTES`."""
    if (folder / VECTORS_FILE).stat().st_size <= EXACT_UP_TO_BYTES:
        return ExactVectors.open(folder)
    return ChromaStore.open(folder)


VECTOR_STORES: dict[str, Callable[[Settings, VectorSource], Index[VectorStore]]] = {
    "chroma": lambda settings, source: FolderIndex(
        settings.paths.chroma, ChromaFiles(source.model_id, source.vectors_of), open_vectors
    ),
    "qdrant": lambda settings, source: QdrantIndex(
        settings.paths.qdrant, settings.indexing.qdrant, source, settings.retrieval
    ),
}


def vector_index(
    settings: Settings, model: str, vectors_of: VectorsOf = for_reading_only, sparse: SparseSource | None = None
) -> Index[VectorStore]:
    """The index of the vectors of the embedding model with the identity `model`.

    vectors_of: unit vectors of passages, shape (n, dim), in the order of the rows; needed for writing only. sparse:
    of a sparse model, for a store that can hold them.
    """
    return VECTOR_STORES[settings.indexing.vector_store](settings, VectorSource(model, vectors_of, sparse))


def word_index(settings: Settings) -> Index[LexicalIndex]:
    """The index of the words of the passages."""
    return FolderIndex(settings.paths.bm25, TantivyFiles(), TantivyIndex.open)


def published_indexes(settings: Settings) -> "tuple[Index[VectorStore], Index[LexicalIndex]]":
    """Both indexes, to see what is published whatever model it is of."""
    return vector_index(settings, ""), word_index(settings)
