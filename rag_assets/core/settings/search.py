"""How the evidence for a question is found."""

from typing import Literal

from pydantic import Field

from rag_assets.core.settings.stage import Share, StageSettings


class EmbeddingSettings(StageSettings):
    """Which model makes the vectors."""

    model: str = Field(
        "local:all-MiniLM-L6-v2-int8",
        description="provider:model. local: built from the packaged weights (all-MiniLM-L6-v2-int8 or "
        "all-MiniLM-L6-v2); fastembed: any model fastembed knows, fetched from its hub; google, openai, ollama: a "
        "model behind an API, e.g. google:gemini-embedding-001, openai:text-embedding-3-small, "
        "ollama:nomic-embed-text. EMBED_PROVIDER and EMBED_MODEL are short names for its two halves.",
    )
    dimensions: int | None = Field(
        None,
        gt=0,
        description="Length of a vector. Empty: as the model has it. Google's and OpenAI's own models are asked for "
        "shorter vectors; of a model behind an API that is not known here it must be given.",
    )
    max_tokens: int | None = Field(
        None,
        ge=16,
        description="Tokens that a model behind an API reads. Empty: as known of the model. Too high: the end of a "
        "long passage is not in its vector, or the provider rejects it.",
    )
    query_prefix: str | None = Field(
        None,
        description="Put before a question, for a model that is not known here (fastembed, openai, ollama). Left out: "
        "what the model's card asks for, where it is known.",
    )
    passage_prefix: str | None = Field(
        None, description="Put before a passage, as query_prefix before a question."
    )
    sparse_model: str = Field(
        "none",
        description="A sparse model whose vectors are kept beside the others, e.g. fastembed:prithivida/"
        "Splade_PP_en_v1 (SPLADE, 530 MB, fetched from its hub). Needs indexing.vector_store = qdrant; searched with "
        "retrieval.fusion = server_rrf or server_dbsf. none: not measured here, its weights could not be fetched.",
    )


class QdrantSettings(StageSettings):
    """Address of the Qdrant server. Kept out of the index fingerprint: moving to another server
    rebuilds nothing."""

    url: str = Field(
        "",
        description="Address of a Qdrant server, e.g. http://localhost:6333; its key is read from QDRANT_API_KEY "
        "(environment or .env). Empty: no server, the vectors are kept in data/index/qdrant_storage and searched "
        "inside this process; for one process at a time and up to about 20,000 passages.",
    )
    prefix: str = Field(
        "",
        max_length=100,
        pattern="^[A-Za-z0-9_-]*$",
        description="Begins the names of the collections. Empty: one that follows from the path of the data folder. "
        "Two data folders with the same prefix on one server delete each other's collections.",
    )


class IndexingSettings(StageSettings):
    """Where the vectors are kept."""

    vector_store: Literal["chroma", "qdrant"] = Field(
        "chroma",
        description="Where the vectors are kept and searched. chroma: in files below data/index. qdrant: "
        "for a corpus that one machine is too small for; see docs/qdrant.md; needs pip install 'rag_assets[qdrant]'.",
    )
    qdrant: QdrantSettings = QdrantSettings()


class QuerySettings(StageSettings):
    """What is searched for besides the question itself. What a model writes is only searched for,
    never quoted."""

    decomposition: Literal["rules", "model", "none"] = Field(
        "rules",
        description="Who takes a compound question apart, so that each part is searched: rules, a model (one request "
        "per question), or none.",
    )
    variants: int = Field(
        0,
        ge=0,
        le=10,
        description="Other wordings of each question, written by a model, that are searched too. Off: what they bring "
        "was not measured, for want of a model.",
    )
    hypothetical_passage: bool = Field(
        False,
        description="Search also for the vector of a passage that a model writes as a possible answer (HyDE, Gao et "
        "al. 2022). Off, as variants.",
    )
    model: str = Field(
        "answering",
        description="The model that writes queries, as provider:model; answering: the one of answering.model. One "
        "request per question for variants and passage together; kept, so that a question is asked once.",
    )

    @property
    def asks_model(self) -> bool:
        """Whether any query is written by a model."""
        return self.decomposition == "model" or self.variants > 0 or self.hypothetical_passage


class RetrievalSettings(StageSettings):
    """How a question becomes hits and contexts."""

    queries: QuerySettings = QuerySettings()
    fusion: Literal["convex", "rrf", "rank_blend", "server_rrf", "server_dbsf"] = Field(
        "convex",
        description="How the two rankings become one; measured by benchmarks/quality. server_rrf, server_dbsf: Qdrant "
        "searches vectors and words and fuses both, by rank or by distribution of the scores; needs "
        "indexing.vector_store = qdrant, and the index built anew. convex, server_dbsf, server_rrf: answer in five "
        "chunks of COVID-QA .925, .883, .858.",
    )
    dense_weight: Share = Field(
        0.4,
        description="convex: weight of the vectors, 0 = words only (no vector is made), 1 = vectors only. 0.3, 0.4, "
        "0.5: answer in five chunks of COVID-QA .894, .899, .896, in 6,000 tokens .951, .949, .943; Cranfield "
        "nDCG@10 .395, .398, .409.",
    )
    reranker: str = Field(
        "local:late-interaction",
        description="Who looks at the best candidates once more. local:late-interaction compares the words of question "
        "and passage one by one with the packaged model; see benchmarks/README.md for what it brings. "
        "none leaves the fused order. fastembed: a cross-encoder, e.g. "
        "fastembed:Xenova/ms-marco-MiniLM-L-6-v2, fetched once from its hub; folder: one on disk.",
    )
    min_score: Share = Field(
        0.0,
        description="Passages whose relevance, as the reranker estimates it, is below this are not returned, nor those "
        "it did not look at. 0: no floor. Too high refuses what the corpus answers.",
    )
    budget_tokens: int = Field(
        10_000,
        gt=0,
        description="Tokens of context packed for an answerer; the best passage is packed in any case.",
    )

    @property
    def is_fused_by_server(self) -> bool:
        """Whether the vector store holds the words too and fuses what both find."""
        return self.fusion in ("server_rrf", "server_dbsf")
