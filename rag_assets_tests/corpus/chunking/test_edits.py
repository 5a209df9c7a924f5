"""How far an edit spreads: a moved chunk id is paid for twice, with an embedding and with a dead
citation."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import replace

from rag_assets.core.domain import Block
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets_tests.corpus.chunking.papers import chunked, paragraphs, sentence, words_and_two


def with_sentence(blocks: Sequence[Block], at: int, rng: random.Random) -> list[Block]:
    """The paper with one more sentence at the beginning of block `at`."""
    text = f"{sentence(rng, 20)} {blocks[at].text}"
    return [*blocks[:at], replace(blocks[at], text=text, spans=()), *blocks[at + 1 :]]


def test_an_edit_leaves_the_ids_of_other_sections_alone() -> None:
    """Ids count nothing and know nothing but their own section's titles and text."""
    rng = random.Random(1)
    blocks = [*paragraphs(rng, 3_000, "A"), *paragraphs(rng, 3_000, "B")]
    others = {
        chunk.chunk_id
        for chunk in chunked(blocks, ChunkingSettings())
        if chunk.section_title == "B"
    }

    edited = chunked(with_sentence(blocks, 0, rng), ChunkingSettings())

    assert {chunk.chunk_id for chunk in edited if chunk.section_title == "B"} == others


def test_a_new_sentence_changes_the_text_of_few_passages() -> None:
    """Vectors are kept by text: passages that read the same are not embedded again, whatever their
    chunk is called."""
    n_changed = []
    for seed in range(20):
        rng = random.Random(seed)
        blocks = paragraphs(rng, 5_000)

        before, after = (
            {
                p.text
                for p in cut_passages(
                    chunked(b, ChunkingSettings()), PassageSettings(), words_and_two, 256
                )
            }
            for b in (blocks, with_sentence(blocks, rng.randrange(len(blocks)), rng))
        )

        n_changed.append(len(after - before))
    assert statistics.median(n_changed) <= 3
