"""Authors that stand between the title and the abstract of a printed page."""

import pytest

from rag_assets.corpus.records.byline import below_title, byline

PAGE = "We followed brain and iron in sheep over the winter, with research on google trends of a new model."


def names(*lines: str) -> list[str]:
    return [person.name for person in byline(lines, PAGE).persons]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (
            ["Ada B. Lund ¹ , Bo van der Moe² and Carl Ness*"],
            ["Ada B. Lund", "Bo van der Moe", "Carl Ness"],
        ),
        (["Ada Lund¹ · Bo Moe² ·\nCarl Ness¹"], ["Ada Lund", "Bo Moe", "Carl Ness"]),
        (["Ada Lund ⇑, Bo Moe ◦ Carl Ness ✉"], ["Ada Lund", "Bo Moe", "Carl Ness"]),
        (["Ada Andre\u0301 · Bo Moe"], []),
        (["ADA LUND, JR., M.D., AND BO MOE, PH.D."], ["Ada Lund", "Bo Moe"]),
        (["Ada Lund", "University of Winter", "Bo Moe", "ada@winter.org"], ["Ada Lund", "Bo Moe"]),
        (["Lund, Ada ∗ ada@winter.org", "Moe, Bo † bo@winter.org"], ["Ada Lund", "Bo Moe"]),
        (["Lund, Ada; Moe, Bo"], ["Ada Lund", "Bo Moe"]),
        (["Ada Lund, Institute of Iron, Oslo\nBo Moe, Winter Hospital"], ["Ada Lund", "Bo Moe"]),
        (["Winter Robertson"], ["Winter Robertson"]),
        (
            ["Ada Lund ¹ , Bo Moe ²", "1 Institute of Iron", "Some Group of Herds, Winter"],
            ["Ada Lund", "Bo Moe"],
        ),
        (["Ada Lund\tBo Moe", "Winteruniversität Oslo\tInstitute of Iron"], ["Ada Lund", "Bo Moe"]),
        (
            ["Ada Lund\tBo Moe", "Norse Herds\tWinter Institute\nada@winter.org\tbo@winter.org"],
            ["Ada Lund", "Bo Moe"],
        ),
        (["by Ada Lund *, Bo\nMoe * and Carl Ness"], ["Ada Lund", "Bo Moe", "Carl Ness"]),
        (
            ["Ada Lund *, Bo Moe\nCarl Ness *\nInstitute of Iron\nWinter Town"],
            ["Ada Lund", "Bo Moe", "Carl Ness"],
        ),
        (
            ["Ada Lund , Bo Moe", "Iron falls in winter in every flock that was ever seen."],
            ["Ada Lund", "Bo Moe"],
        ),
    ],
)
def test_a_byline_gives_its_authors_in_order(lines: list[str], wanted: list[str]) -> None:
    """An author who is lost or shifted is a wrong citation."""
    assert names(*lines) == wanted


@pytest.mark.parametrize(
    "lines",
    [
        ["Ada Lund Bo Moe Carl Ness Dag Ek"],
        ["Ada Lund∗ Bo Moe∗", "Carl Ness∗ Winter Institute of Iron carl@iron.org"],
        ["Ada Lunda,∗ , Bo Moeb", "aWinter Institute of Iron"],
        ["Ada Lund\tBo Moe", "Norse Project\tMolde Friends"],
        ["Ada Lund\nCarl Ness", ", Bo Moe", "Institute of Iron"],
        ["Ada Lund, Bo Moe\nCarl Ness, Dag Ek, Iron Works, 1211 Oslo"],
        ["Ada Lund, Bo Moe\nCarl Ness, Winter Institute of Iron"],
        ["Iron in Sheep", "We followed iron in sheep."],
        ["Winter Herds Company, Norway"],
        ["Ada Lund\nWinter Institute, Oslo\nBo Moe\nMolde Friends, Oslo"],
        [],
    ],
)
def test_names_that_cannot_be_told_apart_are_no_authors(lines: list[str]) -> None:
    """A wrong name is worse than none: the check lists the paper, and a bibliography can name its
    authors."""
    assert names(*lines) == []


def test_the_byline_begins_below_a_title_of_several_lines() -> None:
    """A parser takes the first line of a title for all of it; what stands above it belongs to the
    journal."""
    lines = [
        "Journal of Winter",
        "Iron in sheep:",
        "a long winter",
        "Ada Lund",
        "Abstract",
        "Bo Moe said so.",
    ]

    assert below_title(lines, "Iron in Sheep: A Long Winter") == ["Ada Lund"]
    assert below_title(lines, "Copper in goats") is None
