"""The built world of the reading tests, served over MCP."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from rag_assets_testing.world import World
from rag_assets_tests.faces.mcp.assistant import Assistant, connected, over_http, over_stdio
from rag_assets_tests.library.reading.conftest import built
from rag_assets_tests.rounds import first_of

__all__ = ["built"]


@pytest.fixture(scope="session")
def asked(built: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A copy of the built world that assistants ask."""
    return built.copy_to(tmp_path_factory.mktemp("asked by assistants"))


@pytest.fixture(scope="session", params=first_of(["http", "stdio"]))
def assistant(request: pytest.FixtureRequest, asked: World) -> Iterator[Assistant]:
    with ExitStack() as stack:
        data = asked.paths.data
        server = (
            over_stdio(data) if request.param == "stdio" else stack.enter_context(over_http(data))
        )
        yield stack.enter_context(connected(server))
