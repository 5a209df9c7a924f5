"""Models opened against local servers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from rag_assets.hosted.access import ModelName, require_access
from rag_assets.hosted.budget import Budget, run_budget
from rag_assets.hosted.connection import open_connection
from rag_assets.hosted.structured import StructuredModel
from rag_assets_testing.wire import ProtocolName, Wire, WireServer
from rag_assets_tests.hosted.models import HURRIED, MODELS, Colour

Asking = tuple[WireServer, StructuredModel[Colour], Budget]
Open = Callable[..., Asking]


@pytest.fixture
def opened(wire: Wire) -> Iterator[Open]:
    """Opens a provider's model that is asked for a colour: its server, the model, and the budget
    that its requests are charged to. Settings of the connection may be given by name."""
    with ExitStack() as stack:

        def open_one(provider: ProtocolName = "openai", model: str = "", **access: Any) -> Asking:
            server, settings = wire(provider), HURRIED.model_copy(update=access)
            budget = run_budget(settings)
            connection = stack.enter_context(
                open_connection(require_access(provider), settings, budget)
            )
            name = ModelName(provider, model or MODELS[provider])
            instructions = "Name a colour."
            asked = StructuredModel(
                name, connection, Colour, instructions=instructions, max_output_tokens=50
            )
            return server, asked, budget

        yield open_one
