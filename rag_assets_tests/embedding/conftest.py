"""One models folder for all tests of this package: a local model is built once a session."""

from pathlib import Path

import pytest

from rag_assets.embedding import Embedder, open_embedder
from rag_assets.settings import EmbeddingSettings

FLOAT32 = EmbeddingSettings(model="local:all-MiniLM-L6-v2")
INT8 = EmbeddingSettings(model="local:all-MiniLM-L6-v2-int8")


@pytest.fixture(scope="session")
def models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def float32(models_folder: Path) -> Embedder:
    return open_embedder(FLOAT32, models_folder, n_threads=2)


@pytest.fixture(scope="session")
def int8(models_folder: Path) -> Embedder:
    return open_embedder(INT8, models_folder, n_threads=2)
