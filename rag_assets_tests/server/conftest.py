"""The built world of the end-to-end tests, served."""

from collections.abc import Iterator

import pytest

from rag_assets_tests.end_to_end.conftest import built, world
from rag_assets_tests.end_to_end.world import World
from rag_assets_tests.server.live import Live, served

__all__ = ["built", "world"]


@pytest.fixture(scope="session")
def live(built: World) -> Iterator[Live]:
    """A server over the built world; not to be changed."""
    with served(built.paths.data) as running:
        yield running
