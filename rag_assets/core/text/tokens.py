"""Counting tokens for chunk sizes and context budgets.

Two counters exist: tiktoken's cl100k_base, whose table must be fetched once, and the WordPiece
tokenizer that is packaged with the embedding weights. A choice is pinned with the data, because
chunk boundaries (and so chunk ids) follow from it: see `resolve_tokenizer`.
"""

import importlib.util
import logging
import math
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from rag_assets.core.errors import InvalidSettings, MissingModel
from rag_assets.core.incremental import read_sealed, sealed_json, write_atomically

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

logger = logging.getLogger(__name__)

TokenizerName = Literal["cl100k_base", "wordpiece"]
PACKAGED_MODEL = "rag_assets_minilm"
REINSTALL = (
    "Install rag_assets again: after make, rm -r .venv and make run; "
    "otherwise, in the project's folder, pip install --force-reinstall --no-deps ."
)
"""What to do when files of the packaged model are missing or damaged."""
_FETCH_TIMEOUT_S = 5.0
_LONG_WORD = re.compile(r"\S{101,}")
"""WordPiece reads a longer word as one unknown token (`max_input_chars_per_word` in its
tokenizer.json is 100)."""
_CHARS_PER_TOKEN = 4
"""Estimate for a word that WordPiece does not know; about the average of English text."""


class TokenCounter(Protocol):
    """Counts tokens of plain text, without special tokens."""

    name: str

    def count(self, text: str) -> int: ...

    def count_all(self, texts: Sequence[str]) -> list[int]: ...


@cache
def packaged_model_folder(name: str = PACKAGED_MODEL) -> Path:
    """Folder with the weights and the tokenizer of an embedding model, of all-MiniLM-L6-v2 unless
    another is named, which installing rag_assets puts beside its code.

    Raises MissingModel when it is not there.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise MissingModel(
            f"The folder {name} with the embedding model is not installed. It is made when rag_assets is "
            f"installed. {REINSTALL}"
        )
    return Path(spec.submodule_search_locations[0])


class ModelTokenizer:
    """A model's tokenizer.json, loaded by the first text and once per process. Texts are not
    truncated."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, special tokens included."""
        return [
            len(encoding.ids) for encoding in _loaded(self._file).encode_batch_fast(list(texts))
        ]

    def count_plain(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text without special ones; 0 for an empty text."""
        encodings = _loaded(self._file).encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def encoded(self, text: str) -> "Encoding":
        """The tokens of a text with their places, special ones included."""
        return _loaded(self._file).encode(text)


@cache
def _loaded(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def is_frequent_word(word: str) -> bool:
    """Whether a word is one of the some 25,000 English ones that the packaged model reads whole, in
    any case."""
    return _loaded(packaged_model_folder() / "tokenizer.json").token_to_id(word.lower()) is not None


class WordPieceCounter:
    """The uncased BERT WordPiece vocabulary of all-MiniLM-L6-v2.

    A word of more than 100 characters (a sequence of bases, text of a script without spaces) counts
    at least one token for every four of them. WordPiece counts it as one unknown token, so a chunk
    of such words would have no bound.
    """

    name = "wordpiece"

    def __reduce__(self) -> tuple[object, ...]:
        return token_counter, (self.name,)  # another machine has its files elsewhere

    def __init__(self) -> None:
        self._tokenizer = ModelTokenizer(packaged_model_folder() / "tokenizer.json")

    def count(self, text: str) -> int:
        return self.count_all([text])[0]

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [
            n + self._uncounted(text)
            for n, text in zip(self._tokenizer.count_plain(texts), texts, strict=True)
        ]

    def _uncounted(self, text: str) -> int:
        words = _LONG_WORD.findall(text)
        if not words:
            return 0
        at_least = [math.ceil(len(word) / _CHARS_PER_TOKEN) for word in words]
        return sum(
            max(0, least - n)
            for least, n in zip(at_least, self._tokenizer.count_plain(words), strict=True)
        )


class Cl100kCounter:
    """OpenAI's cl100k_base, through tiktoken."""

    name = "cl100k_base"

    def __reduce__(self) -> tuple[object, ...]:
        return token_counter, (self.name,)

    def __init__(self) -> None:
        import tiktoken

        self._encoding = tiktoken.get_encoding("cl100k_base")

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [len(tokens) for tokens in self._encoding.encode_ordinary_batch(list(texts))]


@cache
def token_counter(name: TokenizerName) -> TokenCounter:
    """The counter of that name; loading takes a moment, so it is kept."""
    return Cl100kCounter() if name == "cl100k_base" else WordPieceCounter()


@dataclass(frozen=True)
class ResolvedTokenizer:
    """Which counter is used, and why."""

    name: TokenizerName
    reason: str


_CHOICES: dict[str, ResolvedTokenizer] = {
    choice.name: choice
    for choice in (
        ResolvedTokenizer("cl100k_base", "tiktoken could load it"),
        ResolvedTokenizer("wordpiece", "tiktoken could not fetch cl100k_base"),
    )
}
"""What can be pinned, by name."""


def resolve_tokenizer(
    setting: Literal["auto", "cl100k_base", "wordpiece"], pin: Path, *, in_use: str | None = None
) -> ResolvedTokenizer:
    """Decide which counter the data folder uses, and pin an automatic choice in the file `pin`.

    With "auto", the pinned choice holds until the file is deleted or the setting names a tokenizer;
    without a pin, cl100k_base is fetched within a few seconds or WordPiece is taken instead. A
    damaged pin is made anew from `in_use`, the counter that the published chunks were cut with,
    where that is known. Raises InvalidSettings when cl100k_base is demanded, or pinned, but cannot
    be had: a silent flip would re-cut every chunk.
    """
    if setting == "wordpiece":
        return ResolvedTokenizer("wordpiece", "chosen in the settings")
    if setting == "cl100k_base":
        _demand_cl100k("chunking.tokenizer asks for cl100k_base")
        return ResolvedTokenizer("cl100k_base", "chosen in the settings")
    if (pinned := _pinned(pin)) is None and pin.exists():
        logger.warning("%s is damaged and is made anew.", pin)
        pinned = _CHOICES.get(in_use or "")
        if pinned is not None:
            _pin(pin, pinned)
    if pinned is not None:
        if pinned.name == "cl100k_base":
            _demand_cl100k(f"{pin} pins cl100k_base")
        return pinned
    chosen = _CHOICES["cl100k_base" if _cl100k_is_available() else "wordpiece"]
    if chosen.name == "wordpiece":
        logger.warning("%s: counting tokens with the packaged WordPiece tokenizer.", chosen.reason)
    _pin(pin, chosen)
    return chosen


def _pinned(pin: Path) -> ResolvedTokenizer | None:
    """None when there is no pin or it is damaged."""
    pinned = read_sealed(pin)
    return next((choice for choice in _CHOICES.values() if asdict(choice) == pinned), None)


def _pin(pin: Path, chosen: ResolvedTokenizer) -> None:
    with suppress(
        OSError
    ):  # a question needs no room on the disk; a run that has none ends elsewhere
        write_atomically(pin, sealed_json(asdict(chosen)))


def _demand_cl100k(who: str) -> None:
    if not _cl100k_is_available():
        raise InvalidSettings(
            f"{who}, but tiktoken cannot load it (it is fetched once over the network). Connect once, point "
            'TIKTOKEN_CACHE_DIR at a folder that has it, or set chunking.tokenizer = "wordpiece" and rebuild.'
        )


@cache
def _cl100k_is_available() -> bool:
    """tiktoken's own download has no time-out, so a default one is set on sockets while it runs."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_FETCH_TIMEOUT_S)
    try:
        token_counter("cl100k_base")
    except (OSError, ValueError) as error:
        logger.debug("cl100k_base cannot be loaded: %s", type(error).__name__)
        return False
    finally:
        socket.setdefaulttimeout(before)
    return True
