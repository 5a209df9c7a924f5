"""Sparse vectors: what a model makes of a text, and how they are kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import SparseVector
from rag_assets.core.errors import InvalidSettings, MissingInput
from rag_assets.core.kept import KeptFile
from rag_assets.core.settings import Settings
from rag_assets.search.embedding.fastembed_model import (
    SparseModel,
    SparseVectors,
    open_sparse_vectors,
)
from rag_assets.search.embedding.missing_vectors import ignore_progress
from rag_assets_tests.search.embedding.sparse_onnx import (
    MODEL,
    SYNONYM,
    WORD,
    number_of,
    write_sparse_model,
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SparseModel:
    folder = tmp_path_factory.mktemp("models")
    write_sparse_model(folder, {"runner": "athlete"})
    return SparseModel(MODEL, folder, n_threads=2)


def weights(vector: SparseVector) -> dict[int, float]:
    return dict(zip(vector.places, vector.weights, strict=True))


def test_a_text_weighs_its_words_and_their_synonyms(model: SparseModel) -> None:
    """What a text is about is found by words that it does not have."""
    iron, both = model.vectors(["iron", "iron runner"])

    assert weights(iron) == pytest.approx({number_of("iron"): WORD})
    assert weights(both) == pytest.approx(
        {number_of("iron"): WORD, number_of("runner"): WORD, number_of("athlete"): SYNONYM}
    )
    assert list(both.places) == sorted(both.places)


def test_only_the_heaviest_terms_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vector has to fit into its row, and the lightest terms tell least."""
    write_sparse_model(tmp_path, {"runner": "athlete", "iron": "steel"})
    monkeypatch.setattr("rag_assets.search.embedding.fastembed_model.MOST_TERMS", 3)

    (vector,) = SparseModel(MODEL, tmp_path).vectors(["iron runner"])

    assert {number_of("iron"), number_of("runner")} < set(vector.places)
    assert len(vector.places) == 3


@pytest.mark.parametrize("name", ["splade", "fastembed:", "fastembed:Qdrant/bm25", "google:splade"])
def test_an_unknown_model_is_refused_with_those_there_are(name: str, tmp_path: Path) -> None:
    """Among them models that need statistics of the corpus, which are not kept here."""
    with pytest.raises(InvalidSettings) as caught:
        SparseModel(name, tmp_path)

    assert str(caught.value).startswith(
        f"embedding.sparse_model = {name!r} does not exist. It can be: none, "
    )
    assert MODEL in str(caught.value)
    assert "bm25" not in str(caught.value).partition("It can be")[2].lower()


@dataclass
class Counting:
    """A model of two terms per text, which counts what it is asked."""

    identity: str = "counting"
    asked: list[str] = field(default_factory=list)

    def vectors(self, texts: Sequence[str]) -> list[SparseVector]:
        self.asked += texts
        return [
            SparseVector((1, len(text) + 2), (0.5, 1.0 + len(text)))
            if text
            else SparseVector((), ())
            for text in texts
        ]


def opened(folder: Path, model: Counting) -> SparseVectors:
    return SparseVectors(KeptFile(folder / "vectors.sqlite3"), model)


def embedded(folder: Path, model: Counting, *texts: str) -> int:
    return opened(folder, model).embed(texts, batch_size=1, report=ignore_progress)


def test_no_text_is_embedded_twice_and_vectors_come_back_as_they_were_made(tmp_path: Path) -> None:
    """A sparse model takes as long as a dense one, and an edit concerns one passage; a text may be
    without a term."""
    model = Counting()
    embedded(tmp_path, model, "Ferritin fell.", "Basalt takes up water.", "")

    n_made = embedded(tmp_path, model, "Ferritin fell.", "Granite is hard.")

    assert n_made == 1
    assert model.asked == ["Ferritin fell.", "Basalt takes up water.", "", "Granite is hard."]
    texts = ["Basalt takes up water.", "", "Ferritin fell."]
    assert opened(tmp_path, model).cache.load(texts) == Counting().vectors(texts)
    with pytest.raises(MissingInput):
        opened(tmp_path, model).cache.load(["unknown"])


def settings_of(data: Path, **groups: Any) -> Settings:
    return Settings.model_validate({"data_dir": data, **groups})


def test_a_sparse_model_without_a_store_for_it_is_refused(tmp_path: Path) -> None:
    """An hour of embedding for vectors that nothing searches."""
    assert open_sparse_vectors(settings_of(tmp_path)) is None
    with pytest.raises(InvalidSettings, match="is searched by Qdrant only"):
        open_sparse_vectors(settings_of(tmp_path, embedding={"sparse_model": MODEL}))
