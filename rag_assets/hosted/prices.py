"""The cost of requests, by the price list that comes with genai-prices. No price is fetched.

A price is known only for a provider's own models at its own address; Ollama costs nothing.
"""

from typing import TYPE_CHECKING

from rag_assets.core.domain import Usage
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import Access, ModelName, require_access
from rag_assets.hosted.providers import ALL_PROVIDERS

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage


def usage_of(model: ModelName, access: Access, used: "RequestUsage") -> Usage:
    """The usage of one answered request; its cost is None where the price is not known."""
    return Usage(1, used.input_tokens, used.output_tokens, _cost_usd(model, access, used))


def require_model(model: ModelName, settings: ModelAccessSettings) -> None:
    """Check, before any work is done, that a model can be asked within the budget.

    Raises MissingKey, InvalidSettings as `require_access` and `require_price`.
    """
    access = require_access(model.provider)
    if settings.budget_usd is not None:
        require_price(model, access)


def require_price(model: ModelName, access: Access) -> None:
    """Raises InvalidSettings when the price of `model` is not known, so that a budget in money could not be kept."""
    from pydantic_ai.usage import RequestUsage

    if _cost_usd(model, access, RequestUsage(input_tokens=1, output_tokens=1)) is None:
        raise InvalidSettings(
            f"model_access.budget_usd is set, but the price of {model} is not known here. Set "
            "model_access.budget_tokens or budget_requests instead."
        )


def _cost_usd(model: ModelName, access: Access, used: "RequestUsage") -> float | None:
    if ALL_PROVIDERS[model.provider].is_free:
        return 0.0
    if access.server:
        return None
    from genai_prices import calc_price

    try:
        return float(calc_price(used, model.name, provider_id=model.provider).total_price)
    except (LookupError, ValueError):  # not on the list; or counts that contradict each other, as some servers send
        return None
