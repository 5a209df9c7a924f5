"""The whole pipeline and an open engine over vectors in Qdrant."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_assets.core.errors import InvalidSettings, StoreUnavailable
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


@pytest.mark.parametrize("place", ["server", "embedded"])
def test_an_open_engine_answers_from_what_was_published_meanwhile(
    place: str, built: World, tmp_path: Path, server: QdrantServer
) -> None:
    """An engine that goes on with what it opened would answer from deleted papers until it is
    restarted."""
    world, url = built.copy_to(tmp_path), server.url if place == "server" else ""
    assert world.run(indexing=qdrant(url)).is_success
    with open_engine(settings_of(world, url)) as engine:
        before = engine.search("How does granite lose its water?")
        world.write_paper(
            "granite",
            "Granite and heat",
            "Granite loses its water slowly when it is heated from below.",
        )

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


def test_a_fusion_by_the_server_answers_with_the_scores_of_both_kinds(
    built: World, tmp_path: Path, server: QdrantServer
) -> None:
    """Rerankers, bands and the hits that people read need to know by what a passage was found."""
    world = built.copy_to(tmp_path)
    store = qdrant(server.url)
    fusion = {"fusion": "server_rrf"}

    outcome = world.run(indexing=store, retrieval=fusion)

    assert outcome.is_success, outcome.failures
    assert "12%" in world.answers()["q1"]["answer"]
    with open_engine(
        load_settings(
            {"data_dir": str(world.paths.data), **TOKENIZER, "indexing": store, "retrieval": fusion}
        )
    ) as engine:
        best = engine.search(FERRITIN)[0]
    assert best.chunk.paper_id == "ferritin"
    assert best.dense_score is not None
    assert best.lexical_score is not None
    assert 0.5 < best.score <= 1.0


def test_a_fusion_by_a_server_that_is_not_there_is_refused(built: World) -> None:
    """Chroma and the word index cannot do it."""
    settings = load_settings(
        {"data_dir": str(built.paths.data), **TOKENIZER, "retrieval": {"fusion": "server_dbsf"}}
    )

    with (
        open_engine(settings) as engine,
        pytest.raises(InvalidSettings, match="names a fusion by Qdrant"),
    ):
        engine.search(FERRITIN)


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
    assert first.facts["embeddings"]["n_sparse_vectors_made"] > 0
    assert second.facts["embeddings"]["n_sparse_vectors_made"] == 0
    assert second.counts["chroma_index"][:3] == (0, 0, 0)
    with open_engine(
        load_settings({"data_dir": str(world.paths.data), **TOKENIZER, **chosen})
    ) as engine:
        found = engine.search("volcanic")
    assert found[0].chunk.paper_id == "basalt"


def test_a_sparse_model_that_nothing_searches_ends_the_run_before_its_first_asset(
    built: World, tmp_path: Path
) -> None:
    """Not after an hour of embedding."""
    world = built.copy_to(tmp_path)

    outcome = world.run(embedding={"sparse_model": MODEL})

    assert not outcome.is_success
    assert not outcome.counts
