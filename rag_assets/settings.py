"""Every tunable in one typed tree, and where its values come from.

Precedence, lowest first: the defaults here, `rag_assets.toml`, the environment and `.env`
(`RAG_ASSETS_CHUNKING__MAX_TOKENS=1100`), the Dagster launchpad. Data only: nothing here builds, opens or reads
anything but the settings themselves.

A class is a recompute boundary: it holds everything that changes one stage's result and nothing else, and its
fingerprint covers all its fields. What changes only how fast or where work is done lives in `ExecutionSettings`.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Any, Literal, Self

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from rag_assets.errors import InvalidSettings
from rag_assets.incremental import fingerprint
from rag_assets.model import Source

ENV_PREFIX = "RAG_ASSETS_"
CONFIG_FILE = "rag_assets.toml"
CONFIG_FILE_VARIABLE = f"{ENV_PREFIX}CONFIG"
ANSWER_MODEL_VARIABLE = f"{ENV_PREFIX}ANSWER_MODEL"
EMBEDDING_VARIABLES = ("EMBED_PROVIDER", "EMBED_MODEL")
DOTENV_FILE = Path(".env")
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class StageSettings(BaseModel):
    """Settings of one stage: frozen, without unknown keys, with a fingerprint over all fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def fingerprint(self) -> str:
        """32 hex digits that change whenever any field does."""
        return fingerprint(type(self).__name__, self.model_dump(mode="json"))


class ParseLimits(StageSettings):
    """What one file may cost. A file that was quarantined is tried again when a limit changes."""

    max_file_mb: float = Field(100.0, gt=0, description="Largest file that is opened, in MB (10^6 bytes).")
    max_pages: int = Field(3000, gt=0, description="Most pages of one document.")
    max_depth: int = Field(200, gt=0, description="Deepest nesting of XML, HTML or JSON that is followed.")
    timeout_s: float = Field(120.0, gt=0, description="Seconds one file may take; then its worker is killed.")
    max_memory_mb: int = Field(2048, gt=0, description="Address space a worker may add for one file, in MB.")


class ParsingSettings(StageSettings):
    """Everything else that changes the blocks of a paper."""

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
    min_tokens: int = Field(30, ge=0, description="Shorter sections are left out, unless they make up most of a paper.")
    min_chars: int = Field(80, ge=0, description="As min_tokens, in characters.")
    include_front: bool = Field(False, description="Chunk the abstract even if it is shorter than the minimum.")
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


class PassageSettings(StageSettings):
    """What a passage, the unit that is searched, looks like."""

    target_tokens: int = Field(
        160,
        gt=0,
        description="Size in the embedding model's own tokens; capped at what the model reads. 160 (200): answer in "
        "the first chunk of COVID-QA .696 (.655), in five .899 (.889), in 6,000 tokens .949 (.940); Cranfield nDCG@10 "
        ".398 (.408), see benchmarks/retrieval_quality.py. Too small cuts answers, too large blurs vectors.",
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


class IndexingSettings(StageSettings):
    """How the two indexes are built."""

    hnsw_m: int = Field(16, ge=4, le=128, description="Links a vector keeps in the HNSW graph (M).")
    hnsw_ef_construction: int = Field(200, ge=16, description="Candidates looked at while a vector is linked.")
    hnsw_ef_search: int = Field(200, ge=16, description="Candidates looked at while searching; too low loses recall.")


class RetrievalSettings(StageSettings):
    """How a question becomes hits and contexts."""

    candidates: int = Field(100, gt=0, description="Passages taken from each index before fusion.")
    fusion: Literal["convex", "rrf", "rank_blend"] = Field(
        "convex", description="How the two rankings become one; measured in benchmarks/retrieval_quality.py."
    )
    dense_weight: Share = Field(
        0.4,
        description="convex: weight of the vectors, 0 = words only, 1 = vectors only. 0.3, 0.4, 0.5: answer in five "
        "chunks of COVID-QA .894, .899, .896, in 6,000 tokens .951, .949, .943; Cranfield nDCG@10 .395, .398, .409.",
    )
    rrf_k: int = Field(60, gt=0, description="rrf: the constant of Cormack, Clarke and Buettcher 2009.")
    rank_weight_dense: float = Field(1.0, ge=0, description="rank_blend: weight of the vectors' rank.")
    rank_weight_lexical: float = Field(0.5, ge=0, description="rank_blend: weight of the words' rank.")
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


class AnsweringSettings(StageSettings):
    """How contexts become an answer, whoever writes it."""

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


class ExtractiveSettings(StageSettings):
    """How the embedded answerer chooses sentences; no concern of a model behind an API."""

    max_claims: int = Field(4, gt=0, description="Most sentences of an extractive answer.")
    min_relevance: Share = Field(
        0.45,
        description="A sentence below this relevance is not used; if none is left the answer is a refusal. Too low "
        "answers what the corpus does not say, too high refuses what it does: at 0.45, 96 % of COVID-QA questions "
        "are answered, 51 % with the paper that answers them left out, none of another field; at 0.5, 88, 36 and 0 "
        "(benchmarks/refusal_threshold.py).",
    )
    diversity: Share = Field(0.3, description="How much a sentence loses for repeating one already chosen (MMR).")


class JudgingSettings(StageSettings):
    """Whether a second model judges the claims; apart from `answering`, so that no answer is asked for again."""

    model: str = Field(
        "none",
        description="A model that says how well the quotes support each claim, as provider:model; recorded beside the "
        "embedded score. One more request an answer. none: no model is asked.",
    )


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


class AutomationSettings(StageSettings):
    """When things run by themselves."""

    nightly_cron: str = Field("0 2 * * *", description="When the nightly job runs.")
    timezone: str = Field("UTC", description="IANA name of the time zone of nightly_cron.")
    sweep_interval_s: int = Field(60, ge=30, description="Seconds between two looks at the papers folder.")


class ProviderLimits(StageSettings):
    """How fast one provider is asked."""

    max_concurrent: int = Field(4, gt=0, description="Requests under way at once.")
    requests_per_minute: int = Field(60, gt=0, description="Requests begun in a minute, evenly spaced.")


class ModelAccessSettings(StageSettings):
    """How models behind an API are called, and what a run may spend; changes no result, so part of no fingerprint."""

    timeout_s: float = Field(120.0, gt=0, description="Seconds one request may take before it counts as failed.")
    max_attempts: int = Field(
        5, gt=0, description="Times a request is sent before it is given up: rate limits, server errors, time-outs."
    )
    max_wait_s: float = Field(
        60.0, ge=0, description="Longest wait between two attempts; a provider that asks for more is not asked again."
    )
    budget_requests: int | None = Field(None, gt=0, description="Most requests of one run; empty: no limit.")
    budget_tokens: int | None = Field(
        None,
        gt=0,
        description="Most tokens of one run, read and written. Checked before each request, so a run may pass it by "
        "what is under way then.",
    )
    budget_usd: float | None = Field(
        None, gt=0, description="Most US dollars of one run, as budget_tokens; only for models whose price is known."
    )
    google: ProviderLimits = Field(ProviderLimits(), description="Gemini.")
    anthropic: ProviderLimits = Field(ProviderLimits(), description="Claude.")
    openai: ProviderLimits = Field(ProviderLimits(), description="OpenAI, or a server that speaks its protocol.")
    ollama: ProviderLimits = Field(
        ProviderLimits(max_concurrent=1, requests_per_minute=600), description="Models on a machine of one's own."
    )


class ExecutionSettings(StageSettings):
    """How work is done; changes no result, so it is part of no fingerprint."""

    workers: int = Field(0, ge=0, description="Worker processes; 0 = one a core.")
    embedding_batch: int = Field(64, gt=0, description="Passages embedded between two saves.")
    index_batch: int = Field(500, gt=0, description="Passages written to an index at once.")

    @property
    def n_workers(self) -> int:
        return self.workers or os.cpu_count() or 1


@dataclass(frozen=True)
class Paths:
    """Where everything lies below the data folder."""

    data: Path

    @property
    def papers(self) -> Path:
        return self.data / "papers"

    @property
    def questions(self) -> Path:
        return self.data / "questions"

    @property
    def cache(self) -> Path:
        return self.data / "cache"

    @property
    def documents(self) -> Path:
        """Parsed documents by content fingerprint, kept so that a killed run does not parse them again."""
        return self.cache / "documents"

    @property
    def parsed_index(self) -> Path:
        return self.cache / "parsed_index.parquet"

    @property
    def blocks(self) -> Path:
        return self.cache / "blocks.parquet"

    @property
    def chunks(self) -> Path:
        return self.cache / "chunks.parquet"

    @property
    def chunk_stats(self) -> Path:
        return self.cache / "chunk_stats.json"

    @property
    def tokenizer_pin(self) -> Path:
        return self.cache / "tokenizer.json"

    @property
    def passages(self) -> Path:
        return self.cache / "passages.parquet"

    @property
    def embeddings(self) -> Path:
        return self.cache / "embeddings"

    @property
    def models(self) -> Path:
        return self.cache / "models"

    @property
    def answers(self) -> Path:
        """Answers by fingerprint of question, contexts, prompt and model."""
        return self.cache / "answers"

    @property
    def verdicts(self) -> Path:
        """What a judging model said of claims, by claims and quotes."""
        return self.cache / "verdicts"

    @property
    def query_vectors(self) -> Path:
        """Vectors of questions by model and text, kept for models that cost money."""
        return self.cache / "query_vectors"

    @property
    def chroma(self) -> Path:
        return self.data / "index" / "chroma"

    @property
    def bm25(self) -> Path:
        return self.data / "index" / "bm25"

    @property
    def index_meta(self) -> Path:
        return self.cache / "index_meta.json"

    @property
    def qa(self) -> Path:
        return self.data / "output" / "qa.jsonl"

    @property
    def qa_meta(self) -> Path:
        """What the published answers were made from."""
        return self.cache / "qa_meta.json"

    @property
    def qa_audit(self) -> Path:
        return self.data / "logs" / "qa_audit.csv"

    @property
    def raw_replies(self) -> Path:
        """What models wrote that could not be understood as asked for, by the reply's fingerprint."""
        return self.data / "logs" / "replies"

    @property
    def evaluation(self) -> Path:
        return self.data / "output" / "eval"


class Settings(BaseSettings):
    """The whole tree."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX,
        env_nested_delimiter="__",
        extra="forbid",
        frozen=True,
    )

    data_dir: Path = Field(Path("data"), description="The data folder; relative to the working folder.")
    parsed_index: Path | None = Field(
        None,
        description="A parquet file with paper_id, parsed_xml_path, parsed_txt_path that names the papers instead of "
        "a sweep of data/papers; relative paths in it count from the folder of the file.",
    )
    questions: Path | None = Field(None, description="The question file; default data/questions/smoke.jsonl.")
    limits: ParseLimits = ParseLimits()
    parsing: ParsingSettings = ParsingSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    passages: PassageSettings = PassageSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    indexing: IndexingSettings = IndexingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    answering: AnsweringSettings = AnsweringSettings()
    extractive: ExtractiveSettings = ExtractiveSettings()
    judging: JudgingSettings = JudgingSettings()
    model_access: ModelAccessSettings = ModelAccessSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    automation: AutomationSettings = AutomationSettings()
    execution: ExecutionSettings = ExecutionSettings()

    @property
    def paths(self) -> Paths:
        return Paths(self.data_dir)

    @property
    def question_file(self) -> Path:
        return self.questions or self.paths.questions / "smoke.jsonl"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced below
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - named by pydantic-settings
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        toml = TomlConfigSettingsSource(settings_cls, Path(os.environ.get(CONFIG_FILE_VARIABLE, CONFIG_FILE)))
        dotenv = _OwnDotEnv(settings_cls, DOTENV_FILE)
        return init_settings, env_settings, dotenv, _ShortNames(settings_cls), toml


class _ShortNames(PydanticBaseSettingsSource):
    """Settings that the environment or `.env` may name as ADR 0004 does; the full names win over them."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - not used
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        variables = environment()
        if model := variables.get(ANSWER_MODEL_VARIABLE):
            found["answering"] = {"model": model}
        provider, embedder = (variables.get(name) for name in EMBEDDING_VARIABLES)
        if bool(provider) != bool(embedder):
            raise InvalidSettings(f"Set both {' and '.join(EMBEDDING_VARIABLES)}, or neither (environment or .env).")
        if provider:
            found["embedding"] = {"model": f"{provider}:{embedder}"}
        return found


def environment() -> dict[str, str]:
    """The variables of `.env` and, over them, those of the environment; where keys are looked up, too.

    Nothing of `.env` is put into the environment: what is in it is seen by nobody who does not ask.
    """
    written = dotenv_values(DOTENV_FILE) if DOTENV_FILE.is_file() else {}
    return {name: value for name, value in [*written.items(), *os.environ.items()] if value}


class _OwnDotEnv(DotEnvSettingsSource):
    """The lines of `.env` that are ours: users keep their API keys in the same file."""

    def _read_env_files(self) -> Mapping[str, str | None]:
        prefix = self.env_prefix.lower()
        short = ANSWER_MODEL_VARIABLE.lower()
        return {
            name: value
            for name, value in super()._read_env_files().items()
            if name.lower().startswith(prefix) and name.lower() != short
        }


def load_settings(overrides: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings; `overrides` (the launchpad, command line options) win over everything.

    Raises InvalidSettings with one line a wrong setting.
    """
    if unknown := _unknown_variables():
        known = [ANSWER_MODEL_VARIABLE, *(ENV_PREFIX + name.upper() for name in Settings.model_fields)]
        raise InvalidSettings(
            f"The environment or .env sets {', '.join(unknown)}, which name no setting. Known: {', '.join(known)} "
            "(and __FIELD behind a group)."
        )
    config = os.environ.get(CONFIG_FILE_VARIABLE)
    if config and not Path(config).is_file():
        raise InvalidSettings(f"{CONFIG_FILE_VARIABLE} names {config}, which is no file. Mend it or unset it.")
    try:
        return Settings(**dict(overrides or {}))
    except (SettingsError, TOMLDecodeError) as error:
        raise InvalidSettings(
            f"Settings cannot be read: {error}. Look into {config or CONFIG_FILE}, the environment and .env; a list "
            "or a group in the environment is written as JSON."
        ) from error
    except ValidationError as error:
        problems = [_problem(".".join(map(str, item["loc"])), item["type"], item["msg"]) for item in error.errors()]
        raise InvalidSettings(
            "Settings cannot be used (rag_assets.toml, environment, .env or launchpad):\n  " + "\n  ".join(problems)
        ) from error


def _problem(setting: str, kind: str, message: str) -> str:
    if kind != "extra_forbidden":
        return f"{setting}: {message}"
    alike = get_close_matches(setting, _names(Settings), n=1)
    return f"{setting}: there is no such setting" + (f"; is {alike[0]} meant?" if alike else "")


def _names(group: type[BaseModel], above: str = "") -> list[str]:
    """The settings of a group and of the groups in it, by their dotted names."""
    names = []
    for name, field in group.model_fields.items():
        below: Any = field.annotation
        is_group = isinstance(below, type) and issubclass(below, BaseModel)
        names += _names(below, f"{above}{name}.") if is_group else [above + name]
    return names


def _unknown_variables() -> list[str]:
    """Variables with our prefix that pydantic-settings would pass over in silence, or call by another name."""
    known = {name.upper() for name in Settings.model_fields}
    return sorted(
        name
        for name in environment()
        if name.startswith(ENV_PREFIX)
        and name not in {CONFIG_FILE_VARIABLE, ANSWER_MODEL_VARIABLE}
        and name.removeprefix(ENV_PREFIX).split("__")[0] not in known
    )
