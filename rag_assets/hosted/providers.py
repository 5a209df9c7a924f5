"""The table of providers of models behind an API. A new provider is a row here and a field in `ModelAccessSettings`.

pydantic-ai's classes are named as `module:class` and imported when a model is opened: importing this module imports no
SDK.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.providers import Provider as SdkProvider

    from rag_assets.hosted.access import Access

_NO_KEY = "none-needed"
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
EMBEDDING_REQUESTS = {name: row.embedding_request for name, row in PROVIDERS.items() if row.embedding_request}
"""Of the providers that have embedding models."""


def sdk_of(access: "Access") -> Sdk:
    """The classes that reach the server of `access`."""
    provider = PROVIDERS[access.provider]
    return provider.own_server_sdk if provider.own_server_sdk and access.server else provider.sdk


def open_sdk_provider(access: "Access", client: "AsyncClient") -> "SdkProvider[Any]":
    """pydantic-ai's provider object. SDKs that retry by themselves are told not to: `Connection` waits and counts."""
    logging.getLogger("google_genai._api_client").addFilter(_is_not_about_two_keys)
    sdk, key = sdk_of(access), access.key.get_secret_value() if access.key else _NO_KEY
    opened: SdkProvider[Any] = resolve_name(sdk.provider)(
        *sdk.provider_arguments, api_key=key, base_url=access.base_url, http_client=client
    )
    if hasattr(opened.client, "max_retries"):
        opened.client.max_retries = 0
    return opened


def open_chat_model(name: str, access: "Access", sdk_provider: "SdkProvider[Any]") -> "Model":
    sdk = sdk_of(access)
    model_class = resolve_name(sdk.chat_model)
    model: Model = model_class(name, provider=sdk_provider)
    return model_class(name, provider=sdk_provider, profile=sdk.profile(model.profile)) if sdk.profile else model


def open_embedding_model(
    name: str, access: "Access", sdk_provider: "SdkProvider[Any]", n_dimensions: int | None
) -> "EmbeddingModel":
    """n_dimensions: length of the vectors to ask for; None asks for the model's own."""
    from pydantic_ai.embeddings import EmbeddingSettings

    settings = EmbeddingSettings(dimensions=n_dimensions) if n_dimensions else None
    model: EmbeddingModel = resolve_name(sdk_of(access).embedding_model)(name, provider=sdk_provider, settings=settings)
    return model


def _is_not_about_two_keys(record: logging.LogRecord) -> bool:
    """Where both variables are set, Google's SDK says which one it takes, although it was handed one."""
    return "Both GOOGLE_API_KEY and GEMINI_API_KEY" not in record.getMessage()
