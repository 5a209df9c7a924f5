"""When and how the work is done: automation, models behind an API, execution, images of pages. It changes no result."""

import os

from pydantic import Field

from rag_assets.core.settings.stage import StageSettings


class AutomationSettings(StageSettings):
    """When things run by themselves."""

    nightly_cron: str = Field("0 2 * * *", description="When everything is brought up to date each night.")
    timezone: str = Field("UTC", description="IANA name of the time zone of nightly_cron.")
    sensor_interval_s: int = Field(
        60, ge=30, description="Seconds between two looks for new, changed or deleted papers and questions."
    )


class ProviderLimits(StageSettings):
    """How fast one provider is asked."""

    max_concurrent: int = Field(4, gt=0, description="Requests under way at once.")
    requests_per_minute: int = Field(60, gt=0, description="Requests begun in a minute, evenly spaced.")


class ModelAccessSettings(StageSettings):
    """How models behind an API are called, and what a run may spend; part of no fingerprint."""

    timeout_s: float = Field(
        120.0,
        gt=0,
        description="Seconds one request may take before it counts as failed. A question "
        "waits a sixth of it for queries that a model writes (retrieval.queries); then it is searched as it is.",
    )
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
        ProviderLimits(max_concurrent=1, requests_per_minute=600), description="Models on your own machine."
    )
    cohere: ProviderLimits = Field(ProviderLimits(), description="Rerankers: Cohere, or a server that speaks its API.")
    tei: ProviderLimits = Field(
        ProviderLimits(max_concurrent=1, requests_per_minute=600),
        description="Rerankers on a server of Text Embeddings Inference.",
    )

    @property
    def query_timeout_s(self) -> float:
        """Seconds a question waits for queries that a model writes, all attempts included: 20 by default. Then it is
        searched as it is."""
        return round(self.timeout_s / 6, 3)

    def limits_of(self, provider: str) -> ProviderLimits:
        """The limits of one of the providers above, by its name."""
        limits: ProviderLimits = getattr(self, provider)
        return limits


class ExecutionSettings(StageSettings):
    """How work is done; part of no fingerprint."""

    workers: int = Field(0, ge=0, description="Worker processes; 0 = one per core.")
    kept_mb: float = Field(
        500.0,
        ge=0,
        description="Replies of models (drafts of answers, verdicts, queries and so on), vectors of questions and "
        "images of pages are kept up to this many MB (10^6 bytes) of each kind, those not used for longest go first. "
        "A reply that is not kept is paid for again. 0 keeps none.",
    )

    @property
    def n_workers(self) -> int:
        return self.workers or os.cpu_count() or 1


class ReadingSettings(StageSettings):
    """What one page may cost."""

    timeout_s: float = Field(
        20.0, gt=0, description="Seconds one page may take to be drawn or searched; then its worker is killed."
    )
    max_memory_mb: int = Field(1024, gt=0, description="Address space a worker may add for one page, in MB.")
    max_workers: int = Field(2, gt=0, description="Pages drawn or searched at once, each in a process of its own.")
