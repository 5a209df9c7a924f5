"""The table of providers of models behind an API. A new provider is a row here and a field in `ModelAccessSettings`.

pydantic-ai's classes are named as `module:class`; they are imported when a model is opened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_ai.profiles import ModelProfile

_CHECK_NAME = "Check the name of the model in the settings, and {variable} if it is set"


@dataclass(frozen=True)
class Sdk:
    """pydantic-ai's classes for one provider, each as `module:class`."""

    provider: str
    chat_model: str
    embedding_model: str = ""
    """Empty where the provider has no embedding models."""
    provider_arguments: tuple[str, ...] = ()
    """What the provider's class needs besides key, address and HTTP client."""
    profile: "Callable[[ModelProfile], ModelProfile] | None" = None
    """Corrects what pydantic-ai knows of a model."""


@dataclass(frozen=True)
class EmbeddingRequest:
    """What one request for embeddings may hold."""

    n_texts: int
    n_tokens: int


@dataclass(frozen=True)
class Provider:
    """How a provider is reached and what it can do."""

    key_variables: tuple[str, ...]
    """Variables that may hold the key; the first that is set wins."""
    base_url_variable: str
    """As the provider's own SDK names it."""
    base_url: str
    """The provider's own, as its SDK has it."""
    sdk: Sdk
    own_server_sdk: Sdk | None = None
    """For any other server that speaks the provider's protocol, which needs no key. None: the same as `sdk`."""
    embedding_request: EmbeddingRequest | None = None
    """None where the provider has no embedding models."""
    needs_key: bool = True
    is_free: bool = False
    path: str = ""
    """Added to an address that does not end in it."""
    cuts_long_prompts: bool = False
    """Leaves out, without an error, what the model's context does not hold."""
    when_not_found: str = f"{_CHECK_NAME}."
    when_down: str = ""
    """What to check when it does not answer at its own address."""


def _older_limit_name(known: "ModelProfile") -> "ModelProfile":
    """Ollama reads the older name of an answer's limit only."""
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return merge_profile(known, OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False))


def _what_every_server_reads(known: "ModelProfile") -> "ModelProfile":
    """The features that every server with OpenAI's protocol has.

    Most servers read only the older name of an answer's limit; OpenAI's reasoning models, which may stand behind a
    proxy, only the newer. JSON mode without a schema is unknown to many.
    """
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    reasons = bool(known.get("openai_supports_reasoning", False))
    return merge_profile(
        known,
        OpenAIModelProfile(openai_chat_supports_max_completion_tokens=reasons, supports_json_object_output=False),
    )


_OPENAI_CHAT = "pydantic_ai.models.openai:OpenAIChatModel"
_OPENAI_EMBEDDING = "pydantic_ai.embeddings.openai:OpenAIEmbeddingModel"
PROVIDERS = {
    "google": Provider(
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        base_url_variable="GOOGLE_GEMINI_BASE_URL",
        base_url="https://generativelanguage.googleapis.com",
        sdk=Sdk(
            "pydantic_ai.providers.google:GoogleProvider",
            "pydantic_ai.models.google:GoogleModel",
            "pydantic_ai.embeddings.google:GoogleEmbeddingModel",
        ),
        embedding_request=EmbeddingRequest(100, 20_000),
    ),
    "anthropic": Provider(
        key_variables=("ANTHROPIC_API_KEY",),
        base_url_variable="ANTHROPIC_BASE_URL",
        base_url="https://api.anthropic.com",
        sdk=Sdk("pydantic_ai.providers.anthropic:AnthropicProvider", "pydantic_ai.models.anthropic:AnthropicModel"),
    ),
    "openai": Provider(
        key_variables=("OPENAI_API_KEY",),
        base_url_variable="OPENAI_BASE_URL",
        base_url="https://api.openai.com/v1",
        sdk=Sdk("pydantic_ai.providers.openai:OpenAIProvider", _OPENAI_CHAT, _OPENAI_EMBEDDING),
        own_server_sdk=Sdk(
            "pydantic_ai.providers.openai_compatible:OpenAICompatibleProvider",
            _OPENAI_CHAT,
            _OPENAI_EMBEDDING,
            provider_arguments=("openai-compatible",),
            profile=_what_every_server_reads,
        ),
        embedding_request=EmbeddingRequest(2048, 300_000),
        when_not_found=f"{_CHECK_NAME}: most addresses end in /v1.",
    ),
    "ollama": Provider(
        key_variables=("OLLAMA_API_KEY",),
        base_url_variable="OLLAMA_BASE_URL",
        base_url="http://localhost:11434/v1",
        sdk=Sdk(
            "pydantic_ai.providers.ollama:OllamaProvider",
            "pydantic_ai.models.ollama:OllamaModel",
            _OPENAI_EMBEDDING,
            profile=_older_limit_name,
        ),
        embedding_request=EmbeddingRequest(64, 100_000),
        needs_key=False,
        is_free=True,
        path="/v1",
        cuts_long_prompts=True,
        when_not_found=f"Fetch the model with `ollama pull`. {_CHECK_NAME}.",
        when_down="Check that Ollama runs (ollama serve) where {variable} says",
    ),
}
"""By the name before the colon in `provider:model`.

Sources of `embedding_request`: google, batchEmbedContents takes 100 texts; its limit of tokens is stated for Vertex and
kept here too. openai, API reference of `embeddings`, "input". ollama has no limit; this one bounds what a fault loses.
"""
_PLAIN_HTTP = Sdk("", "")
"""No SDK: `Connection.post` sends the requests."""
RERANK_PROVIDERS = {
    "cohere": Provider(
        key_variables=("CO_API_KEY", "COHERE_API_KEY"),
        base_url_variable="CO_API_URL",
        base_url="https://api.cohere.com/v2",
        sdk=_PLAIN_HTTP,
        own_server_sdk=_PLAIN_HTTP,
        when_not_found=f"{_CHECK_NAME}: /rerank is added to it.",
    ),
    "tei": Provider(
        key_variables=("TEI_API_KEY",),
        base_url_variable="TEI_BASE_URL",
        base_url="http://localhost:8080",
        sdk=_PLAIN_HTTP,
        needs_key=False,
        is_free=True,
        when_not_found=f"{_CHECK_NAME}: /rerank is added to it.",
        when_down="Check that the server runs where {variable} says",
    ),
}
"""As PROVIDERS, of rerankers. cohere: Cohere's own API, and servers that speak it (vLLM, Infinity), which need no key.
tei: Text Embeddings Inference, whose requests look different."""
ALL_PROVIDERS = PROVIDERS | RERANK_PROVIDERS
EMBEDDING_REQUESTS = {name: row.embedding_request for name, row in PROVIDERS.items() if row.embedding_request}
"""Of the providers that have embedding models."""
