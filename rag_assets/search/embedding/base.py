"""What an embedding model is to the rest of the project, and the work that all adapters share.

What a model expects before a question and before a passage follows from its training; without it
less is found, and nothing fails. fastembed puts nothing before a text (0.9.1: only
jina-embeddings-v3 distinguishes the two, by a task number), so every dense model of its list is
decided about here, "none" included; a test walks that list. For Google's models pydantic-ai marks
which text is a question.

Adapters are in `local_model`, `fastembed_model` and `hosted_models`; `providers` decides which
one a setting means.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept

logger = logging.getLogger(__name__)

Made = TypeVar("Made")
_IN_USE: "WeakValueDictionary[Path, Any]" = WeakValueDictionary()
_LOADING = Lock()


@dataclass(frozen=True)
class Prefixes:
    """Put before a text, character for character."""

    query: str = ""
    passage: str = ""

    def overridden(self, query: str | None, passage: str | None) -> "Prefixes":
        """A copy in which `query` and `passage` take their place where they are not None."""
        return Prefixes(
            self.query if query is None else query, self.passage if passage is None else passage
        )


NO_PREFIXES = Prefixes()

BGE_EN = Prefixes(query="Represent this sentence for searching relevant passages: ")
"""Model cards of BAAI/bge-*-en and -v1.5 ("query instruction for retrieval"),
mixedbread-ai/mxbai-embed-large-v1 (prompt "query") and Snowflake/snowflake-arctic-embed-* of 1.0
and 1.5 (prompt "query"): the three have it in common."""
_BGE_ZH = Prefixes(query="为这个句子生成表示以用于检索相关文章：")
"""Model card of BAAI/bge-*-zh-v1.5."""
ARCTIC_2 = Prefixes(query="query: ")
"""Model cards of Snowflake/snowflake-arctic-embed-*-v2.0: another prompt than the models before."""
_E5 = Prefixes(query="query: ", passage="passage: ")
"""Model card of intfloat/multilingual-e5-large: both, "otherwise you will see a performance
degradation"."""
NOMIC = Prefixes(query="search_query: ", passage="search_document: ")
"""Model cards of nomic-ai/nomic-embed-text-v1, -v1.5: a task prefix is required."""
EMBEDDING_GEMMA = Prefixes(query="task: search result | query: ", passage="title: none | text: ")
"""Model card of google/embeddinggemma-300m, prompts for retrieval; also in fastembed's
description."""
QWEN_3 = Prefixes(
    query="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
"""Model card of Qwen/Qwen3-Embedding-0.6B (`get_detailed_instruct`): no space after "Query:";
passages plain."""
_STELLA = Prefixes(
    query="Instruct: Given a web search query, retrieve relevant passages that answer the query.\nQuery: "
)
"""Model card of NovaSearch/stella_en_400M_v5, prompt "s2p_query": a full stop and a space that
Qwen3 does not have."""

FASTEMBED: dict[str, Prefixes] = {
    "BAAI/bge-base-en": BGE_EN,
    "BAAI/bge-base-en-v1.5": BGE_EN,
    "BAAI/bge-large-en-v1.5": BGE_EN,
    "BAAI/bge-small-en": BGE_EN,
    "BAAI/bge-small-en-v1.5": BGE_EN,
    "BAAI/bge-small-zh-v1.5": _BGE_ZH,
    "mixedbread-ai/mxbai-embed-large-v1": BGE_EN,
    "snowflake/snowflake-arctic-embed-xs": BGE_EN,
    "snowflake/snowflake-arctic-embed-s": BGE_EN,
    "snowflake/snowflake-arctic-embed-m": BGE_EN,
    "snowflake/snowflake-arctic-embed-m-long": BGE_EN,
    "snowflake/snowflake-arctic-embed-l": BGE_EN,
    "nomic-ai/nomic-embed-text-v1": NOMIC,
    "nomic-ai/nomic-embed-text-v1.5": NOMIC,
    "nomic-ai/nomic-embed-text-v1.5-Q": NOMIC,
    "intfloat/multilingual-e5-large": _E5,
    "google/embeddinggemma-300m": EMBEDDING_GEMMA,
    "Qwen/Qwen3-Embedding-0.6B": QWEN_3,
    "Qwen/Qwen3-Embedding-0.6B-Q": QWEN_3,
    "Qdrant/stella-en-400M-v5-doc-onnx": _STELLA,
    **dict.fromkeys(
        # trained on plain texts, or distinguished inside fastembed (jina-embeddings-v3): their
        # cards name no prefix
        (
            "sentence-transformers/all-MiniLM-L6-v2",
            "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2",
            "sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
            "thenlper/gte-base",
            "thenlper/gte-large",
            "jinaai/jina-clip-v1",
            "jinaai/jina-embeddings-v2-base-en",
            "jinaai/jina-embeddings-v2-small-en",
            "jinaai/jina-embeddings-v2-base-de",
            "jinaai/jina-embeddings-v2-base-code",
            "jinaai/jina-embeddings-v2-base-zh",
            "jinaai/jina-embeddings-v2-base-es",
            "jinaai/jina-embeddings-v3",
            "ibm-granite/granite-embedding-small-english-r2",
            "Qdrant/clip-ViT-B-32-text",
            "google/siglip2-base-patch16-224",
            "minishlab/potion-base-8M",
            "minishlab/potion-retrieval-32M",
            "minishlab/potion-multilingual-128M",
            # made for questions alone, to be compared with stella's vectors of passages
            "Qdrant/constella-zero",
            "Qdrant/constella-nano",
        ),
        NO_PREFIXES,
    ),
}
"""By fastembed's name."""


def fastembed_prefixes(name: str) -> Prefixes:
    """Prefixes of a model of fastembed's list; empty, with a warning, for one that came after this
    table."""
    if name not in FASTEMBED:
        logger.warning(
            "It is not known here what %s expects before a question or a passage: nothing is put before them. See its "
            "model card, and set embedding.query_prefix and embedding.passage_prefix.",
            name,
        )
    return FASTEMBED.get(name, NO_PREFIXES)


Vectors = NDArray[np.float32]
Role = Literal["query", "passage"]


@dataclass(frozen=True)
class EmbedderFacts:
    """What must be known of a model before it is loaded."""

    identity: str
    """Part of every cache key and of the index: whatever changes a vector (provider, weights,
    quantisation, builder, prefixes) changes it. Letters, digits, dots and dashes only, so that it
    can name a folder."""
    dimension: int
    """Length of a vector."""
    max_tokens: int
    """Tokens of a passage that the model reads, special tokens included, the prefix of passages
    not; what follows them is not in the vector."""
    tokenizer_id: str
    """Names the tokenizer that counts: where it and `max_tokens` stay, another model needs no other
    passages."""
    dense_weight: float = 0.4
    """Weight of the vectors beside the words, where the settings name none."""


class Embedder(Protocol):
    """Makes vectors. A vector depends on its own text and the model only, never on what is embedded
    with it."""

    @property
    def identity(self) -> str:
        """Part of every cache key, see `EmbedderFacts`."""
        ...

    @property
    def facts(self) -> EmbedderFacts: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as the model sees it: special tokens included, nothing cut off. Loads
        no model."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), in the order given."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,)."""
        ...

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """Sizes of the batches, in order, that `embed_passages` makes of `texts`; callers save
        after each."""
        ...


class ModelEmbedder(ABC):
    """The Embedder that an adapter completes: prefixes, batches, and questions that were asked
    before.

    Opening one is free: nothing is loaded, fetched or sent before it is needed.
    """

    prefixes: Prefixes = NO_PREFIXES
    """What the model expects before a question and before a passage."""
    query_vectors: Kept[Vectors] | None = None
    """Keeps the vectors of questions; None: each is asked for again."""

    @property
    @abstractmethod
    def facts(self) -> EmbedderFacts: ...

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder`."""

    @abstractmethod
    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), of one batch; the prefix is part of the
        texts."""

    @property
    def identity(self) -> str:
        return self.facts.identity

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder`; the prefix is not part of the texts."""
        return [len(texts)]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. If a batch fails, the vectors of those before it are lost, see
        `request_sizes`."""
        vectors = np.empty((len(texts), self.facts.dimension), np.float32)
        start = 0
        for size in self.request_sizes(texts):
            batch = [self.prefixes.passage + text for text in texts[start : start + size]]
            vectors[start : start + size] = self.vectors(batch, "passage")
            start += size
        return vectors

    def embed_query(self, text: str) -> Vectors:
        def embedded() -> Vectors:
            vector: Vectors = self.vectors([self.prefixes.query + text], "query")[0]
            return vector

        if self.query_vectors is None:
            return embedded()
        return self.query_vectors.once(fingerprint("query", self.identity, text), embedded)[0]


def unit(vector: NDArray[Any]) -> Vectors:
    """The vector scaled to length 1 (not all models do); one of length 0 is left for the audit to
    find."""
    wide = vector.astype(np.float64)
    length = float(np.linalg.norm(wide))
    return (wide / length if length > 0 else wide).astype(np.float32)


def side_by_side(work: Callable[[str], Made], texts: Sequence[str], n_threads: int) -> list[Made]:
    """What `work` makes of each text by itself, in the order given."""
    if len(texts) < 2:
        return [work(text) for text in texts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, texts))


def shared(place: Path, load: Callable[[], Made]) -> Made:
    """The model of a file or folder: loaded, unless it is in use; then its memory is shared (35 MB
    for int8)."""
    with _LOADING:
        model: Made | None = _IN_USE.get(place.resolve())
        if model is None:
            model = _IN_USE[place.resolve()] = load()
        return model
