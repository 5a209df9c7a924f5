"""The SDK objects of a provider, opened from its row of the table: the client, a chat model, an embedding model."""

import logging
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from rag_assets.hosted.access import Access
from rag_assets.hosted.providers import ALL_PROVIDERS, Sdk

if TYPE_CHECKING:
    from httpx2 import AsyncClient
    from pydantic_ai.embeddings import EmbeddingModel
    from pydantic_ai.models import Model
    from pydantic_ai.providers import Provider as SdkProvider

_NO_KEY = "none-needed"


def sdk_of(access: Access) -> Sdk:
    """The classes that reach the server of `access`."""
    provider = ALL_PROVIDERS[access.provider]
    return provider.own_server_sdk if provider.own_server_sdk and access.server else provider.sdk


def open_sdk_provider(access: Access, client: "AsyncClient") -> "SdkProvider[Any]":
    """pydantic-ai's provider object. SDKs that retry by themselves are told not to: `Connection` waits and counts."""
    logging.getLogger("google_genai._api_client").addFilter(_is_not_about_two_keys)
    sdk, key = sdk_of(access), access.key.get_secret_value() if access.key else _NO_KEY
    opened: SdkProvider[Any] = resolve_name(sdk.provider)(
        *sdk.provider_arguments, api_key=key, base_url=access.base_url, http_client=client
    )
    if hasattr(opened.client, "max_retries"):
        opened.client.max_retries = 0
    return opened


def open_chat_model(name: str, access: Access, sdk_provider: "SdkProvider[Any]") -> "Model":
    sdk = sdk_of(access)
    model_class = resolve_name(sdk.chat_model)
    model: Model = model_class(name, provider=sdk_provider)
    return model_class(name, provider=sdk_provider, profile=sdk.profile(model.profile)) if sdk.profile else model


def open_embedding_model(
    name: str, access: Access, sdk_provider: "SdkProvider[Any]", n_dimensions: int | None
) -> "EmbeddingModel":
    """n_dimensions: length of the vectors to ask for; None asks for the model's own."""
    from pydantic_ai.embeddings import EmbeddingSettings

    settings = EmbeddingSettings(dimensions=n_dimensions) if n_dimensions else None
    model: EmbeddingModel = resolve_name(sdk_of(access).embedding_model)(name, provider=sdk_provider, settings=settings)
    return model


def _is_not_about_two_keys(record: logging.LogRecord) -> bool:
    """Where both variables are set, Google's SDK says which one it takes, although it was handed one."""
    return "Both GOOGLE_API_KEY and GEMINI_API_KEY" not in record.getMessage()
