"""Anthropic's Messages API: `/v1/messages`. It has no embeddings.

Not streamed: pydantic-ai streams only where a request sets no `max_tokens`, and the project always
sets it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from rag_assets_testing.wire.exchange import (
    RawRequest,
    Response,
    UnknownPath,
    WireRequest,
    bearer_key,
    joined_text,
    json_response,
    proxy_page,
)
from rag_assets_testing.wire.steps import Reply

REQUEST_ID = {"request-id": "req_011CWireTest"}
STOP_REASONS = {"stop": "end_turn", "length": "max_tokens", "filtered": "refusal"}

ERRORS: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request_error", "messages: at least one message is required"),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "There's an issue with your billing or payment information."),
    403: (
        "permission_error",
        "Your API key does not have permission to use the specified resource.",
    ),
    413: ("request_too_large", "Request exceeds the maximum size"),
    429: ("rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit."),
    500: ("api_error", "Internal server error"),
    503: ("api_error", "Service temporarily unavailable"),
    504: ("timeout_error", "Request timed out"),
    529: ("overloaded_error", "Overloaded"),
}


class AnthropicWire:
    """Claude as the anthropic SDK speaks to it."""

    base_path = ""
    base_url_variable = "ANTHROPIC_BASE_URL"
    key_variable = "ANTHROPIC_API_KEY"
    key = "test-key-anthropic-81b7e2"

    def read(self, raw: RawRequest) -> WireRequest:
        """The system text is a field of its own; the schema stands in `output_config`."""
        if raw.path.partition("?")[0] != "/v1/messages":
            raise UnknownPath(f"Only /v1/messages is served here, not {raw.path}.")
        output_format = (
            raw.body.get("output_config", {}).get("format") or raw.body.get("output_format") or {}
        )
        return WireRequest(
            raw=raw,
            kind="chat",
            model=raw.body["model"],
            key=raw.headers.get("x-api-key")
            or bearer_key(raw.headers),  # the service takes both, SDKs differ
            system=joined_text(raw.body.get("system")),
            messages=tuple(
                (turn["role"], joined_text(turn["content"])) for turn in raw.body["messages"]
            ),
            schema=output_format.get("schema"),
        )

    def reply(self, reply: Reply, request: WireRequest) -> Response:
        """One text block."""
        content = [{"type": "text", "text": reply.text}]
        return _message(
            content,
            STOP_REASONS[reply.finish],
            request,
            reply.n_input_tokens,
            reply.n_output_tokens,
        )

    def empty_reply(self, request: WireRequest) -> Response:
        """A turn that ended before it began."""
        return _message([], "end_turn", request, 10, 0)

    def refusal(self, stage: Literal["prompt", "answer"], request: WireRequest) -> Response:
        """A 200 with `stop_reason` refusal and nothing written."""
        return _message([], "refusal", request, 10, 0)

    def status(self, code: int, request: WireRequest) -> Response:
        """The documented error type of each status; a bad gateway is the proxy's page."""
        if code == 502:
            return proxy_page(502, "Bad Gateway")
        if code == 404:
            return _error(404, "not_found_error", f"model: {request.model}")
        kind, message = ERRORS[code]
        return _error(code, kind, message)

    def rate_limited(self, retry_after_s: float | None, request: WireRequest) -> Response:
        """Whole seconds in Retry-After."""
        headers = {} if retry_after_s is None else {"retry-after": f"{retry_after_s:.0f}"}
        kind, message = ERRORS[429]
        return _error(
            429, kind, message, {"anthropic-ratelimit-requests-remaining": "0", **headers}
        )

    def quota_exhausted(self, request: WireRequest) -> Response:
        """A 400, told apart by its wording only."""
        message = (
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
            "purchase credits."
        )
        return _error(400, "invalid_request_error", message)

    def bad_key(self, request: WireRequest) -> Response:
        """A 401."""
        return self.status(401, request)

    def context_too_long(self, request: WireRequest) -> Response:
        """A 400, told apart by its wording only."""
        return _error(
            400, "invalid_request_error", "prompt is too long: 214308 tokens > 200000 maximum"
        )

    def overloaded(self, request: WireRequest) -> Response:
        """A status of Anthropic's own: 529."""
        return self.status(529, request)

    def vectors(self, request: WireRequest) -> Response:
        """Never reached: `read` knows no embeddings path."""
        raise UnknownPath("Anthropic serves no embeddings.")


def _message(
    content: list[dict[str, Any]],
    stop_reason: str,
    request: WireRequest,
    n_input_tokens: int,
    n_output_tokens: int,
) -> Response:
    body = {
        "id": "msg_01WireTest",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": n_input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": n_output_tokens,
            "service_tier": "standard",
        },
    }
    return json_response(200, body, REQUEST_ID)


def _error(
    code: int, kind: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    body = {
        "type": "error",
        "error": {"type": kind, "message": message},
        "request_id": REQUEST_ID["request-id"],
    }
    return json_response(code, body, {**REQUEST_ID, **(headers or {})})
