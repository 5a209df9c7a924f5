"""The recipe of haiku.rag, made anew: chunks of at most 256 tokens within a section, title and
headings before the text in what is embedded and searched by words, both rankings joined by
reciprocal ranks.

Sources: https://ggozad.github.io/haiku.rag/tuning (chunking, hybrid search, 256 tokens) and
https://ggozad.github.io/haiku.rag/configuration/processing. Left out: its section-wise expansion of
what was found, and the reranker, which its defaults do not have either.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

from benchmarks.quality.measures import Found
from benchmarks.quality.peers.base import (
    Peer,
    PeerVectors,
    Piece,
    SourceBlock,
    Words,
    nearest,
    reciprocal_ranks,
)
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.tokens import token_counter
from rag_assets.search.embedding.base import Vectors

MAX_TOKENS, CANDIDATES = 256, 100


class HaikuRecipe:
    """Vectors and words over contextualised chunks."""

    def __init__(self, pieces: Sequence[Piece], vectors: Vectors, model: PeerVectors) -> None:
        self._pieces, self._vectors, self._model = pieces, vectors, model
        self._words = Words([piece.indexed for piece in pieces])

    @classmethod
    def built(cls, blocks: Sequence[SourceBlock], model: PeerVectors) -> Peer:
        pieces = list(chunks(blocks))
        return cls(pieces, model.of([piece.indexed for piece in pieces]), model)

    def search(self, question: str, limit: int) -> list[Found]:
        rankings = [
            nearest(self._vectors, self._model.of_question(question), CANDIDATES),
            self._words.search(question, CANDIDATES),
        ]
        return [self._pieces[place].found for place in reciprocal_ranks(rankings)[:limit]]


def chunks(blocks: Sequence[SourceBlock]) -> Iterator[Piece]:
    """Whole sentences of one section up to the size; a longer sentence is a chunk of its own."""
    counter = token_counter("wordpiece")
    for (paper_id, title, headings), section in groupby(
        blocks, lambda one: (one.paper_id, one.title, one.headings)
    ):
        context = "\n".join(dict.fromkeys(part for part in (title, *headings) if part))
        sentences = [
            (block.text[start:end], block)
            for block in section
            for start, end in sentence_spans(block.text)
        ]
        n_left = MAX_TOKENS - counter.count(context)
        kept: list[tuple[str, SourceBlock]] = []
        n_kept = 0
        for text, block in sentences:
            n_tokens = counter.count(text)
            if kept and n_kept + n_tokens > n_left:
                yield _piece(paper_id, context, kept)
                kept, n_kept = [], 0
            kept.append((text, block))
            n_kept += n_tokens
        if kept:
            yield _piece(paper_id, context, kept)


def _piece(paper_id: str, context: str, sentences: Sequence[tuple[str, SourceBlock]]) -> Piece:
    text = " ".join(text for text, _ in sentences)
    pages = [
        page
        for _, block in sentences
        for page in (block.page_start, block.page_end)
        if page is not None
    ]
    found = Found(text, paper_id, min(pages, default=None), max(pages, default=None))
    return Piece(f"{context}\n{text}" if context else text, found)
