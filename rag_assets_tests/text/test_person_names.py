"""Lines of names are told from sentences, headings and institutions."""

import pytest

from rag_assets.text.person_names import lists_names


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
