"""The numbers that headings start with."""

import pytest

from rag_assets.core.text.headings import heading_number
from rag_assets.parsing.shared.heading_lines import numbered_heading_lines
from rag_assets_tests.cpu_limit import ends_in_time


@pytest.mark.parametrize(
    ("line", "number", "title"),
    [
        ("1 Introduction", "1", "Introduction"),
        ("1. Introduction", "1", "Introduction"),
        ("1) Introduction", "1", "Introduction"),
        ("1.Introduction", "1", "Introduction"),
        ("1\\. Introduction", "1", "Introduction"),
        ("2.1 Cohort", "2.1", "Cohort"),
        ("2.1. Cohort", "2.1", "Cohort"),
        ("**2.1.** Cohort", "2.1", "Cohort"),
        ("**2.1. Cohort**", "2.1", "Cohort"),
        ("## 2.1. Cohort", "2.1", "Cohort"),
        ("IV. RESULTS", "IV", "RESULTS"),
        ("IV Results", "IV", "Results"),
        ("A. Subjects", "A", "Subjects"),
        ("A.1 Proofs", "A.1", "Proofs"),
        ("Appendix A", "A", ""),
        ("APPENDIX B.2: Proofs", "B.2", "Proofs"),
        ("4.2 3D models", "4.2", "3D models"),
    ],
)
def test_every_form_of_a_number_is_read(line: str, number: str, title: str) -> None:
    """A form that only one format knows puts the same paper into other sections when it comes in
    another format."""
    found = heading_number(line)

    assert (found.text, found.title) == (number, title)


@pytest.mark.parametrize(
    "line",
    [
        "[1] Lund A. Sheep and iron.",
        "1990 was a dry year",
        "0.6 experimental subjects",
        "2.5mg of iron",
        "12 345 678",
        "A study of sheep",
        "I measured ferritin",
        "Vitamin C",
        "Appendix a small organ",
        "XL Sheep",
        "3D models",
        "",
    ],
)
def test_what_only_looks_like_a_number_is_none(line: str) -> None:
    """A sentence taken for a heading is in no chunk and names the text after it."""
    assert heading_number(line) is None


@pytest.mark.parametrize(
    ("line", "values"), [("IX. Limits", (9,)), ("XIV. Limits", (14,)), ("C.2 Limits", (3, 2))]
)
def test_numbers_of_all_styles_can_be_counted(line: str, values: tuple[int, ...]) -> None:
    """Whether a heading follows another is told by counting."""
    found = heading_number(line)

    assert found.values == values


@pytest.mark.parametrize(
    "line", ["*" * 500_000 + "x", " " * 500_000 + "1. x", "1." * 250_000, "A " * 250_000]
)
def test_a_hostile_line_is_read_in_time(line: str) -> None:
    """One line of a broken export must not use up the time of its paper."""
    with ends_in_time():
        heading_number(line)
        numbered_heading_lines([line])
