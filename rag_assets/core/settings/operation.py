"""When and how the work is done: automation, models behind an API, execution, the HTTP server.

None of it changes a result, and no fingerprint covers it.
"""

import os
from ipaddress import ip_address
from typing import Annotated, NamedTuple

from pydantic import Field, StringConstraints

from rag_assets.core.settings.stages import StageSettings

HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:\[\]-]+$", to_lower=True)]
Origin = Annotated[
    str, StringConstraints(pattern=r"^https?://[A-Za-z0-9._:\[\]-]+$", to_lower=True)
]


class AutomationSettings(StageSettings):
    """When things run by themselves."""

    nightly_cron: str = Field(
        "0 2 * * *",
        description="When everything is brought up to date each night; read when the UI starts or reloads its code.",
    )
    timezone: str = Field("UTC", description="IANA name of the time zone of nightly_cron.")
    monthly_budget_usd: float | None = Field(
        None,
        gt=0,
        description="US dollars of all runs within 30 days from which on the nightly run is left out; empty: no limit. "
        "Each run has its own limit, model_access.budget_usd.",
    )
    notify: tuple[str, ...] = Field(
        (),
        description="Who is told of runs that fail, and of missed floors of the evaluation, while the UI runs: "
        "email:NAME@HOST, by the mail server of SMTP_URL (smtps://user:password@host, or smtp:// with STARTTLS); "
        "slack:CHANNEL, with SLACK_TOKEN and pip install 'rag_assets[slack]'. Both are secrets in the environment or "
        "`.env`.",
    )


class ProviderLimits(NamedTuple):
    """How fast one provider is asked."""

    max_concurrent: int
    requests_per_minute: int


_HOSTED = ProviderLimits(4, 60)
_ON_THIS_MACHINE = ProviderLimits(1, 600)


class ModelAccessSettings(StageSettings):
    """How models behind an API are called, and what a run may spend; part of no fingerprint."""

    timeout_s: float = Field(
        120.0,
        gt=0,
        description="Seconds one request may take before it counts as failed. A question "
        "waits a sixth of it for queries that a model writes (retrieval.queries); then it is searched as it is.",
    )
    max_attempts: int = Field(
        5,
        gt=0,
        description="Times a request is sent before it is given up: rate limits, server errors, time-outs.",
    )
    max_wait_s: float = Field(
        60.0,
        ge=0,
        description="Longest wait between two attempts; a provider that asks for more is not asked again.",
    )
    budget_requests: int | None = Field(
        None, gt=0, description="Most requests of one run; empty: no limit."
    )
    budget_tokens: int | None = Field(
        None,
        gt=0,
        description="Most tokens of one run, read and written. Checked before each request, so a run may pass it by "
        "what is under way then.",
    )
    budget_usd: float | None = Field(
        None,
        gt=0,
        description="Most US dollars of one run, as budget_tokens; only for models whose price is known.",
    )
    max_concurrent: int | None = Field(
        None,
        gt=0,
        description="Requests to one provider under way at once. Empty: 4, to Ollama 1.",
    )
    requests_per_minute: int | None = Field(
        None,
        gt=0,
        description="Requests to one provider begun in a minute, evenly spaced. Empty: 60, to Ollama 600.",
    )

    @property
    def query_timeout_s(self) -> float:
        """Seconds a question waits for queries that a model writes, all attempts included: 20 by
        default. Then it is searched as it is."""
        return round(self.timeout_s / 6, 3)

    def limits_of(self, provider: str) -> ProviderLimits:
        """The limits of a provider by its name."""
        own = _ON_THIS_MACHINE if provider == "ollama" else _HOSTED
        return ProviderLimits(
            self.max_concurrent or own.max_concurrent,
            self.requests_per_minute or own.requests_per_minute,
        )


class ExecutionSettings(StageSettings):
    """How work is done; part of no fingerprint."""

    workers: int = Field(0, ge=0, description="Worker processes on this machine; 0 = one per core.")
    cluster: str = Field(
        "",
        pattern=r"^((tcp|tls|ws|wss)://[A-Za-z0-9._:\[\]-]+)?$",
        description="Address of a Dask scheduler, such as tcp://scheduler:8786, whose workers do the work on papers "
        "(needs the extra dask). Empty: processes of this machine. The results are the same.",
    )
    kept_mb: float = Field(
        500.0,
        ge=0,
        description="Replies of models (drafts of answers, verdicts, queries and so on), vectors of questions and "
        "images of pages are kept up to this many MB (10^6 bytes) of each kind, those not used for longest go first. "
        "A reply that is not kept is paid for again. 0 keeps none.",
    )
    allow_removal: bool = Field(
        False,
        description="Publish although most papers are gone: all, or more than half of ten or more. To be set for one "
        "run (rag-assets run --allow-removal); otherwise a disk that is not mounted empties the corpus.",
    )

    @property
    def n_workers(self) -> int:
        return self.workers or os.cpu_count() or 1


class ServerSettings(StageSettings):
    """Address, limits and rates of `rag-assets serve`.

    The token that clients must show is a secret: RAG_ASSETS_SERVER_TOKEN in the environment or
    `.env`.
    """

    host: HostName = Field(
        "127.0.0.1",
        description="Address the server listens at. Any but this machine's own (127.0.0.1, ::1, localhost) needs a "
        "token: RAG_ASSETS_SERVER_TOKEN.",
    )
    port: int = Field(
        8000, ge=0, le=65535, description="Port the server listens at; 0: any that is free."
    )
    allowed_hosts: tuple[HostName, ...] = Field(
        (),
        description="Host names that requests may carry besides the server's own, such as that of a proxy. Without a "
        "token, any other name is refused: a page of another site could reach the server under a name of its own.",
    )
    cors_origins: tuple[Origin, ...] = Field(
        (),
        description="Origins whose pages may call the API, such as https://notes.example; empty: its own page only.",
    )
    max_upload_mb: float = Field(
        10.0, gt=0, description="Largest file that can be uploaded, in MB (10^6 bytes)."
    )
    questions_per_minute: int = Field(
        1200,
        gt=0,
        description="Questions, searches and checks of quotes that one client address may send in a minute.",
    )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"
