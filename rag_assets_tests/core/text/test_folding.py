"""Finding quotes across typesetting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.core.text.folding import Folded, letters_of, plain, scripts_as_plain
from rag_assets.core.text.terms import terms_of


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("the final result was “significant”", 'The ﬁnal re-\nsult  was "significant" after all.'),
        ("a well-known method", "It is a well-\nknown method."),
        ("range 3–5 mg", "In the range 3-5 mg it works."),
        ("BMS-986158", "the drug BMS‑986158 (oral)"),
        ("it's so", "they said it’s so."),
        ("soft hyphen", "a soft hy\u00adphen here"),
    ],
)
def test_a_quote_is_found_across_typesetting(quote: str, text: str) -> None:
    """A verbatim quote that is dropped because of a ligature is an answer lost."""
    found = Folded.of(text).find(Folded.of(quote))

    assert found is not None
    assert Folded.of(text[slice(*found)]).text == Folded.of(quote).text


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("increased by 5%", "increased by 6%"),
        ("not effective", "was effective"),
        ("", "anything"),
        ("ab", ""),
    ],
)
def test_a_quote_that_is_not_there_is_not_found(quote: str, text: str) -> None:
    """A lenient match would verify what the paper does not say."""
    assert Folded.of(text).find(Folded.of(quote)) is None


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("CO₂ and H₂O₂", "CO2 and H2O2"),
        ("41 µg of PM₂.₅", "41 µg of PM2.5"),
        ("Ca²⁺ and NO₃⁻", "Ca2+ and NO3-"),
        ("2.4 m² s⁻¹", "2.4 m2 s-1"),
        ("3 × 10⁵ or 10⁻⁵", "3 × 10^5 or 10^-5"),
        ("SO₄²⁻ and CD4⁺", "SO4^2- and CD4+"),
        ("¹⁴C and (⁹⁹mTc)", "14C and (99mTc)"),
        ("It fell.²A note, ¹²Iron, ³The last", "It fell.²A note, ¹²Iron, ³The last"),
        ("exacerbated.²⁹ In reviews ⁵⁴ of it", "exacerbated.²⁹ In reviews ⁵⁴ of it"),
    ],
)
def test_raised_and_lowered_digits_are_found_by_plain_ones(text: str, plain: str) -> None:
    """Nobody types CO₂; but 10⁵ is not 105, and the mark of a reference is no number of the
    paper."""
    assert scripts_as_plain(text) == plain
    assert terms_of(text) >= terms_of(plain)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("José Åkesson, Münster", "Jose Akesson, Munster"),
        ("Jose\u0301 of Łódź and Ørsted", "Jose of Lodz and Orsted"),
        ("Straße", "Strasse"),
        ("1,450 mg, 1\u202f450 mg, 12'345'678", "1450 mg, 1450 mg, 12345678"),
        ("3.1415, 0,450 and 1,45", "3.1415, 0,450 and 1,45"),
        ("TNF-α, SARS‑CoV‑2, ﬁn", "TNF-alpha, SARS-CoV-2, fin"),
        ("It fell.² In CO₂", "It fell.  In CO2"),
        ("가나 がぎ", "가나 がぎ"),
    ],
)
def test_names_words_and_numbers_are_equal_however_they_are_typed(text: str, typed: str) -> None:
    """ "Jose Akesson" and "1450 mg" were refused where the papers write José Åkesson and 1,450
    mg."""
    assert plain(text) == typed
    assert terms_of(text) == terms_of(typed)
    assert letters_of(text) == letters_of(typed)


@given(st.text(max_size=80))
def test_every_folded_character_points_into_the_original(text: str) -> None:
    """Pages are computed from these offsets."""
    folded = Folded.of(text)

    assert len(folded.origins) == len(folded.text)
    assert all(0 <= origin < len(text) for origin in folded.origins)
    assert list(folded.origins) == sorted(folded.origins)
