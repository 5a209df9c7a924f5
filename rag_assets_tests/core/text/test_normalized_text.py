"""Which ways of typing a text read the same, and which do not."""

import pytest

from rag_assets.core.text.folding import digit_groups, normalized


def read_alike(one: str, other: str) -> bool:
    return normalized(one).text == normalized(other).text and digit_groups(one) == digit_groups(
        other
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a mean of 5 ± 2", "a mean of 5±2"),
        ("at 5 – 7% of", "at 5–7% of"),
        ("with r = −0.5", "with r=− 0.5"),
        ("with r = − 0.5", "with r=-0.5"),
        ("if p < 0.05", "if p<0.05"),
        ("a 3 × 3 table", "a 3x3 table"),
        ("a 3×3 table", "a 3 x 3 table"),
        ("the CO₂ there", "the CO2 there"),
        ("the PM₂.₅ there", "the PM2.5 there"),
        ("10 m² of it", "10 m2 of it"),
        ("10 m² of it", "10 m^2 of it"),
        ("60 min⁻¹ then", "60 min−1 then"),
        ("60 min⁻¹ then", "60 min^-1 then"),
        ("some 10⁵ cells", "some 10^5 cells"),
        ("some 10⁻⁵ cells", "some 10^-5 cells"),
        ("a naïve one", "a nai\u0308ve one"),
        ("about ~5 of", "about ∼5 of"),
        ("about ~5 of", "about ≈ 5 of"),
        ("p of 0·05", "p of 0.05"),
        ("p of .05", "p of 0.05"),
        ("5 per cent of", "5 percent of"),
        ("[M]ortality fell", "mortality fell"),
        ("10,000 of them", "10 000 of them"),
        ("10 000 of them", "10000 of them"),
        ("some 10^−5 cells", "some 10^-5 cells"),
        ("10\u2009000 of them", "10’000 of them"),
        ("at 37°C now", "at 37 ºC now"),
        ("at 37 ◦ C now", "at 37 °C now"),
        ("at 37˚C now", "at 37°C now"),
        ("some 5 ug of", "some 5 μg of"),
        ("some 5 µm of", "some 5 um of"),
        ("an ***important*** one", "an important one"),
        ("a **main** <i>and</i> *other* one", "a main and other one"),
        ("an <b>important</b> one", "an important one"),
        ("if p &lt; 0.05", "if p < 0.05"),
        ("if p &gt; 0.05", "if p>0.05"),
        ("A &amp; B", "A & B"),
        ("both—of them—here", "both--of them--here"),
        ("both — of them", "both -- of them"),
        ("we cannot say", "we can not say"),
        ("12%of them", "12 percent of them"),
        ("was ─5 then", "was -5 then"),
        ("was ➖5 then", "was -5 then"),
    ],
)
def test_two_ways_of_typing_read_alike(one: str, other: str) -> None:
    """An honest quote must not be refused for how it was typed."""
    assert read_alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("some 10⁵ cells", "some 105 cells"),
        ("some 10⁵ cells", "some 10⁻⁵ cells"),
        ("some 10⁵ cells", "some 10-5 cells"),
        ("some 10^5 cells", "some 10-5 cells"),
        ("some 10⁵ cells", "some 10⁶ cells"),
        ("some 10₂ cells", "some 102 cells"),
        ("the CO₂ there", "the CO there"),
        ("the CO₂ there", "the CO₃ there"),
        ("a dose of 5-7 mg", "a dose of 57 mg"),
        ("a dose of 5 - 7 mg", "a dose of 5 7 mg"),
        ("a dose of 5 -7 mg", "a dose of 5-7 mg"),
        ("p of 0·05", "p of 0.5"),
        ("10 00 of them", "1000 of them"),
        ("in 2019 500 died", "in 2019500 died"),
        ("0.5 100 of them", "0.5100 of them"),
        ("r = −0.5", "r = 0.5"),
        ("if p < 0.05", "if p > 0.05"),
    ],
)
def test_different_numbers_never_read_alike(one: str, other: str) -> None:
    """A changed number is no typing."""
    assert not read_alike(one, other)


def test_every_character_leads_back_to_its_place() -> None:
    """What is published is cut out of the original by these offsets."""
    text = "An <i>old</i> nai\u0308ve **test** of 1 234 ± 5%of"
    read = normalized(text)

    assert read.text == "an old naïve test of 1234+/-5 percent of"
    assert [text[origin] for origin in read.origins] == list(
        "An old naive test of 1234±±±5%%%%%%%%%of"
    )
