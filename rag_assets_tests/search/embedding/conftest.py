"""One models folder for all tests of this package: a local model is built once."""

import shutil
from pathlib import Path

import pytest

from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.providers import open_embedder
from rag_assets_testing.packaged_tokenizer import write_tokenizer

FLOAT32 = EmbeddingSettings(model="local:all-MiniLM-L6-v2")
INT8 = EmbeddingSettings(model="local:all-MiniLM-L6-v2-int8")
E5 = EmbeddingSettings(model="local:multilingual-e5-small-int8")


@pytest.fixture(scope="session")
def models_folder(built_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the int8 model in it; the other one is built when it is needed."""
    return Path(shutil.copytree(built_model, tmp_path_factory.mktemp("embedding") / "models"))


@pytest.fixture(scope="session")
def float32(models_folder: Path) -> Embedder:
    return open_embedder(FLOAT32, models_folder, n_threads=2)


def hub_folder_with(model: Path, repository: str, folder: Path) -> Path:
    """A models folder with a model in it as huggingface_hub leaves it after a download; returns the
    folder of files."""
    snapshot = folder / repository / "snapshots" / "0123"
    shutil.copytree(model, snapshot)
    write_tokenizer(snapshot, max_tokens=256)
    (folder / repository / "refs").mkdir()
    (folder / repository / "refs" / "main").write_text("0123")
    return snapshot


@pytest.fixture(scope="session")
def int8(models_folder: Path) -> Embedder:
    return open_embedder(INT8, models_folder, n_threads=2)


@pytest.fixture(scope="session")
def e5(models_folder: Path) -> Embedder:
    return open_embedder(E5, models_folder, n_threads=2)
