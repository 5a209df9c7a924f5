"""Counting tokens: by the files that installing rag_assets brings, the same on every machine."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.core.errors import MissingModel
from rag_assets.core.text import tokens
from rag_assets.core.text.tokens import Cl100kCounter, WordPieceCounter, token_counter

CL100K = {
    "hello world": 2,
    "What is k = 60 in reciprocal rank fusion?": 11,
    "Größe: 12.345 µm, naïve façade": 14,
    "": 0,
}
"""Text -> its tokens as tiktoken counts them with the table it downloads:

    encoding = tiktoken.get_encoding("cl100k_base")
    print(len(encoding.encode_ordinary(text)))
"""


@pytest.fixture
def fresh() -> Iterator[None]:
    """The table is loaded anew, before and after."""
    tokens._cl100k.cache_clear()
    yield
    tokens._cl100k.cache_clear()


def test_cl100k_is_counted_without_a_network(
    fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A machine without one would cut other chunks, whose ids no other machine knows."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "empty"))

    assert token_counter("cl100k_base").count_all(list(CL100K)) == list(CL100K.values())


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no archive", "cannot be read"),
        (gzip.compress(b"IQ== 0\n", mtime=0), "is not the table of cl100k_base"),
    ],
)
def test_another_table_is_not_counted_with(
    content: bytes, complaint: str, fresh: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Other counts move every chunk's boundary, silently."""
    (tmp_path / "cl100k_base.tiktoken.gz").write_bytes(content)
    monkeypatch.setattr(tokens, "packaged_model_folder", lambda _name: tmp_path)

    with pytest.raises(MissingModel, match=complaint):
        Cl100kCounter().count("word")


def test_wordpiece_counts_as_its_vocabulary_does() -> None:
    """Chunk sizes follow from these counts."""
    counter = WordPieceCounter()

    assert counter.count("hello worlds") == 2
    assert counter.count_all(["hello", "hello worlds", ""]) == [1, 2, 0]
    assert counter.count("word " * 1000) == 1000


@pytest.mark.parametrize("word", ["ก" * 700_000, "acgt" * 1000, "x" * 101])
def test_a_long_word_counts_by_its_length(word: str) -> None:
    """Counted as one token, 700 KB of Thai were one chunk that no search finds and no context has
    room for."""
    alone, in_a_sentence = WordPieceCounter().count_all([word, f"The word {word} is long."])

    assert alone >= len(word) / 4
    assert in_a_sentence == alone + len(["The", "word", "is", "long", "."])
