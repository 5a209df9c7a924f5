"""The update of chunks: only what changed is cut anew, and what cannot be cut costs no other."""

import random
from dataclasses import replace

import pyarrow as pa
import pytest

from rag_assets.core.domain import Block
from rag_assets.core.errors import GuardrailBroken, MissingModel
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
    statements_table,
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
    rows = InMemory(statements_table(blocks))
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
    window: ReadingWindow = WINDOW,
) -> Updated:
    settings = PassageSettings(target_tokens=target)
    return updated(
        lambda published: update_passages(
            published, chunks.rows, settings, window, in_place, added
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


def test_a_model_that_reads_less_gets_shorter_passages() -> None:
    """With the tokenizer of the model before it, it would cut the end off each passage, which no
    search finds then."""
    chunks = chunk(blocks_table({"a": paper(1)}), settings=ChunkingSettings(min_tokens=1))
    longer = passages(chunks)
    assert max(words_and_two(longer.table["text"].to_pylist())) > 16

    shorter = passages(chunks, longer, window=replace(WINDOW, max_tokens=16))

    assert shorter.plan.changed == ("a",)
    assert max(words_and_two(shorter.table["text"].to_pylist())) <= 16


def test_an_empty_corpus_gives_empty_tables_of_the_right_schema() -> None:
    """Old readers open the file of an empty corpus too."""
    chunks = chunk(blocks_table({}))
    made = passages(chunks)

    assert chunks.plan.is_noop
    assert (chunks.table.schema, chunks.table.num_rows) == (CHUNKS, 0)
    assert (made.table.schema, made.table.num_rows) == (PASSAGES, 0)


FINE = [paragraph("Ferritin fell in all of the groups that were observed.", "A", page=1)]
TOO_DENSE = [paragraph("Iron rose in none of the groups but for ☠ in one.", "A", page=1)]
BAFFLING = [paragraph("Iron rose in none of the groups but for ☢ in one.", "A", page=1)]


class Counter(WordCounter):
    """One token per word; but a skull alone is longer than a chunk may be, and two other signs stop
    the counting."""

    def count(self, text: str) -> int:
        if "☢" in text:
            raise ValueError("no token for ☢")
        if "☎" in text:
            raise MissingModel("The vocabulary is not there.")
        return 99 if "☠" in text else super().count(text)


def chunks(blocks: pa.Table, before: Updated | None = None) -> Updated:
    rows = InMemory(statements_table(blocks))
    return updated(
        lambda published: update_chunks(published, rows, SMALL, Counter(), in_place), CHUNKS, before
    )


def papers_in(made: Updated) -> list[str]:
    return sorted(set(made.table["paper_id"].to_pylist()))


def test_a_paper_whose_chunks_break_a_promise_is_quarantined_with_it() -> None:
    """One odd file withheld the chunks of a whole corpus."""
    cut = chunks(blocks_table({"a": FINE, "b": TOO_DENSE, "c": BAFFLING}))

    assert papers_in(cut) == ["a"]
    assert [(one.paper_id, one.file_path) for one in cut.quarantined] == [
        ("b", "b.txt"),
        ("c", "c.txt"),
    ]
    assert (
        "b.txt has 1 chunks without a token or with more than 50 (token_bounds)"
        in cut.quarantined[0].error
    )
    assert "c.txt could not be cut" in cut.quarantined[1].error
    assert "(ValueError: no token for ☢)" in cut.quarantined[1].error


def test_nothing_of_a_paper_stays_when_an_edit_breaks_it() -> None:
    """Old chunks of it would be cited for text that is no longer there; a deleted paper is
    quarantined no more."""
    first = chunks(blocks_table({"a": FINE, "b": FINE}))

    broken = chunks(blocks_table({"a": FINE, "b": BAFFLING}), first)
    deleted = chunks(blocks_table({"a": FINE}), broken)

    assert (papers_in(broken), [one.paper_id for one in broken.quarantined]) == (["a"], ["b"])
    assert (papers_in(deleted), deleted.quarantined, deleted.plan.removed) == (["a"], [], ("b",))


def test_when_every_paper_breaks_a_promise_nothing_is_changed() -> None:
    """Then the fault is in the code or the settings, and the last good corpus is worth more than an
    empty one."""
    with pytest.raises(
        GuardrailBroken,
        match=r"None of the 2 papers can be used, so nothing was changed\. The first",
    ):
        chunks(blocks_table({"a": BAFFLING, "b": TOO_DENSE}))

    alone = chunks(blocks_table({"a": BAFFLING}))
    assert [one.paper_id for one in alone.quarantined] == ["a"]
