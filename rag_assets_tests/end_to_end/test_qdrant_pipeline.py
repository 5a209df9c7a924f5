"""The whole pipeline and an open engine over vectors in Qdrant."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_assets.cli.main import app
from rag_assets.engine import open_engine
from rag_assets.errors import StoreUnavailable
from rag_assets.settings import Settings, load_settings
from rag_assets_tests.end_to_end.world import QUESTIONS, TOKENIZER, World
from rag_assets_tests.indexing.qdrant_server import QdrantServer, qdrant_server

FERRITIN = str(QUESTIONS[0]["question"])


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with qdrant_server() as running:
        yield running


def qdrant(url: str) -> dict[str, Any]:
    return {"vector_store": "qdrant", "qdrant": {"url": url}}


def settings_of(world: World, url: str) -> Settings:
    return load_settings({"data_dir": str(world.paths.data), **TOKENIZER, "indexing": qdrant(url)})


def test_qdrant_gives_the_answers_that_chroma_gives(built: World, tmp_path: Path, server: QdrantServer) -> None:
    """Where vectors are kept is no reason for another answer."""
    world, chroma = built.copy_to(tmp_path), built.answers()
    world.paths.qa.unlink()

    outcome = world.run(indexing=qdrant(server.url))

    assert outcome.is_success, outcome.failures
    assert outcome.facts["chroma_index"]["store"] == "qdrant"
    assert outcome.facts["chroma_index"]["place"] == server.url
    changing = {"answered_at", "latency_s", "seconds"}
    for id_, answer in world.answers().items():
        assert {key: value for key, value in answer.items() if key not in changing} == {
            key: value for key, value in chroma[id_].items() if key not in changing
        }


@pytest.mark.parametrize("place", ["server", "embedded"])
def test_an_open_engine_answers_from_what_was_published_meanwhile(
    place: str, built: World, tmp_path: Path, server: QdrantServer
) -> None:
    """An engine that goes on with what it opened would answer from deleted papers until it is restarted."""
    world, url = built.copy_to(tmp_path), server.url if place == "server" else ""
    assert world.run(indexing=qdrant(url)).is_success
    with open_engine(settings_of(world, url)) as engine:
        before = engine.search("How does granite lose its water?")
        world.write_paper("granite", "Granite and heat", "Granite loses its water slowly when it is heated from below.")

        outcome = world.run(indexing=qdrant(url))

        assert outcome.is_success, outcome.failures
        after = engine.search("How does granite lose its water?")

    assert "granite" not in {hit.chunk.paper_id for hit in before}
    assert after[0].chunk.paper_id == "granite"
    assert after[0].dense_score is not None


def test_a_question_to_a_server_that_is_down_names_the_remedy(built: World, tmp_path: Path) -> None:
    """Answers by words alone would silently take the place of better ones."""
    world = built.copy_to(tmp_path)
    with qdrant_server() as server:
        assert world.run(indexing=qdrant(server.url)).is_success
    published = world.paths.qa.read_bytes()

    with (
        open_engine(settings_of(world, server.url)) as engine,
        pytest.raises(StoreUnavailable, match="cannot be reached"),
    ):
        engine.search(FERRITIN)

    store = ["--set", "indexing.vector_store=qdrant", "--set", f"indexing.qdrant.url={server.url}"]
    asked = CliRunner().invoke(app, ["ask", FERRITIN, "--data", str(world.paths.data), *store])
    assert asked.exit_code == 1
    assert "Start it, or correct" in asked.output
    assert not world.run(indexing=qdrant(server.url)).is_success
    assert world.paths.qa.read_bytes() == published
