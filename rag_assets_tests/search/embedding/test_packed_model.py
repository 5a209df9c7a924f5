"""The file that carries multilingual-e5-small is read as it was written, number for number."""

import struct
from pathlib import Path

import numpy as np
import pytest

from rag_assets.core.errors import MissingModel
from rag_assets.search.embedding.packed_model import PackedModel
from rag_assets_tests.search.embedding.packed_file import BLOCK, HIDDEN, PIECES, WIDE, write_packed


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> PackedModel:
    file = tmp_path_factory.mktemp("packed") / "small.bin"
    write_packed(file)
    return PackedModel(file)


def test_the_dimensions_and_the_tokenizer_are_read(packed: PackedModel) -> None:
    """Pieces with shifted scores would take words apart elsewhere than the model was trained to."""
    pieces = packed.pieces

    assert (packed.n_hidden, packed.n_layers, packed.n_heads) == (HIDDEN, 1, 2)
    assert packed.epsilon == pytest.approx(1e-6)
    assert [pieces.id_of(text.encode()) for text, _ in PIECES] == list(range(len(PIECES)))
    assert list(pieces.scores) == [score for _, score in PIECES]
    assert (pieces.start, pieces.end, pieces.unknown) == (0, 2, 3)
    assert pieces.replaced == {ord("\t"): " ", ord("ﬁ"): "fi", 0xAD: ""}


def test_four_bits_become_the_numbers_that_they_stand_for(packed: PackedModel) -> None:
    """Halves in the wrong order still look like weights, and every vector is noise."""
    row = 0.5 * (np.array(BLOCK) - 8)

    query = packed.weights()["encoder.layer.0.attention.self.query.weight"]

    assert query.shape == (HIDDEN, HIDDEN)
    assert query[0].tolist() == row.tolist()
    assert query[1].tolist() == (2 * row).tolist()


def test_a_dense_layer_has_the_shape_of_a_bert_model(packed: PackedModel) -> None:
    """The widest layers are the only ones that are not square: exchanged, nothing would load."""
    weights = packed.weights()

    assert weights["encoder.layer.0.intermediate.dense.weight"].shape == (WIDE, HIDDEN)
    assert weights["encoder.layer.0.output.dense.weight"].shape == (HIDDEN, WIDE)
    assert weights["encoder.layer.0.output.LayerNorm.bias"].shape == (HIDDEN,)


def test_a_token_is_the_sum_of_its_word_its_place_and_its_kind(packed: PackedModel) -> None:
    """Without the place a model reads a text as a bag of words."""
    row = 0.5 * (np.array(BLOCK) - 8)

    first, second = packed.embeddings([2, 0])

    assert first.tolist() == (3 * row + 0.25 + 0.125).tolist()
    assert second.tolist() == (row + 1.25 + 0.125).tolist()


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    """Whatever stands at the same places would become weights."""
    file = tmp_path / "other.bin"
    file.write_bytes(b"GGUF" + struct.pack("<I", 3))

    with pytest.raises(MissingModel) as caught:
        PackedModel(file)

    assert str(caught.value) == f"{file} does not begin with b'E5S1': it is no packed model."
