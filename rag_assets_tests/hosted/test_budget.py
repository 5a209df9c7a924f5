"""What a request costs, where that can be known."""

import pytest
from pydantic_ai.usage import RequestUsage

from rag_assets.core.domain import Usage
from rag_assets.hosted.access import PROVIDERS, Access, ModelName
from rag_assets.hosted.budget import usage_of

OPENAI = Access("openai", None, PROVIDERS["openai"].base_url)


def test_a_model_on_the_list_has_its_price() -> None:
    """A budget in money counts what is found here."""
    used = RequestUsage(input_tokens=1_000_000, output_tokens=100_000)

    assert usage_of(ModelName("openai", "gpt-5-mini"), OPENAI, used) == Usage(
        1, 1_000_000, 100_000, 0.25 + 0.2
    )


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("acme-large", RequestUsage(input_tokens=10, output_tokens=5)),
        ("gpt-5-mini", RequestUsage(input_tokens=10, output_tokens=5, cache_read_tokens=20)),
    ],
    ids=["not on the list", "counts that contradict each other"],
)
def test_a_price_that_cannot_be_told_is_not_known(name: str, used: RequestUsage) -> None:
    """An answer that was paid for must not be lost because its price is unknown."""
    assert usage_of(ModelName("openai", name), OPENAI, used) == Usage(1, 10, 5, None)
