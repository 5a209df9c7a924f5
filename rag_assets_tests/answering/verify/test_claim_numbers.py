"""Which numbers of a claim must stand in its quotes, and which follow from them."""

import pytest

from rag_assets.answering.verify.claim_numbers import NumberCheck, check_numbers
from rag_assets.answering.verify.quoted_text import QuotedText


def checked(claim: str, quote: str, *, around: str = "", question: str = "") -> NumberCheck:
    return check_numbers(claim, [QuotedText(quote + around, 0, len(quote))], question)


@pytest.mark.parametrize(
    ("claim", "quote", "how"),
    [
        (
            "Yield rose by 3.3 kg.",
            "Yield was 9.1 kg at first and 12.4 kg later.",
            "3.3 = 12.4 - 9.1",
        ),
        ("In all 70 goats were fed.", "We fed 40 goats hay and 30 goats straw.", "70 = 40 + 30"),
        ("Of the goats, 25% were ill.", "Of 40 goats, 10 were ill.", "25 = 10 / 40"),
        ("Milk was 4 times as much.", "Milk rose from 5 to 20 litres.", None),
        ("Milk rose by 50%.", "Milk rose from 20 litres to 30 litres.", "50 = (30 - 20) / 20"),
        (
            "In all 60 goats were fed.",
            "Hay went to 10 goats, straw to 20 goats and oats to 30 goats.",
            "60 = 10 + 20 + 30",
        ),
    ],
)
def test_a_number_that_follows_from_the_quotes_is_published_with_its_sum(
    claim: str, quote: str, how: str | None
) -> None:
    """A true difference that is withheld is an answer lost, and one without its sum cannot be
    checked by a reader."""
    found = checked(claim, quote)

    assert found.missing == ()
    assert how is None or found.computed == (how,)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Yield rose by 3.5 kg.", "Yield was 9.1 kg at first and 12.4 kg later."),
        ("It began in 2018.", "It began in 2017."),
        ("The slope was b = 0.35.", "The slope was b = -0.35, at p < .001."),
        ("The model is MoE-8x7B.", "The model is large."),
        ("They took 5 kg.", "They took 5 of them."),
    ],
)
def test_a_number_that_stands_nowhere_and_does_not_follow_is_missing(
    claim: str, quote: str
) -> None:
    """An invented figure beside a true quote is believed."""
    assert checked(claim, quote).missing


@pytest.mark.parametrize(
    ("claim", "quote", "around"),
    [
        ("Half of the goats were ill.", "Of 40 goats, 11 were ill, and none was sold.", ""),
        ("Milk was twice as much.", "Milk rose from 5 to 20 litres.", ""),
        ("It names 5 principles.", "It names care, hay, light, air and water.", ""),
        ("We fed 40 goats.", "They got hay.", " There were 40 goats."),
        ("Milk rose by 3 percent.", "It was 3 percentage points more.", ""),
    ],
)
def test_a_number_that_may_be_right_is_doubted_and_not_called_invented(
    claim: str, quote: str, around: str
) -> None:
    """A true count was dropped for the brevity of its quote; a doubt is told beside the claim."""
    found = checked(claim, quote, around=around)

    assert (found.missing, len(found.unproven)) == ((), 1)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Half of the goats were ill.", "Of 40 goats, 20 were ill."),
        ("Milk was twice as much.", "Milk rose from 10 to 20 litres."),
        ("Nine in ten goats were ill.", "Of the goats, 90% were ill."),
    ],
)
def test_a_share_in_words_is_held_by_numbers(claim: str, quote: str) -> None:
    """Plain words for a share are what a good answer uses."""
    assert checked(claim, quote) == NumberCheck((), (), ())


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Der Anteil stieg um 3,5 % auf 0,71.", "The share rose by 3.5% to 0.71."),
        ("Die Milch stieg um 2,5 Punkte bei 1.250 Ziegen.", "Milk of 1,250 goats rose by 2.5."),
        ("Accuracy rose by 3.5 points.", "Accuracy rose from 12% to 15.5%."),
        ("The eigenvalue λ1 is large, and CO2 rose.", "The eigenvalue λ_1 is large; CO 2 rose."),
    ],
)
def test_numbers_are_read_as_other_languages_and_formulas_write_them(
    claim: str, quote: str
) -> None:
    """All three German claims of an answer were dropped: "3,5 %" was read as 3 and 5."""
    found = checked(claim, quote)

    assert (found.missing, found.unproven) == ((), ())


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("1.2 mmol of Ca2+", "1.2 mmol of Ca²⁺"),
        ("41 µg of PM2.5", "41 µg of PM₂.₅"),
        ("5 kg m-2", "5 kg m⁻²"),
    ],
)
def test_raised_and_lowered_digits_hold_plain_ones(typed: str, printed: str) -> None:
    """Models write plain digits where the paper has raised ones."""
    assert checked(f"It held {typed}.", f"It held {printed}.").missing == ()
    assert checked(f"It held {printed}.", f"It held {typed}.").missing == ()


def test_the_unit_of_a_number_may_stand_around_its_quote() -> None:
    """Papers name a unit once; a unit that they never name is an invention."""
    claim, quote = "The goats were given 5 mg.", "The goats were given 5."

    assert checked(claim, quote, around=" Doses are in mg, such as 7 mg.").missing == ()
    assert checked(claim, quote, around=" Doses are not told.").missing == ("5 mg",)


def test_a_code_may_stand_anywhere_around_the_quote_or_in_the_question() -> None:
    """A claim names the system that the quote calls "it"."""
    claim, quote = "MoE-8x7B answered best.", "It answered best."

    assert checked(claim, quote, around=" We tested MoE-8x7B.").missing == ()
    assert checked(claim, quote, question="How did MoE-8x7B do?").missing == ()
    assert checked("Two 8x7Bs answered.", quote, around=" One 8x7B.").missing == ()
    assert checked(claim, quote).missing


def test_nothing_is_computed_from_very_many_numbers() -> None:
    """Some two of twenty numbers give nearly any result."""
    many = "Counts were " + ", ".join(str(100 + n * n) for n in range(20)) + "."

    assert checked("The difference was 3.", many).missing == ("3",)
