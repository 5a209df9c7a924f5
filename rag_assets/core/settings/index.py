"""How passages become indexes."""

from typing import Literal

from pydantic import Field

from rag_assets.core.settings.stage import StageSettings


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
    passage_prefix: str | None = Field(None, description="Put before a passage, as query_prefix before a question.")
    sparse_model: str = Field(
        "none",
        description="A sparse model whose vectors are kept beside the others, e.g. fastembed:prithivida/"
        "Splade_PP_en_v1 (SPLADE, 530 MB, fetched from its hub). Needs indexing.vector_store = qdrant; searched with "
        "retrieval.fusion = server_rrf or server_dbsf. none: not measured here, its weights could not be fetched.",
    )


class QdrantSettings(StageSettings):
    """Address of the Qdrant server. Kept out of the index fingerprint: moving to another server rebuilds nothing."""

    url: str = Field(
        "",
        description="Address of a Qdrant server, e.g. http://localhost:6333; its key is read from QDRANT_API_KEY "
        "(environment or .env). Empty: no server, the vectors are kept in data/index/qdrant and searched inside this "
        "process; for one process at a time and up to about 20,000 passages.",
    )
    prefix: str = Field(
        "",
        max_length=100,
        pattern="^[A-Za-z0-9_-]*$",
        description="Begins the names of the collections and is the name of the alias. Empty: one that follows from "
        "the path of the data folder. Two data folders with the same prefix on one server delete each other's "
        "collections.",
    )


class IndexingSettings(StageSettings):
    """Where the vectors are kept."""

    vector_store: Literal["chroma", "qdrant"] = Field(
        "chroma",
        description="Where the vectors are kept and searched. chroma: in files below data/index. qdrant: see "
        "docs/qdrant.md; needs pip install 'rag_assets[qdrant]'.",
    )
    qdrant: QdrantSettings = QdrantSettings()
