"""Odd papers are cut in time that grows with their length."""

import random
from collections.abc import Callable, Sequence

import pytest

from rag_assets.core.domain import Block, BlockKind, Cell, Span
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.text.tokens import WordPieceCounter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets.corpus.statements.making import statements_of

N_CHARS = 40_000
MOST_COUNTED = 20
"""Characters that tokenizers are handed for each character of a paper, chunks and passages
together."""


def prose(text: str) -> list[Block]:
    return [Block(BlockKind.PARAGRAPH, text, ("A",), spans=(Span(0, len(text), 1, 1),))]


def table() -> list[Block]:
    rows = [["Group", "Ferritin"], *([str(n), str(n)] for n in range(N_CHARS // 10))]
    cells = tuple(Cell(r, c, value) for r, row in enumerate(rows) for c, value in enumerate(row))
    title = "Table 1. " + "Iron by group. " * 20
    return [
        Block(
            BlockKind.TABLE,
            "\n".join(" | ".join(row) for row in rows),
            ("A",),
            title=title,
            cells=cells,
        )
    ]


def letters(rng: random.Random, first: int, n_letters: int, n_chars: int) -> str:
    return "".join(chr(first + rng.randrange(n_letters)) for _ in range(n_chars))


RNG = random.Random(1)
LONG: dict[str, Callable[[], list[Block]]] = {
    "one long word": lambda: prose("a" * N_CHARS),
    "words of 90 letters": lambda: prose(
        " ".join(letters(RNG, 97, 10, 90) for _ in range(N_CHARS // 91))
    ),
    "Thai": lambda: prose(letters(RNG, 0xE01, 46, N_CHARS)),
    "Chinese": lambda: prose(letters(RNG, 0x4E00, 5000, N_CHARS)),
    "zero-width spaces": lambda: prose("\u200b " * (N_CHARS // 2)),
    "sentences of one letter": lambda: prose("A. " * (N_CHARS // 3)),
    "paragraphs of one letter": lambda: prose("a") * (N_CHARS // 10),
    "lines of one letter": lambda: [Block(BlockKind.CODE, "x\n" * (N_CHARS // 10), ("A",))],
    "words joined by hyphens": lambda: prose(
        "-".join(letters(RNG, 97, 10, 3) for _ in range(N_CHARS // 4))
    ),
    "a table": table,
}


@pytest.mark.parametrize("name", LONG)
def test_no_text_is_counted_again_and_again(name: str) -> None:
    """Files of 700 KB took over a minute, because prefixes of them were counted over and over."""
    blocks = LONG[name]()
    counter, n_counted = WordPieceCounter(), 0

    class Counting:
        name = "counting"

        def count(self, text: str) -> int:
            return self.count_all([text])[0]

        def count_all(self, texts: Sequence[str]) -> list[int]:
            nonlocal n_counted
            n_counted += sum(map(len, texts))
            return counter.count_all(texts)

    def count_all(texts: Sequence[str]) -> list[int]:
        return [n_tokens + 2 for n_tokens in counting.count_all(texts)]

    counting = Counting()

    chunks = chunk_paper(
        "p", statements_of(blocks, counting), "p.txt", "text", ChunkingSettings(), counting, "f"
    )
    passages = cut_passages(chunks, PassageSettings(), count_all, 256)

    assert passages
    assert n_counted <= MOST_COUNTED * sum(len(block.text) + len(block.title) for block in blocks)
