"""One built world for all processes of a test run; each test works on a copy of it."""

import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from rag_assets_tests.end_to_end.world import QUESTIONS, TOPICS, World


@pytest.fixture(scope="session")
def built(for_all_processes: Path, built_model: Path) -> World:
    """Three papers and three questions, everything materialized once. Not to be changed."""
    root, finished = for_all_processes / "built world", for_all_processes / "built world is finished"
    with FileLock(for_all_processes / "built world.lock"):
        world = World(root)
        if not finished.exists():
            shutil.copytree(built_model, world.paths.models)
            for paper_id, (title, fact) in TOPICS.items():
                world.write_paper(paper_id, title, fact)
            world.write_questions(QUESTIONS)
            outcome = world.run()
            assert outcome.is_success, outcome.failures or outcome.broken
            finished.touch()
    return world


@pytest.fixture
def world(built: World, tmp_path: Path) -> World:
    """A copy of the built world, to be changed."""
    return built.copy_to(tmp_path)
