"""Numbered headings and reference lists are known in every format, whatever the style of the
numbers."""

import pytest

from rag_assets.core.domain import BlockKind, Document, Zone
from rag_assets_testing.papers.outlines import (
    Read,
    Section,
    from_ade_joined,
    from_ade_regions,
    from_docling,
    from_markdown,
    from_marked_markdown,
    from_pdf,
    from_text,
    paragraph,
)

FORMATS = [
    from_ade_regions,
    from_ade_joined,
    from_markdown,
    from_marked_markdown,
    from_text,
    from_pdf,
    from_docling,
]
WITH_FREE_LEVELS = [read for read in FORMATS if read is not from_marked_markdown]
"""In Markdown the marks state the level of a heading, and are believed."""
WITHOUT_FONTS = [from_ade_regions, from_markdown, from_text]
NUMBERINGS = {
    "plain": ["Introduction", "Methods", "Flock and pasture", "References"],
    "digit": ["1 Introduction", "2 Methods", "2.1 Flock and pasture", "3 References"],
    "digit and stop": ["1. Introduction", "2. Methods", "2.1. Flock and pasture", "3. References"],
    "digit and bracket": [
        "1) Introduction",
        "2) Methods",
        "2.1 Flock and pasture",
        "3) References",
    ],
    "no space": ["1.Introduction", "2.Methods", "2.1.Flock and pasture", "3.References"],
    "roman and stop": ["I. Introduction", "II. Methods", "A. Flock and pasture", "III. References"],
    "roman": ["I Introduction", "II Methods", "A. Flock and pasture", "III References"],
    "capitals": ["1. INTRODUCTION", "2. METHODS", "2.1 FLOCK AND PASTURE", "3. REFERENCES"],
    "spaced": ["1. Introduction", "2. Methods", "2.1. Flock and pasture", "R E F E R E N C E S"],
    "letters": ["A. Introduction", "B. Methods", "B.1 Flock and pasture", "C. References"],
    "literature": [
        "1. Introduction",
        "2. Methods",
        "2.1. Flock and pasture",
        "3. Literature cited",
    ],
}
ENTRIES = {
    "brackets": [
        "[1] Lund A. Sheep and iron. J Sheep. 2001;3:14-19.",
        "[2] Moe B. Pastures. 2010.",
    ],
    "stops": ["1. Lund A. Sheep and iron. J Sheep. 2001;3:14-19.", "2. Moe B. Pastures. 2010."],
    "without stop": [
        "1. Lund A, Sheep and Iron, 2001",
        "2. Moe B, Pastures, 2010",
        "3. Alm C, Snow, 2011",
    ],
}


def paper(titles: list[str], entries: list[str]) -> list[Section]:
    introduction, methods, flock, references = titles
    return [
        (introduction, paragraph("iron")),
        (methods, paragraph("probe")),
        (flock, paragraph("sheep")),
        (references, entries),
    ]


def path_of(document: Document, text: str) -> list[str]:
    [path] = {
        block.section_path
        for block in document.blocks
        if block.kind is not BlockKind.HEADING and text in block.text
    }
    return [title.strip("*") for title in path]


@pytest.mark.parametrize("titles", NUMBERINGS.values(), ids=NUMBERINGS.keys())
@pytest.mark.parametrize("read", FORMATS)
def test_sections_and_references_are_known_whatever_the_numbers_look_like(
    read: Read, titles: list[str]
) -> None:
    """An unknown heading puts the text into the wrong section, and the reference list into the
    answers."""
    document = read(paper(titles, ENTRIES["brackets"]))

    assert path_of(document, "iron number 1") == [titles[0]]
    assert path_of(document, "probe number 1") == [titles[1]]
    assert all(
        block.zone is Zone.BACK
        for block in document.blocks
        if "Lund A" in block.text or "Moe B" in block.text
    )
    assert all(block.zone is Zone.BODY for block in document.blocks if "number 1" in block.text)


@pytest.mark.parametrize("read", WITH_FREE_LEVELS)
@pytest.mark.parametrize(
    "numbering", ["digit", "digit and stop", "no space", "roman and stop", "capitals"]
)
def test_a_subsection_stands_inside_its_section(read: Read, numbering: str) -> None:
    """Results of one experiment cited under the name of another mislead the reader."""
    titles = NUMBERINGS[numbering]

    document = read(paper(titles, ENTRIES["brackets"]))

    assert path_of(document, "sheep number 1") == titles[1:3]


@pytest.mark.parametrize("entries", ENTRIES.values(), ids=ENTRIES.keys())
@pytest.mark.parametrize("references", ["1. References", "**7. References**", "VII. REFERENCES"])
@pytest.mark.parametrize("read", FORMATS)
def test_entries_of_the_reference_list_are_back_matter(
    read: Read, references: str, entries: list[str]
) -> None:
    """Indexed as body, "[1] Smith ..." answers questions with the titles of other papers."""
    sections = [
        ("Introduction", paragraph("iron")),
        ("Results", paragraph("sheep")),
        (references, entries),
    ]

    document = read(sections)

    entry_blocks = [
        block for block in document.blocks if "Lund A" in block.text or "Moe B" in block.text
    ]
    assert entry_blocks
    assert {block.zone for block in entry_blocks} == {Zone.BACK}


@pytest.mark.parametrize("read", WITH_FREE_LEVELS)
def test_an_appendix_after_the_references_is_no_back_matter(read: Read) -> None:
    """Back matter is not indexed: the proofs would be lost."""
    sections = [
        ("1. Introduction", paragraph("iron")),
        ("2. References", ENTRIES["brackets"]),
        ("Appendix A. Proofs", paragraph("proof")),
        ("A.1 Lemmas", paragraph("lemma")),
    ]

    document = read(sections)

    assert path_of(document, "lemma number 1") == ["Appendix A. Proofs", "A.1 Lemmas"]
    assert {block.zone for block in document.blocks if "number 1" in block.text} == {
        Zone.BODY,
        Zone.ANNEX,
    }


@pytest.mark.parametrize("read", WITHOUT_FONTS)
def test_steps_of_a_list_are_no_headings(read: Read) -> None:
    """A step taken for a heading is in no chunk, and all text after it stands under its name."""
    steps = ["1. Wash the Sample", "2. Dry the Sample", "3. Weigh the Sample"]
    sections = [
        ("1. Introduction", paragraph("iron")),
        ("2. Methods", [*paragraph("probe")]),
        (steps[0], [steps[1]]),
        (steps[2], paragraph("scale")),
        ("3. Results", paragraph("sheep")),
    ]

    document = read(sections)

    headings = [block.text for block in document.blocks if block.kind is BlockKind.HEADING]
    assert not set(headings) & set(steps)


@pytest.mark.parametrize("points", [" ..... ", " . . . . ", "…… ", " ____ "])
@pytest.mark.parametrize("read", WITHOUT_FONTS)
def test_a_table_of_contents_has_no_headings(read: Read, points: str) -> None:
    """Its last line would be the section of the whole document, as no number follows that."""
    first, second, third = (
        f"{title}{points}{page}"
        for page, title in enumerate(["1 Flock", "1.1 Iron Diet", "2 Long Winters"], 2)
    )
    capitals = f"LONG WINTERS{points}9"
    sections = [
        ("Contents", [first]),
        (second, [third]),
        (capitals, [first]),
        ("1 Flock", paragraph("sheep")),
        ("1.1 Iron Diet", paragraph("iron")),
        ("2 Long Winters", paragraph("snow")),
    ]

    document = read(sections)

    headings = [block.text for block in document.blocks if block.kind is BlockKind.HEADING]
    assert not set(headings) & {first, second, third, capitals}
    assert path_of(document, "iron number 1") == ["1 Flock", "1.1 Iron Diet"]


CONTENTS = {
    "named": ["Contents", "1 Flock    2", "1.1 Iron Diet    3", "2 Long Winters    9"],
    "points": ["1 Flock ..... 2", "1.1 Iron Diet ..... 3", "2 Long Winters ..... 9"],
    "without pages": ["Contents", "1 Flock", "1.1 Iron Diet", "2 Long Winters"],
    "other numbers": [
        "Table of Contents",
        "Flock . . . . 2",
        "Iron Diet . . . . 3",
        "Long Winters . . . . 9",
    ],
}


@pytest.mark.parametrize("lines", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("read", [from_markdown, from_text])
def test_a_table_of_contents_is_not_read(read: Read, lines: list[str]) -> None:
    """Its entries have every word of a question about a section, and answer none."""
    body = [
        ("1 Flock", paragraph("sheep")),
        ("1.1 Iron Diet", paragraph("iron")),
        ("2 Long Winters", paragraph("snow")),
    ]

    document = read([("Sheep at High Altitude", []), ("", ["\n".join(lines)]), *body])

    texts = [block.text for block in document.blocks]
    assert (
        sum("Iron Diet" in text for text in texts)
        == sum("Long Winters" in text for text in texts)
        == 1
    )
    assert path_of(document, "iron number 1") == ["1 Flock", "1.1 Iron Diet"]
