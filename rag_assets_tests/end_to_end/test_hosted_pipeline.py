"""Changing to a model behind an API and back, through the whole pipeline.

The demo pipeline runs in Dagster, the model is a local server that speaks OpenAI's protocol.
"""

import logging
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rag_assets_testing.wire import WireServer, use_wire_environment
from rag_assets_testing.world import Outcome, World

UPSTREAM = ("parsed_index", "blocks", "chunks")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WireServer]:
    """A server in OpenAI's place, with a key that occurs nowhere else."""
    monkeypatch.chdir(tmp_path)
    with WireServer("openai") as wire:
        use_wire_environment(monkeypatch, wire)
        monkeypatch.setattr("rag_assets.pipeline.assets.vectors.EMBEDDING_BATCH", 4)
        yield wire


@pytest.fixture
def world(built: World, tmp_path: Path) -> World:
    """Three papers that were indexed with the local model."""
    return built.copy_to(tmp_path / "world")


def hosted_run(
    world: World, model: str = "openai:text-embedding-3-small", **access: object
) -> Outcome:
    return world.run(
        embedding={"model": model, "dimensions": 64},
        model_access={"requests_per_minute": 6000, **access},
    )


def passages(server: WireServer) -> list[str]:
    """The texts of all requests with more than one, which no question is."""
    return [text for request in server.requests if len(request.texts) > 1 for text in request.texts]


def test_another_model_makes_other_vectors_of_the_same_chunks(
    server: WireServer, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """Parsing a corpus takes hours, and new chunk ids would break every citation: neither may hang
    on the model."""
    texts_before = pq.read_table(world.paths.passages, columns=["passage_id", "text"])

    with caplog.at_level(logging.DEBUG):
        changed = hosted_run(world)
        n_requests = len(server.requests)
        again = hosted_run(world)
        n_requests_again = len(server.requests)
        larger = hosted_run(world, model="openai:text-embedding-3-large")
        n_passages_paid = len(passages(server))
        back = hosted_run(world)

    assert changed.is_success, changed.failures or changed.broken
    assert all(changed.counts[asset][:3] == (0, 0, 0) for asset in UPSTREAM)
    assert pq.read_table(world.paths.passages, columns=["passage_id", "text"]) == texts_before
    n_passages = len(texts_before)
    assert changed.facts["embeddings"]["n_embedded"] == n_passages
    assert changed.facts["embeddings"]["n_model_requests"] == -(-n_passages // 4)
    assert changed.facts["embeddings"]["n_tokens"] > n_passages
    assert changed.facts["embeddings"]["dimension"] == 64
    assert b'"dimension": 64' in world.paths.index_meta.read_bytes()
    assert changed.facts["index_meta"]["model"].startswith("openai-text-embedding-3-small-64-")

    assert again.is_success
    assert again.facts["embeddings"]["n_model_requests"] == 0
    assert n_requests_again == n_requests, "an unchanged corpus was paid for again"

    assert larger.is_success
    assert larger.counts["passages"][:3] == (0, 0, 0), "both models read alike"
    assert larger.facts["embeddings"]["n_embedded"] == n_passages

    assert back.is_success
    assert back.facts["embeddings"]["n_embedded"] == 0
    assert len(passages(server)) == n_passages_paid, (
        "going back to the earlier model was paid for again"
    )

    assert server.key not in caplog.text
    assert server.key not in str((changed, again))
    files = [path for path in world.paths.data.parent.rglob("*") if path.is_file()]
    assert not [path for path in files if server.key.encode() in path.read_bytes()]
