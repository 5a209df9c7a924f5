"""What changes the result of a stage.

A class is a recompute boundary: it holds everything that changes one stage's result and nothing else. Its fingerprint
covers all its fields, but no class nested in it, which is a boundary of its own. What changes no result is in
`operation`.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rag_assets.domain import Source
from rag_assets.incremental import fingerprint

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class StageSettings(BaseModel):
    """Settings of one stage: frozen, without unknown keys, with a fingerprint over its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def fingerprint(self) -> str:
        """32 hex digits that change with every field; a group inside this one has a fingerprint of its own."""
        groups = {name for name in type(self).model_fields if isinstance(getattr(self, name), StageSettings)}
        return fingerprint(type(self).__name__, self.model_dump(mode="json", exclude=groups))


class ParseLimits(StageSettings):
    """What one file may cost. A group of its own: when a limit changes, only quarantined papers are parsed again."""

    max_file_mb: float = Field(100.0, gt=0, description="Largest file that is opened, in MB (10^6 bytes).")
    max_pages: int = Field(3000, gt=0, description="Most pages of one document.")
    max_depth: int = Field(200, gt=0, description="Deepest nesting of XML, HTML or JSON that is followed.")
    timeout_s: float = Field(120.0, gt=0, description="Seconds one file may take; then its worker is killed.")
    max_memory_mb: int = Field(2048, gt=0, description="Address space a worker may add for one file, in MB.")


class ParsingSettings(StageSettings):
    """What changes the blocks of a paper."""

    use_text_txt: bool = Field(
        True,
        description="Read `x.txt` when `x.tei.xml` is missing, invalid or empty. Off: quarantine.",
    )
    source_order: tuple[Source, ...] = Field(
        (Source.TEI, Source.ADE, Source.DOCLING, Source.PDF, Source.MARKDOWN, Source.TEXT),
        min_length=1,
        description="Which file of a paper is parsed when it has several, best first; the others are linked.",
    )
    running_header_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Text that recurs on more than this share of the pages (and on 2 at least) is a running header. "
        "Too low drops refrains of the text, too high keeps journal names in every chunk.",
    )
    limits: ParseLimits = ParseLimits()


class ChunkingSettings(StageSettings):
    """What a chunk, the unit that is read and cited, looks like."""

    target_tokens: int = Field(1000, gt=0, description="Wanted size. A cut is chosen between 2 x target - max and max.")
    max_tokens: int = Field(1200, gt=0, description="No chunk is longer; a longer sentence or row is cut.")
    overlap_tokens: int = Field(
        150,
        ge=0,
        description="Whole sentences up to this many tokens are repeated from the chunk before. "
        "Too high repeats text in the answers, 0 loses what straddles a cut.",
    )
    min_tokens: int = Field(
        30,
        ge=0,
        description="A shorter section is merged with a neighbour, under the nearest heading they share. "
        "Too high mixes subjects in a chunk, 0 makes chunks of single lines.",
    )
    min_chars: int = Field(80, ge=0, description="As min_tokens, in characters.")
    include_front: bool = Field(
        False, description="Keep a short abstract a chunk of its own, not merged with other front matter."
    )
    context_tokens: int = Field(60, ge=0, description="Length of context_before and context_after.")
    tokenizer: Literal["auto", "cl100k_base", "wordpiece"] = Field(
        "auto",
        description="Counts tokens. auto: cl100k_base if tiktoken can fetch it once, else the packaged WordPiece; "
        "the choice is pinned in data/cache/tokenizer.json so that it never flips by itself.",
    )

    @model_validator(mode="after")
    def _sizes_are_ordered(self) -> Self:
        if self.target_tokens > self.max_tokens:
            raise ValueError(f"target_tokens ({self.target_tokens}) must not exceed max_tokens ({self.max_tokens})")
        if self.overlap_tokens >= self.target_tokens:
            raise ValueError(
                f"overlap_tokens ({self.overlap_tokens}) must be smaller than target_tokens ({self.target_tokens})"
            )
        return self


class SummarySettings(StageSettings):
    """What a model writes about each chunk, so that it is found by words it does not have."""

    model: str = Field(
        "none",
        description="A model that says in a sentence what each chunk is about, as provider:model; the sentence is "
        "searched with the chunk, never quoted. One request per chunk and one per paper, each once. none: no model is "
        "asked; not measured here, since it takes a key.",
    )
    max_chars: int = Field(
        300, ge=40, le=2000, description="A longer summary is cut, and again where the embedding model reads no more."
    )
    document_chars: int = Field(
        8000, ge=0, description="Beginning of a paper that is read for the summary of the whole; 0: only its title."
    )


class PassageSettings(StageSettings):
    """What a passage, the unit that is searched, looks like."""

    target_tokens: int = Field(
        160,
        gt=0,
        description="Size in the embedding model's own tokens; capped at what the model reads. 160 (200): answer in "
        "the first chunk of COVID-QA .696 (.655), in five .899 (.889), in 6,000 tokens .949 (.940); Cranfield nDCG@10 "
        ".398 (.408), see benchmarks/quality. Too small cuts answers, too large blurs vectors.",
    )


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
    """Where Qdrant is. A group of its own: the same vectors on another server are no other index."""

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
        description="Begins the names of the collections and is the name of the alias. Empty: one of the data folder's "
        "own. Two data folders with the same prefix on one server overwrite each other.",
    )
    timeout_s: int = Field(30, gt=0, description="Seconds one request to the server may take.")


class IndexingSettings(StageSettings):
    """How the two indexes are built."""

    vector_store: Literal["chroma", "qdrant"] = Field(
        "chroma",
        description="Where the vectors are kept and searched. chroma: in files below data/index. qdrant: see "
        "docs/qdrant.md; needs pip install 'rag_assets[qdrant]'.",
    )
    word_vectors: bool = Field(
        False,
        description="qdrant only: keep the words beside the vectors, for retrieval.fusion = server_rrf or server_dbsf.",
    )
    hnsw_m: int = Field(16, ge=4, le=128, description="Links a vector keeps in the HNSW graph (M).")
    hnsw_ef_construction: int = Field(200, ge=16, description="Candidates looked at while a vector is linked.")
    hnsw_ef_search: int = Field(200, ge=16, description="Candidates looked at while searching; too low loses recall.")
    min_recall: Share = Field(
        0.99,
        description="Updates wear a graph out. One that finds less than this share of the 20 nearest passages of a "
        "sample, and less than when it was built, is built anew from the kept vectors. 0: never.",
    )
    qdrant: QdrantSettings = QdrantSettings()


class QuerySettings(StageSettings):
    """What is searched for besides the question itself. What a model writes is only searched for, never quoted."""

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
    candidates: int = Field(100, gt=0, description="Passages taken from each index before fusion.")
    search_headings: bool = Field(
        True,
        description="Words of the paper's title and of section titles are searched with those of the passage. Off: a "
        "word that stands only in a title finds nothing.",
    )
    exact_search_mb: float = Field(
        1024.0,
        ge=0,
        description="Vectors of up to this many MB (10^6 bytes) are compared with a question one by one, so that none "
        "is missed; a quarter of them is held in memory, the rest is read from disk. Above, Chroma's graph is asked.",
    )
    fusion: Literal["convex", "rrf", "rank_blend", "server_rrf", "server_dbsf"] = Field(
        "convex",
        description="How the two rankings become one; measured by benchmarks/quality. server_rrf, server_dbsf: Qdrant "
        "searches vectors and words and fuses both, by rank or by distribution of the scores; needs "
        "indexing.word_vectors. convex, server_dbsf, server_rrf: answer in five chunks of COVID-QA .925, .883, .858.",
    )
    dense_weight: Share = Field(
        0.4,
        description="convex: weight of the vectors, 0 = words only (no vector is made), 1 = vectors only. 0.3, 0.4, "
        "0.5: answer in five chunks of COVID-QA .894, .899, .896, in 6,000 tokens .951, .949, .943; Cranfield "
        "nDCG@10 .395, .398, .409.",
    )
    rrf_k: int = Field(
        60,
        gt=0,
        description="rrf, server_rrf, and where several queries are searched for one question: the constant of "
        "Cormack, Clarke and Buettcher 2009.",
    )
    rank_weight_dense: float = Field(1.0, ge=0, description="rank_blend: weight of the vectors' rank.")
    rank_weight_lexical: float = Field(0.5, ge=0, description="rank_blend: weight of the words' rank.")
    named_paper_weight: float = Field(
        0.6,
        ge=0,
        description="Added to passages of papers that the question names (by file name, title, first page, year), as a "
        "share of the span of all scores; a clearly named paper is also searched by itself. 0: off. At 0 and 0.6: "
        "right report first in .53 and .85 of 40 questions of FinanceBench, gold page in five chunks .30 and .43; "
        "COVID-QA the same. Too high: passages of a named paper hide better ones of others.",
    )
    reranker: str = Field(
        "local:late-interaction",
        description="Who looks at the best candidates once more. local:late-interaction compares the words of question "
        "and passage one by one with the packaged model; see benchmarks/README.md for what it brings. "
        "none leaves the fused order. fastembed: a cross-encoder, e.g. "
        "fastembed:Xenova/ms-marco-MiniLM-L-6-v2, fetched once from its hub; folder: one on disk; cohere: Cohere's API "
        "or a server that speaks it (CO_API_URL); tei: Text Embeddings Inference (TEI_BASE_URL).",
    )
    reranker_timeout_s: float = Field(
        10.0,
        gt=0,
        description="Most seconds a cross-encoder or a reranker behind an API may take for one question; then the "
        "fused order stands, with a warning.",
    )
    reranked: int = Field(
        20,
        gt=0,
        description="Candidates the reranker looks at. 10 lose a little, 40 gain nothing on COVID-QA and Cranfield; "
        "each costs about 10 ms with the packaged model.",
    )
    store_token_vectors: bool = Field(
        False,
        description="Keep what late interaction and sentences compare with the index, reduced to 128 bytes per token "
        "(about 15 kB per passage, ten times its vector), made in the same pass as the vectors of local: models. Off: "
        "made for each question, about 10 ms per passage. On: ten times faster, about .01 less in the first chunk of "
        "COVID-QA.",
    )
    min_score: Share = Field(
        0.0,
        description="Passages whose relevance, as the reranker estimates it, is below this are not returned, nor those "
        "it did not look at. 0: no floor. Too high refuses what the corpus answers.",
    )
    generated_weight: Share = Field(
        0.7, description="Factor on the score of text that a model wrote (figure descriptions)."
    )
    neighbours: int = Field(1, ge=0, description="Passages of the same section added before and after a top hit.")
    expanded_hits: int = Field(
        5,
        ge=0,
        description="Top hits that bring their neighbours into the context. 0 cuts answers at the edge of a passage, "
        "too many crowd out other hits.",
    )
    budget_tokens: int = Field(
        10_000, gt=0, description="Tokens of context packed for an answerer; the best passage is packed in any case."
    )


class ExtractiveSettings(StageSettings):
    """How the embedded answerer chooses sentences. A group of its own: answers of a model do not depend on it."""

    max_claims: int = Field(4, gt=0, description="Most sentences of an extractive answer.")
    min_relevance: Share = Field(
        0.6,
        description="What a sentence must reach to answer a part of the question, or to bring in another paper; where "
        "none does, the answer is a refusal. Too low answers what the corpus does not say, too high refuses what it "
        "does: at 0.6, all of 100 COVID-QA questions are answered, 50 with the paper that answers them left out, none "
        "of another field, and 80 % of OHR-Bench; at 0.62, 98, 41, 0 and 76 % (benchmarks/refusal_threshold.py).",
    )
    table_rows: bool = Field(
        True, description="Rows of tables that the question names answer too, with the names of their columns."
    )
    answer_type_bonus: Share = Field(
        0.1,
        description="How much more relevant a sentence counts that holds what the question asks for: a number, a time, "
        "a person, a reason. 0 switches it off.",
    )
    missing_names: Literal["refuse", "say", "ignore"] = Field(
        "refuse",
        description="What to do about names of the question that stand nowhere in what was found. refuse: a missing "
        "proper name, code or drug is a refusal, a missing year, number or acronym is said. say: all are said.",
    )
    diversity: Share = Field(
        0.0,
        description="How much a sentence loses for repeating words of one already chosen (MMR). Repetitions are left "
        "out anyway; more finds no more answers and quotes more papers that cannot help.",
    )


class JudgeSettings(StageSettings):
    """Which model judges the claims, if any. A group of its own: a new judge asks for no answer again."""

    model: str = Field(
        "none",
        description="A model that says how well the quotes support each claim, as provider:model; recorded beside the "
        "embedded score. One more request per answer. none: no model is asked.",
    )


class AnsweringSettings(StageSettings):
    """How contexts become an answer."""

    model: str = Field(
        "extractive",
        description="Who writes the answer. extractive: sentences of the papers, no model is called. Otherwise "
        "provider:model, e.g. google:gemini-2.5-flash, anthropic:claude-sonnet-5-5, openai:gpt-5-mini, "
        "ollama:llama3.2. RAG_ASSETS_ANSWER_MODEL is a short name for it.",
    )
    max_output_tokens: int = Field(
        8192,
        gt=0,
        description="Most tokens a model may write for one answer, its reasoning included. Too low cuts replies off "
        "in the middle; the complete claims of such a reply are kept.",
    )
    k: int = Field(6, gt=0, description="Chunks retrieved for a question.")
    retry_extra_k: int = Field(4, gt=0, description="Chunks added for the one retry when too few papers are cited.")
    min_sources: int = Field(2, ge=1, description="Distinct papers an answer should cite.")
    extractive: ExtractiveSettings = ExtractiveSettings()
    judge: JudgeSettings = JudgeSettings()


class Floors(StageSettings):
    """The smoke evaluation fails below these."""

    recall_at_k: Share = 0.9
    mrr: Share = 0.7
    ndcg: Share = 0.7
    page_accuracy: Share = 0.8
    citation_coverage: Share = 1.0
    refusal_accuracy: Share = 0.9
    key_fact_recall: Share = 0.7
    max_drop: Share = Field(0.1, description="Most a metric may fall against the median of its last five runs.")


class EvaluationSettings(StageSettings):
    """What the smoke evaluation asks and demands."""

    k: int = Field(6, gt=0, description="Depth of recall@k, MRR and nDCG, in chunks.")
    floors: Floors = Floors()
