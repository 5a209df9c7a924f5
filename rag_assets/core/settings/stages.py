"""What changes the result of a stage: how files become documents, chunks and passages, how the
evidence for a question is found, how it becomes an answer, and how answers are evaluated.

A class is a recompute boundary: it holds everything that changes one stage's result and nothing
else. Its fingerprint covers all its fields, but no class nested in it, which is a boundary of its
own. What changes no result is in `operation`.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rag_assets.core.domain import SourceFormat
from rag_assets.core.incremental import fingerprint

Share = Annotated[float, Field(ge=0.0, le=1.0)]
RankWeight = Annotated[float, Field(gt=0.0, le=100.0)]


class StageSettings(BaseModel):
    """Settings of one stage: frozen, without unknown keys, with a fingerprint over its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def fingerprint(self) -> str:
        """32 hex digits that change with every field; a group inside this one has a fingerprint of
        its own."""
        groups = {
            name
            for name in type(self).model_fields
            if isinstance(getattr(self, name), StageSettings)
        }
        return fingerprint(type(self).__name__, self.model_dump(mode="json", exclude=groups))


class ParseLimits(StageSettings):
    """Limits for one file, in a group of their own: a changed limit parses only papers with a
    failed file again."""

    max_file_mb: float = Field(
        100.0, gt=0, description="Largest file that is opened, in MB (10^6 bytes)."
    )
    max_pages: int = Field(3000, gt=0, description="Most pages of one document.")
    timeout_s: float = Field(
        120.0,
        gt=0,
        description="Seconds of processor time one file may take, or ten times that by the clock; then its worker is "
        "killed.",
    )
    max_memory_mb: int = Field(
        2048, gt=0, description="Address space a worker may add for one file, in MB."
    )


class ParsingSettings(StageSettings):
    """What changes the blocks of a paper."""

    use_text_txt: bool = Field(
        True,
        description="Read `x.txt` when `x.tei.xml` is missing, invalid or empty. Off: quarantine.",
    )
    source_order: tuple[SourceFormat, ...] = Field(
        (
            SourceFormat.TEI,
            SourceFormat.ADE,
            SourceFormat.DOCLING,
            SourceFormat.PDF,
            SourceFormat.MARKDOWN,
            SourceFormat.TEXT,
        ),
        min_length=1,
        description="Which file of a paper is parsed when it has several, best first; the others are linked.",
    )
    grobid: str = Field(
        "",
        description="Address of a GROBID server, such as http://127.0.0.1:8070. Every PDF without a better file beside "
        "it is sent there. Empty: nothing is sent.",
    )
    limits: ParseLimits = ParseLimits()


class EnrichmentSettings(StageSettings):
    """What is asked of registries on the internet."""

    contact: str = Field(
        "",
        pattern=r"^(?:[^@\s]+@[^@\s]+)?$",
        max_length=200,
        description="Your e-mail address. With one, Crossref and OpenAlex are asked about the DOIs of the papers: "
        "whether they are retracted, and what the papers and bibliographies do not say; the address goes with each "
        "request, as both ask for. Empty: nothing is asked.",
    )


class ChunkingSettings(StageSettings):
    """What a chunk, the unit that is read and cited, looks like."""

    target_tokens: int = Field(
        1000, gt=0, description="Wanted size. A cut is chosen between 2 x target - max and max."
    )
    max_tokens: int = Field(
        1200, gt=0, description="No chunk is longer; a longer sentence or row is cut."
    )
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
    min_chars: int = Field(80, ge=0, description="Like min_tokens, in characters.")
    include_front: bool = Field(
        False,
        description="Keep a short abstract a chunk of its own, not merged with other front matter.",
    )
    tokenizer: Literal["cl100k_base", "wordpiece"] = Field(
        "cl100k_base",
        description="Counts tokens: cl100k_base, as tiktoken does, or wordpiece, the vocabulary of all-MiniLM-L6-v2. "
        "Another one cuts all chunks anew.",
    )

    @model_validator(mode="after")
    def _sizes_are_ordered(self) -> Self:
        if self.target_tokens > self.max_tokens:
            raise ValueError(
                f"target_tokens ({self.target_tokens}) must not exceed max_tokens ({self.max_tokens})"
            )
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
        "asked. The gain was not measured.",
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
        "local:multilingual-e5-small-int8",
        description="provider:model. local: built from packaged weights: multilingual-e5-small-int8, a hundred "
        "languages; all-MiniLM-L6-v2-int8, English, which indexes in two thirds of the time and needs 70 MB less "
        "memory (docs/adr/0033); both without -int8 in 32 bits. "
        "fastembed: any model fastembed knows, fetched from "
        "its hub; google, openai, ollama: a model behind an API, e.g. google:gemini-embedding-001, openai:text-embedding-3-small, "
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
        description="Where the vectors are kept. chroma: below data/index; up to some 660,000 passages Chroma is "
        "written and audited and not searched: vectors are compared one by one (docs/python.md). qdrant: "
        "kept and searched there, for a corpus that one machine is too small for; see docs/qdrant.md; needs "
        "pip install 'rag_assets[qdrant]'.",
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
        description="Other wordings of each question, written by answering.model, that are searched too; one request "
        "per question for them and the passage. Off: what they bring was not measured, for want of a model.",
    )
    hypothetical_passage: bool = Field(
        False,
        description="Search also for the vector of a passage that a model writes as a possible answer (HyDE, Gao et "
        "al. 2022). Off, as variants.",
    )

    @property
    def asks_model(self) -> bool:
        """Whether any query is written by a model: that of answering.model."""
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
    dense_weight: Share | None = Field(
        None,
        description="convex: weight of the vectors, 0 = words only (no vector is made), 1 = vectors only. Empty: what "
        "was best for the model, 0.55 for multilingual-e5-small, 0.4 for all others. 0.4, 0.5, 0.6 with the first: "
        "answer in the first chunk of COVID-QA .733, .743, .741, in five .922, .926, .929.",
    )
    rank_weights: tuple[RankWeight, RankWeight] = Field(
        (1.0, 0.5),
        description="rank_blend: weights of a passage's rank among the vectors and of its rank among the words.",
    )
    generated_penalty: Share = Field(
        0.3,
        description="Share of its score that text written by a model, such as the description of a figure, loses. 0: "
        "it ranks like the authors' own words; 1: behind all of them.",
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
        description="Most tokens of context packed for an answerer; the best passage is packed in any case. A model is "
        "given 1,000 for each of the answering.k chunks and for the second and third part or paper that a question "
        "asks about: 6,000 to 8,000.",
    )
    neighbours: int = Field(
        1,
        ge=0,
        le=5,
        description="Passages of its section packed before and after each of the best hits. 0 loses answers that run "
        "over the edge of a passage, too many leave no room for other hits.",
    )

    @property
    def is_fused_by_server(self) -> bool:
        """Whether the vector store holds the words too and fuses what both find."""
        return self.fusion in ("server_rrf", "server_dbsf")


class ExtractiveSettings(StageSettings):
    """How the answerer without a model chooses sentences, in a group of its own: other answers do
    not depend on it."""

    max_claims: int = Field(
        4,
        gt=0,
        description="Most sentences of an extractive answer, or of a part of a thorough one.",
    )
    min_relevance: Share = Field(
        0.6,
        description="What a sentence must reach to answer a part of the question, or to bring in another paper; where "
        "none does, the answer is a refusal. Too low answers what the corpus does not say, too high refuses what it "
        "does: at 0.6, 95 of 100 COVID-QA questions are answered, 48 to 57 with the paper that answers them left out, "
        "7 of another field; at 0.7, 92 or 93, 46 to 51 and 2 to 4 (benchmarks/refusal_threshold.py).",
    )


class JudgeSettings(StageSettings):
    """Which model takes a second look at claims, in a group of its own: another judge asks for no
    new drafts."""

    model: str = Field(
        "same",
        description="A model that compares each claim with the places it rests on, in one small request for all "
        "claims of an answer: what they do not carry is not published, what they carry in part is mended or marked. "
        "same: the model that writes, which the answer then says; otherwise provider:model, better of another family "
        "than the one that writes. none: rules alone. "
        "Extractive answers are not judged. Of 280 wrong claims rules alone let about a third pass, with a second look "
        "by a capable model none (benchmarks/README.md).",
    )


Effort = Literal["quick", "thorough"]
AUTHOR_YEAR: Literal["author-year"] = "author-year"
NUMERIC: Literal["numeric"] = "numeric"
"""Styles of citing; answers are stored in the first."""


class ThoroughSettings(StageSettings):
    """Limits of a thorough answer: when one is reached, no further step is begun."""

    max_parts: int = Field(
        3, ge=1, le=5, description="Most parts of a question; 1: it is not taken apart."
    )
    max_iterations: int = Field(
        2,
        ge=0,
        le=5,
        description="How often parts without a verified claim are searched in other words; 0: never.",
    )
    max_requests: int = Field(
        20, ge=1, description="Requests to models for one question; kept replies do not count."
    )
    max_seconds: float | None = Field(
        None,
        gt=0,
        description="Time for one question; unset: as long as its requests take, each at most model_access.timeout_s. "
        "An answer that it cut short says so. A model on a laptop may take minutes for each of the parts.",
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
        "in the middle; nothing of such a reply is kept.",
    )
    k: int = Field(
        6,
        gt=0,
        description="Chunks retrieved for a question, or for each of its two parts; of more parts fewer each. A model "
        "reads passages of twice as many.",
    )
    min_sources: int = Field(2, ge=1, description="Distinct papers an answer should cite.")
    retry_extra_k: int = Field(
        4,
        ge=1,
        le=50,
        description="Chunks added to k for the one retry of an answer that cites fewer papers than min_sources.",
    )
    citation_style: Literal["author-year", "numeric"] = Field(
        AUTHOR_YEAR,
        description="How readers see papers cited. author-year: Lund & Moe (2019), p. 3. numeric: [1, p. 3], with the "
        "list of references below an answer. What is stored cites by authors and year: another style asks no question "
        "again.",
    )
    effort: Effort = Field(
        "quick",
        description="quick: one draft, one retry. thorough: each part of a question by itself, and parts that no "
        "verified claim answers again in other words; the bar for claims is the same.",
    )
    synthesis: bool = Field(
        True,
        description="Whether a model that answers also writes a paragraph above its claims, which orders, compares and "
        "counts them: one small request for an answer of two claims or more, and one of the judge, which cuts what the "
        "claims do not say. Without a judge (answering.judge.model = none) there is no paragraph.",
    )
    compress_to: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Share of the contexts, in characters, that a model behind an API is shown. Below 1, the sentences "
        "and table rows nearest to the question. COVID-QA, answer in what is shown: all .927, half .907, a third .887; "
        "as many tokens of whole passages (retrieval.budget_tokens): half .889, a third .852.",
    )
    thorough: ThoroughSettings = ThoroughSettings()
    extractive: ExtractiveSettings = ExtractiveSettings()
    judge: JudgeSettings = JudgeSettings()

    def fingerprint(self) -> str:
        """Fingerprint of the settings that change a draft: not the effort, which only decides how
        many drafts are asked for, nor the style that readers see, nor what is in the identity of
        the answerer.
        """
        others = {
            "thorough",
            "extractive",
            "judge",
            "effort",
            "compress_to",
            "citation_style",
            "synthesis",
        }
        return fingerprint(type(self).__name__, self.model_dump(mode="json", exclude=others))


class EvaluationSettings(StageSettings):
    """What an evaluation asks and demands."""

    floors: dict[str, float] = Field(
        {},
        description="Smallest accepted mean of a metric, or largest of one where less is better, by its name, e.g. "
        '{"page_accuracy": 0.7}; others keep the floor that docs/evaluation.md gives them.',
    )
    judge: str = Field(
        "none",
        description="A model, provider:model, that reads question, contexts and answer: faithfulness, answer "
        "relevance, correctness and the use of contexts. It must be of another family than the model that answers, "
        "which would pass its own errors. none: what needs a model is not measured.",
    )
