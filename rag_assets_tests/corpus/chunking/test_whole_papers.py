"""Whole papers, cut into chunks and passages."""

import pytest

from rag_assets.core.domain import Block, BlockKind
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.text.tokens import WordPieceCounter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets_tests.demo_papers import texts


@pytest.mark.parametrize("name", texts())
def test_whole_papers_are_cut_within_the_bounds_and_nothing_is_lost(name: str) -> None:
    """Real prose has abbreviations, citations and formulas that made-up sentences have not."""
    counter = WordPieceCounter()
    text = texts()[name]
    blocks = [Block(BlockKind.PARAGRAPH, part) for part in text.split("\n\n")]

    chunks = chunk_paper(name, blocks, f"{name}.txt", "text", ChunkingSettings(), counter, "f")
    passages = cut_passages(
        chunks,
        PassageSettings(),
        lambda texts: [n + 2 for n in counter.count_all(texts)],
        max_tokens=256,
    )

    assert all(chunk.n_tokens == counter.count(chunk.text) <= 1200 for chunk in chunks)
    assert all(passage.n_tokens <= 256 for passage in passages)
    found = "".join("".join(passage.text.split()) for passage in passages)
    assert found == "".join(text.split())
