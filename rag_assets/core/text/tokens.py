"""Counts tokens, for the sizes of chunks and contexts.

There are two counters: tiktoken's cl100k_base, and the WordPiece tokenizer of the packaged
embedding model. The files of both are installed together with rag_assets, so that the boundaries
and ids of chunks are the same on every machine.
"""

import gzip
import hashlib
import importlib.util
import json
import math
import re
import zlib
from binascii import a2b_base64
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from rag_assets.core.errors import MissingModel

if TYPE_CHECKING:
    from tiktoken import Encoding as TiktokenEncoding
    from tokenizers import Encoding, Tokenizer

TokenizerName = Literal["cl100k_base", "wordpiece"]
PACKAGED_MODEL = "rag_assets_minilm"
REINSTALL = (
    "Install rag_assets again: after make, rm -r .venv and make run; "
    "otherwise, in the project's folder, pip install --force-reinstall --no-deps ."
)
"""What to do when packaged files are missing or damaged."""
CL100K_FOLDER = "rag_assets_cl100k"
CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""SHA-256 of the unpacked table, as tiktoken demands it."""
_CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]"
    r"|\s+(?!\S)|\s"
)
"""Pattern by which cl100k_base splits a text before it looks for tokens; from tiktoken 0.14."""
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
    """The folder with the files of an embedding model or a tokenizer that is installed together
    with rag_assets; by default that of all-MiniLM-L6-v2.

    Raises MissingModel when it does not exist.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise MissingModel(
            f"The folder {name} with files of a model is not installed. It is made when rag_assets is "
            f"installed. {REINSTALL}"
        )
    return Path(spec.submodule_search_locations[0])


class ModelTokenizer:
    """The tokenizer of a model, from its tokenizer.json. It is loaded when it is first used, once
    per process. Texts are not truncated."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text, with special tokens."""
        return [
            len(encoding.ids) for encoding in _loaded(self._file).encode_batch_fast(list(texts))
        ]

    def count_plain(self, texts: Sequence[str]) -> list[int]:
        """Number of tokens of each text, without special tokens; 0 for an empty text."""
        encodings = _loaded(self._file).encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def encoded(self, text: str) -> "Encoding":
        """The tokens of a text with their offsets, including special tokens."""
        return _loaded(self._file).encode(text)


@cache
def _loaded(file: Path) -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def is_frequent_word(word: str) -> bool:
    """Whether a word, in capitals or not, is one of the about 25,000 English words that are a
    single token of the packaged model."""
    return word.lower() in _vocabulary()


@cache
def _vocabulary() -> Mapping[str, int]:
    """The tokens of the packaged model; read as JSON, in a third of the time of its library."""
    described = json.loads((packaged_model_folder() / "tokenizer.json").read_bytes())
    vocabulary: Mapping[str, int] = described["model"]["vocab"]
    return vocabulary


class WordPieceCounter:
    """Counts with the uncased BERT WordPiece vocabulary of all-MiniLM-L6-v2.

    WordPiece counts a word of more than 100 characters (a sequence of bases, text of a script
    without spaces) as one unknown token, so a chunk of such words could be of any size. Here, such
    a word counts at least one token for every four characters.
    """

    name = "wordpiece"

    def __reduce__(self) -> tuple[object, ...]:
        # pickled by its name, because another machine has the files in another folder
        return token_counter, (self.name,)

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
        """Number of tokens to add for the long words of a text."""
        words = _LONG_WORD.findall(text)
        if not words:
            return 0
        return sum(
            max(0, math.ceil(len(word) / _CHARS_PER_TOKEN) - n_counted)
            for word, n_counted in zip(words, self._tokenizer.count_plain(words), strict=True)
        )


class Cl100kCounter:
    """Counts with OpenAI's cl100k_base, through tiktoken."""

    name = "cl100k_base"

    def __reduce__(self) -> tuple[object, ...]:
        return token_counter, (self.name,)

    def count(self, text: str) -> int:
        return len(_cl100k().encode_ordinary(text))

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


@cache
def _cl100k() -> "TiktokenEncoding":
    """The encoding, which is loaded when the first text is counted (about 0.1 s and 45 MB). Raises
    MissingModel when its table is missing or has another checksum."""
    import tiktoken

    file = packaged_model_folder(CL100K_FOLDER) / "cl100k_base.tiktoken.gz"
    try:
        table = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise MissingModel(f"{file} cannot be read: {error}. {REINSTALL}") from error
    if (sha256 := hashlib.sha256(table).hexdigest()) != CL100K_SHA256:
        raise MissingModel(
            f"{file} is not the table of cl100k_base: its SHA-256 is {sha256}, not {CL100K_SHA256}. {REINSTALL}"
        )
    tokens = table.split()[::2]  # in base 64; the number behind each is its place, from 0
    ranks = {a2b_base64(token): rank for rank, token in enumerate(tokens)}
    return tiktoken.Encoding(
        Cl100kCounter.name, pat_str=_CL100K_PATTERN, mergeable_ranks=ranks, special_tokens={}
    )


@cache
def token_counter(name: TokenizerName) -> TokenCounter:
    """The counter of that name."""
    return Cl100kCounter() if name == "cl100k_base" else WordPieceCounter()
