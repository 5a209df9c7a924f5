"""OpenAI's `/v1/chat/completions` and `/v1/embeddings`, and what compatible servers take over from
them."""

import base64
import struct
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
from rag_assets_testing.wire.vectors import n_words, text_vector

CREATED_S = 1_760_000_000
REQUEST_ID = {"x-request-id": "req_wire_test"}
FINISH = {"stop": "stop", "length": "length", "filtered": "content_filter"}
MAX_TEXTS_PER_REQUEST = 2048
MAX_TOKENS_PER_TEXT = 8192
MAX_TOKENS_PER_REQUEST = 300_000
N_FULL_DIMENSIONS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
}

ErrorFields = tuple[str, str, str | None, str | None]
"""message, type, param, code"""

ERRORS: Mapping[int, ErrorFields] = {
    400: ("Invalid value for 'messages'.", "invalid_request_error", "messages", "invalid_value"),
    403: (
        "You are not allowed to sample from this model",
        "invalid_request_error",
        None,
        "insufficient_permissions",
    ),
    413: ("The request body is too large.", "invalid_request_error", None, None),
    500: (
        "The server had an error while processing your request. Sorry about that!",
        "server_error",
        None,
        None,
    ),
    503: (
        "The engine is currently unavailable, please try again later",
        "server_error",
        None,
        None,
    ),
    504: ("The server timed out", "server_error", None, None),
}


class OpenAIWire:
    """GPT as the openai SDK speaks to it through chat completions."""

    base_path = "/v1"
    base_url_variable = "OPENAI_BASE_URL"
    key_variable = "OPENAI_API_KEY"
    key = "test-key-openai-c94a36"

    def read(self, raw: RawRequest) -> WireRequest:
        """Chat completions and embeddings share the key's header and the model's field."""
        return read_openai(raw)

    def reply(self, reply: Reply, request: WireRequest) -> Response:
        """One choice."""
        message: dict[str, Any] = {
            "role": "assistant",
            "content": reply.text,
            "refusal": None,
            "annotations": [],
        }
        return completion(
            [choice(message, FINISH[reply.finish])],
            request,
            reply.n_input_tokens,
            reply.n_output_tokens,
        )

    def empty_reply(self, request: WireRequest) -> Response:
        """No choice."""
        return completion([], request, 10, 0)

    def refusal(self, stage: Literal["prompt", "answer"], request: WireRequest) -> Response:
        """With a schema asked for, a refusal is a field beside the content, and the choice ends
        normally."""
        refusal = "I'm sorry, I can't assist with that request."
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None,
            "refusal": refusal,
            "annotations": [],
        }
        finish = "content_filter" if stage == "prompt" else "stop"
        return completion([choice(message, finish)], request, 10, 8)

    def status(self, code: int, request: WireRequest) -> Response:
        """The documented error object of each status; a bad gateway is the proxy's page."""
        if code == 502:
            return proxy_page(502, "Bad Gateway")
        if code == 401:
            return _error(401, _wrong_key(request))
        if code == 404:
            message = f"The model `{request.model}` does not exist or you do not have access to it."
            return _error(404, (message, "invalid_request_error", None, "model_not_found"))
        if code == 429:
            return self.rate_limited(None, request)
        return _error(code, ERRORS[code])

    def rate_limited(self, retry_after_s: float | None, request: WireRequest) -> Response:
        """Both forms of the header: whole seconds, and milliseconds."""
        message = (
            f"Rate limit reached for {request.model} in organization org-wire on requests per min (RPM): Limit 3, "
            "Used 3, Requested 1."
        )
        wait = {}
        if retry_after_s is not None:
            wait = {
                "retry-after": f"{retry_after_s:.0f}",
                "retry-after-ms": f"{retry_after_s * 1000:.0f}",
            }
        fields = (message, "requests", None, "rate_limit_exceeded")
        return _error(429, fields, {"x-ratelimit-remaining-requests": "0", **wait})

    def quota_exhausted(self, request: WireRequest) -> Response:
        """A 429 like a rate limit; only the code tells."""
        message = "You exceeded your current quota, please check your plan and billing details."
        return _error(429, (message, "insufficient_quota", None, "insufficient_quota"))

    def bad_key(self, request: WireRequest) -> Response:
        """A 401 whose message quotes the key, all but its ends starred out."""
        return _error(401, _wrong_key(request))

    def context_too_long(self, request: WireRequest) -> Response:
        """A 400 with a code of its own."""
        message = (
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 310023 tokens. "
            "Please reduce the length of the messages."
        )
        return _error(
            400, (message, "invalid_request_error", "messages", "context_length_exceeded")
        )

    def overloaded(self, request: WireRequest) -> Response:
        """A 503 with a code of its own."""
        message = "Our servers are currently overloaded. Please try again later."
        return _error(503, (message, "service_unavailable_error", None, "server_is_overloaded"))

    def vectors(self, request: WireRequest) -> Response:
        """At most 2048 texts, 8192 tokens each and 300 000 in all; no text is empty."""
        fault = _input_fault(request)
        if fault is not None:
            return _error(400, fault)
        return embeddings(
            request, request.n_dimensions or N_FULL_DIMENSIONS.get(request.model, 1536)
        )


def read_openai(raw: RawRequest) -> WireRequest:
    """A request to an OpenAI-compatible server. Raises `UnknownPath`."""
    body, key = raw.body, bearer_key(raw.headers)
    if raw.path == "/v1/embeddings":
        texts = (body["input"],) if isinstance(body["input"], str) else tuple(body["input"])
        return WireRequest(
            raw, "embeddings", body["model"], key, texts=texts, n_dimensions=body.get("dimensions")
        )
    if raw.path != "/v1/chat/completions" or body.get("stream"):
        raise UnknownPath(f"Only unstreamed /v1/chat/completions is served here, not {raw.path}.")
    turns = [(turn["role"], joined_text(turn.get("content"))) for turn in body["messages"]]
    return WireRequest(
        raw=raw,
        kind="chat",
        model=body["model"],
        key=key,
        system="\n".join(text for role, text in turns if role in {"system", "developer"}),
        messages=tuple(turn for turn in turns if turn[0] not in {"system", "developer"}),
        schema=(body.get("response_format") or {}).get("json_schema", {}).get("schema"),
    )


def choice(message: Mapping[str, Any], finish_reason: str) -> dict[str, Any]:
    """One choice of a completion."""
    return {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}


def completion(
    choices: list[dict[str, Any]], request: WireRequest, n_input_tokens: int, n_output_tokens: int
) -> Response:
    """A chat completion object."""
    body = {
        "id": "chatcmpl-wire-1",
        "object": "chat.completion",
        "created": CREATED_S,
        "model": request.model,
        "choices": choices,
        "usage": {
            "prompt_tokens": n_input_tokens,
            "completion_tokens": n_output_tokens,
            "total_tokens": n_input_tokens + n_output_tokens,
        },
    }
    return json_response(200, body, REQUEST_ID)


def embeddings(request: WireRequest, n_dimensions: int) -> Response:
    """A list of embeddings as numbers, or as base64 of little-endian float32 where the request asks
    for it."""
    data = []
    for index, text in enumerate(request.texts):
        vector: list[float] | str = text_vector(text, n_dimensions)
        if request.body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{n_dimensions}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    n_tokens = sum(n_words(text) for text in request.texts)
    usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
    return json_response(
        200, {"object": "list", "data": data, "model": request.model, "usage": usage}, REQUEST_ID
    )


def _input_fault(request: WireRequest) -> ErrorFields | None:
    texts = request.texts
    if not texts or not all(texts):
        return (
            "'$.input' is invalid. Please check the API reference.",
            "invalid_request_error",
            None,
            None,
        )
    if len(texts) > MAX_TEXTS_PER_REQUEST:
        message = (
            f"Invalid 'input': array too long. Expected an array with maximum length {MAX_TEXTS_PER_REQUEST}, but got "
            f"an array with length {len(texts)} instead."
        )
        return message, "invalid_request_error", "input", "array_above_max_length"
    n_tokens = [n_words(text) for text in texts]
    if max(n_tokens) > MAX_TOKENS_PER_TEXT:
        message = (
            f"This model's maximum context length is {MAX_TOKENS_PER_TEXT} tokens, however you requested "
            f"{max(n_tokens)} tokens ({max(n_tokens)} in your prompt; 0 for the completion). Please reduce your "
            "prompt; or completion length."
        )
        return message, "invalid_request_error", None, None
    if sum(n_tokens) > MAX_TOKENS_PER_REQUEST:
        message = (
            f"Requested {sum(n_tokens)} tokens, max {MAX_TOKENS_PER_REQUEST} tokens per request"
        )
        return message, "max_tokens_per_request", None, "max_tokens_per_request"
    return None


def _wrong_key(request: WireRequest) -> ErrorFields:
    key = request.key or ""
    starred = f"{key[:8]}{'*' * max(len(key) - 12, 0)}{key[-4:]}"
    return (
        f"Incorrect API key provided: {starred}.",
        "invalid_request_error",
        None,
        "invalid_api_key",
    )


def _error(code: int, fields: ErrorFields, headers: Mapping[str, str] | None = None) -> Response:
    message, kind, param, name = fields
    error = {"message": message, "type": kind, "param": param, "code": name}
    return json_response(code, {"error": error}, {**REQUEST_ID, **(headers or {})})
