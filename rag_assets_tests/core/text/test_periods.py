"""Years and quarters in questions and file names."""

import pytest

from rag_assets.core.text.periods import periods_in


@pytest.mark.parametrize(
    ("text", "periods"),
    [
        ("FY2018", "2018"),
        ("FY18 and FY19", "2018 2019"),
        ("fiscal year 2017", "2017"),
        ("FY 2023", "2023"),
        ("Q2 2023", "2023 q2"),
        ("2023Q2", "2023 q2"),
        ("2Q23", "2023 q2"),
        ("3Q2021", "2021 q3"),
        ("Q22023", "2023 q2"),
        ("Q2'2023", "2023 q2"),
        ("Q3 '21", "2021 q3"),
        ("Q2 of FY2023", "2023 q2"),
        ("Q2 FY23", "2023 q2"),
        ("the second quarter of fiscal 2022", "2022 q2"),
        ("BOEING 2022 10K", "2022"),
        ("dated 2022-07-01", "2022"),
    ],
)
def test_years_and_quarters_are_read_in_the_ways_they_are_written(text: str, periods: str) -> None:
    """A question about Q2 of FY23 would not find the report that its file calls 2023Q2."""
    assert periods_in(text) == set(periods.split())


def test_the_form_of_a_report_is_no_year() -> None:
    """ "2023Q2 10Q" would be a report about 2010."""
    assert periods_in("AMCOR 2023Q2 10Q") == {"2023", "q2"}


@pytest.mark.parametrize("text", ["Q15", "12345", "in 4 quarters", "FAQ1", "200 mg", "1018202", "Q5"])
def test_other_numbers_are_no_periods(text: str) -> None:
    """A dose or a count in a question would choose a report by its year."""
    assert periods_in(text) == set()
