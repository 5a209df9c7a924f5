import random

import pyarrow as pa

from rag_assets.core.domain import Block
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.tables import CHUNKS, PASSAGES
from rag_assets.corpus.chunking.chunker import (
    AddedText,
    ReadingWindow,
    update_chunks,
    update_passages,
)
from rag_assets_testing.in_place import in_place
from rag_assets_testing.paper_rows import InMemory, Updated, updated
from rag_assets_tests.corpus.chunking.papers import (
    SMALL,
    WordCounter,
    blocks_table,
    heading,
    paragraph,
    sentence,
    words_and_two,
)

_NOTHING_ADDED = AddedText()
WINDOW = ReadingWindow("words", words_and_two, 24)


def paper(seed: int) -> list[Block]:
    rng = random.Random(seed)
    return [heading("A"), *(paragraph(sentence(rng, 15), "A") for _ in range(12))]


def chunk(
    blocks: pa.Table, before: Updated | None = None, settings: ChunkingSettings = SMALL
) -> Updated:
    rows = InMemory(blocks)
    return updated(
        lambda published: update_chunks(published, rows, settings, WordCounter(), in_place),
        CHUNKS,
        before,
    )


def passages(
    chunks: Updated,
    before: Updated | None = None,
    target: int = 20,
    added: AddedText = _NOTHING_ADDED,
) -> Updated:
    settings = PassageSettings(target_tokens=target)
    return updated(
        lambda published: update_passages(
            published, chunks.rows, settings, WINDOW, in_place, added
        ),
        PASSAGES,
        before,
    )


def test_only_what_changed_is_made_anew() -> None:
    """10,000 papers are not cut again because one came in."""
    first = chunk(blocks_table({"a": paper(1), "b": paper(2), "c": paper(3)}))

    second = chunk(blocks_table({"a": paper(1), "b": paper(9), "d": paper(4)}), first)

    assert second.plan == UpdatePlan(added=("d",), changed=("b",), removed=("c",), unchanged=("a",))
    assert sorted(set(second.table["paper_id"].to_pylist())) == ["a", "b", "d"]
    assert second.table == chunk(blocks_table({"a": paper(1), "b": paper(9), "d": paper(4)})).table


def test_passages_follow_the_chunks_in_their_order() -> None:
    """Neighbours are expanded by order, and the tenth passage does not come before the second."""
    chunks = chunk(
        blocks_table({"a": paper(1), "b": paper(2)}), settings=ChunkingSettings(min_tokens=1)
    )

    made = passages(chunks)

    assert made.plan.added == ("a", "b")
    starts = [row["char_start"] for row in made.table.to_pylist() if row["paper_id"] == "a"]
    assert len(starts) > 10
    assert starts == sorted(starts)


def test_an_empty_corpus_gives_empty_tables_of_the_right_schema() -> None:
    """Old readers open the file of an empty corpus too."""
    chunks = chunk(blocks_table({}))
    made = passages(chunks)

    assert chunks.plan.is_noop
    assert (chunks.table.schema, chunks.table.num_rows) == (CHUNKS, 0)
    assert (made.table.schema, made.table.num_rows) == (PASSAGES, 0)
