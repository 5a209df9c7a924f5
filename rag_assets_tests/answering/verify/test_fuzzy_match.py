"""Which differences between a quote and its source are forgiven."""

import pytest

from rag_assets.answering.verify.fuzzy_match import MAX_WORDS, MIN_SCORE, fuzzy_match
from rag_assets_tests.cpu_limit import ends_in_time

BEFORE, AFTER = "Nothing was known of it then. ", " Other markers did not change at all."


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        (
            "ferritin fell in all groups of young athletes",
            "Ferritin also fell in all groups of young athletes",
        ),
        (
            "a well known method of blood analysis was used",
            "a well-known method of blood analysis was used",
        ),
        (
            "The coauthors measured ferritin in blood weekly",
            "The co authors measured ferritin in blood weekly",
        ),
        (
            "the tumor and its color were noted by readers",
            "the tumour and its colour were noted by readers",
        ),
        (
            "we analyzed the behavior of labeled cells daily",
            "we analysed the behaviour of labelled cells daily",
        ),
        (
            "ferritin levels fell in every groups of athletes",
            "ferritin level fell in every group of athletes",
        ),
        (
            "ferritin fell in a group of young athletes",
            "ferritin fell in the group of young athletes",
        ),
        (
            "the ferritin fell in groups of young athletes",
            "Ferritin fell in groups of young athletes",
        ),
        (
            "there was a significant change of ferritin here",
            "there was a signficant change of ferritin here",
        ),
        (
            "ferritin fell by 12% in all young athletes",
            "ferritin, however, fell by 12% in all young athletes",
        ),
        (
            "ferritin fell in all groups within a month",
            "ferritin fell in all groups [12, 13] within a month",
        ),
        (
            "ferritin fell in groups, as others had found",
            "ferritin fell in groups (Smith et al., 2019), as others found",
        ),
    ],
)
def test_a_tidied_quote_is_found(quote: str, source: str) -> None:
    """Models tidy what they copy; the claim is carried all the same."""
    found = fuzzy_match(quote, f"{BEFORE}{source}.{AFTER}")

    assert f"{BEFORE}{source}.{AFTER}"[found.start : found.end].casefold() in source.casefold()
    assert found.score >= MIN_SCORE


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        (
            "ferritin rose in all groups of young athletes",
            "ferritin fell in all groups of young athletes",
        ),
        (
            "ferritin increased in groups of young athletes",
            "ferritin decreased in groups of young athletes",
        ),
        (
            "the nitrate in the blood of young athletes fell",
            "the nitrite in the blood of young athletes fell",
        ),
        (
            "typical athletes had much less ferritin in blood",
            "atypical athletes had much less ferritin in blood",
        ),
        (
            "ferritin fell by 13% in all young athletes",
            "ferritin fell by 12% in all the young athletes",
        ),
        (
            "ferritin fell by 1.2% in all young athletes",
            "ferritin fell by 12% in all the young athletes",
        ),
        (
            "a dose of 57 mg was given to young athletes",
            "a dose of 5-7 mg was given to the young athletes",
        ),
        (
            "ferritin fell by 12 mg in all young athletes",
            "ferritin fell by 12 ng in all young athletes",
        ),
        (
            "ferritin did fall in all groups of athletes",
            "ferritin did not fall in all groups of athletes",
        ),
        (
            "ferritin didn't fall in all groups of athletes",
            "ferritin fall in all groups of athletes",
        ),
        (
            "ferritin does fall in all groups of athletes",
            "ferritin may fall in all groups of athletes",
        ),
        (
            "ferritin falls in the groups of athletes",
            "ferritin rarely falls in the groups of athletes",
        ),
        (
            "such a change is not able to harm young athletes",
            "such a change is notable to harm young athletes",
        ),
        (
            "ferritin fell to 20% in all groups of athletes",
            "ferritin fell by 20% in all groups of athletes",
        ),
        (
            "ferritin fell to 20% in all groups of athletes",
            "ferritin fell 20% in all groups of athletes",
        ),
        (
            "ferritin fell 20% in all groups of athletes",
            "ferritin fell to 20% in all groups of athletes",
        ),
        (
            "ferritin fell in all groups of young athletes",
            "ferritin fell slightly in all groups of young athletes",
        ),
        (
            "ferritin was measured in groups of athletes now",
            "ferritin was measured outside groups of athletes now",
        ),
        (
            "the toxic effect was seen in young athletes",
            "The possibly toxic effect was seen in young athletes",
        ),
        (
            "ferritin and iron or zinc fell in athletes",
            "ferritin and iron and zinc fell in athletes",
        ),
        (
            "ferritin fell in all groups [14] within a month",
            "ferritin fell in all the groups [12] within a month",
        ),
        (
            "ferritin fell in the groups of Jones (2019)",
            "ferritin fell in the new groups of Smith (2019)",
        ),
        (
            "the patients were moved to Rome within a week",
            "the patients were moved from Rome within a week",
        ),
        (
            "ferritin was measured in the blood of their mice at the end of May",
            "ferritin was measured in the blood of dead mice at the end of May",
        ),
        (
            "the patients left for hospital within a week",
            "the patients left the hospital within a week",
        ),
        (
            "the breath of young athletes in the groups fell",
            "the breadth of young athletes in the groups fell",
        ),
        (
            "the aid for young athletes in the groups was new",
            "the AIDS for young athletes in the groups was new",
        ),
        (
            "athletes young of groups all in fell ferritin",
            "ferritin fell in all groups of young athletes",
        ),
        (
            "groups of old athletes in whom ferritin was high",
            "groups of young athletes in whom ferritin was high",
        ),
        *(
            (
                f"the mean of all young athletes was {sign} 5 here",
                "the mean of all the young athletes was 5 here",
            )
            for sign in "≠≪≫≲≳∉∈¬⇒/–−"
        ),
        *(
            (
                "the mean of all young athletes was 5 here",
                f"the mean of all the young athletes was {sign} 5 here",
            )
            for sign in "≠≪≫≲≳∉∈¬⇒/–−"
        ),
        (
            "it says that x ∈ A in all groups of athletes",
            "it says that x ∉ A in all the groups of athletes",
        ),
        (
            "the CD4 cells in all groups of young athletes",
            "the CD4− cells in all the groups of young athletes",
        ),
        (
            "the CD4 cells in all groups of young athletes",
            "the CD4- cells in all the groups of young athletes",
        ),
        (
            "the Th cells in all groups of young athletes",
            "the Th− cells in all the groups of young athletes",
        ),
        *(
            (
                "the drug increased ferritin in groups of athletes",
                f"the drug {word} increased ferritin in groups of athletes",
            )
            for word in "insignificantly reportedly purportedly theoretically hypothetically falsely".split()
        ),
    ],
)
def test_a_quote_that_says_something_else_is_not_found(quote: str, source: str) -> None:
    """As like as a tidied quote, letter by letter, and false."""
    assert fuzzy_match(quote, f"{BEFORE}{source}.{AFTER}") is None


def test_a_reference_mark_is_published_where_it_is_quoted() -> None:
    """A quote with a mark cannot be taken from words without it; one without is not given
    others."""
    source = f"{BEFORE}[3] Ferritin also fell in all groups of athletes [4]. Iron fell.{AFTER}"

    def found(quote: str) -> str | None:
        near = fuzzy_match(quote, source)
        return source[near.start : near.end] if near else None

    assert (
        found("[3] Ferritin fell in all groups of athletes")
        == "[3] Ferritin also fell in all groups of athletes"
    )
    assert (
        found("Ferritin fell in all groups of athletes [4]")
        == "Ferritin also fell in all groups of athletes [4]"
    )
    assert (
        found("Ferritin fell in all groups of athletes")
        == "Ferritin also fell in all groups of athletes"
    )
    assert found("[5] Ferritin fell in all groups of athletes") is None


def test_a_short_quote_is_never_approximate() -> None:
    """Two or three words are alike by chance."""
    assert fuzzy_match("in all groups today", "Ferritin fell in all the groups today.") is None
    assert (
        fuzzy_match(
            "fell in all groups of athletes", "Ferritin fell in all the groups of athletes."
        )
        is not None
    )


def test_too_many_edits_are_no_tidying() -> None:
    """Word after word left out, a quote becomes another statement."""
    source = "Ferritin quickly fell, surprisingly, in nearby groups of healthy young athletes living in cold places."

    assert fuzzy_match("ferritin fell in groups of athletes living in places", source) is None


@pytest.mark.parametrize("word", ["the cells ", "NA NA ", "a "])
def test_repetitions_do_not_keep_a_run_busy(word: str) -> None:
    """Looked at from each beginning anew, every pair of places that agree takes minutes for a table
    of "NA"."""
    quote = " ".join([*(word * MAX_WORDS).split()[: MAX_WORDS - 1], "zebra"])

    with ends_in_time():
        assert fuzzy_match(quote, word * 2_000) is None


def test_a_quote_of_a_page_must_stand_there_word_by_word() -> None:
    """A whole page is never tidied, and searching for one takes long."""
    words = [
        f"word{'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10 % 10]}" for i in range(MAX_WORDS + 2)
    ]
    source = " ".join(words)

    assert fuzzy_match(" ".join(words[:50] + words[51:MAX_WORDS]), source) is not None
    assert fuzzy_match(" ".join(words[:50] + words[51:]), source) is None
