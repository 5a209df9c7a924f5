"""What an embedding model is for the rest of the project, and the work that all adapters share.

Many models were trained with a prefix before questions and passages. Without it they find less, and
no error shows this. fastembed (0.9.1) adds no prefixes (only jina-embeddings-v3 distinguishes
questions and passages, by a task number), so the prefixes of every dense model in its list are
given here, even if there are none; a test checks that no model is left out. For Google's models,
pydantic-ai tells the API which text is a question.

The BERT encoders whose graphs are built here share their dimensions and how they are loaded into
onnxruntime: `onnx_graph` writes the graphs, `local_model` and the sentence reader (`reranking`)
read the weights and manage the files.

Adapters are in `local_model`, `fastembed_model` and `hosted_models`; `providers` decides which one
a setting means.
"""

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from rag_assets.core.errors import MissingModel
from rag_assets.core.incremental import fingerprint
from rag_assets.core.kept import Kept

logger = logging.getLogger(__name__)

Made = TypeVar("Made")
_IN_USE: "WeakValueDictionary[Path, Any]" = WeakValueDictionary()
_LOADING = Lock()


@dataclass(frozen=True)
class Prefixes:
    """Texts put before a question and before a passage, exactly as they are written here."""

    query: str = ""
    passage: str = ""

    def overridden(self, query: str | None, passage: str | None) -> "Prefixes":
        """A copy with the given prefixes; None keeps the prefix that is there."""
        return Prefixes(
            self.query if query is None else query, self.passage if passage is None else passage
        )


NO_PREFIXES = Prefixes()

BGE_EN = Prefixes(query="Represent this sentence for searching relevant passages: ")
"""Model cards of BAAI/bge-*-en and -v1.5 ("query instruction for retrieval"),
mixedbread-ai/mxbai-embed-large-v1 (prompt "query") and Snowflake/snowflake-arctic-embed-* 1.0 and
1.5 (prompt "query"): all have the same prefix."""
_BGE_ZH = Prefixes(query="为这个句子生成表示以用于检索相关文章：")
"""Model card of BAAI/bge-*-zh-v1.5."""
ARCTIC_2 = Prefixes(query="query: ")
"""Model cards of Snowflake/snowflake-arctic-embed-*-v2.0. Earlier versions have another prefix."""
_E5 = Prefixes(query="query: ", passage="passage: ")
"""Model card of intfloat/multilingual-e5-large: it needs both prefixes, "otherwise you will see a
performance degradation"."""
NOMIC = Prefixes(query="search_query: ", passage="search_document: ")
"""Model cards of nomic-ai/nomic-embed-text-v1, -v1.5: a task prefix is required."""
EMBEDDING_GEMMA = Prefixes(query="task: search result | query: ", passage="title: none | text: ")
"""Model card of google/embeddinggemma-300m, prompts for retrieval; also in fastembed's
description."""
QWEN_3 = Prefixes(
    query="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
"""Model card of Qwen/Qwen3-Embedding-0.6B (`get_detailed_instruct`): there is no space after
"Query:", and passages have no prefix."""
_STELLA = Prefixes(
    query="Instruct: Given a web search query, retrieve relevant passages that answer the query.\nQuery: "
)
"""Model card of NovaSearch/stella_en_400M_v5, prompt "s2p_query". Unlike Qwen3's prefix it has a
full stop and a space."""

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
        # Their model cards name no prefix: they were trained without, or fastembed distinguishes
        # questions and passages (jina-embeddings-v3).
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
            # for questions only, whose vectors are compared with stella's vectors of passages
            "Qdrant/constella-zero",
            "Qdrant/constella-nano",
        ),
        NO_PREFIXES,
    ),
}
"""The prefixes of each model, by its name in fastembed."""


def fastembed_prefixes(name: str) -> Prefixes:
    """Prefixes of a model in fastembed's list. A model that is not in this table (a newer one) has
    none, and a warning is logged."""
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
    """What is known about a model before it is loaded."""

    identity: str
    """Part of every cache key and of the index. It changes with everything that changes a vector:
    provider, weights, quantisation, the code that builds the model, prefixes. Only letters, digits,
    dots and dashes, since it names a folder."""
    dimension: int
    """Length of a vector."""
    max_tokens: int
    """Tokens of a passage that the model reads, including special tokens, without the prefix. Later
    tokens are not in the vector."""
    tokenizer_id: str
    """Identity of the tokenizer that counts tokens. A model with the same `tokenizer_id` and
    `max_tokens` can use the same passages."""
    dense_weight: float = 0.4
    """Weight of the vectors against the words in a search, if the settings give none."""
    telling_margin: float | None = None
    """A title page is the one that words describe if its cosine is this much above that of every
    other one. None: not measured for this model."""


class Embedder(Protocol):
    """Makes vectors. A vector depends on its own text and the model only, not on other texts in the
    same call."""

    @property
    def identity(self) -> str:
        """Part of every cache key, see `EmbedderFacts`."""
        ...

    @property
    def facts(self) -> EmbedderFacts: ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text as the model counts them: with special tokens, and
        without truncation. Loads no model."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension), in the order given."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """The unit vector of a question, shape (dimension,)."""
        ...

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """The sizes of the batches into which `embed_passages` divides `texts`, in order. Callers
        embed and save one batch at a time."""
        ...


class ModelEmbedder(ABC):
    """The base of all adapters: it adds prefixes, makes batches, and keeps the vectors of
    questions.

    Creating one is cheap: nothing is loaded, fetched or sent before it is needed.
    """

    prefixes: Prefixes = NO_PREFIXES
    """What the model expects before a question and before a passage."""
    query_vectors: Kept[Vectors] | None = None
    """Where the vectors of questions are kept; None if each question is embedded again."""

    @property
    @abstractmethod
    def facts(self) -> EmbedderFacts: ...

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder`."""

    @abstractmethod
    def vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors of one batch, shape (len(texts), dimension). The texts already have their
        prefix."""

    @property
    def identity(self) -> str:
        return self.facts.identity

    def request_sizes(self, texts: Sequence[str]) -> list[int]:
        """See `Embedder`. The texts have no prefix yet."""
        return [len(texts)]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`. If a batch fails, the vectors of earlier batches are lost, so callers
        pass one batch at a time, see `request_sizes`."""
        vectors = np.empty((len(texts), self.facts.dimension), np.float32)
        start = 0
        for size in self.request_sizes(texts):
            batch = [self.prefixes.passage + text for text in texts[start : start + size]]
            vectors[start : start + size] = self.vectors(batch, "passage")
            start += size
        return vectors

    def embed_query(self, text: str) -> Vectors:
        def embed() -> Vectors:
            vector: Vectors = self.vectors([self.prefixes.query + text], "query")[0]
            return vector

        if self.query_vectors is None:
            return embed()
        return self.query_vectors.once(fingerprint("query", self.identity, text), embed)[0]


def unit(vector: NDArray[Any]) -> Vectors:
    """The vector scaled to length 1, since not all models do this. A vector of length 0 is returned
    as it is; `VectorCache.add` refuses it."""
    wide = vector.astype(np.float64)
    length = float(np.linalg.norm(wide))
    return (wide / length if length > 0 else wide).astype(np.float32)


def unit_rows(vectors: Vectors) -> Vectors:
    """Each row scaled to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, np.finfo(np.float32).tiny), np.float32)


def slug(name: str) -> str:
    """The name of a model for an identity: letters, digits, dots and hyphens."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name)


def side_by_side(work: Callable[[str], Made], texts: Sequence[str], n_threads: int) -> list[Made]:
    """The result of `work` for each text, in order, with several threads."""
    if len(texts) < 2:
        return [work(text) for text in texts]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(work, texts))


def shared(path: Path, load: Callable[[], Made]) -> Made:
    """The model in a file or folder. If this process has already loaded it, the loaded model is
    returned, so that its memory is used once (35 MB for int8)."""
    with _LOADING:
        model: Made | None = _IN_USE.get(path.resolve())
        if model is None:
            model = _IN_USE[path.resolve()] = load()
        return model


if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SEGMENT_IDS = "token_type_ids"
"""Graph input: the number of each token's segment, from 0. Only graphs with segments have it."""
EMBEDDINGS = "embeddings"
"""Graph input instead of token ids: the sum of word, position and segment vectors, shape (n_texts,
n_tokens, n_hidden). All texts of a call have the same length."""
LAST_OUTPUT = "last_hidden_state"
"""Graph output: the vectors of the tokens after the last layer."""
SEGMENTS = "embeddings.segments.weight"
"""Name of the tensor of segment vectors, shape (n_segments, n_hidden): each is added to the tokens
of its segment."""


@dataclass(frozen=True)
class BertShape:
    """Dimensions of a BERT encoder that cannot be read from its weights. The defaults are those of
    all-MiniLM-L6-v2 (config.json)."""

    n_layers: int = 6
    n_heads: int = 12
    n_hidden: int = 384
    layer_norm_epsilon: float = 1e-12
    max_tokens: int = 256
    """Longest input the model was trained for, special tokens included
    (sentence_bert_config.json)."""
    n_segments: int = 0
    """Number of different segments in an input, each with its own vector; 0 for none."""
    is_fed_embeddings: bool = False
    """Whether the caller gives the vectors of the tokens. Then the graph has no table of them."""
    inner_layers: tuple[int, ...] = ()
    """Numbers of the layers, from 1, whose outputs the graph gives beside the last one."""

    @property
    def inputs(self) -> tuple[str, ...]:
        if self.is_fed_embeddings:
            return (EMBEDDINGS,)
        return ("input_ids", "attention_mask", *([SEGMENT_IDS] if self.n_segments else []))

    @property
    def inner_outputs(self) -> tuple[str, ...]:
        """The names of the outputs of `inner_layers`."""
        return tuple(f"hidden_state_{number}" for number in self.inner_layers)


MINILM = BertShape()


def loaded_bert(file: Path) -> "InferenceSession":
    """The encoder in a file, running on one thread. Raises MissingModel if it cannot be loaded."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        return shared(
            file, lambda: InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        )
    except Exception as error:  # onnxruntime's loading errors have no common class
        raise MissingModel(
            f"The model in {file.parent} cannot be loaded ({type(error).__name__}: {error}). "
            "Delete that folder and run again: it will be made anew."
        ) from error
