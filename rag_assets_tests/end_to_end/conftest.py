"""One built world for all processes of a test run; each test works on a copy of it."""

from pathlib import Path

import pytest

from rag_assets_testing.world import QUESTIONS, TOPICS, World, made_once


@pytest.fixture(scope="session")
def built(for_all_processes: Path, built_model: Path) -> World:
    """Three papers and three questions, everything materialized once. Not to be changed."""

    def make(world: World) -> None:
        world.use_models(built_model)
        for paper_id, (title, fact) in TOPICS.items():
            world.write_paper(paper_id, title, fact)
        world.write_questions(QUESTIONS)
        outcome = world.run()
        assert outcome.is_success, outcome.failures or outcome.broken

    return made_once(for_all_processes / "built world", make)


@pytest.fixture
def world(built: World, tmp_path: Path) -> World:
    """A copy of the built world, to be changed."""
    return built.copy_to(tmp_path)
