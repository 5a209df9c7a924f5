"""What models expect before a question and before a passage. It follows from their training; without it they find
less, and nothing fails.

fastembed's own `query_embed` and `passage_embed` put nothing before a text (0.9.1: `text_embedding_base.py` hands both
to `embed`; only jina-embeddings-v3 distinguishes them, by a task number). So every dense model of its list is decided
about here, "none" included; a test walks that list. For Google's models pydantic-ai marks which text is a question.
"""

import logging
from dataclasses import dataclass

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Prefixes:
    """Put before a text, character for character."""

    query: str = ""
    passage: str = ""

    def overridden(self, query: str | None, passage: str | None) -> "Prefixes":
        """These, with `query` and `passage` in their place where they are not None."""
        return Prefixes(self.query if query is None else query, self.passage if passage is None else passage)


NO_PREFIXES = Prefixes()

BGE_EN = Prefixes(query="Represent this sentence for searching relevant passages: ")
"""Model cards of BAAI/bge-*-en and -v1.5 ("query instruction for retrieval"), mixedbread-ai/mxbai-embed-large-v1
(prompt "query") and Snowflake/snowflake-arctic-embed-* of 1.0 and 1.5 (prompt "query"): the three have it in common."""
_BGE_ZH = Prefixes(query="为这个句子生成表示以用于检索相关文章：")
"""Model card of BAAI/bge-*-zh-v1.5."""
ARCTIC_2 = Prefixes(query="query: ")
"""Model cards of Snowflake/snowflake-arctic-embed-*-v2.0: another prompt than the models before."""
_E5 = Prefixes(query="query: ", passage="passage: ")
"""Model card of intfloat/multilingual-e5-large: both, "otherwise you will see a performance degradation"."""
NOMIC = Prefixes(query="search_query: ", passage="search_document: ")
"""Model cards of nomic-ai/nomic-embed-text-v1, -v1.5: a task prefix is required."""
EMBEDDING_GEMMA = Prefixes(query="task: search result | query: ", passage="title: none | text: ")
"""Model card of google/embeddinggemma-300m, prompts for retrieval; also in fastembed's description."""
QWEN_3 = Prefixes(query="Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:")
"""Model card of Qwen/Qwen3-Embedding-0.6B (`get_detailed_instruct`): no space after "Query:"; passages plain."""
_STELLA = Prefixes(
    query="Instruct: Given a web search query, retrieve relevant passages that answer the query.\nQuery: "
)
"""Model card of NovaSearch/stella_en_400M_v5, prompt "s2p_query": a full stop and a space that Qwen3 does not have."""

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
        (  # trained on plain texts, or distinguished inside fastembed (jina-embeddings-v3): their cards name no prefix
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
            "Qdrant/constella-zero",  # made for questions alone, to be compared with stella's vectors of passages
            "Qdrant/constella-nano",
        ),
        NO_PREFIXES,
    ),
}
"""By fastembed's name."""


def fastembed_prefixes(name: str) -> Prefixes:
    """Prefixes of a model of fastembed's list; empty, with a warning, for one that came after this table."""
    if name not in FASTEMBED:
        logger.warning(
            "It is not known here what %s expects before a question or a passage: nothing is put before them. See its "
            "model card, and set embedding.query_prefix and embedding.passage_prefix.",
            name,
        )
    return FASTEMBED.get(name, NO_PREFIXES)
