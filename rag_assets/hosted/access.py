"""The table of providers of models behind an API; the key and the address of one. Nothing here
sends a request.

A new provider is a row of `PROVIDERS` and a field in `ModelAccessSettings`. pydantic-ai's classes
are named as `module:class`; they are imported when a model is opened.

Keys come from the environment or `.env` (`settings.environment`), stay inside `Access`, and are
handed to a provider's client only: they are never logged, stored or shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from rag_assets.core.errors import InvalidSettings, MissingKey
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import environment

if TYPE_CHECKING:
    from pydantic_ai.profiles import ModelProfile

_CHECK_NAME = "Check the name of the model in the settings, and {variable} if it is set"


@dataclass(frozen=True)
class Sdk:
    """pydantic-ai's classes for one provider, each as `module:class`."""

    provider: str
    chat_model: str
    embedding_model: str = ""
    """Empty if the provider has no embedding models."""
    provider_arguments: tuple[str, ...] = ()
    """Further arguments of the provider's class, besides key, address and HTTP client."""
    profile: "Callable[[ModelProfile], ModelProfile] | None" = None
    """Corrects what pydantic-ai knows about a model."""


@dataclass(frozen=True)
class EmbeddingRequest:
    """Limits of one request for embeddings."""

    n_texts: int
    n_tokens: int


@dataclass(frozen=True)
class Provider:
    """How a provider is reached and what it can do."""

    key_variables: tuple[str, ...]
    """Variables that may hold the key; the first that is set wins."""
    base_url_variable: str
    """The name that the provider's SDK uses."""
    base_url: str
    """The provider's own address, from its SDK."""
    sdk: Sdk
    own_server_sdk: Sdk | None = None
    """For other servers with the provider's protocol, which need no key. None: the same as
    `sdk`."""
    embedding_request: EmbeddingRequest | None = None
    """None if the provider has no embedding models."""
    needs_key: bool = True
    is_free: bool = False
    path: str = ""
    """Appended to an address that does not end in it."""
    cuts_long_prompts: bool = False
    """Whether prompts longer than the model's context are cut without an error."""
    when_not_found: str = f"{_CHECK_NAME}."
    when_down: str = ""
    """Advice if it does not answer at its own address."""


def _older_limit_name(known: "ModelProfile") -> "ModelProfile":
    """Ollama reads only the older name of the limit of output tokens."""
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return merge_profile(
        known, OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    )


def _common_features(known: "ModelProfile") -> "ModelProfile":
    """The features that every server with OpenAI's protocol has.

    Most servers read only the older name of the limit of output tokens; OpenAI's reasoning models,
    which a proxy may serve, only the newer. Many do not know JSON mode without a schema.
    """
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    reasons = bool(known.get("openai_supports_reasoning", False))
    return merge_profile(
        known,
        OpenAIModelProfile(
            openai_chat_supports_max_completion_tokens=reasons, supports_json_object_output=False
        ),
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
        sdk=Sdk(
            "pydantic_ai.providers.anthropic:AnthropicProvider",
            "pydantic_ai.models.anthropic:AnthropicModel",
        ),
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
            profile=_common_features,
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

Sources of `embedding_request`: google, batchEmbedContents takes 100 texts; its limit of tokens is
stated for Vertex and kept here too. openai, API reference of `embeddings`, "input". ollama has no
limit; this one bounds the loss by a fault.
"""
EMBEDDING_REQUESTS = {
    name: row.embedding_request for name, row in PROVIDERS.items() if row.embedding_request
}


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*")
_KEY = re.compile(r"[!-~]+")
_HIDDEN = "[key]"
_SHORTEST_SECRET = 8


@dataclass(frozen=True)
class ModelName:
    """A model in the form of the settings: `provider:name`."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"

    @classmethod
    def parse(cls, text: str, *, setting: str, instead: str) -> Self:
        """Raises InvalidSettings for an unknown provider or an invalid name. instead: what else the
        setting may be."""
        provider, _, name = text.partition(":")
        if provider not in PROVIDERS or not _NAME.fullmatch(name):
            raise InvalidSettings(
                f"{setting} = {text!r} does not exist. It is {instead}, or a model behind an API as provider:model; "
                f"providers are {', '.join(PROVIDERS)}. For example google:gemini-2.5-flash."
            )
        return cls(provider, name)


@dataclass(frozen=True)
class Access:
    """Key and address of one provider."""

    provider: str
    key: SecretStr | None
    """None if no key is needed: Ollama, or the user's own server with OpenAI's protocol."""
    base_url: str = field(repr=False)
    """May hold a password, as `https://user:password@host`."""

    @property
    def server(self) -> str:
        """Hash of the address if it is not the provider's own, else empty: another server may give
        the same name to another model."""
        is_own = self.base_url == PROVIDERS[self.provider].base_url
        return "" if is_own else fingerprint(self.base_url)[:8]

    @property
    def sdk(self) -> Sdk:
        """The classes that reach the server."""
        provider = PROVIDERS[self.provider]
        return provider.own_server_sdk if provider.own_server_sdk and self.server else provider.sdk

    def model_id(self, model: ModelName) -> str:
        """The model's name in results: as in the settings, plus a hash of the server if not the
        provider's own."""
        return f"{model}@{self.server}" if self.server else str(model)

    def redacted(self, text: str) -> str:
        """Removes the key and the secrets in the address from `text`, in case a provider echoes
        them.

        Short ones stay: local servers have keys like "none", which are also words of papers.
        """
        address = urlsplit(self.base_url)
        secrets = [
            self.key.get_secret_value() if self.key else "",
            address.username,
            address.password,
            address.query,
        ]
        for secret in secrets:
            if secret and len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, _HIDDEN).replace(quote(secret, safe=""), _HIDDEN)
        return text


def require_access(provider: str) -> Access:
    """The key and address of `provider`.

    Raises MissingKey if a key is needed and no variable has one, InvalidSettings for an invalid
    address.
    """
    facts, variables = PROVIDERS[provider], environment()
    keys = (variables.get(name, "").strip() for name in facts.key_variables)
    key = next(filter(None, keys), None)
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidSettings(
            f"The key of {provider} ({' or '.join(facts.key_variables)}) holds blanks, line breaks or characters that "
            "no key has. Copy the key again, and nothing else."
        )
    base_url = variables.get(facts.base_url_variable, "").strip().rstrip("/") or facts.base_url
    if not is_address(base_url):
        raise InvalidSettings(
            f"{facts.base_url_variable} is not an address. Write it as http://host:port or https://host, with a path "
            "if the server needs one."
        )
    access = Access(
        provider, SecretStr(key) if key else None, base_url.removesuffix(facts.path) + facts.path
    )
    is_own_server = facts.own_server_sdk is not None and access.server
    if key is None and facts.needs_key and not is_own_server:
        raise MissingKey.of(provider, facts.key_variables)
    return access


def is_address(text: str) -> bool:
    """Whether a server can be reached under it: http or https with a host, in ASCII."""
    try:
        address = urlsplit(text)
        return (
            address.scheme in {"http", "https"}
            and bool(address.hostname)
            and address.port != 0
            and text.isascii()
        )
    except ValueError:
        return False
