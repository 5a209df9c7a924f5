"""Plain text into blocks: nothing lost, structure only where it is beyond doubt."""

import re
from textwrap import fill

import pytest

from rag_assets.core.domain import BlockKind, Document, PageSource, Zone
from rag_assets.core.text.folding import Folded
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.parsing.formats.text.document import parse_text
from rag_assets_testing.papers.contents import read_content
from rag_assets_tests.demo_papers import texts

PAPER = """Ferritin in Mountain Sheep

Ada Lund, Berit Moe

Abstract

We measured ferri-
tin in forty sheep at three well-known pastures. Values fell in the well-known
cold months and rose again when the snow was gone from the north side.

1 Introduction

Iron is scarce at altitude.

2 Methods

2.1 Animals

1990 was a dry year for the flock, and the short-
and long-term pastures near LAKE-
2 were closed.

3 Results

Ferritin fell in all groups.

References

1. Lund A. Sheep and iron. J Sheep. 2001;3:14-19.
2. Moe B, Lund A, et al. Pastures above the tree line. 2010. doi: 10.1/x

Appendix

The pastures are listed by height.
"""


def parsed(content: str | bytes) -> Document:
    return read_content(parse_text, "sheep.txt", content)


def test_a_wrapped_paper_gets_its_paragraphs_sections_and_zones_back() -> None:
    """References taken for body are cited as evidence; body taken for references is never found."""
    document = parsed(PAPER)

    assert document.title == "Ferritin in Mountain Sheep"
    headings = [block.section_path for block in document.blocks if block.kind is BlockKind.HEADING]
    assert headings == [
        ("Abstract",),
        ("1 Introduction",),
        ("2 Methods",),
        ("2 Methods", "2.1 Animals"),
        ("3 Results",),
        ("References",),
        ("Appendix",),
    ]
    zone_of = {
        block.text.split()[0]: block.zone
        for block in document.blocks
        if block.kind is BlockKind.PARAGRAPH
    }
    assert zone_of["We"] is Zone.FRONT
    assert zone_of["Iron"] is Zone.BODY
    assert zone_of["1."] is Zone.BACK
    assert zone_of["The"] is Zone.ANNEX
    assert document.page_source is PageSource.NONE
    assert {block.page_start for block in document.blocks} == {None}


def test_a_word_cut_at_a_line_end_is_one_word_again() -> None:
    """A search for "ferritin" does not find "ferri- tin"; "LAKE2" was never in the paper."""
    text = parsed(PAPER).text

    assert "measured ferritin in forty" in text
    assert "three well-known pastures" in text
    assert "the short- and long-term pastures near LAKE-2 were" in text


def test_one_paragraph_a_line_stays_one_paragraph_a_line() -> None:
    """Joined paragraphs make one block of a whole paper, without a section or a sentence to
    cite."""
    lines = [
        f"Paragraph {n} says that " + "iron is scarce at altitude and " * 12 + "so on."
        for n in range(4)
    ]

    document = parsed("\n".join(lines))

    assert [block.text for block in document.blocks] == lines


def test_form_feeds_are_pages_and_a_paragraph_over_their_turn_has_both() -> None:
    """A quote is cited with its page; the running header must not stand in the middle of it."""
    pages = [
        "Journal of Sheep    Vol 3\n\nIron is scarce at altitude and ferritin\nfollows it\n\n1",
        "Journal of Sheep    Vol 3\n\ndown to the valley.\n\nSnow stays long.\n\n2",
        "Journal of Sheep    Vol 3\n\nSheep come home in autumn.\n\n3\n",
    ]

    document = parsed("\f".join(pages) + "\f")

    assert document.n_pages == 3
    assert document.page_source is PageSource.PARSER
    assert document.n_dropped_running == 6
    first = document.blocks[0]
    assert first.text == "Iron is scarce at altitude and ferritin follows it down to the valley."
    assert (first.page_start, first.page_end) == (1, 2)
    assert [first.text[span.start : span.end].strip() for span in first.spans][
        1
    ] == "down to the valley."
    assert [block.page_start for block in document.blocks[1:]] == [2, 3]


def test_a_references_line_before_the_body_does_not_hide_the_body() -> None:
    """In text taken from two columns the list may come first; a body in the back zone is lost for
    every question."""
    prose = (
        "Ferritin fell in all groups when the snow came and the flock had gone to the valley. " * 6
    )

    document = parsed(f"Ferritin\n\nReferences\n\n1. Lund A. Sheep. 2001.\n\n{prose}\n\n{prose}\n")

    assert [block.zone for block in document.blocks[2:]] == [Zone.BACK, Zone.BODY, Zone.BODY]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "Die Größe der Schafe – ein Überblick"),
        ("utf-16", "Die Größe der Schafe – ein Überblick"),
        ("utf-16-le", "Die Größe der Schafe – ein Überblick"),
        ("cp1252", "Die Größe der Schafe – ein “Überblick”"),
        (
            "koi8-r",
            "Железо и овцы в горах: содержание ферритина в крови сорока овец зимой и летом. " * 5,
        ),
    ],
)
def test_text_is_read_in_the_encoding_it_was_written_in(encoding: str, text: str) -> None:
    """A wrong encoding makes every quote with an umlaut unfindable, without a visible reason."""
    document = parsed(text.encode(encoding))

    assert document.text == text.strip()


def test_one_broken_byte_does_not_turn_a_utf8_paper_into_another_encoding() -> None:
    """One bad byte is one bad character; read as Windows-1252 every accent would be two wrong
    ones."""
    document = parsed("Größe und Höhe der Schafe. ".encode() * 20 + b"\xff end")

    assert document.text.count("Größe") == 20
    assert document.notes == ("1 broken characters replaced",)


@pytest.mark.parametrize("name", texts())
def test_no_sentence_of_a_whole_paper_is_lost(name: str) -> None:
    """What parsing loses, no retrieval finds: every sentence must stand in the text, outside the
    back matter."""
    parts = texts()[name].split("\n\n")
    wrapped = "\n\n".join(fill(part, 80, break_on_hyphens=False) for part in parts)
    paper = f"A Paper of the Demo\n\n1 Introduction\n\n{wrapped}\n\nReferences\n\n[1] Lund, A. (2020) Iron. Sheep 3, 4.\n"

    document = parsed(paper)

    assert without_breaks(document.text) == without_breaks(paper)
    readable = Folded.of(
        "\n".join(block.text for block in document.blocks if block.zone is not Zone.BACK)
    ).text
    sentences = [part[start:end] for part in parts for start, end in sentence_spans(part)]
    assert [sentence for sentence in sentences if Folded.of(sentence).text not in readable] == []
    assert "Sheep 3, 4" not in readable


def without_breaks(text: str) -> str:
    """Without white space and the hyphens that a line end may have put there."""
    return re.sub(r"\s|(?<=\w)-", "", text)


TABLE = """Table 1. Ferritin by group.
Group            n     Ferritin
-------------------------------
Ewes            12         31.5
Rams             9         28.0
"""


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.replace("-", ""),
        TABLE.replace("\nEwes", "\n\nEwes"),
        "Table 1. Ferritin by group.\n\nGroup\tn\tFerritin\nEwes\t12\t31.5\nRams\t9\t28.0\n",
        "Table 1. Ferritin by group.\n| Group | n  | Ferritin |\n|-------|----|----------|\n"
        "| Ewes  | 12 | 31.5     |\n| Rams  | 9  | 28.0     |\n",
    ],
    ids=["ruled", "plain", "gap", "tabs", "bars"],
)
def test_rows_that_are_aligned_by_blanks_are_a_table(table: str) -> None:
    """Read as a paragraph, no value is under its name, and "31.5" is anybody's."""
    document = parsed(
        f"{PAPER}\fIron in sheep\n\nThe flock was seen twice.\n\n{table}\nFerritin fell.\n",
    )

    (found,) = (block for block in document.blocks if block.kind is BlockKind.TABLE)
    assert found.title == "Table 1. Ferritin by group."
    assert found.text == "Group | n | Ferritin\nEwes | 12 | 31.5\nRams | 9 | 28.0"
    assert [cell.text for cell in found.cells if cell.is_header] == ["Group", "n", "Ferritin"]
    assert (found.page_start, found.page_end) == (2, 2)
    assert [block.text for block in document.blocks[-1:]] == ["Ferritin fell."]


ASIDE = """Ada Lund         Bo Moe          Cy Roe
Town school      City school     Sea school
Oslo             Bergen          Moss

The first column of prose goes here and         the second column is beside it, and has
ends after some lines that are about as         about as many words in its lines as the
long as these, so that both are aligned         first one, in which 12 of 14 sheep ate.

x = a + 1        (1)
"""


def test_words_that_are_aligned_are_no_table() -> None:
    """Names above places of work, or two columns of prose, cut into cells are sentences that nobody
    wrote."""
    document = parsed(PAPER + ASIDE)

    assert BlockKind.TABLE not in {block.kind for block in document.blocks}


def test_a_table_over_leaders_is_no_table_of_contents() -> None:
    """Its values would be gone."""
    document = parsed(PAPER + "\nMen ....... 12\nWomen ..... 15\nAll ....... 27\n")

    assert document.blocks[-1].text == "Men | 12\nWomen | 15\nAll | 27"


def test_each_turn_of_an_interview_is_a_paragraph() -> None:
    """With the next question behind it, an answer was read as that of the wrong question."""
    turns = [
        "Q: How many steps does the tower have?",
        "A: It has 214 steps, and I know each of them.",
        "Q: How often do you polish the lens?",
        "A: Twice in each week, and once more when the wind has been from the east, as it brings "
        "salt.",
    ]
    text = "\n".join(["Talks with keepers", "", *(fill(turn, 60) for turn in turns)])

    assert [block.text for block in parsed(text).blocks[1:]] == turns
