"""Short sections are merged with a neighbour, never left out, and still known by their own
titles."""

import random

from rag_assets.core.domain import Block, BlockKind, Chunk, Span, Zone
from rag_assets.core.settings import ChunkingSettings, PassageSettings
from rag_assets.corpus.chunking.passages import cut_passages
from rag_assets_tests.corpus.chunking.papers import (
    chunked,
    document_text,
    heading,
    paragraph,
    sentence,
    words_and_two,
)

DEFAULTS = ChunkingSettings()


def section(rng: random.Random, n_words: int, *path: str, zone: Zone = Zone.BODY) -> list[Block]:
    return [heading(*path, zone=zone), paragraph(sentence(rng, n_words), *path, zone=zone)]


def titles_of(chunk: Chunk) -> list[str]:
    return [part.section_title for part in chunk.sections]


def test_a_short_section_is_read_with_its_neighbour_below_its_own_heading() -> None:
    """A section of 29 tokens that alone spoke of its subject was left out, and its question
    refused."""
    rng = random.Random(1)
    blocks = [
        *section(rng, 40, "Methods", "Assays"),
        heading("Methods", "Storage"),
        paragraph("Serum was stored at -80 degrees.", "Methods", "Storage", page=7),
    ]

    (chunk,) = chunked(blocks, DEFAULTS)

    assert (
        chunk.text == f"Assays\n\n{blocks[1].text}\n\nStorage\n\nSerum was stored at -80 degrees."
    )
    assert (chunk.section_path, chunk.section_title) == ("Methods", "Methods")
    assert [
        (part.section_title, chunk.text[part.body_start : part.end]) for part in chunk.sections
    ] == [
        ("Assays", blocks[1].text),
        ("Storage", "Serum was stored at -80 degrees."),
    ]
    assert chunk.spans[-1].page_start == 7


def test_short_sections_without_a_common_heading_stay_apart() -> None:
    """The last sentences of "Results" would be cited without a section, because a line of
    "Conclusion" follows them."""
    rng = random.Random(9)
    blocks = [
        paragraph("Ada Lund"),
        *section(rng, 60, "Results"),
        *section(rng, 5, "Conclusion"),
        *section(rng, 5, "Funding"),
        *section(rng, 5, "Funding"),
    ]

    chunks = chunked(blocks, DEFAULTS)

    assert [chunk.section_path for chunk in chunks] == [
        "",
        "Results",
        "Conclusion",
        "Funding",
        "Funding",
    ]


def test_the_neighbour_below_the_nearest_common_heading_is_taken() -> None:
    """The sentence that opens "Methods" belongs with its first subsection, not with the end of the
    introduction."""
    rng = random.Random(2)
    blocks = [
        *section(rng, 40, "Introduction"),
        *section(rng, 9, "Methods"),
        *section(rng, 40, "Methods", "Patients"),
        *section(rng, 40, "Results"),
    ]

    chunks = chunked(blocks, DEFAULTS)

    assert [titles_of(chunk) for chunk in chunks] == [
        ["Introduction"],
        ["Methods", "Patients"],
        ["Results"],
    ]
    assert [chunk.section_path for chunk in chunks] == ["Introduction", "Methods", "Results"]
    assert chunks[1].text.startswith(blocks[3].text), (
        "the common heading is the chunk's title, not its text"
    )


def test_short_sections_are_merged_with_each_other_before_a_long_one() -> None:
    """A long section keeps its own title where its neighbours can do without it."""
    rng = random.Random(3)
    blocks = [
        *section(rng, 60, "Part", "Results"),
        *section(rng, 20, "Part", "Funding"),
        *section(rng, 20, "Part", "Data"),
        *section(rng, 60, "Part", "Discussion"),
    ]

    chunks = chunked(blocks, DEFAULTS)

    assert [titles_of(chunk) for chunk in chunks] == [
        ["Results"],
        ["Funding", "Data"],
        ["Discussion"],
    ]


def test_only_the_chunk_that_holds_the_short_section_loses_the_long_ones_path() -> None:
    """A section of 5,000 words is cited under its title, whatever line follows it."""
    rng = random.Random(4)
    text = " ".join(sentence(rng, 25) for _ in range(200))
    blocks = [
        heading("A", "Results"),
        paragraph(text, "A", "Results"),
        *section(rng, 5, "A", "Storage"),
    ]

    chunks = chunked(blocks, DEFAULTS)

    assert len(chunks) > 3
    assert [chunk.section_path for chunk in chunks[:-1]] == ["A > Results"] * (len(chunks) - 1)
    assert titles_of(chunks[-1]) == ["Results", "Storage"]
    assert not chunks[0].text.startswith("Results")


def test_a_short_section_added_behind_leaves_the_other_chunks_of_a_section_alone() -> None:
    """A moved id is paid for twice: a needless embedding, and a citation that points nowhere."""
    rng = random.Random(5)
    text = " ".join(sentence(rng, 25) for _ in range(400))
    long = [heading("A", "Results"), paragraph(text, "A", "Results")]

    before = {chunk.chunk_id for chunk in chunked(long, DEFAULTS)}
    after = {
        chunk.chunk_id for chunk in chunked([*long, *section(rng, 5, "A", "Storage")], DEFAULTS)
    }

    assert after != before, "an edit nobody saw would prove nothing"
    assert len(after - before) <= 3
    assert len(before - after) <= 3


def test_no_chunk_joins_zones_or_what_people_and_models_wrote_or_reaches_over_back_matter() -> None:
    """Such a chunk would cite the abstract for the body, a model for the authors, or the reference
    list."""
    figure = Block(
        BlockKind.FIGURE,
        "A line.",
        ("Results",),
        title="Figure 1.",
        is_generated=True,
        spans=(Span(0, 7, 1, 1),),
    )
    blocks = [
        paragraph("Iron fell.", "Abstract", zone=Zone.FRONT),
        heading("Results"),
        paragraph("It rose.", "Results"),
        figure,
        paragraph("It fell again.", "Results"),
        paragraph("Doe J. 2020.", "References", zone=Zone.BACK),
        paragraph("Iron was given.", "Results"),
        heading("Annex", zone=Zone.ANNEX),
        paragraph("See there.", "Annex", zone=Zone.ANNEX),
    ]

    chunks = chunked(blocks, DEFAULTS)

    assert [chunk.text for chunk in chunks] == [
        "Iron fell.",
        "It rose.",
        "Figure 1.\nA line.",
        "It fell again.",
        "Iron was given.",
        "See there.",
    ]
    assert [chunk.ordinal for chunk in chunks if chunk.is_generated] == [2]


def test_a_paper_of_short_sections_loses_none() -> None:
    """Slides and forms are all short sections."""
    blocks = [
        block for n in range(50) for block in section(random.Random(n), 6, "Slides", f"Slide {n}")
    ]

    chunks = chunked(blocks, DEFAULTS)

    together = "\n\n".join(chunk.text for chunk in chunks)
    assert all(block.text in together for block in blocks)
    assert all(chunk.n_tokens >= DEFAULTS.min_tokens for chunk in chunks)


def test_passages_hold_each_title_once_and_with_its_own_text() -> None:
    """A question about a short section is found by the words of its heading."""
    rng = random.Random(8)
    blocks = [*section(rng, 40, "A", "Results"), *section(rng, 8, "A", "Storage of serum")]
    (chunk,) = chunked(blocks, DEFAULTS)

    passages = cut_passages([chunk], PassageSettings(target_tokens=30), words_and_two, 60)

    found = [passage.text for passage in passages if "Storage of serum" in passage.text]
    assert len(found) == 1
    assert f"Storage of serum\n\n{blocks[3].text}" in found[0]
    assert "".join("".join(passage.text.split()) for passage in passages) == "".join(
        document_text(blocks).split()
    )


def test_a_short_abstract_stays_by_itself_when_the_front_is_included() -> None:
    """The setting exists because a two-line abstract is still the best summary there is."""
    blocks = [
        paragraph("Iron fell.", "Abstract", zone=Zone.FRONT),
        paragraph("Iron; ferritin; trial.", "Abstract", "Keywords", zone=Zone.FRONT),
    ]

    merged = chunked(blocks, DEFAULTS)
    apart = chunked(blocks, DEFAULTS.model_copy(update={"include_front": True}))

    assert [titles_of(chunk) for chunk in merged] == [["Abstract", "Keywords"]]
    assert [titles_of(chunk) for chunk in apart] == [["Abstract"], ["Keywords"]]
