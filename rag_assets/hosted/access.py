"""The key and the address of a provider, and the names of its models. Nothing here sends a request.

Keys come from the environment or `.env` (`settings.environment`), stay inside `Access`, and are handed to a
provider's client only: they are never logged, stored or shown.
"""

import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import quote, urlsplit

from pydantic import SecretStr

from rag_assets.core.errors import InvalidSettings, MissingKey
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import environment
from rag_assets.hosted.providers import ALL_PROVIDERS, PROVIDERS, Sdk

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
        """Raises InvalidSettings for an unknown provider or an invalid name. instead: what else the setting may be."""
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
        """Hash of the address if it is not the provider's own, else empty: another server may give the same name to
        another model."""
        return "" if self.base_url == ALL_PROVIDERS[self.provider].base_url else fingerprint(self.base_url)[:8]

    @property
    def sdk(self) -> Sdk:
        """The classes that reach the server."""
        provider = ALL_PROVIDERS[self.provider]
        return provider.own_server_sdk if provider.own_server_sdk and self.server else provider.sdk

    def model_id(self, model: ModelName) -> str:
        """The model's name in results: as in the settings, plus a hash of the server if not the provider's own."""
        return f"{model}@{self.server}" if self.server else str(model)

    def redacted(self, text: str) -> str:
        """Removes the key and the secrets in the address from `text`, in case a provider echoes them.

        Short ones stay: local servers have keys like "none", which are also words of papers.
        """
        address = urlsplit(self.base_url)
        secrets = [self.key.get_secret_value() if self.key else "", address.username, address.password, address.query]
        for secret in secrets:
            if secret and len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, _HIDDEN).replace(quote(secret, safe=""), _HIDDEN)
        return text


def require_access(provider: str) -> Access:
    """The key and address of `provider`.

    Raises MissingKey if a key is needed and no variable has one, InvalidSettings for an invalid address.
    """
    facts, variables = ALL_PROVIDERS[provider], environment()
    key = next((variables[name].strip() for name in facts.key_variables if variables.get(name, "").strip()), None)
    if key is not None and not _KEY.fullmatch(key):
        raise InvalidSettings(
            f"The key of {provider} ({' or '.join(facts.key_variables)}) holds blanks, line breaks or characters that "
            "no key has. Copy the key again, and nothing else."
        )
    base_url = variables.get(facts.base_url_variable, "").strip().rstrip("/") or facts.base_url
    if not _is_address(base_url):
        raise InvalidSettings(
            f"{facts.base_url_variable} is not an address. Write it as http://host:port or https://host, with a path "
            "if the server needs one."
        )
    access = Access(provider, SecretStr(key) if key else None, base_url.removesuffix(facts.path) + facts.path)
    is_own_server = facts.own_server_sdk is not None and access.server
    if key is None and facts.needs_key and not is_own_server:
        raise MissingKey.of(provider, facts.key_variables)
    return access


def _is_address(text: str) -> bool:
    try:
        address = urlsplit(text)
        return address.scheme in {"http", "https"} and bool(address.hostname) and address.port != 0 and text.isascii()
    except ValueError:
        return False
