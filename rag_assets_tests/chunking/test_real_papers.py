import json

from rag_assets.chunking import chunk_paper, cut_passages
from rag_assets.model import Block, BlockKind
from rag_assets.settings import ChunkingSettings, PassageSettings
from rag_assets.tokens import WordPieceCounter
from rag_assets_tests.corpora import corpus_path


def test_real_papers_are_cut_within_the_bounds_and_nothing_is_lost() -> None:
    """Real prose has abbreviations, citations and formulas that made-up prose has not."""
    folder = corpus_path("qa/covidqa") / "papers"
    counter = WordPieceCounter()

    for file in sorted(folder.glob("*.json"))[:6]:
        text = json.loads(file.read_text("utf-8"))["text"]
        blocks = [Block(BlockKind.PARAGRAPH, part.strip()) for part in text.split("\n\n") if part.strip()]
        chunks = chunk_paper(file.stem, blocks, file.name, "text", ChunkingSettings(), counter, "f")
        passages = cut_passages(
            chunks, PassageSettings(), lambda texts: [n + 2 for n in counter.count_all(texts)], max_tokens=256
        )

        assert all(chunk.n_tokens == counter.count(chunk.text) <= 1200 for chunk in chunks)
        assert all(passage.n_tokens <= 256 for passage in passages)
        found = "".join("".join(passage.text.split()) for passage in passages)
        assert found == "".join(text.split())
