"""One built world a session; each test works on a copy of it."""

from pathlib import Path

import pytest

from rag_assets_tests.end_to_end.world import QUESTIONS, TOPICS, World


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Three papers and three questions, everything materialized once. Not to be changed."""
    world = World(tmp_path_factory.mktemp("built"))
    for paper_id, (title, fact) in TOPICS.items():
        world.write_paper(paper_id, title, fact)
    world.write_questions(QUESTIONS)
    outcome = world.run()
    assert outcome.is_success, outcome.failures or outcome.broken
    return world


@pytest.fixture
def world(built: World, tmp_path: Path) -> World:
    """A copy of the built world, to be changed."""
    return built.copy_to(tmp_path)
