"""How the evidence for a question is found."""

from typing import Literal

from pydantic import Field

from rag_assets.settings.stage import Share, StageSettings


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
    named_section_weight: float = Field(
        0.6,
        ge=0,
        description='Added to passages below a heading that the question names ("in the cash flow statement", "in the '
        'discussion"), as named_paper_weight; where papers are clearly named, in these only. 0: off. At 0 and 0.6: '
        "gold page first for .13 and .23 of 40 questions of FinanceBench, in five chunks .45 and .55.",
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
        True,
        description="Keep what late interaction and sentences compare with the index, 102 bytes per token (about 11 kB "
        "per passage, seven times its vector), made in the same pass as the vectors of local: models. Off: made for "
        "each question, about 10 ms of processor time per passage and some 30 passages each; nothing is found better.",
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
