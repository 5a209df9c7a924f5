"""Lines of names are told from sentences, headings and institutions."""

import pytest

from rag_assets.core.text.names import (
    begins_with_a_name,
    lists_names,
    names_an_institution,
    names_in,
    ordinary_words,
)

ORDINARY = ordinary_words(
    "Deep learning of models in the herds, methods and materials, at the christian college. lund@hill.edu"
)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("Ada B. Lund, MD, Berit Moe and Carl Ness", ["Ada B. Lund", "Berit Moe", "Carl Ness"]),
        ("Ada Lund* | Łars Moe* † | Carl Ness", ["Ada Lund", "Łars Moe", "Carl Ness"]),
        ("ADA LUND, M.D., BERIT MOE, PH.D.", ["ADA LUND", "BERIT MOE"]),
        ("Carl Ness∗ ‡ carl.ness@example.org", ["Carl Ness"]),
        ("Ness, Carl carl.ness@example.org", ["Ness, Carl"]),
        ("Christian Lund", ["Christian Lund"]),
        ("Ada Lund Berit Moe", []),
        ("Hill College, Dale Works and Oslo Ferry", []),
        ("Materials and Methods", []),
        ("Deep Learning Models", []),
        ("Ada Lund said that the herds grew", []),
        ("Report 123, Ada Lund", []),
        ("Enterprise", []),
        ("A. B.", []),
    ],
)
def test_the_names_of_a_line_are_read_if_it_has_nothing_else(line: str, names: list[str]) -> None:
    """Published as the authors of a paper, a heading or an employer is a false statement."""
    assert names_in(line, ORDINARY) == names


def test_names_are_told_where_nothing_separates_them() -> None:
    """A line of names in capitals looks like a heading."""
    assert lists_names("Ada Lund Berit Moe", ORDINARY)
    assert not lists_names("Deep Learning Models Everywhere", ORDINARY)


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("Ada Lund Hill College, Dale", True),
        ("Lund, Ada † lund73@hill.edu", True),
        ("Deep Learning at Hill College", False),
        ("Hill College, Dale", False),
        ("National Defence University of Dale", False),
        ("Ada Lund", False),
    ],
)
def test_a_name_may_stand_beside_a_place_or_an_address(line: str, *, begins: bool) -> None:
    """Some papers print each author with the place of work in one line."""
    assert begins_with_a_name(line, ORDINARY) is begins


def test_a_line_names_an_institution_and_a_sentence_does_not() -> None:
    """Places of work stand in lines of their own; sentences name many institutions."""
    assert names_an_institution("1Politecnico di Torino, Italy")
    assert names_an_institution("Department of Herds, Hill College, Dale.")
    assert not names_an_institution(
        "All of the sheep were then kept at the college for about two more years."
    )
    assert not names_an_institution("Agents behave as institutions")
