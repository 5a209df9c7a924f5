"""Which tokenizer counts, and that it never changes by itself."""

from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidSettings
from rag_assets.core.incremental import read_sealed, sealed_json
from rag_assets.core.text import tokens
from rag_assets.core.text.tokens import WordPieceCounter, resolve_tokenizer


@pytest.fixture(autouse=True)
def _unfetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """tiktoken finds nothing on disk, and the network is refused."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setattr("tiktoken.load.read_file", _refused)
    tokens._cl100k_is_available.cache_clear()
    tokens.token_counter.cache_clear()


def _refused(_address: str) -> bytes:
    raise OSError("no network")


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


def test_without_a_network_the_packaged_tokenizer_is_used_and_pinned(tmp_path: Path) -> None:
    """A later run with a network would otherwise cut every chunk anew."""
    pin = tmp_path / "cache" / "tokenizer.json"

    chosen = resolve_tokenizer("auto", pin)

    assert chosen.name == "wordpiece"
    assert read_sealed(pin) == {
        "name": "wordpiece",
        "reason": "tiktoken could not fetch cl100k_base",
    }
    before = pin.stat().st_mtime_ns
    assert resolve_tokenizer("auto", pin) == chosen
    assert pin.stat().st_mtime_ns == before


def test_a_pinned_tokenizer_that_cannot_be_had_is_an_error_not_a_flip(tmp_path: Path) -> None:
    """A silent flip re-cuts, re-embeds and re-cites the whole corpus."""
    pin = tmp_path / "tokenizer.json"
    pin.write_bytes(sealed_json({"name": "cl100k_base", "reason": "tiktoken could load it"}))

    with pytest.raises(
        InvalidSettings, match=r"tokenizer\.json pins cl100k_base, but tiktoken cannot load it"
    ):
        resolve_tokenizer("auto", pin)
    with pytest.raises(InvalidSettings, match=r"chunking\.tokenizer asks for cl100k_base"):
        resolve_tokenizer("cl100k_base", pin)
    assert resolve_tokenizer("wordpiece", pin).name == "wordpiece"
