"""When and how the work is done: automation, models behind an API, execution, images of pages. It changes no result."""

import os

from pydantic import Field

from rag_assets.core.settings.stage import StageSettings


class AutomationSettings(StageSettings):
    """When things run by themselves."""

    nightly_cron: str = Field("0 2 * * *", description="When everything is brought up to date each night.")
    timezone: str = Field("UTC", description="IANA name of the time zone of nightly_cron.")


class ProviderLimits(StageSettings):
    """How fast one provider is asked."""

    max_concurrent: int = Field(4, gt=0, description="Requests under way at once.")
    requests_per_minute: int = Field(60, gt=0, description="Requests begun in a minute, evenly spaced.")


_RERANKERS = {"cohere": ProviderLimits(), "tei": ProviderLimits(max_concurrent=1, requests_per_minute=600)}


class ModelAccessSettings(StageSettings):
    """How models behind an API are called, and what a run may spend; part of no fingerprint."""

    timeout_s: float = Field(120.0, gt=0, description="Seconds one request may take before it counts as failed.")
    query_timeout_s: float = Field(
        20.0,
        gt=0,
        description="Seconds a question waits for queries that a model writes (retrieval.queries), all attempts "
        "included; then it is searched as it is.",
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

    def limits_of(self, provider: str) -> ProviderLimits:
        """The limits of a provider by its name; those of rerankers are not settings."""
        limits: ProviderLimits = _RERANKERS[provider] if provider in _RERANKERS else getattr(self, provider)
        return limits


class ExecutionSettings(StageSettings):
    """How work is done; part of no fingerprint."""

    workers: int = Field(0, ge=0, description="Worker processes; 0 = one per core.")
    embedding_batch: int = Field(64, gt=0, description="Passages embedded between two saves.")
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
    """How images of pages are made."""

    max_workers: int = Field(2, gt=0, description="Pages drawn or searched at once, each in a process of its own.")
