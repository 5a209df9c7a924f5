"""Which numbers of a text are quantities, and when a claim contradicts its quotes."""

from decimal import Decimal

import pytest

from rag_assets.answering.evidence.numbers import contradictions, held_share
from rag_assets.answering.evidence.quantities import quantities


def found(text: str) -> list[tuple[Decimal, str]]:
    return [(one.value, one.kind) for one in quantities(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200 or 1 200 or 1200 people", [(1200, "plain")] * 3),
        ("r = -0.3 and d = .45", [("-0.3", "plain"), ("0.45", "plain")]),
        ("5-7 mg", [("0.005", "mass"), ("0.007", "mass")]),
        ("3.2 ± 1.1%", [("3.2", "percent"), ("1.1", "percent")]),
        ("1 × 10^3 cells, 2e-3, 4 × 10⁻²", [(1000, "plain"), ("0.002", "plain"), ("0.04", "plain")]),
        ("twelve patients for two weeks in 2020", [(12, "plain"), (1209600, "time"), (2020, "year")]),
        ("2000 patients, n = 1999", [(2000, "plain"), (1999, "plain")]),
        ("1.2 million people", [(1200000, "plain")]),
        ("5 ng/mL (p < .001)", [("0.000005", "mass/volume"), ("0.001", "p value")]),
        ("type 2 diabetes", [(2, "type")]),
    ],
)
def test_numbers_are_read_with_what_they_measure(text: str, values: list[tuple[str | int, str]]) -> None:
    """Numbers that are read wrongly accuse true claims and acquit false ones."""
    assert found(text) == [(Decimal(value), kind) for value, kind in values]


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19, IL-6, BM25, H1N1 and MiniLM-L6-v2",
        "as in Fig. 3, Table 2 and Section 4.1",
        "shown before [12] and again [3, 5-7]",
        "(Smith et al., 2019; Jones & Brown, 2020)",
        "Smith et al. (2019) and Jones (2020a)",
        "on p. 7 and pp. 7-9 (12)",
        "the 2nd and 3D cases of 5-HT",
    ],
)
def test_digits_in_names_and_references_are_no_quantities(text: str) -> None:
    """A claim about COVID-19 must not be held against a quote about IL-6."""
    assert found(text) == []


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Ferritin fell by 12%.", "Ferritin fell by 12 percent."),
        ("About 12% fell ill.", "11.9% fell ill."),
        ("83% fell ill.", "83.4% fell ill."),
        ("Over 900 papers were read.", "We read 914 papers."),
        ("0.12 of them fell ill.", "12% of them fell ill."),
        ("12% of them fell ill.", "A share of 0.12 of 300 fell ill."),
        ("It took 1 s.", "It took 1000 ms."),
        ("Five people took part for 2 weeks.", "5 people took part for 14 days."),
        ("The difference was significant (p < 0.05).", "The difference was significant (p = 0.03)."),
        ("It fell by 0.3.", "The change was -0.3."),
        ("Two groups were compared.", "The 45 patients of the first and 50 of the second were compared."),
        ("68% fell ill.", "13 of 19 fell ill."),
        ("Nothing changed.", "Nothing changed in 19 weeks."),
    ],
)
def test_a_claim_in_other_words_or_rounded_is_no_contradiction(claim: str, quote: str) -> None:
    """A true claim that is dropped is an answer lost."""
    assert contradictions(claim, [quote], "") == []


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Ferritin fell by 13%.", "Ferritin fell by 12%."),
        ("Ferritin fell by about 15%.", "Ferritin fell by about 12%."),
        ("The dose was 5 g.", "The dose was 5 mg."),
        ("In 9013 cases were found.", "In 2013 cases were found."),
        ("After 2 months acuity was 6/6.", "After 6 months acuity was 6/6."),
        ("The study began in 2019.", "The study began in 2020."),
        ("It lasted six weeks.", "It lasted five weeks."),
        ("The correlation was r = 0.3.", "The correlation was r = -0.3."),
        ("Recall was 0.38.", "Recall was 0.83."),
        ("45% fell ill.", "75% fell ill, 4 of 45 badly."),
        ("Over 800 papers were read.", "We read more than 914 papers."),
        ("Over 500 papers were read.", "We read more than 900 papers."),
        ("The difference was significant (p < 0.05).", "The difference was not significant (p = 0.07)."),
        ("It treats type 1 diabetes.", "It treats type 2 diabetes."),
        ("120 patients took part.", "1200 patients took part."),
        ("p = 0.05", "p = 0.049"),
    ],
)
def test_a_claim_with_another_number_than_its_quote_contradicts_it(claim: str, quote: str) -> None:
    """A wrong figure beside a true quote is the error readers check last."""
    assert contradictions(claim, [quote], "") != []


def test_a_number_of_the_question_needs_no_quote() -> None:
    """An answer repeats what it was asked about."""
    quote = "Ferritin fell by 12% in the first 4 weeks."

    assert contradictions("After 6 weeks it had fallen by 12%.", [quote], "Did it fall within 6 weeks?") == []
    assert contradictions("After 6 weeks it had fallen by 12%.", [quote], "Did it fall?") != []


def test_a_number_in_any_of_the_quotes_is_held() -> None:
    """A claim may put two papers together."""
    quotes = ["It fell by 12%.", "It fell by 15%."]

    assert contradictions("It fell by 12% and by 15%.", quotes, "") == []
    assert held_share("It fell by 12% and by 15%.", quotes, "") == 1.0


def test_a_number_nobody_holds_lowers_the_share() -> None:
    """Nothing contradicts it, and nothing carries it either."""
    assert held_share("12% of 40 people", ["12% of them"], "") == 0.5
    assert held_share("No number here", ["12% of them"], "") is None
