"""Names, years and quarters in questions and in the names of files."""

import pytest

from rag_assets.core.text.names import (
    joined_pairs,
    periods_in,
    words_of,
    words_of_file_name,
    words_written_as_names,
)


@pytest.mark.parametrize(
    ("paper_id", "words"),
    [
        ("AMCOR_2023Q2_10Q", "amcor 2023q2 2023 10q"),
        ("BestBuy2019", "bestbuy2019 bestbuy 2019 best buy"),
        ("reports/2019/3M_2018_10K", "3m 2018 10k"),
        ("Activision-Blizzard.final copy", "activision blizzard final copy"),
        ("NASAReport", "nasareport nasa report"),
        ("Überblick_2020", "uberblick 2020"),
    ],
)
def test_the_name_of_a_file_is_taken_apart_where_its_words_meet(paper_id: str, words: str) -> None:
    """ "Best Buy" asked for would miss a file called BestBuy2019."""
    assert words_of_file_name(paper_id) == words.split()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Is 3M a capital-intensive business?", "3m"),
        ("What did AMCOR's board decide?", "amcor"),
        ("Did the CEO of Foot Locker resign? Does it say why?", "ceo foot locker"),
        ("does it bind SARS-CoV-2 well", "sars-cov-2"),
        ("What is the revenue?", ""),
        ("What Was The Adjusted Margin Of Boeing In The Second Half", ""),
    ],
)
def test_a_name_is_a_word_with_a_capital_that_starts_no_sentence(question: str, names: str) -> None:
    """Else every first word would be compared with the titles of all papers."""
    assert words_written_as_names(question) == set(names.split())


def test_a_name_with_lowered_digits_is_the_one_with_plain_ones() -> None:
    """A question names the title "Air of CO₂ barns" as "CO2"."""
    assert words_of("CO₂ barns") == words_of("CO2 barns")
    assert words_written_as_names("air of CO₂") == {"co2"}
    assert joined_pairs("CO₂ barns") == ["co2barns"]


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
        ("AMCOR 2023Q2 10Q", "2023 q2"),
    ],
)
def test_years_and_quarters_are_read_in_the_ways_they_are_written(text: str, periods: str) -> None:
    """A question about Q2 of FY23 would not find the report that its file calls 2023Q2."""
    assert periods_in(text) == set(periods.split())


@pytest.mark.parametrize(
    "text", ["Q15", "12345", "in 4 quarters", "FAQ1", "200 mg", "1018202", "Q5"]
)
def test_other_numbers_are_no_periods(text: str) -> None:
    """A dose or a count in a question would choose a report by its year."""
    assert periods_in(text) == set()
