"""The providers of models behind an API, and the key and address of each. Nothing here sends a
request.

A new provider is a row of `PROVIDERS` and a field in `ModelAccessSettings`. pydantic-ai's classes
are named as `module:class`; they are imported when a model is opened.

Keys come from the environment or `.env` (`settings.key_for`). They stay inside `Access` and are
given to a provider's client only: they are never logged, stored or shown.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from rag_assets.core.errors import InvalidSettings, MissingKey
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import environment, host_of, key_for

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
    """Further arguments of the provider's class, in addition to key, address and HTTP client."""
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
    """The environment variable with the address; the provider's SDK uses the same name."""
    base_url: str
    """The provider's own address, from its SDK."""
    sdk: Sdk
    own_server_sdk: Sdk | None = None
    """Used for other servers with the provider's protocol, which need no key. None: `sdk` is
    used."""
    embedding_request: EmbeddingRequest | None = None
    """None if the provider has no embedding models."""
    needs_key: bool = True
    is_free: bool = False
    path: str = ""
    """Appended to an address that does not end with it."""
    cuts_long_prompts: bool = False
    """Whether prompts longer than the model's context are cut without an error."""
    when_not_found: str = f"{_CHECK_NAME}."
    """Advice if the model or the address does not exist. {variable} is replaced by
    `base_url_variable`."""
    when_down: str = ""
    """Advice if the provider does not answer at its own address."""


def _older_limit_name(profile: "ModelProfile") -> "ModelProfile":
    """pydantic-ai's facts about a model of Ollama, with the older name of the limit of output
    tokens: Ollama reads no other."""
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    return merge_profile(
        profile, OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    )


def _common_features(profile: "ModelProfile") -> "ModelProfile":
    """pydantic-ai's facts about a model, reduced to what every server with OpenAI's protocol can
    do.

    Most servers read only the older name of the limit of output tokens. OpenAI's reasoning models,
    which a proxy may serve, read only the newer name. Many servers have no JSON mode without a
    schema.
    """
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    is_reasoning = bool(profile.get("openai_supports_reasoning", False))
    return merge_profile(
        profile,
        OpenAIModelProfile(
            openai_chat_supports_max_completion_tokens=is_reasoning,
            supports_json_object_output=False,
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
"""The providers, by the name before the colon in `provider:model`.

Sources of `embedding_request`: google: batchEmbedContents accepts 100 texts; the limit of tokens is
documented for Vertex only, and used here too. openai: API reference of `embeddings`, "input".
ollama has no limit; the one here limits what is lost if a request fails.
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
        """The model that a setting names. Raises InvalidSettings for an unknown provider or an
        invalid name. setting, instead: the setting's name and its other values, for the message."""
        provider, _, name = text.partition(":")
        if provider not in PROVIDERS or not _NAME.fullmatch(name):
            raise InvalidSettings(
                f"{setting} = {text!r} does not exist. It is {instead}, or a model behind an API as provider:model; "
                f"providers are {', '.join(PROVIDERS)}. For example google:gemini-2.5-flash."
            )
        return cls(provider, name)

    @classmethod
    def of_answers(cls, text: str) -> Self:
        """The value of `answering.model`, where it is not "extractive". Raises as `parse`."""
        return cls.parse(text, setting="answering.model", instead="extractive")


@dataclass(frozen=True)
class Access:
    """Key and address of one provider."""

    provider: str
    key: SecretStr | None
    """None if no key is needed: Ollama, or the user's own server with OpenAI's protocol."""
    base_url: str = field(repr=False)
    """May contain a password: `https://user:password@host`."""

    @property
    def server(self) -> str:
        """Empty for the provider's own address, otherwise a hash of the address: another server may
        use the same name for another model."""
        is_own = self.base_url == PROVIDERS[self.provider].base_url
        return "" if is_own else fingerprint(self.base_url)[:8]

    @property
    def sdk(self) -> Sdk:
        """pydantic-ai's classes for this server."""
        provider = PROVIDERS[self.provider]
        return provider.own_server_sdk if provider.own_server_sdk and self.server else provider.sdk

    def model_id(self, model: ModelName) -> str:
        """The model's name in results: as in the settings, with "@" and a hash if the server is not
        the provider's own."""
        return f"{model}@{self.server}" if self.server else str(model)

    def redacted(self, text: str) -> str:
        """The text without the key and the secrets in the address, which a provider may repeat in
        its messages.

        Secrets of fewer than 8 characters are not removed: local servers have keys like "none",
        which is also an ordinary word.
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

    Raises MissingKey if a key is needed and none is set, InvalidSettings for an invalid key or
    address, and as `key_for`.
    """
    provider_facts = PROVIDERS[provider]
    written = environment().get(provider_facts.base_url_variable, "")
    base_url = written.strip().rstrip("/") or provider_facts.base_url
    host_of(provider_facts.base_url_variable, base_url)
    base_url = base_url.removesuffix(provider_facts.path) + provider_facts.path
    other = written if base_url != provider_facts.base_url else ""
    key = key_for(provider_facts.base_url_variable, other, provider_facts.key_variables)
    if key and not _KEY.fullmatch(key):
        raise InvalidSettings(
            f"The key of {provider} ({' or '.join(provider_facts.key_variables)}) holds blanks, line breaks or characters that "
            "no key has. Copy the key again, and nothing else."
        )
    access = Access(provider, SecretStr(key) if key else None, base_url)
    is_own_server = provider_facts.own_server_sdk is not None and access.server
    if not key and provider_facts.needs_key and not is_own_server:
        raise MissingKey.of(provider, provider_facts.key_variables)
    return access
