"""From a step to the response in which one provider words it."""

import json
from typing import assert_never

from rag_assets_testing.wire.exchange import Response, WireProtocol, WireRequest
from rag_assets_testing.wire.steps import (
    Answer,
    BadKey,
    ContextTooLong,
    EmptyReply,
    Overloaded,
    ProviderRefusal,
    QuotaExhausted,
    RateLimited,
    Reply,
    Status,
    Vectors,
)

Error = Status | RateLimited | QuotaExhausted | BadKey | ContextTooLong | Overloaded


def worded(step: Answer | Vectors, protocol: WireProtocol, request: WireRequest) -> Response:
    """A whole response: an answer, vectors or an error."""
    match step:
        case Reply():
            return protocol.reply(step, request)
        case EmptyReply():
            return protocol.empty_reply(request)
        case ProviderRefusal(stage):
            return protocol.refusal(stage, request)
        case Vectors():
            return protocol.vectors(request)
        case _:
            return _worded_error(step, protocol, request)


def _worded_error(step: Error, protocol: WireProtocol, request: WireRequest) -> Response:
    match step:
        case Status():
            return _status(step, protocol, request)
        case RateLimited(retry_after_s):
            return protocol.rate_limited(retry_after_s, request)
        case QuotaExhausted():
            return protocol.quota_exhausted(request)
        case BadKey():
            return protocol.bad_key(request)
        case ContextTooLong():
            return protocol.context_too_long(request)
        case Overloaded():
            return protocol.overloaded(request)
        case _:
            assert_never(step)


def _status(step: Status, protocol: WireProtocol, request: WireRequest) -> Response:
    if step.body is None:
        usual = protocol.status(step.code, request)
        return Response(usual.status, usual.body, {**usual.headers, **step.headers})
    if isinstance(step.body, bytes):
        return Response(step.code, step.body, step.headers)
    return Response(
        step.code,
        json.dumps(step.body).encode(),
        {"content-type": "application/json", **step.headers},
    )
