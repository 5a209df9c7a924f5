"""The one way to ask the published corpus: opened once, shared by threads, always on the newest
publication."""

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
