"""The engine: the only way to ask the published corpus. It is opened once, shared by threads, and
always uses the newest publication."""

from rag_assets.answering.trace import (
    ClaimDropped,
    ClaimVerified,
    Event,
    Finished,
    PartBegun,
    Planned,
    Retrieved,
    Retrying,
)
from rag_assets.engine.engine import CODE_VERSION, Engine, open_engine

__all__ = [
    "CODE_VERSION",
    "ClaimDropped",
    "ClaimVerified",
    "Engine",
    "Event",
    "Finished",
    "PartBegun",
    "Planned",
    "Retrieved",
    "Retrying",
    "open_engine",
]
