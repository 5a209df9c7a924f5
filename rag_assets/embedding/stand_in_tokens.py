"""Counting tokens for models whose own tokenizer is not here: the packaged WordPiece tokenizer stands in.

A provider's count would take a request a text, and each tokenizer is a download. What the stand-in gets wrong is made
up for by a margin, and before a text is sent, by a bound that cannot be wrong (`fitted`).
"""

import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from rag_assets.embedding.local_weights import packaged_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MARGIN = 0.7
"""Share of a model's limit that passages may fill by this count: a model's own tokenizer may cut a text into 1.4 times
as many tokens. An allowance, not a measurement: of the vendors' tokenizers none is at hand."""
_UNKNOWN = "[UNK]"


class StandInTokenizer:
    """The uncased BERT vocabulary of all-MiniLM-L6-v2; loaded by the first count."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, two special tokens included."""
        return [len(encoding.ids) for encoding in _tokenizer().encode_batch_fast(list(texts))]

    def count_plain(self, text: str) -> int:
        """Tokens without special ones; 0 for an empty text."""
        return len(_tokenizer().encode(text, add_special_tokens=False).ids) if text else 0

    def most_tokens(self, text: str) -> int:
        """More than any model's own tokenizer is expected to make of `text`.

        WordPiece takes a run of characters it does not know, or one of more than 100 without a space, for a single
        token: those count a token a byte, the rest with the margin.
        """
        encoding = _tokenizer().encode(text)
        unknown = [place for token, place in zip(encoding.tokens, encoding.offsets, strict=True) if token == _UNKNOWN]
        n_unknown_bytes = sum(len(text[start:end].encode()) for start, end in unknown)
        return math.ceil((len(encoding.ids) - len(unknown)) / MARGIN) + n_unknown_bytes

    def fitted(self, text: str, max_tokens: int) -> str:
        """`text`, or the beginning of it that no tokenizer can make more than `max_tokens` of.

        No tokenizer makes more tokens than there are bytes. Passages are cut by count to what a model reads, so only
        one with long runs of unknown characters (encoded data, a picture of characters) loses its end here.
        """
        content = text.encode()
        if len(content) <= max_tokens or self.most_tokens(text) <= max_tokens:
            return text
        return content[:max_tokens].decode(errors="ignore")


@cache
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(packaged_tokenizer()))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
