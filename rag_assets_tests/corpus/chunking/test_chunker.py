import random
from itertools import pairwise

import pytest

from rag_assets.core.domain import Block, BlockKind, StatementKind, Zone
from rag_assets.core.settings import ChunkingSettings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.tokens import token_counter
from rag_assets.corpus.chunking.chunker import chunk_paper
from rag_assets.corpus.statements.making import statements_of
from rag_assets.parsing.tables import read_table
from rag_assets_tests.corpus.chunking.papers import (
    cells_of,
    chunked,
    document_text,
    heading,
    paragraph,
    paragraphs,
    sentence,
)


def test_short_neighbours_of_a_section_share_a_chunk_and_keep_their_pages() -> None:
    """A chunk a paragraph would scatter an argument over many citations; a lost page would break
    each of them."""
    blocks = [
        heading("Methods"),
        paragraph("We measured ferritin in serum.", "Methods", page=3),
        paragraph("Samples were frozen at once.", "Methods", page=4),
    ]

    (chunk,) = chunked(blocks)

    assert chunk.text == "We measured ferritin in serum.\n\nSamples were frozen at once."
    assert (chunk.page_start, chunk.page_end) == (3, 4)
    assert [(span.page_start, chunk.text[span.start : span.end]) for span in chunk.spans] == [
        (3, "We measured ferritin in serum."),
        (4, "Samples were frozen at once."),
    ]
    assert (chunk.section_title, chunk.section_path, chunk.chunk_type) == (
        "Methods",
        "Methods",
        "paragraph",
    )
    assert chunk.split_sequence is None
    assert not chunk.is_continuation


def test_long_sections_are_cut_inside_the_window_at_sentence_ends() -> None:
    """800 to 1200 tokens is what a user is promised, and half a sentence is no citation."""
    rng = random.Random(4)
    blocks = paragraphs(rng, 12_000, "Results")
    settings = ChunkingSettings()
    text = document_text(blocks)
    offsets = [text.index(block.text) for block in blocks]
    spans = [
        (at + a, at + b)
        for at, block in zip(offsets, blocks, strict=True)
        for a, b in sentence_spans(block.text)
    ]
    starts, ends = {start for start, _ in spans}, {end for _, end in spans}

    chunks = chunked(blocks, settings)

    assert all(800 <= chunk.n_tokens <= 1200 for chunk in chunks)
    assert all(chunk.char_start in starts and chunk.char_end in ends for chunk in chunks)
    assert [chunk.split_sequence for chunk in chunks[:2]] == [
        f"1/{len(chunks)}",
        f"2/{len(chunks)}",
    ]
    assert [chunk.is_continuation for chunk in chunks[:2]] == [False, True]
    assert all(text[chunk.char_start : chunk.char_end] == chunk.text for chunk in chunks)


def test_cuts_prefer_the_end_of_a_paragraph() -> None:
    """A paragraph is one thought; it is cut only where none ends inside the window."""
    rng = random.Random(6)
    blocks = [
        paragraph(" ".join(sentence(rng, 20) for _ in range(9)), "Results") for _ in range(30)
    ]
    text = document_text(blocks)

    chunks = chunked(blocks, ChunkingSettings())

    assert all(text[chunk.char_end :].startswith("\n\n") for chunk in chunks[:-1])


def test_a_chunk_repeats_whole_sentences_of_the_chunk_before() -> None:
    """What straddles a cut must be readable in one piece somewhere."""
    chunks = chunked(paragraphs(random.Random(7), 6_000, "Results"), ChunkingSettings())

    shared = [before.char_end - after.char_start for before, after in pairwise(chunks)]
    repeated = [after.text[:n].strip() for after, n in zip(chunks[1:], shared, strict=True)]

    assert all(before.text.endswith(text) for before, text in zip(chunks, repeated, strict=False))
    assert all(text.endswith(".") and 100 <= len(text.split()) <= 150 for text in repeated)


def test_a_formula_stays_with_the_text_around_it() -> None:
    """ "where x is the dose" explains nothing without the formula before it."""
    rng = random.Random(8)
    text = [paragraph(sentence(rng, 12), "Methods") for _ in range(12)]
    formulas = [Block(BlockKind.FORMULA, f"y = {n} x + b", ("Methods",)) for n in range(6)]
    blocks = [block for pair in zip(text[::2], formulas, text[1::2], strict=True) for block in pair]

    chunks = chunked(blocks)

    assert len(chunks) > 1
    assert not any(chunk.text.startswith("y =") or chunk.text.endswith("b") for chunk in chunks)


def test_chunk_ids_are_the_same_on_every_machine() -> None:
    """A citation of one machine would point nowhere on another, and each would embed the papers
    anew."""
    text = " ".join(f"Ferritin of patient {n} rose to {n * 37} µg/l." for n in range(200))

    chunks = chunk_paper(
        "smith2020",
        statements_of([paragraph(text, "Results")], token_counter("cl100k_base")),
        "smith2020.txt",
        "text",
        ChunkingSettings(),
        token_counter("cl100k_base"),
        "f",
    )

    assert [(chunk.chunk_id, chunk.n_tokens) for chunk in chunks] == [
        ("smith2020:87fca9f26e7b", 1188),
        ("smith2020:6d09d58dc895", 1186),
        ("smith2020:e7e0075d7eb1", 601),
    ]


def test_exact_repeats_in_a_paper_get_ids_of_their_own() -> None:
    """Two rows of one id would make the index refuse the whole corpus."""
    blocks = [heading("A"), paragraph("Iron fell in all the groups.", "A")] * 3

    ids = [chunk.chunk_id for chunk in chunked(blocks)]

    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


def test_context_is_the_neighbouring_text_of_the_same_outermost_section() -> None:
    """Context from another section would lend the chunk a meaning it does not have."""
    blocks = [
        paragraph("Nothing of this is context at all.", "A"),
        paragraph("Ferritin was measured. It was low.", "B", "B.1"),
        paragraph("Iron was given to them. It helped all of them.", "B", "B.2"),
        paragraph("Side effects were rare. Two patients felt ill.", "B", "B.3"),
        paragraph("And nothing of this either, at all.", "C"),
    ]

    chunks = {chunk.section_title: chunk for chunk in chunked(blocks)}

    assert chunks["B.2"].context_before == "Ferritin was measured. It was low."
    assert chunks["B.2"].context_after == "Side effects were rare. Two patients felt ill."
    assert chunks["B.1"].context_before == ""
    assert chunks["B.3"].context_after == ""


def test_context_does_not_reach_from_the_abstract_into_the_text() -> None:
    """Papers without headings have no section that would part them; what the abstract says would be
    read as what was said just before."""
    blocks = [
        paragraph("Ferritin was measured. It was low.", zone=Zone.FRONT),
        paragraph("Iron was given to them. It helped all of them."),
        paragraph("Side effects were rare. Two patients felt ill.", zone=Zone.ANNEX),
    ]

    chunks = chunked(blocks)

    assert [one.text for one in chunks] == [one.text for one in blocks]
    assert {(one.context_before, one.context_after) for one in chunks} == {("", "")}


@pytest.mark.parametrize("page", [None, 7])
def test_pages_are_those_of_the_blocks_or_unknown(page: int | None) -> None:
    """A page that nothing proves is worse than none."""
    (chunk,) = chunked([paragraph("Iron fell in all groups of the trial.", "A", page=page)])

    assert (chunk.page_start, chunk.page_end) == (page, page)


def test_a_chunk_names_the_place_and_kind_of_every_unit_it_consists_of() -> None:
    """Passages are cut along them; read off the text again, a row becomes a sentence, and a title a
    row."""
    rows = "Group | Ferritin\nA | 1\nB | 2"
    blocks = [
        heading("Results"),
        paragraph("Ferritin fell. Iron rose.", "Results"),
        Block(
            BlockKind.TABLE,
            rows,
            ("Results",),
            title="Ferritin by group. Units are grams.",
            cells=tuple(read_table(cells_of(rows))),
        ),
        Block(BlockKind.LIST, "- one thing\n- another. And more.", ("Results",)),
        Block(BlockKind.FORMULA, "a = b. c = d.", ("Results",)),
        Block(BlockKind.CODE, "x = 1\n\ny = 2", ("Results",)),
    ]

    (chunk,) = chunked(blocks)

    assert [
        (str(unit.kind), unit.block, chunk.text[unit.start : unit.end]) for unit in chunk.units
    ] == [
        ("sentence", 1, "Ferritin fell."),
        ("sentence", 1, "Iron rose."),
        ("caption", 2, "Ferritin by group."),
        ("caption", 2, "Units are grams."),
        ("row", 2, "Group: A | Ferritin: 1"),
        ("row", 2, "Group: B | Ferritin: 2"),
        ("item", 3, "- one thing"),
        ("item", 3, "- another. And more."),
        ("formula", 4, "a = b. c = d."),
        ("line", 5, "x = 1"),
        ("line", 5, "y = 2"),
    ]
    text = document_text(blocks)
    verbatim = [
        unit for unit in chunk.units if unit.kind not in (StatementKind.CAPTION, StatementKind.ROW)
    ]
    assert all(
        text[one.char_start : one.char_end] == chunk.text[one.start : one.end] for one in verbatim
    )
    assert text[chunk.units[4].char_start : chunk.units[4].char_end] == "Group | Ferritin\nA | 1"
