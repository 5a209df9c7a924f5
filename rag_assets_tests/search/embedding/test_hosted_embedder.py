"""Vectors over the network: what is sent, what is believed, what is paid.

Local servers speak the providers' protocols; the SDKs are the real ones.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import (
    BudgetExhausted,
    InvalidSettings,
)
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import EmbeddingSettings, ModelAccessSettings
from rag_assets.hosted.access import EMBEDDING_REQUESTS
from rag_assets.hosted.connections import Connections
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.hosted_models import MARGIN
from rag_assets.search.embedding.missing_vectors import embed_missing
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets.search.embedding.vector_cache import VectorCache
from rag_assets_testing.wire import (
    ProtocolName,
    Status,
    Wire,
    WireServer,
    text_vector,
)

MODELS: dict[ProtocolName, str] = {
    "google": "google:gemini-embedding-001",
    "openai": "openai:text-embedding-3-small",
    "ollama": "ollama:nomic-embed-text",
}
TEXTS = ["Ferritin fell in all groups.", "Basalt takes up water.", "Iron kept ferritin stable."]
N_AT_ONCE = 4
ACCESS = ModelAccessSettings(
    timeout_s=6, max_attempts=3, max_wait_s=2, max_concurrent=N_AT_ONCE, requests_per_minute=6000
)
Open = Callable[..., Embedder]


@pytest.fixture(params=MODELS)
def server(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wire: Wire
) -> WireServer:
    """Each provider that has embeddings, with the environment pointing at it and no .env."""
    monkeypatch.chdir(tmp_path)
    return wire(request.param)


@pytest.fixture
def opened(server: WireServer, tmp_path: Path) -> Iterator[Open]:
    """Opens embedders of the server's provider, each with connections of its own."""
    with ExitStack() as stack:

        def open_one(
            access: ModelAccessSettings = ACCESS, kept: KeptFile | None = None, **other: object
        ) -> Embedder:
            settings = EmbeddingSettings.model_validate(
                {"model": MODELS[server.protocol_name], **other}
            )
            connections = stack.enter_context(Connections(access))
            return open_embedder(
                settings, tmp_path, n_threads=1, connections=connections, kept=kept
            )

        yield open_one


def prefix_of(server: WireServer, kind: str) -> str:
    own = {"query": "search_query: ", "passage": "search_document: "}
    return own[kind] if server.protocol_name == "ollama" else ""


def test_passages_come_back_as_unit_vectors_in_their_order(
    server: WireServer, opened: Open
) -> None:
    """A vector at another passage's place makes every search wrong, and no check can see it."""
    embedder = opened()

    vectors = embedder.embed_passages(TEXTS)

    prefix = prefix_of(server, "passage")
    wanted = np.array([text_vector(prefix + text, embedder.facts.dimension) for text in TEXTS])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, wanted, atol=1e-6)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 3, abs=1e-6)
    (request,) = server.requests
    assert request.texts == tuple(prefix + text for text in TEXTS)
    assert request.model == MODELS[server.protocol_name].partition(":")[2]
    assert request.key == server.key
    assert request.n_dimensions is None


def test_the_provider_is_told_what_is_a_question(server: WireServer, opened: Open) -> None:
    """These models were trained on the difference; embedded as a passage, a question finds less."""
    embedder = opened()

    embedder.embed_passages(["ferritin"])
    embedder.embed_query("ferritin")

    passage, question = server.requests
    if server.protocol_name == "google":
        kinds = [request.body["requests"][0]["taskType"] for request in (passage, question)]
        assert kinds == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]
    assert passage.texts == (prefix_of(server, "passage") + "ferritin",)
    assert question.texts == (prefix_of(server, "query") + "ferritin",)


@pytest.mark.parametrize("server", ["google", "openai"], indirect=True)
def test_shorter_vectors_are_asked_for_and_scaled(server: WireServer, opened: Open) -> None:
    """Google leaves shortened vectors at another length: unscaled, none would pass the audit."""
    embedder = opened(dimensions=256)
    (vector,) = embedder.embed_passages(["ferritin fell"])

    assert server.requests[0].n_dimensions == 256
    assert np.allclose(vector, text_vector("ferritin fell", 256), atol=1e-6)


def test_no_request_holds_more_than_the_provider_takes(server: WireServer, opened: Open) -> None:
    """The provider counts with a tokenizer of its own, rejects what is larger, and the run could
    never end."""
    limits = EMBEDDING_REQUESTS[server.protocol_name]
    texts = [f"observation {number}" for number in range(limits.n_texts + 7)]
    long = [" ".join(f"word{number}{n}" for n in range(300)) for number in range(24)]
    embedder = opened(access=ACCESS.model_copy(update={"timeout_s": 60.0}))

    sizes = embedder.request_sizes(texts)
    vectors = embedder.embed_passages(texts)
    n_before = len(server.requests)
    embedder.embed_passages(long)

    assert sizes == [limits.n_texts, 7]
    assert [len(request.texts) for request in server.requests[:2]] == sizes
    assert np.allclose(vectors[-1], embedder.embed_passages(texts[-1:])[0], atol=1e-6)
    of_long = server.requests[n_before:-1]
    prefix = prefix_of(server, "passage")
    assert [text for request in of_long for text in request.texts] == [
        prefix + text for text in long
    ], "none was cut"
    assert all(
        sum(embedder.count_tokens(list(one.texts))) <= limits.n_tokens * MARGIN for one in of_long
    )
    assert len(of_long) > 1 or server.protocol_name != "google"


def test_vectors_of_another_length_name_both_lengths_and_the_remedy(
    server: WireServer, opened: Open
) -> None:
    """Written into the index they would break it; the number to set is known at this moment
    only."""
    model = f"{server.protocol_name}:acme-embed"
    embedder = opened(model=model, dimensions=24, max_tokens=512)

    with pytest.raises(InvalidSettings) as caught:
        embedder.embed_passages(["one"])

    n_found = str(caught.value).partition("vectors of ")[2].partition(" ")[0]
    assert int(n_found) > 24
    assert str(caught.value) == (
        f"{model} answered with vectors of {n_found} numbers, this run asks for 24. Set embedding.dimensions "
        f"= {n_found} in rag_assets.toml, or name another model in embedding.model."
    )


def _body(server: WireServer, vectors: Sequence[object]) -> Status:
    if server.protocol_name == "google":
        return Status(200, {"embeddings": [{"values": vector} for vector in vectors]})
    rows = [
        {"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return Status(200, {"object": "list", "model": "m", "data": rows, "usage": usage})


@pytest.mark.parametrize("n_vectors", [1, 4])
def test_an_answer_with_too_few_or_too_many_vectors_is_asked_for_again(
    server: WireServer, opened: Open, n_vectors: int
) -> None:
    """Taken as it comes, every passage after the gap would get the vector of another."""
    embedder = opened()
    server.embed_with(_body(server, [[0.5] * embedder.facts.dimension] * n_vectors))

    vectors = embedder.embed_passages(TEXTS)

    assert len(server.requests) == 2
    assert len(vectors) == 3


@pytest.mark.parametrize("server", ["openai", "ollama"], indirect=True)
def test_vectors_in_another_order_than_their_texts_are_asked_for_again(
    server: WireServer, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """A gateway that spreads a batch over several machines may send what comes first."""
    embedder = opened(access=ACCESS.model_copy(update={"max_wait_s": 0.1}))
    rows = [
        {
            "object": "embedding",
            "index": n,
            "embedding": text_vector(TEXTS[n], embedder.facts.dimension),
        }
        for n in (2, 0, 1)
    ]
    server.embed_with(Status(200, {"object": "list", "model": "m", "data": rows}))

    vectors = embedder.embed_passages(TEXTS)

    wanted = [
        text_vector(prefix_of(server, "passage") + text, embedder.facts.dimension) for text in TEXTS
    ]
    assert len(server.requests) == 2
    assert np.allclose(vectors, wanted, atol=1e-6)
    assert "vectors in another order than that of their texts (attempt 1 of 3)" in caplog.text


def test_what_was_asked_is_charged(server: WireServer, tmp_path: Path) -> None:
    """Who pays wants to see it; Google reports no tokens for embeddings, so they are estimated
    there."""
    settings = EmbeddingSettings(model=MODELS[server.protocol_name])
    with Connections(ACCESS) as connections:
        embedder = open_embedder(settings, tmp_path, n_threads=1, connections=connections)
        embedder.embed_passages(TEXTS)
        embedder.embed_query("ferritin")

        spent = connections.budget.spent

    assert spent.n_requests == 2
    assert 10 < spent.n_input_tokens < 60
    assert spent.cost_usd == (0.0 if server.protocol_name == "ollama" else None), (
        "prices are the vendor's own"
    )


def test_a_budget_that_ends_loses_and_repeats_nothing(server: WireServer, tmp_path: Path) -> None:
    """What is paid for is kept: the next run asks for the rest only."""
    settings = EmbeddingSettings(model=MODELS[server.protocol_name])
    facts = embedder_facts(settings, tmp_path)
    texts = [f"observation number {number}" for number in range(20)]

    def run(access: ModelAccessSettings) -> int:
        cache = VectorCache(KeptFile(tmp_path / "vectors.sqlite3"), facts)
        with Connections(access) as connections:
            embedder = open_embedder(settings, tmp_path, n_threads=1, connections=connections)
            return embed_missing(cache, embedder, texts, batch_size=4).n_embedded

    with pytest.raises(BudgetExhausted) as caught:
        run(ACCESS.model_copy(update={"budget_requests": 3}))
    n_rest = run(ACCESS)
    n_more = run(ACCESS)

    assert "Of 20 passages, 8 are still to be embedded" in str(caught.value)
    assert (n_rest, n_more) == (8, 0)
    sent = [text for request in server.requests for text in request.texts]
    assert len(sent) == len(set(sent)) == 20
