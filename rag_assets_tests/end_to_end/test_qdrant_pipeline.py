"""The whole pipeline and an open engine over vectors in Qdrant."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_assets.core.errors import StoreUnavailable
from rag_assets.core.settings import Settings, load_settings
from rag_assets.engine import open_engine
from rag_assets.faces.cli.main import app
from rag_assets_testing.world import QUESTIONS, TOKENIZER, World
from rag_assets_tests.search.embedding.sparse_onnx import MODEL, write_sparse_model
from rag_assets_tests.search.indexing.qdrant_server import QdrantServer, qdrant_server

FERRITIN = str(QUESTIONS[0]["question"])


@pytest.fixture
def server() -> Iterator[QdrantServer]:
    with qdrant_server() as running:
        yield running


def qdrant(url: str) -> dict[str, Any]:
    return {"vector_store": "qdrant", "qdrant": {"url": url}}


def settings_of(world: World, url: str) -> Settings:
    return load_settings({"data_dir": str(world.paths.data), **TOKENIZER, "indexing": qdrant(url)})


def test_qdrant_gives_the_answers_that_chroma_gives(
    built: World, tmp_path: Path, server: QdrantServer
) -> None:
    """Where vectors are kept is no reason for another answer."""
    world, chroma = built.copy_to(tmp_path), built.answers()
    world.paths.qa.unlink()

    outcome = world.run(indexing=qdrant(server.url))

    assert outcome.is_success, outcome.failures
    assert outcome.facts["chroma_index"]["store"] == "qdrant"
    assert outcome.facts["chroma_index"]["place"] == server.url
    changing = {
        "answered_at",
        "latency_s",
        "seconds",
        "fingerprint",
    }  # the last covers scores to their last digit
    for id_, answer in world.answers().items():
        assert {key: value for key, value in answer.items() if key not in changing} == {
            key: value for key, value in chroma[id_].items() if key not in changing
        }


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


def test_a_sparse_model_finds_what_a_synonym_says_and_embeds_a_text_once(
    built: World, tmp_path: Path, server: QdrantServer
) -> None:
    """The whole way of SPLADE: model, cache, points, and the question's own vector."""
    world = built.copy_to(tmp_path)
    world.paths.vectors.unlink(missing_ok=True)
    write_sparse_model(world.paths.models, {"volcanic": "basalt"})
    chosen: dict[str, Any] = {
        "indexing": qdrant(server.url),
        "embedding": {"sparse_model": MODEL},
        "retrieval": {"fusion": "server_rrf"},
    }

    first, second = world.run(**chosen), world.run(**chosen)

    assert first.is_success, first.failures
    assert first.counts["embeddings"][0] > first.facts["embeddings"]["dagster/row_count"]
    assert second.counts["embeddings"][0] == 0
    assert second.counts["chroma_index"][:3] == (0, 0, 0)
    with open_engine(
        load_settings({"data_dir": str(world.paths.data), **TOKENIZER, **chosen})
    ) as engine:
        found = engine.search("volcanic")
    assert found[0].chunk.paper_id == "basalt"
