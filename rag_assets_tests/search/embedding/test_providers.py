"""A setting names exactly one model, and knowing about a model costs nothing.

The hub is out of reach of all tests (see the conftest of all tests).
"""

import subprocess
import sys
from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidSettings, MissingModel
from rag_assets.core.settings import EmbeddingSettings
from rag_assets.search.embedding.base import Embedder
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
from rag_assets_tests.search.embedding.conftest import hub_folder_with
from rag_assets_tests.search.embedding.reference_texts import QUESTION

HUB = EmbeddingSettings(model="fastembed:sentence-transformers/all-MiniLM-L6-v2")


@pytest.mark.parametrize("name", ["local:all-minilm", "all-MiniLM-L6-v2", "cohere:embed-4", ""])
def test_an_unknown_model_is_refused_with_the_models_there_are(name: str, tmp_path: Path) -> None:
    """A guess would fill the index with vectors that nobody asked for."""
    with pytest.raises(InvalidSettings) as caught:
        open_embedder(EmbeddingSettings(model=name), tmp_path, n_threads=1)

    assert str(caught.value) == (
        f"embedding.model = {name!r} does not exist. It can be: local:multilingual-e5-small-int8, "
        "local:multilingual-e5-small, local:all-MiniLM-L6-v2-int8, local:all-MiniLM-L6-v2, "
        "fastembed:<a model of fastembed's list>, google:<model>, openai:<model>, ollama:<model>."
    )


def test_an_unknown_hub_model_is_refused_with_the_models_fastembed_knows(tmp_path: Path) -> None:
    """The list belongs into the message: the reader has no other place to find the exact
    spelling."""
    with pytest.raises(
        InvalidSettings, match=r"does not know 'bge-small', only: .*BAAI/bge-small-en-v1\.5, "
    ):
        embedder_facts(EmbeddingSettings(model="fastembed:bge-small"), tmp_path)


def test_facts_and_opening_load_no_engine_and_no_sdk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step of a run asks for the facts; with an engine or an SDK each would pay a second for
    it."""
    for variable in ("GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "key")
    script = f"""
import sys
from pathlib import Path
from rag_assets.core.settings import EmbeddingSettings, ModelAccessSettings
from rag_assets.hosted.connections import Connections
from rag_assets.search.embedding.providers import embedder_facts, open_embedder
models = ("google:gemini-embedding-001", "openai:text-embedding-3-small", "ollama:nomic-embed-text")
for settings in (EmbeddingSettings(), *(EmbeddingSettings(model=model) for model in models)):
    embedder_facts(settings, Path({str(tmp_path)!r}))
    open_embedder(settings, Path({str(tmp_path)!r}), connections=Connections(ModelAccessSettings()))
names = "onnx onnxruntime fastembed pandas huggingface_hub pydantic_ai openai google.genai httpx2 genai_prices".split()
print([name for name in names if name in sys.modules])
"""

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert result.stdout == "[]\n"


@pytest.fixture
def hub_folder(models_folder: Path, float32: Embedder, tmp_path: Path) -> Path:
    """A models folder with a hub model in it, laid out as huggingface_hub leaves it after a
    download."""
    float32.embed_query(QUESTION)
    hub_folder_with(
        models_folder / float32.identity, "models--Qdrant--all-MiniLM-L6-v2-onnx", tmp_path
    )
    return tmp_path


def test_a_hub_model_that_cannot_be_fetched_names_the_way_out(tmp_path: Path) -> None:
    """Offline is the normal state of many clusters; the reader needs the setting that works
    there."""
    with pytest.raises(MissingModel) as caught:
        embedder_facts(HUB, tmp_path)

    assert str(caught.value) == (
        f"sentence-transformers/all-MiniLM-L6-v2 is not in {tmp_path} and cannot be fetched from its hub (Could not "
        "load model sentence-transformers/all-MiniLM-L6-v2 from any source.). Connect once, or set embedding.model = "
        '"local:all-MiniLM-L6-v2-int8" in rag_assets.toml.'
    )


def test_a_model_that_cannot_be_loaded_names_its_folder(hub_folder: Path) -> None:
    """onnxruntime's own message has neither the model's name nor a remedy."""
    (model,) = hub_folder.rglob("model.onnx")
    model.write_bytes(b"no model")

    with pytest.raises(
        MissingModel,
        match=rf"The embedding model in {model.parent} cannot be loaded .* Delete that",
    ):
        open_embedder(HUB, hub_folder, n_threads=1).embed_query(QUESTION)
