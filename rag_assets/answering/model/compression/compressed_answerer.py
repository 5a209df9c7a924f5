"""Shows another answerer less of the contexts."""

from collections.abc import Sequence
from dataclasses import replace

from rag_assets.answering.drafts import Background, DraftAnswer, MendingAnswerer, TokenReader, Unmet
from rag_assets.answering.model.compression.nearest_units import nearest_units
from rag_assets.core.domain import Context, ContextPassage
from rag_assets.core.incremental import fingerprint

COMPRESSION_VERSION = 1
"""Raise it when the code leaves other units out."""


class CompressedAnswerer:
    """Lets the answerer inside read the sentences nearest to the question. Quotes are verified against whole chunks
    all the same."""

    def __init__(self, inside: MendingAnswerer, reader: TokenReader, share: float) -> None:
        """share: of the contexts' characters that is shown, 0 to 1."""
        self._inside = inside
        self._reader = reader
        self._share = share

    @property
    def identity(self) -> str:
        """That of the answerer inside, and a hash of how contexts are shortened."""
        shortened = fingerprint(COMPRESSION_VERSION, self._share, self._reader.identity)
        return f"{self._inside.identity} compressed-{shortened[:8]}"

    def read(self, context: Context) -> Context:
        return replace(self._inside.read(context), passages=_without_scores(context), units=context.units)

    def within(self, background: Background) -> "CompressedAnswerer":
        return CompressedAnswerer(self._inside.within(background), self._reader, self._share)

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        return self._inside.draft(question, nearest_units(question, contexts, self._reader, self._share))

    def mended(self, question: str, contexts: Sequence[Context], unmet: Unmet) -> DraftAnswer:
        """Reads the contexts whole: a claim is mended with the words that its quote left out."""
        return self._inside.mended(question, contexts, unmet)


def _without_scores(context: Context) -> tuple[ContextPassage, ...]:
    """Scores move with every paper that is added, and leave out nothing."""
    return tuple(replace(one, score=0.0) for one in context.passages)
