"""Local servers that speak the providers' real protocols, for tests through the real SDKs.

`WireServer` is the way in: script it with the steps below, point an SDK at it, look at what it
recorded.
"""

from rag_assets_testing.wire.environment import Wire, use_wire_environment
from rag_assets_testing.wire.exchange import RawRequest, UnknownPath, WireRequest
from rag_assets_testing.wire.server import PROTOCOLS, ProtocolName, WireServer, WireServerFailed
from rag_assets_testing.wire.steps import (
    BadKey,
    Compressed,
    ContextTooLong,
    CutOff,
    Drop,
    EmptyReply,
    Garbage,
    Overloaded,
    ProviderRefusal,
    QuotaExhausted,
    RateLimited,
    Reply,
    Slow,
    Status,
    Step,
    Vectors,
)
from rag_assets_testing.wire.vectors import text_vector

__all__ = [
    "PROTOCOLS",
    "BadKey",
    "Compressed",
    "ContextTooLong",
    "CutOff",
    "Drop",
    "EmptyReply",
    "Garbage",
    "Overloaded",
    "ProtocolName",
    "ProviderRefusal",
    "QuotaExhausted",
    "RateLimited",
    "RawRequest",
    "Reply",
    "Slow",
    "Status",
    "Step",
    "UnknownPath",
    "Vectors",
    "Wire",
    "WireRequest",
    "WireServer",
    "WireServerFailed",
    "text_vector",
    "use_wire_environment",
]
