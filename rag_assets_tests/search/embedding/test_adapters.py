"""What every embedding model must do, wherever it runs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rag_assets.core.settings import EmbeddingSettings, ModelAccessSettings
from rag_assets.hosted.connections import Connections
from rag_assets.search.embedding.base import Embedder, Role
from rag_assets.search.embedding.local_model import E5_INT8, INT8, open_local_model
from rag_assets.search.embedding.providers import ADAPTERS, open_embedder
from rag_assets_testing.wire import PROTOCOLS, Wire
from rag_assets_tests.search.embedding.conftest import hub_folder_with

MODELS = {
    "local": "local:all-MiniLM-L6-v2-int8",
    "fastembed": "fastembed:sentence-transformers/all-MiniLM-L6-v2",
    "google": "google:gemini-embedding-001",
    "openai": "openai:text-embedding-3-small",
    "ollama": "ollama:nomic-embed-text",
    "local, prefixed": "local:multilingual-e5-small-int8",
}
TEXTS = [
    "Ferritin fell in all groups.",
    "Basalt takes up water.",
    "x",
    "Iron kept ferritin stable. " * 20,
]


@pytest.fixture(params=MODELS)
def embedder(
    request: pytest.FixtureRequest,
    models_folder: Path,
    float32: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    wire: Wire,
) -> Iterator[Embedder]:
    """Each provider's model; those behind an API on a local server, the hub's model as a download
    leaves it."""
    monkeypatch.chdir(tmp_path)
    chosen, folder = EmbeddingSettings(model=MODELS[request.param]), models_folder
    if request.param == "fastembed":
        float32.embed_query("ferritin")
        folder = tmp_path
        hub_folder_with(
            models_folder / float32.identity, "models--Qdrant--all-MiniLM-L6-v2-onnx", folder
        )
    if request.param not in PROTOCOLS:
        yield open_embedder(chosen, folder, n_threads=2)
        return
    wire(request.param)
    with Connections(ModelAccessSettings()) as connections:
        yield open_embedder(chosen, folder, connections=connections)


def test_every_adapter_is_held_to_this_contract() -> None:
    """An adapter that no test opens breaks for its users only."""
    assert {name.partition(":")[0] for name in MODELS.values()} == set(ADAPTERS)


def test_a_vector_has_length_one_and_depends_on_its_own_text_only(embedder: Embedder) -> None:
    """A vector that depends on its neighbours is another one in the next run: the cache would hold
    what nobody made."""
    together = embedder.embed_passages(TEXTS)
    backwards = embedder.embed_passages(TEXTS[::-1])[::-1]

    assert together.shape == (len(TEXTS), embedder.facts.dimension)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx([1.0] * len(TEXTS), abs=1e-5)
    assert np.array_equal(together, backwards)
    assert len({vector.tobytes() for vector in together}) == len(TEXTS)


def test_a_question_lies_nearest_the_passage_that_says_the_same(embedder: Embedder) -> None:
    """Questions and passages must be embedded into one space."""
    question = embedder.embed_query(TEXTS[1])

    assert question.shape == (embedder.facts.dimension,)
    assert int(np.argmax(embedder.embed_passages(TEXTS) @ question)) == 1


def test_batches_and_counts_cover_every_text(embedder: Embedder) -> None:
    """A text that is in no batch gets no vector; one that counts no tokens is cut without
    notice."""
    assert sum(embedder.request_sizes(TEXTS)) == len(TEXTS)
    counts = embedder.count_tokens(TEXTS)
    assert counts[3] > counts[0] > counts[2] > 0
    assert embedder.embed_passages([]).shape == (0, embedder.facts.dimension)


def test_the_identity_can_name_a_folder_and_is_part_of_the_facts(embedder: Embedder) -> None:
    """It names the cache of the model's vectors on every file system."""
    assert embedder.identity == embedder.facts.identity
    assert set(embedder.identity) <= set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-"
    )
    assert embedder.facts.max_tokens > 0


@pytest.mark.parametrize("piece", ["x", "B-", "鉄", "🧪 "])
def test_a_long_text_has_its_vector(embedder: Embedder, piece: str) -> None:
    """A pasted abstract, longer than what the model reads, ended in a traceback."""
    text = piece * (4000 // len(piece))

    vectors = [embedder.embed_query(text), *embedder.embed_passages([text])]

    assert [vector.shape for vector in vectors] == [(embedder.facts.dimension,)] * 2
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 2, abs=1e-5)


@given(piece=st.sampled_from(["word ", "x", "B-", "鉄", "🧪 ", "\n"]), n_over=st.integers(-4, 4))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("role", ["query", "passage"])
@pytest.mark.parametrize("name", [INT8, E5_INT8])
def test_special_tokens_and_prefix_fit_into_what_a_model_reads(
    name: str, role: Role, piece: str, n_over: int, built_model: Path
) -> None:
    """One token too many and the model ends in an error of shapes, where a question has one length
    of thousands."""
    model = open_local_model(name, built_model, 1)
    n_read = {INT8: 256, E5_INT8: 512}[name]
    text = piece * (model.facts.max_tokens + n_over)

    ids, spans = model._tokenized(text, role)

    assert len(ids) <= n_read
    assert len(ids) - len(spans) in (2, 4, 5), "the text's own tokens are between the others"
    n_own = model.count_tokens([text])[0] - 2
    assert len(spans) == min(n_own, n_read - len(ids) + len(spans)), (
        "no token is left out for nothing"
    )
