"""A model of each provider, opened against a local server with the settings of a hurried user."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import BaseModel

from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import ModelName, require_access
from rag_assets.hosted.budget import Budget, run_budget
from rag_assets.hosted.connection import open_connection
from rag_assets.hosted.structured import StructuredModel
from rag_assets_testing.wire import ProtocolName, WireServer, use_wire_environment

MODELS: dict[ProtocolName, str] = {
    "google": "gemini-2.5-flash",
    "anthropic": "claude-sonnet-5-5",
    "openai": "gpt-5-mini",
    "ollama": "llama3.2",
}
HURRIED = ModelAccessSettings(
    timeout_s=10.0,
    max_attempts=3,
    max_wait_s=0.2,
    max_concurrent=4,
    requests_per_minute=60_000,
)


class Colour(BaseModel):
    """What the tests ask a model for."""

    name: str


@contextmanager
def opened(
    server: WireServer,
    monkeypatch: pytest.MonkeyPatch,
    settings: ModelAccessSettings = HURRIED,
    model: str = "",
) -> Iterator[tuple[StructuredModel[Colour], Budget]]:
    """A model of the server's provider that is asked for a colour, and the budget its requests are
    charged to."""
    use_wire_environment(monkeypatch, server)
    name = ModelName(server.protocol_name, model or MODELS[server.protocol_name])
    budget = run_budget(settings)
    with open_connection(require_access(name.provider), settings, budget) as connection:
        yield (
            StructuredModel(
                name, connection, Colour, instructions="Name a colour.", max_output_tokens=50
            ),
            budget,
        )
