"""A text is taken into the most probable pieces, and each piece knows its characters."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.embedding.local_model import unpacked_e5
from rag_assets.search.embedding.packed_model import Pieces, UnigramTokenizer

SMALL = {"<s>": 0.0, "</s>": 0.0, "<unk>": 0.0, "▁": -4.0, "▁a": -2.0, "b": -2.0, "ab": -2.5, "▁ab": -5.0,
         "c": -3.0}  # fmt: skip
ORIGINAL = {
    "Ferritin fell in 40 % of mice.": [8002, 2783, 73, 77736, 23, 1112, 1745, 111, 324, 329, 5],
    "日本語のテキストです。": [6, 98449, 154, 193508, 1453, 30],
    "Wie hoch war das Ferritin?": [4887, 35943, 1631, 381, 8002, 2783, 73, 32],
}
"""Ids of the library that the model was trained with, made from the same pieces:

    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    texts = [pieces.text[a:b].decode() for a, b in pairwise(pieces.bounds)]
    tokenizer = Tokenizer(models.Unigram(list(zip(texts, pieces.scores)), unk_id=3))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    print(tokenizer.encode(text).ids)
"""


@pytest.fixture
def small() -> UnigramTokenizer:
    pieces = [piece.encode() for piece in SMALL]
    bounds = np.cumsum([0, *map(len, pieces)], dtype=np.uint32)
    scores = np.array(list(SMALL.values()), np.float32)
    replaced = {ord("ß"): "ab", ord("\n"): " "}
    return UnigramTokenizer(Pieces(b"".join(pieces), bounds, scores, 0, 1, 2, replaced))


@pytest.mark.parametrize(
    ("text", "pieces", "places"),
    [
        ("ab abc", "▁a b ▁a b c", [[0, 1], [1, 2], [3, 4], [4, 5], [5, 6]]),
        ("c\n\n ß c", "▁ c ▁a b ▁ c", [[0, 0], [0, 1], [4, 5], [4, 5], [6, 6], [6, 7]]),
        ("xb", "▁ <unk> b", [[0, 0], [0, 1], [1, 2]]),
        (" ", "", []),
    ],
)
def test_a_text_is_cut_into_the_most_probable_pieces_and_each_keeps_its_place(
    small: UnigramTokenizer, text: str, pieces: str, places: list[list[int]]
) -> None:
    """The longest piece that fits is often another one: the model would read other words. A
    sentence is scored by the tokens within it, so what is replaced or unknown shifts nothing."""
    ids, spans = small.tokens(text)

    assert [list(SMALL)[id_] for id_ in ids] == pieces.split()
    assert spans.tolist() == places


@pytest.mark.parametrize("text", ORIGINAL)
def test_texts_of_several_languages_have_the_ids_of_the_original(
    text: str, models_folder: Path
) -> None:
    """Another cut than in the training makes worse vectors, and nothing fails."""
    _, tokenizer = unpacked_e5(models_folder)

    assert tokenizer.tokens(text)[0] == ORIGINAL[text]
