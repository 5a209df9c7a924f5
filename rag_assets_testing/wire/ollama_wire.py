"""Ollama's OpenAI-compatible endpoints: the same paths, other errors, no limits of an account."""

from collections.abc import Mapping
from typing import Literal

from rag_assets_testing.wire.exchange import (
    RawRequest,
    Response,
    UnknownField,
    WireRequest,
    json_response,
    proxy_page,
)
from rag_assets_testing.wire.openai_wire import FINISH, choice, completion, embeddings, read_openai
from rag_assets_testing.wire.steps import Reply
from rag_assets_testing.wire.vectors import n_words

N_DIMENSIONS = 768
MAX_TOKENS_PER_TEXT = 2048

MESSAGES: Mapping[int, str] = {
    400: "[] is too short - 'messages'",
    401: "unauthorized",
    403: "this model requires a subscription, upgrade for access",
    413: "request body too large",
    429: "you (test) have reached your hourly usage limit, please wait or upgrade",
    500: "llama runner process has terminated: exit status 2",
    503: "server busy, please try again.  maximum pending requests exceeded",
}


class OllamaWire:
    """A local model as pydantic-ai speaks to it, through the openai SDK."""

    base_path = "/v1"
    base_url_variable = "OLLAMA_BASE_URL"
    key_variable = "OLLAMA_API_KEY"
    key = "test-key-ollama-27d8f0"

    def read(self, raw: RawRequest) -> WireRequest:
        """As OpenAI reads it, but for the limit of an answer: Ollama silently ignores the newer
        name."""
        if "max_completion_tokens" in raw.body:
            raise UnknownField(
                "Ollama knows no max_completion_tokens: its name there is max_tokens."
            )
        return read_openai(raw)

    def reply(self, reply: Reply, request: WireRequest) -> Response:
        """One choice."""
        message = {"role": "assistant", "content": reply.text}
        return completion(
            [choice(message, FINISH[reply.finish])],
            request,
            reply.n_input_tokens,
            reply.n_output_tokens,
        )

    def empty_reply(self, request: WireRequest) -> Response:
        """A choice with an empty text: Ollama always sends one."""
        return completion([choice({"role": "assistant", "content": ""}, "stop")], request, 10, 0)

    def refusal(self, stage: Literal["prompt", "answer"], request: WireRequest) -> Response:
        """No filter of its own: the model declines in prose."""
        return self.reply(Reply("I'm sorry, but I can't help with that."), request)

    def status(self, code: int, request: WireRequest) -> Response:
        """One wording a status; a bad gateway comes from a proxy in front."""
        if code == 502:
            return proxy_page(502, "Bad Gateway")
        if code == 404:
            return _error(404, f"model '{request.model}' not found")
        return _error(code, MESSAGES[code])

    def rate_limited(self, retry_after_s: float | None, request: WireRequest) -> Response:
        """Ollama's cloud, or a gateway in front of a shared server; a local Ollama knows no
        rate."""
        headers = {} if retry_after_s is None else {"retry-after": f"{retry_after_s:.0f}"}
        return _error(429, MESSAGES[429], headers)

    def quota_exhausted(self, request: WireRequest) -> Response:
        """Not told apart from a rate limit."""
        return _error(429, MESSAGES[429])

    def bad_key(self, request: WireRequest) -> Response:
        """Ollama's cloud, or a gateway; a local Ollama asks for no key."""
        return self.status(401, request)

    def context_too_long(self, request: WireRequest) -> Response:
        """A model runner's wording; by default Ollama cuts the prompt silently instead."""
        return _error(400, "the input length exceeds the context length")

    def overloaded(self, request: WireRequest) -> Response:
        """The request queue is full."""
        return self.status(503, request)

    def vectors(self, request: WireRequest) -> Response:
        """No list of inputs may be missing; a text longer than the context is refused."""
        if not request.texts or request.texts == ("",):
            return _error(400, "invalid input")
        if any(n_words(text) > MAX_TOKENS_PER_TEXT for text in request.texts):
            return _error(400, "the input length exceeds the context length")
        return embeddings(request, request.n_dimensions or N_DIMENSIONS)


def _error(code: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    kind = {400: "invalid_request_error", 404: "not_found_error"}.get(code, "api_error")
    error = {"message": message, "type": kind, "param": None, "code": None}
    return json_response(code, {"error": error}, headers)
