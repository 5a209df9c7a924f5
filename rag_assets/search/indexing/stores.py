"""Where the vectors and the words of the passages are stored, for writing and for reading.

A new vector store is a module with an adapter, and a row of `VECTOR_STORES`.
"""

from collections.abc import Callable, Sequence

from rag_assets.core.domain import SparseVector
from rag_assets.core.settings import Settings
from rag_assets.search.indexing.chroma import ChromaFiles
from rag_assets.search.indexing.folders import FolderIndex
from rag_assets.search.indexing.protocols import (
    IndexRow,
    Vectors,
    VectorSource,
    VectorStore,
    for_reading_only,
)
from rag_assets.search.indexing.qdrant.files import QdrantFiles
from rag_assets.search.indexing.tantivy_index import TantivyFiles, TantivyIndex

VECTOR_STORES: dict[str, Callable[[Settings, VectorSource], FolderIndex[VectorStore]]] = {
    "chroma": lambda settings, source: FolderIndex(
        settings.paths.chroma, ChromaFiles(source.model_id, source.vectors_of)
    ),
    "qdrant": lambda settings, source: FolderIndex(
        settings.paths.qdrant,
        QdrantFiles(settings.paths, settings.indexing.qdrant, source, settings.retrieval),
    ),
}


def vector_index(
    settings: Settings,
    model: str,
    vectors_of: Callable[[Sequence[IndexRow]], Vectors] = for_reading_only,
    sparse_model: str | None = None,
    sparse_of: Callable[[Sequence[IndexRow]], list[SparseVector]] = for_reading_only,
) -> FolderIndex[VectorStore]:
    """The index of vectors made by the embedding model with the identity `model`.

    vectors_of: makes unit vectors of passages, shape (n, dim), in the order of the rows; needed for
    writing only. sparse_model, sparse_of: identity and vectors of a sparse model, for a store that
    can hold them too.
    """
    source = VectorSource(model, vectors_of, sparse_model, sparse_of)
    return VECTOR_STORES[settings.indexing.vector_store](settings, source)


def word_index(settings: Settings) -> FolderIndex[TantivyIndex]:
    return FolderIndex(settings.paths.bm25, TantivyFiles())


def published_indexes(
    settings: Settings,
) -> tuple[FolderIndex[VectorStore], FolderIndex[TantivyIndex]]:
    """Both indexes, to read what is published; the embedding model does not matter for that."""
    return vector_index(settings, ""), word_index(settings)
