"""Which variants share a data folder, and what a new one begins with."""

from pathlib import Path

from benchmarks.quality.data_folders import data_folder
from rag_assets.core.settings import load_settings


def test_variants_of_search_and_answers_share_the_indexes(tmp_path: Path) -> None:
    """Each variant would embed every paper again."""
    default = data_folder("tiny", tmp_path, load_settings())
    search = load_settings({"retrieval": {"dense_weight": 0.3}, "answering": {"k": 3}})
    passages = load_settings({"passages": {"target_tokens": 100}})

    assert data_folder("tiny", tmp_path, search) == default
    assert data_folder("tiny", tmp_path, passages) != default
