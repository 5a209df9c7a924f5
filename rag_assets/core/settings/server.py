"""How the HTTP server listens and what it refuses; part of no fingerprint.

The token that clients must show is no setting: it is read from RAG_ASSETS_SERVER_TOKEN in the environment or `.env`.
"""

from ipaddress import ip_address
from typing import Annotated

from pydantic import Field, StringConstraints

from rag_assets.core.settings.stage import StageSettings

HostName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._:\[\]-]+$", to_lower=True)]
Origin = Annotated[str, StringConstraints(pattern=r"^https?://[A-Za-z0-9._:\[\]-]+$", to_lower=True)]


class ServerSettings(StageSettings):
    """Address, limits and rates of `rag-assets serve`."""

    host: HostName = Field(
        "127.0.0.1",
        description="Address the server listens at. Any but this machine's own (127.0.0.1, ::1, localhost) needs a "
        "token: RAG_ASSETS_SERVER_TOKEN.",
    )
    port: int = Field(8000, ge=0, le=65535, description="Port the server listens at; 0: any that is free.")
    allowed_hosts: tuple[HostName, ...] = Field(
        (),
        description="Host names that requests may carry besides the server's own, such as that of a proxy. Without a "
        "token, any other name is refused: a page of another site could reach the server under a name of its own.",
    )
    cors_origins: tuple[Origin, ...] = Field(
        (), description="Origins whose pages may call the API, such as https://notes.example; empty: its own page only."
    )
    same_question_above: float | None = Field(
        None,
        ge=0.9,
        le=1,
        description="Cosine from which a question counts as one that was answered before: then that one's answer is "
        "given, and said to be. Filter, corpus, names, numbers and words that turn a meaning must agree, too. Empty: "
        "every question is answered for itself.",
    )
    max_body_kb: int = Field(1000, ge=64, description="Largest request, uploads aside, in kB.")
    max_upload_mb: float = Field(10.0, gt=0, description="Largest file that can be uploaded, in MB (10^6 bytes).")
    max_waiting: int = Field(
        256, ge=0, description="Questions that may wait for their turn; those that come then are told to come later."
    )
    questions_per_minute: int = Field(
        1200, gt=0, description="Questions, searches and checks of quotes that one client address may send in a minute."
    )
    uploads_per_minute: int = Field(
        300, gt=0, description="Uploads and deletions that one client address may send in a minute."
    )
    receive_timeout_s: float = Field(
        30.0, gt=0, description="Seconds a client may take to send a request, its header and its body each."
    )
    send_timeout_s: float = Field(
        60.0, gt=0, description="Seconds a client may leave a reply unread before it is disconnected."
    )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return self.host == "localhost"
