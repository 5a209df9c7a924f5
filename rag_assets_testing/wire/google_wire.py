"""The Gemini API: `generateContent` and `batchEmbedContents`, errors as google.rpc.Status."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rag_assets_testing.wire.exchange import (
    RawRequest,
    Response,
    UnknownPath,
    WireRequest,
    joined_text,
    json_response,
    proxy_page,
)
from rag_assets_testing.wire.steps import Reply
from rag_assets_testing.wire.vectors import text_vector

PATH = re.compile(
    r"^/v1(?:beta)?/models/(?P<model>[^:/]+):(?P<method>generateContent|batchEmbedContents)$"
)
FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "filtered": "SAFETY"}
MAX_TEXTS_PER_BATCH = 100
N_FULL_DIMENSIONS = 3072
LENGTH_OF_SHORTENED_VECTORS = 0.7
"""gemini-embedding-001 normalises only its full vectors; shorter ones have to be normalised by the
caller."""

ERRORS: Mapping[int, tuple[str, str]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: (
        "UNAUTHENTICATED",
        "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid "
        "authentication credential.",
    ),
    403: (
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or "
        "other form of API consumer identity to call this API.",
    ),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    500: ("INTERNAL", "An internal error has occurred. Please retry or report the problem."),
    503: ("UNAVAILABLE", "The service is currently unavailable."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}


class GoogleWire:
    """Gemini as the google-genai SDK speaks to it."""

    base_path = ""
    base_url_variable = "GOOGLE_GEMINI_BASE_URL"
    key_variable = "GOOGLE_API_KEY"
    key = "test-key-google-5f1c0d"

    def read(self, raw: RawRequest) -> WireRequest:
        """The model stands in the path, the key in a header of its own."""
        match = PATH.match(raw.path)
        if match is None:
            raise UnknownPath(
                f"Only generateContent and batchEmbedContents are served here, not {raw.path}."
            )
        model, key = match["model"], raw.headers.get("x-goog-api-key")
        if match["method"] == "batchEmbedContents":
            return _embedding_request(raw, model, key)
        config = raw.body.get("generationConfig", {})
        return WireRequest(
            raw=raw,
            kind="chat",
            model=model,
            key=key,
            system=joined_text(raw.body.get("systemInstruction", {}).get("parts")),
            messages=tuple(
                (turn["role"], joined_text(turn["parts"])) for turn in raw.body["contents"]
            ),
            schema=config.get("responseJsonSchema") or config.get("responseSchema"),
        )

    def reply(self, reply: Reply, request: WireRequest) -> Response:
        """One candidate with one part."""
        candidate = {
            "content": {"role": "model", "parts": [{"text": reply.text}]},
            "finishReason": FINISH[reply.finish],
            "index": 0,
        }
        return _generated([candidate], request, reply.n_input_tokens, reply.n_output_tokens)

    def empty_reply(self, request: WireRequest) -> Response:
        """No candidate at all, as Gemini answers now and then under load."""
        return _generated(None, request, 10, 0)

    def refusal(self, stage: Literal["prompt", "answer"], request: WireRequest) -> Response:
        """A blocked prompt has no candidates; a blocked answer is a candidate without content."""
        ratings = [
            {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
        ]
        if stage == "prompt":
            return _generated(None, request, 10, 0, {"blockReason": "PROHIBITED_CONTENT"})
        return _generated(
            [{"finishReason": "SAFETY", "index": 0, "safetyRatings": ratings}], request, 10, 0
        )

    def status(self, code: int, request: WireRequest) -> Response:
        """google.rpc.Status; a body too large and a bad gateway are answered by Google's front end,
        in HTML."""
        if code == 413:
            return proxy_page(413, "Request Entity Too Large")
        if code == 502:
            return proxy_page(502, "Bad Gateway")
        if code == 404:
            method = request.path.partition(":")[2]
            return _error(
                404,
                "NOT_FOUND",
                f"models/{request.model} is not found for API version v1beta, or is not supported for {method}. Call "
                "ListModels to see the list of available models and their supported methods.",
            )
        name, message = ERRORS[code]
        return _error(code, name, message)

    def rate_limited(self, retry_after_s: float | None, request: WireRequest) -> Response:
        """The wait stands in the body, as google.rpc.RetryInfo: Gemini sends no Retry-After
        header."""
        return _quota_error(
            "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", retry_after_s, request
        )

    def quota_exhausted(self, request: WireRequest) -> Response:
        """The same message as a rate limit, and a useless retryDelay; only the name of the quota
        differs."""
        return _quota_error("GenerateRequestsPerDayPerProjectPerModel-FreeTier", 30.0, request)

    def bad_key(self, request: WireRequest) -> Response:
        """A 400, not a 401."""
        details = [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
                "metadata": {"service": "generativelanguage.googleapis.com"},
            }
        ]
        return _error(
            400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", details
        )

    def context_too_long(self, request: WireRequest) -> Response:
        """Told apart from other invalid arguments by its wording only."""
        message = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
        return _error(400, "INVALID_ARGUMENT", message)

    def overloaded(self, request: WireRequest) -> Response:
        """A 503 that says so."""
        return _error(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")

    def vectors(self, request: WireRequest) -> Response:
        """At most 100 texts a batch, none of them empty."""
        if len(request.texts) > MAX_TEXTS_PER_BATCH:
            message = f"* BatchEmbedContentsRequest.requests: at most {MAX_TEXTS_PER_BATCH} requests can be in one batch\n"
            return _error(400, "INVALID_ARGUMENT", message)
        if not all(request.texts):
            return _error(400, "INVALID_ARGUMENT", "The text content is empty.")
        n_dimensions = request.n_dimensions or N_FULL_DIMENSIONS
        length = 1.0 if n_dimensions == N_FULL_DIMENSIONS else LENGTH_OF_SHORTENED_VECTORS
        embeddings = [
            {"values": [length * x for x in text_vector(text, n_dimensions)]}
            for text in request.texts
        ]
        return json_response(200, {"embeddings": embeddings})


def _embedding_request(raw: RawRequest, model: str, key: str | None) -> WireRequest:
    requests: Sequence[Mapping[str, Any]] = raw.body["requests"]
    return WireRequest(
        raw=raw,
        kind="embeddings",
        model=model,
        key=key,
        texts=tuple(joined_text(one["content"]["parts"]) for one in requests),
        n_dimensions=next(
            (one["outputDimensionality"] for one in requests if "outputDimensionality" in one), None
        ),
    )


def _generated(
    candidates: list[dict[str, Any]] | None,
    request: WireRequest,
    n_input_tokens: int,
    n_output_tokens: int,
    prompt_feedback: Mapping[str, str] | None = None,
) -> Response:
    body: dict[str, Any] = {} if candidates is None else {"candidates": candidates}
    if prompt_feedback is not None:
        body["promptFeedback"] = prompt_feedback
    body["usageMetadata"] = {
        "promptTokenCount": n_input_tokens,
        "candidatesTokenCount": n_output_tokens,
        "totalTokenCount": n_input_tokens + n_output_tokens,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": n_input_tokens}],
    }
    return json_response(200, {**body, "modelVersion": request.model, "responseId": "resp-wire-1"})


def _quota_error(quota_id: str, retry_after_s: float | None, request: WireRequest) -> Response:
    message = "You exceeded your current quota, please check your plan and billing details."
    violation = {
        "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
        "quotaId": quota_id,
        "quotaDimensions": {"location": "global", "model": request.model},
        "quotaValue": "10",
    }
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    ]
    if retry_after_s is not None:
        details.append(
            {
                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": f"{retry_after_s:g}s",
            }
        )
    return _error(429, "RESOURCE_EXHAUSTED", message, details)


def _error(
    code: int, status: str, message: str, details: Sequence[Mapping[str, Any]] = ()
) -> Response:
    error: dict[str, Any] = {"code": code, "message": message, "status": status}
    if details:
        error["details"] = list(details)
    return json_response(code, {"error": error})
