"""Counting tokens for models whose own tokenizer is not here: the packaged WordPiece tokenizer stands in.

A provider's count would take one request per text, and each tokenizer is a download. The stand-in's errors are covered
by a margin and, before a text is sent, by a bound that always holds (`fitted`).
"""

import math

from rag_assets.core.text.tokens import ModelTokenizer
from rag_assets.search.embedding.local_weights import packaged_tokenizer

MARGIN = 0.7
"""Share of a model's limit that passages may fill by this count: a model's own tokenizer may cut a text into 1.4 times
as many tokens. An allowance, not a measurement: of the vendors' tokenizers none is at hand."""
_UNKNOWN = "[UNK]"


class StandInTokenizer(ModelTokenizer):
    """The uncased BERT vocabulary of all-MiniLM-L6-v2."""

    def __init__(self) -> None:
        super().__init__(packaged_tokenizer())

    def most_tokens(self, text: str) -> int:
        """More than any model's own tokenizer is expected to make of `text`.

        WordPiece takes a run of characters it does not know, or one of more than 100 without a space, for a single
        token: those count one token per byte, the rest with the margin.
        """
        encoding = self.encoded(text)
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
