"""A model behind an API is known, or refused, before anything is sent."""

import logging
from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import EmbeddingSettings, ModelAccessSettings
from rag_assets.search.embedding import hosted_models
from rag_assets.search.embedding.hosted_models import KNOWN_MODELS, StandInTokenizer
from rag_assets.search.embedding.providers import embedder_facts, open_embedder, require_embedder
from rag_assets_tests.search.embedding.reference_texts import PARAGRAPH

KEY = "key-that-must-not-be-seen"


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keys for all providers, their own addresses, and no .env."""
    monkeypatch.chdir(tmp_path)
    for variable in (
        "GOOGLE_API_KEY",
        "GOOGLE_GEMINI_BASE_URL",
        "OPENAI_BASE_URL",
        "OLLAMA_BASE_URL",
    ):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("GEMINI_API_KEY", "OPENAI_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.setenv(variable, KEY)


def settings(model: str, **other: object) -> EmbeddingSettings:
    return EmbeddingSettings.model_validate({"model": model, **other})


@pytest.mark.parametrize(
    ("model", "dimension", "max_tokens"),
    [
        ("google:gemini-embedding-001", 3072, 1433),
        ("google:gemini-embedding-2", 3072, 5734),
        ("openai:text-embedding-3-small", 1536, 5733),
        ("openai:text-embedding-3-large", 3072, 5733),
        ("ollama:bge-m3:latest", 1024, 1433),
        ("ollama:mxbai-embed-large", 1024, 512),
        ("ollama:nomic-embed-text", 768, 2044),
        ("ollama:snowflake-arctic-embed:33m", 384, 512),
    ],
)
def test_known_models_need_no_further_settings(
    model: str, dimension: int, max_tokens: int, tmp_path: Path
) -> None:
    """max_tokens: with the margin for another tokenizer, and without the room that a prefix
    takes."""
    facts = embedder_facts(settings(model), tmp_path)

    assert (facts.dimension, facts.max_tokens) == (dimension, max_tokens)
    assert (
        facts.tokenizer_id
        == embedder_facts(settings("local:all-MiniLM-L6-v2"), tmp_path).tokenizer_id
    )
    assert open_embedder(settings(model), tmp_path).count_tokens(["ferritin fell"])[0] > 3


@pytest.mark.parametrize("other", [{}, {"dimensions": 512}, {"max_tokens": 512}])
def test_a_model_that_is_not_known_must_be_described(other: dict[str, int], tmp_path: Path) -> None:
    """Without its size no index can be made, without its reach the ends of passages are lost."""
    with pytest.raises(InvalidSettings) as caught:
        open_embedder(settings("openai:acme-embed", **other), tmp_path, n_threads=1)

    message = str(caught.value)
    assert message.startswith(
        "embedding.model = 'openai:acme-embed' is not known here: set embedding.dimensions "
    )
    assert "embedding.max_tokens" in message
    assert all(name in message for name in KNOWN_MODELS)


def test_a_described_model_is_used_as_described(tmp_path: Path) -> None:
    """Servers that speak OpenAI's protocol serve hundreds of models: none may be out of reach."""
    facts = embedder_facts(settings("openai:acme-embed", dimensions=512, max_tokens=1000), tmp_path)

    assert (facts.dimension, facts.max_tokens) == (512, 700)


@pytest.mark.parametrize(
    ("model", "dimensions", "problem"),
    [
        ("openai:text-embedding-ada-002", 512, "have 1536 numbers and cannot be shortened"),
        ("openai:text-embedding-3-small", 3072, "have 1 to 1536 numbers"),
        ("google:gemini-embedding-001", 64, "have 128 to 3072 numbers"),
        ("ollama:bge-m3", 512, "have 1024 numbers and cannot be shortened"),
    ],
)
def test_a_dimension_the_model_cannot_have_is_refused(
    model: str, dimensions: int, problem: str, tmp_path: Path
) -> None:
    """Found out from the first reply, it would have cost a request and the reader an hour."""
    with pytest.raises(InvalidSettings, match=problem):
        require_embedder(settings(model, dimensions=dimensions), tmp_path, ModelAccessSettings())


def test_whatever_changes_a_vector_changes_the_identity(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two models under one identity meet in one index; then every search is wrong and none
    fails."""

    def identity(model: str, **other: object) -> str:
        return embedder_facts(settings(model, **other), tmp_path).identity

    small = "openai:text-embedding-3-small"
    found = [
        identity(small),
        identity(small, dimensions=512),
        identity("openai:text-embedding-3-large"),
        identity(small, query_prefix="query: "),
        identity(small, passage_prefix="query: "),
        identity("openai:a/b", dimensions=8, max_tokens=99),
        identity("openai:a-b", dimensions=8, max_tokens=99),
    ]
    monkeypatch.setenv("OPENAI_BASE_URL", "https://user:hidden-word@embeddings.example.org/v1")
    found.append(identity(small))
    monkeypatch.setattr(hosted_models, "REQUEST_VERSION", hosted_models.REQUEST_VERSION + 1)
    found.append(identity(small))

    assert len(set(found)) == len(found)
    assert not any(KEY in one or "hidden" in one or "example" in one for one in found)
    assert all(set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-") for one in found)


def test_a_new_key_is_not_a_new_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keys are rotated; the corpus must not be embedded again for it."""
    before = embedder_facts(settings("google:gemini-embedding-001"), tmp_path)
    monkeypatch.setenv("GEMINI_API_KEY", "another")

    assert embedder_facts(settings("google:gemini-embedding-001"), tmp_path) == before


def test_a_model_that_was_shut_down_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It was the default once; a 404 in the middle of a run explains nothing."""
    with caplog.at_level(logging.WARNING):
        require_embedder(settings("google:text-embedding-004"), tmp_path, ModelAccessSettings())

    assert (
        "shut down on 14 January 2026; its successor is google:gemini-embedding-001" in caplog.text
    )


def test_sizes_of_a_model_that_runs_here_are_not_settings(tmp_path: Path) -> None:
    """Accepted and ignored, they would be believed."""
    with pytest.raises(InvalidSettings, match=r"embedding\.dimensions is for models behind an API"):
        require_embedder(EmbeddingSettings(dimensions=128), tmp_path, ModelAccessSettings())


TOKENS = StandInTokenizer()
BLOB = "QmFzZTY0" * 900
"""7,200 characters without a space: one unknown token to WordPiece, thousands to any other
tokenizer."""


def test_a_run_of_encoded_data_is_cut_to_what_any_tokenizer_can_read() -> None:
    """Counted as one token, it would be rejected by the provider on every run, and no index ever be
    published."""
    assert TOKENS.count_tokens([BLOB]) == [3]

    fitted = TOKENS.fitted(f"{PARAGRAPH} {BLOB}", 2048)

    assert fitted.startswith(PARAGRAPH)
    assert len(fitted.encode()) == 2048
