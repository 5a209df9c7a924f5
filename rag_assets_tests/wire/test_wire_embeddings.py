"""The embeddings endpoints through the real SDKs: vectors that rank, and the limits of each service."""

import base64
import json
import math
import struct
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic_ai import exceptions as pai

from rag_assets_testing.wire import CutOff, ProtocolName, RateLimited, Status, Vectors, WireServer, text_vector
from rag_assets_tests.wire.sdk_models import EMBEDDING_MODEL_NAMES, embed

EMBEDDING_PROTOCOLS: tuple[ProtocolName, ...] = tuple(EMBEDDING_MODEL_NAMES)


@pytest.fixture(params=EMBEDDING_PROTOCOLS)
def embedding_server(request: pytest.FixtureRequest) -> Iterator[WireServer]:
    """Each provider that has embeddings."""
    with WireServer(request.param) as wire:
        yield wire


def _dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_vectors_rank_texts_by_the_words_they_share(embedding_server: WireServer) -> None:
    """With vectors that do not tell texts apart, a mixed-up order of a batch could never be seen."""
    texts = ["Ferritin fell in all groups.", "The weather was fine.", "ferritin FELL"]

    vectors = embed(embedding_server, texts)

    assert _dot(vectors[2], vectors[0]) > 0.5 > abs(_dot(vectors[2], vectors[1]))
    (request,) = embedding_server.requests
    assert request.kind == "embeddings"
    assert request.texts == tuple(texts)
    assert request.model == EMBEDDING_MODEL_NAMES[embedding_server.protocol_name]
    assert request.key == embedding_server.key


def test_the_vector_length_asked_for_is_the_length_sent(embedding_server: WireServer) -> None:
    """Dimensions are recorded with the index: a server that ignores them would hide a request without them."""
    (vector,) = embed(embedding_server, ["ferritin"], n_dimensions=256)

    assert embedding_server.requests[0].n_dimensions == 256
    assert len(vector) == 256


def test_only_full_vectors_of_gemini_are_normalised() -> None:
    """The real service leaves shortened vectors unnormalised: cosine by dot product is wrong without our own step."""
    with WireServer("google") as server:
        (full,) = embed(server, ["ferritin fell"])
        (short,) = embed(server, ["ferritin fell"], n_dimensions=768)

    assert (len(full), len(short)) == (3072, 768)
    assert math.hypot(*full) == pytest.approx(1.0)
    assert math.hypot(*short) < 0.9


def test_the_openai_sdk_asks_for_base64_and_reads_what_numbers_would_say() -> None:
    """The two encodings of one vector have to agree, or the vectors depend on who asks."""
    with WireServer("openai") as server:
        (vector,) = embed(server, ["ferritin fell"], n_dimensions=64)
        body = {"model": "m", "input": "ferritin fell", "dimensions": 64}
        plain = _post(server, body)["data"][0]["embedding"]
        packed = _post(server, {**body, "encoding_format": "base64"})["data"][0]["embedding"]

    assert server.requests[0].body["encoding_format"] == "base64"
    assert plain == pytest.approx(text_vector("ferritin fell", 64))
    assert struct.unpack("<64f", base64.b64decode(packed)) == pytest.approx(plain)
    assert vector == pytest.approx(plain)


def _post(server: WireServer, body: dict[str, object]) -> Any:
    request = urllib.request.Request(f"{server.base_url}/embeddings", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=5) as response:
        return json.load(response)


@pytest.mark.parametrize(
    ("protocol", "n_texts", "wording"),
    [
        ("google", 101, "at most 100 requests can be in one batch"),
        ("openai", 2049, "maximum length 2048, but got an array with length 2049"),
    ],
)
def test_a_batch_over_the_limit_is_refused_and_one_at_the_limit_is_not(
    protocol: ProtocolName, n_texts: int, wording: str
) -> None:
    """Batching is tested against these limits: too lax a server lets through what the real one refuses."""
    with WireServer(protocol) as server:
        vectors = embed(server, ["ferritin"] * (n_texts - 1), n_dimensions=4)
        with pytest.raises(pai.ModelRequestRejectedError, match=wording):
            embed(server, ["ferritin"] * n_texts, n_dimensions=4)

    assert len(vectors) == n_texts - 1


@pytest.mark.parametrize(
    ("protocol", "texts", "wording"),
    [
        ("google", ["ferritin", ""], "The text content is empty"),
        ("openai", ["ferritin", ""], "input' is invalid"),
        ("openai", ["word " * 8193], "maximum context length is 8192 tokens"),
        ("openai", ["word " * 8000] * 38, "max 300000 tokens per request"),
        ("ollama", [""], "invalid input"),
        ("ollama", ["word " * 2049], "the input length exceeds the context length"),
    ],
)
def test_a_text_the_service_cannot_embed_is_refused(protocol: ProtocolName, texts: list[str], wording: str) -> None:
    """An empty or endless chunk fails its whole batch in real life."""
    with WireServer(protocol) as server, pytest.raises(pai.ModelRequestRejectedError, match=wording):
        embed(server, texts)


def test_a_fault_comes_when_it_is_scripted_and_vectors_before_and_after(embedding_server: WireServer) -> None:
    """What was embedded before a fault has to be kept: a test of that needs to place the fault."""
    embedding_server.embed_with(Vectors(), RateLimited(2.0), CutOff(of=Vectors()), Status(500))
    embed(embedding_server, ["one"])

    with pytest.raises(pai.ModelRateLimitError) as raised:
        embed(embedding_server, ["two"])
    with pytest.raises(pai.ModelConnectionError):
        embed(embedding_server, ["two"])
    with pytest.raises(pai.ModelServerError):
        embed(embedding_server, ["two"])

    assert raised.value.retry_after == 2.0
    assert len(embed(embedding_server, ["two"])) == 1
    assert [request.texts for request in embedding_server.requests] == [("one",), *[("two",)] * 4]
