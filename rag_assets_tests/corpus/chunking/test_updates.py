import random

import pyarrow as pa

from rag_assets.core.domain import Block
from rag_assets.core.incremental import UpdatePlan
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.core.tables import CHUNKS, PASSAGES
from rag_assets.corpus.chunking.updates import AddedText, update_chunks, update_passages
from rag_assets.corpus.chunking.work import ReadingWindow
from rag_assets_testing.in_place import in_place
from rag_assets_tests.corpus.chunking.papers import (
    SMALL,
    WordCounter,
    blocks_table,
    heading,
    paragraph,
    sentence,
    words_and_two,
)

WINDOW = ReadingWindow("words", words_and_two, 24)


def paper(seed: int) -> list[Block]:
    rng = random.Random(seed)
    return [heading("A"), *(paragraph(sentence(rng, 15), "A") for _ in range(12))]


def chunk(blocks: pa.Table, published: pa.Table, settings: ChunkingSettings = SMALL) -> tuple[pa.Table, UpdatePlan]:
    return update_chunks(published, blocks, settings, WordCounter(), in_place)[:2]


def passages(chunks: pa.Table, published: pa.Table, target: int = 20) -> tuple[pa.Table, UpdatePlan]:
    return update_passages(published, chunks, PassageSettings(target_tokens=target), WINDOW, in_place)[:2]


def test_only_what_changed_is_made_anew() -> None:
    """10,000 papers are not cut again because one came in."""
    first, _ = chunk(blocks_table({"a": paper(1), "b": paper(2), "c": paper(3)}), CHUNKS.empty_table())

    second, plan = chunk(blocks_table({"a": paper(1), "b": paper(9), "d": paper(4)}), first)

    assert plan == UpdatePlan(added=("d",), changed=("b",), removed=("c",), unchanged=("a",))
    assert sorted(set(second["paper_id"].to_pylist())) == ["a", "b", "d"]
    assert second == chunk(blocks_table({"a": paper(1), "b": paper(9), "d": paper(4)}), CHUNKS.empty_table())[0]


def test_nothing_to_do_returns_the_same_table() -> None:
    """A second run changes no byte, in papers without any text either."""
    blocks = blocks_table({"a": paper(1), "empty": [heading("A")]})
    first, _ = chunk(blocks, CHUNKS.empty_table())

    second, plan = chunk(blocks, first)

    assert plan.is_noop
    assert second is first


def test_a_setting_makes_everything_anew() -> None:
    """Chunks of two settings in one table would be compared as if they were alike."""
    blocks = blocks_table({"a": paper(1), "b": paper(2)})
    first, _ = chunk(blocks, CHUNKS.empty_table())

    _, plan = chunk(blocks, first, SMALL.model_copy(update={"overlap_tokens": 0}))

    assert plan.changed == ("a", "b")


def test_passages_follow_the_chunks_in_their_order() -> None:
    """Neighbours are expanded by order, and the tenth passage does not come before the second."""
    blocks = blocks_table({"a": paper(1), "b": paper(2)})
    chunks, _ = chunk(blocks, CHUNKS.empty_table(), ChunkingSettings(min_tokens=1))

    table, plan = passages(chunks, PASSAGES.empty_table())

    assert plan.added == ("a", "b")
    starts = [row["char_start"] for row in table.to_pylist() if row["paper_id"] == "a"]
    assert len(starts) > 10
    assert starts == sorted(starts)


def test_passages_of_unchanged_papers_are_left_alone() -> None:
    """Their vectors would be looked up, and their index entries written, for nothing."""
    first_chunks, _ = chunk(blocks_table({"a": paper(1), "b": paper(2)}), CHUNKS.empty_table())
    first, _ = passages(first_chunks, PASSAGES.empty_table())
    chunks, _ = chunk(blocks_table({"a": paper(1), "b": paper(9)}), first_chunks)

    second, plan = passages(chunks, first)

    assert plan == UpdatePlan(changed=("b",), unchanged=("a",))
    assert second == passages(chunks, PASSAGES.empty_table())[0]
    assert passages(chunks, second, target=15)[1].changed == ("a", "b")


def test_an_empty_corpus_gives_empty_tables_of_the_right_schema() -> None:
    """Old readers open the file of an empty corpus too."""
    chunks, plan = chunk(blocks_table({}), CHUNKS.empty_table())
    table, _ = passages(chunks, PASSAGES.empty_table())

    assert plan.is_noop
    assert (chunks.schema, chunks.num_rows) == (CHUNKS, 0)
    assert (table.schema, table.num_rows) == (PASSAGES, 0)


def test_the_last_paper_can_be_removed() -> None:
    """Nothing of a deleted paper remains anywhere."""
    first, _ = chunk(blocks_table({"a": paper(1)}), CHUNKS.empty_table())

    second, plan = chunk(blocks_table({}), first)

    assert plan.removed == ("a",)
    assert (second.schema, second.num_rows) == (CHUNKS, 0)


def test_another_title_makes_the_passages_of_its_paper_anew_and_no_others() -> None:
    """A corrected title is searched from the next run on, and costs no other paper anything."""
    chunks, _ = chunk(blocks_table({"a": paper(1), "b": paper(2)}), CHUNKS.empty_table())
    titles = {"a": "Iron in winter", "b": "Ferritin"}
    settings = PassageSettings(target_tokens=20)
    first = update_passages(PASSAGES.empty_table(), chunks, settings, WINDOW, in_place, added=AddedText(titles))

    second = update_passages(
        first.table, chunks, settings, WINDOW, in_place, added=AddedText(titles | {"a": "Iron in summer"})
    )

    assert second.plan == UpdatePlan(changed=("a",), unchanged=("b",))
    assert {one.partition("\n")[0] for one in second.table["heading_text"].to_pylist()} == {
        "Iron in summer",
        "Ferritin",
    }
