"""A setting names a reranker."""

from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.settings import EmbeddingSettings, RetrievalSettings
from rag_assets.search.embedding.token_vectors import PassageTokens, open_token_encoder
from rag_assets.search.reranking.rerankers import RerankerResources, open_reranker


@pytest.fixture
def means(tmp_path: Path) -> RerankerResources:
    return RerankerResources(
        PassageTokens(open_token_encoder(EmbeddingSettings(), tmp_path)), tmp_path, 1
    )


def test_the_default_needs_neither_key_nor_download(
    means: RerankerResources, tmp_path: Path
) -> None:
    """Opening it must be free: commands that ask nothing open an engine too."""
    reranker = open_reranker(RetrievalSettings().reranker, means)

    assert reranker.identity.startswith("late-interaction")
    assert list(tmp_path.iterdir()) == []


def test_none_switches_the_step_off(means: RerankerResources) -> None:
    """The order of the search must be one setting away."""
    assert open_reranker("none", means) is None


@pytest.mark.parametrize(
    "name", ["late-interaction", "local:", "local:colbert", "", "fastembed", "cohere:rerank-v4"]
)
def test_a_name_that_does_not_exist_is_refused(name: str, means: RerankerResources) -> None:
    """A misspelt name that meant "none" would go unnoticed."""
    with pytest.raises(InvalidSettings, match=r"^retrieval\.reranker = ") as caught:
        open_reranker(name, means)

    assert "local:late-interaction" in str(caught.value)
