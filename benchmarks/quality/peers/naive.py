"""What most tutorials build: 1,000 characters of the text, 200 of them repeated, one vector each.

Source: LangChain's tutorial "Build a Retrieval Augmented Generation (RAG) App" (chunk_size=1000,
chunk_overlap=200). The model reads the first 256 tokens of a text.
"""

from collections.abc import Sequence

from benchmarks.quality.measures import Found
from benchmarks.quality.peers.base import Peer, PeerVectors, SourceBlock, by_paper, nearest
from rag_assets.search.embedding.base import Vectors

SIZE, REPEATED = 1000, 200


class Naive:
    """Vectors of fixed windows, nothing else."""

    def __init__(self, pieces: Sequence[Found], vectors: Vectors, model: PeerVectors) -> None:
        self._pieces, self._vectors, self._model = pieces, vectors, model

    @classmethod
    def built(cls, blocks: Sequence[SourceBlock], model: PeerVectors) -> Peer:
        pieces = [piece for paper in by_paper(blocks).values() for piece in windows(paper)]
        return cls(pieces, model.of([piece.text for piece in pieces]), model)

    def search(self, question: str, limit: int) -> list[Found]:
        return [
            self._pieces[place]
            for place in nearest(self._vectors, self._model.of_question(question), limit)
        ]


def windows(blocks: Sequence[SourceBlock]) -> list[Found]:
    """Windows over the blocks of one paper, each with the pages of the blocks it touches."""
    text, starts = "", []
    for block in blocks:
        starts.append(len(text))
        text += block.text + "\n\n"
    pieces = []
    for start in range(0, max(1, len(text) - REPEATED), SIZE - REPEATED):
        end = start + SIZE
        touched = [
            block
            for block, at in zip(blocks, starts, strict=True)
            if at < end and at + len(block.text) + 2 > start
        ]
        pages = [
            page
            for block in touched
            for page in (block.page_start, block.page_end)
            if page is not None
        ]
        pieces.append(
            Found(text[start:end], blocks[0].paper_id, min(pages, default=None), max(pages, default=None))
        )  # fmt: skip
    return pieces
