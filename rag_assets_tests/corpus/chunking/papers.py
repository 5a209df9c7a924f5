"""Small papers for these tests, and counters whose results a reader can check by eye."""

import random
from collections.abc import Sequence

import pyarrow as pa

from rag_assets.core.domain import BLOCK_SEPARATOR, Block, BlockKind, Box, Cell, Chunk, Span, Zone
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.tables import (
    BLOCKS,
    STATEMENTS,
    block_rows,
    blocks_from,
    by_paper,
    statement_rows,
    to_table,
)
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.statements.making import statements_of

SMALL = ChunkingSettings(
    target_tokens=40, max_tokens=50, overlap_tokens=8, min_tokens=3, min_chars=10
)
_WORDS = "ferritin iron storage protein marker cohort trial dose group patients serum level rose fell after week".split()


class WordCounter:
    """One token per word."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())

    def count_all(self, texts: Sequence[str]) -> list[int]:
        return [self.count(text) for text in texts]


def words_and_two(texts: Sequence[str]) -> list[int]:
    """An embedding model's tokenizer: one token per word and two special ones."""
    return [len(text.split()) + 2 for text in texts]


def heading(*path: str, zone: Zone = Zone.BODY) -> Block:
    return Block(BlockKind.HEADING, path[-1], path, zone)


def paragraph(text: str, *path: str, page: int | None = None, zone: Zone = Zone.BODY) -> Block:
    return Block(BlockKind.PARAGRAPH, text, path, zone, spans=(Span(0, len(text), page, page),))


def sentence(rng: random.Random, n_words: int) -> str:
    """A sentence of that many words that no other call returns."""
    words = [rng.choice(_WORDS) for _ in range(n_words - 1)]
    return " ".join([words[0].capitalize(), *words[1:], f"x{rng.randrange(10**9)}"]) + "."


def paragraphs(rng: random.Random, n_tokens: int, *path: str) -> list[Block]:
    """Paragraphs of two to eight sentences of 10 to 45 words, about `n_tokens` words in all."""
    blocks: list[Block] = []
    while sum(len(block.text.split()) for block in blocks) < n_tokens:
        text = " ".join(sentence(rng, rng.randint(10, 45)) for _ in range(rng.randint(2, 8)))
        blocks.append(paragraph(text, *path))
    return blocks


def box(page: int, top: float) -> Box:
    return Box(page, 0.1, top, 0.9, top + 0.05)


def document_text(blocks: Sequence[Block]) -> str:
    return BLOCK_SEPARATOR.join(block.text for block in blocks)


def chunked(blocks: Sequence[Block], settings: ChunkingSettings = SMALL) -> list[Chunk]:
    counter = WordCounter()
    statements = statements_of(blocks, counter)
    return chunk_paper("smith2020", statements, "smith2020.tei.xml", "tei", settings, counter, "f")


def blocks_table(papers: dict[str, Sequence[Block]]) -> pa.Table:
    """As the blocks asset writes it; a paper's fingerprint is its text."""
    rows = []
    for paper_id, blocks in sorted(papers.items()):
        starts = [
            len(document_text(blocks[:at])) + (len(BLOCK_SEPARATOR) if at else 0)
            for at in range(len(blocks))
        ]
        common = {
            "paper_id": paper_id,
            "file_path": f"{paper_id}.txt",
            "source": "text",
            "fingerprint": document_text(blocks),
        }
        rows += block_rows(blocks, common, starts)
    return to_table(rows, BLOCKS)


def statements_table(blocks: pa.Table) -> pa.Table:
    """As the statements asset writes it of a table of blocks; fingerprints are those of the
    blocks."""
    rows = []
    for paper_id, of_paper in by_paper(blocks):
        common = of_paper.select(["file_path", "source", "fingerprint"]).slice(0, 1).to_pylist()[0]
        statements = statements_of(blocks_from(of_paper), WordCounter())
        rows += statement_rows(statements, common | {"paper_id": paper_id})
    return to_table(rows, STATEMENTS)


def cells_of(text: str) -> tuple[Cell, ...]:
    """The cells of a table whose text has one row per line and " | " between the cells; none is
    marked as a header."""
    return tuple(
        Cell(row, col, part)
        for row, line in enumerate(text.split("\n"))
        for col, part in enumerate(line.split(" | "))
    )
