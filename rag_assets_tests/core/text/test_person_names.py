"""Lines of names are told from sentences, headings and institutions."""

import pytest

from rag_assets.core.text.names import (
    begins_with_a_name,
    lists_names,
    names_an_institution,
    names_only,
    ordinary_words,
)


@pytest.mark.parametrize(
    ("line", "is_list"),
    [
        ("Ada B. Lund, MD, Berit Moe and Carl Ness", True),
        ("Ada Lund∗ ¹ Berit van Moe∗ ² Carl Ness ¹", True),
        ("Ada Lund* | Łars Moe* † | Carl Ness", True),
        ("ADA LUND, M.D., BERIT MOE, PH.D., AND CARL NESS, B.S.", True),
        ("Carl Ness∗ ‡ carl.ness@example.org", True),
        ("Carl Ness", False),
        ("Hill College, Dale Works and Oslo Ferry", False),
        ("Rope Works | Rope Works | Oslo Ferry", False),
        ("Materials and Methods", False),
        ("Ferritin fell in winter, and Iron rose.", False),
    ],
)
def test_lists_of_persons_are_told(line: str, *, is_list: bool) -> None:
    """Published as the authors of a paper, a heading or an employer is a false statement."""
    assert lists_names(line) is is_list


ORDINARY = ordinary_words(
    "Deep learning of models in the herds was found at the christian college. lund@hill.edu"
)


@pytest.mark.parametrize(
    ("line", "is_name"),
    [
        ("Ada Lund", True),
        ("Lisa M. Lund*,†", True),
        ("Ada Lunda,∗ , Berit Moeb , Carl Nessc,d", True),
        ("Christian Lund Berit Moe", True),
        ("Deep Learning Models", False),
        ("Enterprise", False),
        ("Hill College", False),
        ("Ada Lund said that the herds grew", False),
        ("A. B.", False),
    ],
)
def test_a_line_of_nothing_but_names_is_told_by_the_words_of_its_paper(
    line: str, *, is_name: bool
) -> None:
    """One name in capitals looks like a heading; an ordinary word is written in small letters
    elsewhere."""
    assert names_only(line, ORDINARY) is is_name


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
