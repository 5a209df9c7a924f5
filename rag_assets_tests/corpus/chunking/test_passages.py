import random
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.core.domain import Block, BlockKind, Chunk, Passage, Span, embedded_text
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets.parsing.tables import read_table
from rag_assets_tests.corpus.chunking.papers import (
    cells_of,
    chunked,
    document_text,
    heading,
    paragraph,
    paragraphs,
    sentence,
    words_and_two,
)


def passages_of(chunks: list[Chunk], target: int = 20, max_tokens: int = 24) -> list[Passage]:
    return cut_passages(chunks, PassageSettings(target_tokens=target), words_and_two, max_tokens)


def test_a_chunk_that_the_model_reads_in_full_is_its_own_passage() -> None:
    """Then the two have one id, and a reader of the index needs no table to go from one to the
    other."""
    chunks = chunked([paragraph("Ferritin fell in all groups of the trial.", "A", page=2)])

    (passage,) = passages_of(chunks)

    assert passage.passage_id == passage.chunk_id == chunks[0].chunk_id
    assert (passage.text, passage.n_tokens) == (chunks[0].text, 10)
    assert (passage.page_start, passage.page_end) == (2, 2)


def test_passages_are_numbered_and_made_of_whole_sentences() -> None:
    """Half a sentence has a vector of something else."""
    rng = random.Random(1)
    chunks = chunked([paragraph(" ".join(sentence(rng, 7) for _ in range(6)), "A")])

    passages = passages_of(chunks)

    assert [passage.passage_id for passage in passages] == [
        f"{chunks[0].chunk_id}#{n}" for n in range(len(passages))
    ]
    assert len(passages) > 1
    assert all(passage.text.endswith(".") and passage.n_tokens <= 20 for passage in passages)


def test_what_a_chunk_repeats_is_in_the_passages_of_the_chunk_before_only() -> None:
    """The same sentence twice in the index takes two places of the few that are read."""
    blocks = paragraphs(random.Random(2), 4_000, "A")
    chunks = chunked(blocks, ChunkingSettings())

    passages = passages_of(chunks, target=200, max_tokens=256)

    text = document_text(blocks)
    assert sum(len(chunk.text) for chunk in chunks) > len(text)
    assert "".join(" ".join(passage.text for passage in passages).split()) == "".join(text.split())
    assert all(passage.text == text[passage.char_start : passage.char_end] for passage in passages)


def test_every_passage_of_a_table_names_the_table() -> None:
    """ "Group: B | Ferritin: 15" alone is found for the wrong table."""
    text = "\n".join(["Group | Ferritin", *(f"G{n} | {n}" for n in range(40))])
    block = Block(
        BlockKind.TABLE, text, ("A",), title="Table 1.", cells=tuple(read_table(cells_of(text)))
    )
    chunks = chunked([block], ChunkingSettings(target_tokens=100, max_tokens=120, overlap_tokens=0))

    passages = passages_of(chunks)

    assert len(chunks) > 1
    assert all(passage.text.startswith("Table 1.\nGroup: G") for passage in passages)
    rows = [line for passage in passages for line in passage.text.split("\n")[1:]]
    assert rows == [f"Group: G{n} | Ferritin: {n}" for n in range(40)]


@pytest.mark.parametrize("max_tokens", [1200, 120])
def test_a_long_title_is_searched_in_full_once_and_repeated_in_short(max_tokens: int) -> None:
    """Notes below a table are often longer than what a model reads, and answer questions of their
    own."""
    title = "Table 1. Iron. " + " ".join(sentence(random.Random(n), 8) for n in range(5))
    text = "\n".join(["Group | Ferritin", *(f"G{n} | {n}" for n in range(40))])
    settings = ChunkingSettings(
        target_tokens=max_tokens - 20, max_tokens=max_tokens, overlap_tokens=0
    )
    chunks = chunked(
        [
            Block(
                BlockKind.TABLE, text, ("A",), title=title, cells=tuple(read_table(cells_of(text)))
            )
        ],
        settings,
    )

    passages = passages_of(chunks)

    found = "\n".join(passage.text for passage in passages)
    assert (len(chunks) > 1) == (max_tokens == 120)
    assert [found.count(word) for word in title.split() if word.startswith("x")] == [1] * 5
    assert all(
        passage.text.startswith("Table 1.") for passage in passages if "Group:" in passage.text
    )


def test_a_passage_names_its_place_in_the_chunk_and_the_title_it_repeats() -> None:
    """Contexts are cut out of the chunk by it; searching for the words finds the first place that
    reads alike."""
    text = "\n".join(["Group | Ferritin", *(f"G{n % 3} | {n % 2}" for n in range(40))])
    blocks = [
        paragraph(" ".join(["Ferritin fell in all groups of the trial."] * 6), "A"),
        Block(
            BlockKind.TABLE,
            text,
            ("A",),
            title="Table 1. Ferritin.",
            cells=tuple(read_table(cells_of(text))),
        ),
    ]
    (chunk,) = chunked(blocks, ChunkingSettings())

    passages = passages_of([chunk])

    assert len(passages) > 10
    assert [one.chunk_start for one in passages] == sorted({one.chunk_start for one in passages})
    for one in passages:
        own = chunk.text[one.chunk_start : one.chunk_end]
        assert one.text == (f"{one.repeated_title}\n{own}" if one.repeated_title else own)
    assert passages[-1].repeated_title == "Table 1. Ferritin."


def test_passages_end_with_sections_rather_than_in_them_and_never_with_a_heading() -> None:
    """A heading apart from its text names the wrong passage; one that bridges two sections is about
    neither."""
    for seed in range(20):
        rng = random.Random(seed)
        blocks = [
            block
            for path in [("Methods", f"Heading {n}") for n in range(12)]
            for block in (
                heading(*path),
                heading(*path, "Heading below"),
                paragraph(sentence(rng, 3), *path, "Heading below"),
                paragraph(sentence(rng, 4), *path, "Heading below"),
            )
        ]

        passages = passages_of(
            chunked(blocks, ChunkingSettings(min_tokens=500)), target=50, max_tokens=60
        )

        assert len(passages) > 2
        assert not any(
            passage.text.split("\n")[-1].startswith("Heading") for passage in passages
        ), seed
        assert all(passage.text.startswith("Heading") for passage in passages[1:]), seed


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param({"text": "Ferritin rose."}, id="text"),
        pytest.param({"spans": (Span(0, 14, 1, 1),)}, id="page"),
        pytest.param({"paper_id": "jones2021"}, id="paper"),
        pytest.param({"section_title": "B", "sections": ()}, id="section"),
        pytest.param({"chunk_id": "another"}, id="chunk"),
    ],
)
def test_whatever_an_index_keeps_is_in_the_hash_of_the_row(edit: dict[str, Any]) -> None:
    """What the hash leaves out is never updated."""
    (chunk,) = chunked([paragraph("Ferritin fell.", "A", page=2)])

    assert passages_of([replace(chunk, **edit)])[0].row_hash != passages_of([chunk])[0].row_hash


def test_the_heading_text_of_a_passage_names_paper_and_sections_and_is_no_part_of_its_text() -> (
    None
):
    """It is searched with the passage; in its text it would be quoted as if the section said it."""
    (chunk,) = chunked([heading("Methods"), paragraph("Ferritin fell.", "Methods", page=2)])

    (passage,) = cut_passages([chunk], PassageSettings(), words_and_two, 24, "Iron in winter")

    assert passage.heading_text == "Iron in winter\nMethods"
    assert "Iron in winter" not in passage.text


def test_a_summary_is_cut_to_what_the_model_reads_before_the_passage() -> None:
    """A passage of which the model does not read the end is not found by it."""
    (chunk,) = chunked([paragraph("Ferritin fell in all groups.", "A")])
    summary = {chunk.chunk_id: " ".join(f"word{number}" for number in range(40))}

    (short,) = cut_passages([chunk], PassageSettings(), words_and_two, 12, summaries=summary)
    (whole,) = cut_passages([chunk], PassageSettings(), words_and_two, 256, summaries=summary)
    (none,) = cut_passages(
        [chunk], PassageSettings(), words_and_two, short.n_tokens, summaries=summary
    )

    assert (
        embedded_text(short.text, short.summary) == f"{short.summary}\nFerritin fell in all groups."
    )
    assert short.summary.startswith("word0 word1")
    assert words_and_two([embedded_text(short.text, short.summary)])[0] <= 12
    assert whole.summary == summary[chunk.chunk_id]
    assert (none.summary, embedded_text(none.text, none.summary)) == ("", none.text)
    assert short.text == whole.text == none.text
    assert len({one.row_hash for one in (short, whole, none)}) == 3
