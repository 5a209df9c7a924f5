"""When a number of a claim is one of its quotes: in other words, rounded, in another unit."""

import pytest

from rag_assets.answering.verify.claim_numbers import check_numbers
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.table_numbers import MAX_COMPARED


def missing(claim: str, quotes: list[str], question: str) -> tuple[str, ...]:
    return check_numbers(
        claim, [QuotedText(quote, 0, len(quote)) for quote in quotes], question
    ).missing


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Ferritin fell by 12%.", "Ferritin fell by 12 percent."),
        ("About 12% fell ill.", "11.9% fell ill."),
        ("About 210 people took part.", "We asked 203 people."),
        ("83% fell ill.", "83.4% fell ill."),
        ("Over 900 papers were read.", "We read 914 papers."),
        ("Over 100 papers were read.", "We read 914 papers."),
        ("0.12 of them fell ill.", "12% of them fell ill."),
        ("It took 1 s.", "It took 1000 ms."),
        ("Five people took part for 2 weeks.", "5 people took part for 14 days."),
        (
            "The difference was significant (p < 0.05).",
            "The difference was significant (p = 0.03).",
        ),
        ("It fell by 0.3.", "The change was -0.3."),
        (
            "Two groups were compared.",
            "The 45 patients of the first and 50 of the second were compared.",
        ),
        ("68% fell ill.", "13 of 19 fell ill."),
        ("Nothing changed.", "Nothing changed in 19 weeks."),
        ("12% fell ill.", "A share of 0.12 fell ill, and 30% died."),
        ("A share of 0.12 fell ill.", "12% fell ill, and 40 others died."),
        ("Five million took part: 5 M people.", "5 million people took part."),
        ("The project cost $2 million.", "The project cost $2M."),
        ("They won by 10 to 4.", "They won 10–4."),
        ("The plate was 103 mm wide.", "The plate was 15 × 103 mm."),
        ("It was 10%.", "It was 9.7%."),
        ("The mean age was 60 years.", "The mean age was 59.8 years."),
        ("The outbreak ended in 2003.", "The 2002–03 outbreak."),
        ("Women aged 18 or more took part.", "We asked 40 women aged over 18."),
        ("They took 5 mg.", "They took 5 mg/day and 7 mg/day."),
        ("They took 5 mg/day.", "They took 5 mg, later 7 mg/day."),
        ("A total of 2013 was counted.", "In 2013 it began, in 2014 it ended, with 7 people."),
        ("It began in 2013.", "It counted = 2013 cases, from 2014 on."),
        ("More than a thousand people took part.", "We asked 400 people."),
    ],
)
def test_a_claim_in_other_words_or_rounded_misses_no_number(claim: str, quote: str) -> None:
    """A true claim that is dropped is an answer lost."""
    assert missing(claim, [quote], "") == ()


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Ferritin fell by 13%.", "Ferritin fell by 12%."),
        ("Ferritin fell by about 15%.", "Ferritin fell by about 12%."),
        ("About 230 people took part.", "We asked 203 people."),
        ("There were 45 patients.", "Two groups were compared."),
        ("Thirty patients were compared.", "The 45 patients of the first were compared."),
        ("The dose was 5 g.", "The dose was 5 mg."),
        ("In 9013 cases were found.", "In 2013 cases were found."),
        ("After 2 months acuity was 6/6.", "After 6 months acuity was 6/6."),
        ("The study began in 2019.", "The study began in 2020."),
        ("It lasted six weeks.", "It lasted five weeks."),
        ("The correlation was r = 0.3.", "The correlation was r = -0.3."),
        ("Recall was 0.38.", "Recall was 0.83."),
        ("Over 800 papers were read.", "We read more than 914 papers."),
        ("Over 500 papers were read.", "We read more than 900 papers."),
        ("Over 50 papers were read.", "We read 914 papers."),
        (
            "The difference was significant (p < 0.05).",
            "The difference was not significant (p = 0.07).",
        ),
        ("It treats type 1 diabetes.", "It treats type 2 diabetes."),
        ("120 patients took part.", "1200 patients took part."),
        ("p = 0.05", "p = 0.049"),
        ("In 9013 it began.", "In 2013 it began."),
        ("The p value was < 0.05.", "The p value was p = 0.06."),
        ("The p-value is <0.01.", "p = 0.6"),
        ("The p values were not smaller than 0.05.", "p = 0.04"),
        ("It was 5 µM.", "It was 5 µm."),
        ("It was 5 mM.", "It was 5 mm."),
        ("It was 5‰.", "It was 5%."),
        ("It was a hundred percent.", "It was 5%."),
        ("An area of 10 cm² was cut.", "A volume of 10 cm³ was cut."),
        ("An area of 10 cm² was cut.", "An area of 10 m² was cut."),
        ("Women aged 18 or more took part.", "Women aged at most 18 took part."),
        ("Women aged 18 or less took part.", "Women aged at least 18 took part."),
        ("In the 1980s it rose.", "In the 1990s it rose."),
        ("There were 50 patients.", "There were 49 patients."),
        ("It was 20%.", "It was 18.9%."),
        ("The score was 45.", "The score was 0.45."),
        ("A total of 3 × 105 cells was counted.", "2 × 105 cells were counted."),
        ("The rate was 10−5.", "The rate was 10−4."),
        ("It fell by 5% and by 7%.", "It fell by 5% and again by 5%."),
    ],
)
def test_a_claim_with_another_number_than_its_quote_misses_it(claim: str, quote: str) -> None:
    """A wrong figure beside a true quote is the error readers check last."""
    assert missing(claim, [quote], "") != ()


def test_a_number_of_the_question_needs_no_quote() -> None:
    """An answer repeats what it was asked about, and may give a unit that the question gives once
    for all."""
    quote, claim = (
        "Ferritin fell by 12% in the first 4 weeks.",
        "After 6 weeks it had fallen by 12%.",
    )

    for question in ("Did it fall within 6 weeks?", "Did it fall after 6 or only after 9 weeks?"):
        assert missing(claim, [quote], question) == ()
    assert missing(claim, [quote], "Did it fall?") != ()


def test_a_number_in_any_of_the_quotes_is_held() -> None:
    """A claim may put two papers together."""
    quotes = ["It fell by 12%.", "It fell by 15%."]

    assert missing("It fell by 12% and by 15%.", quotes, "") == ()


def test_the_number_of_a_reference_is_no_quantity_of_its_quote() -> None:
    """Otherwise a claim of 29 women passes because the sentence cites its 29th reference."""
    quote = "Colds of the women were exacerbated.²⁹ Two reviews ³⁰,³¹ of 10⁹ cells agree."

    assert missing("29 women", [quote], "") == ("29",)
    assert missing("31 reviews", [quote], "") == ("31",)
    assert missing("10⁹ cells", [quote], "") == ()


def test_a_claim_with_more_numbers_than_are_compared_is_objected_to() -> None:
    """A table in a claim is checked by nobody, and would pass unread."""
    numbers = [f"{number}," for number in range(MAX_COMPARED + 1)]

    assert missing(" ".join(numbers[1:]), [" ".join(numbers)], "") == ()
    assert missing(" ".join(numbers), [" ".join(numbers)], "") != ()
