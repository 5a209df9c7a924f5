"""The built world of the end-to-end tests, served."""

from collections.abc import Iterator

import pytest

from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.conftest import built, world
from rag_assets_tests.faces.server.live import Live, served

__all__ = ["built", "world"]


@pytest.fixture(scope="session")
def live(built: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over a copy of the built world, which all tests share: its papers are not to be
    changed."""
    with served(built.copy_to(tmp_path_factory.mktemp("live")).paths.data) as running:
        yield running
