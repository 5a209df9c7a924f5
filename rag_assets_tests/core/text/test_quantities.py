"""Which numbers of a text are quantities, and what they measure."""

import pytest

from rag_assets.core.text.quantities import quantities
from rag_assets_tests.cpu_limit import ends_in_time


def found(text: str) -> str:
    return "; ".join(f"{one.value.normalize():f} {one.kind}" for one in quantities(text))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200 or 1 200 or 1200 people", "1200 plain; 1200 plain; 1200 plain"),
        ("r = -0.3 and d = .45", "-0.3 plain; 0.45 plain"),
        ("5-7 mg", "0.005 mass; 0.007 mass"),
        ("3.2 ± 1.1%", "3.2 percent; 1.1 percent"),
        ("1 × 10^3 cells, 2e-3, 4 × 10⁻²", "1000 plain; 0.002 plain; 0.04 plain"),
        ("twelve patients for two weeks in 2020", "12 plain; 1209600 time; 2020 year"),
        ("begun (May 2013), again (Since 2014)", "2013 year; 2014 year"),
        ("2000 patients, n = 1999", "2000 plain; 1999 plain"),
        ("1.2 million people", "1200000 plain"),
        ("5 ng/mL (p < .001)", "0.000005 mass/volume; 0.001 p value"),
        ("type 2 diabetes", "2 type"),
        ("in the 1990s, in their 50s, for 50s", "1990 decade; 50 decade; 50 time"),
        ("for 1990 s, for 1995s", "1990 time; 1995 time"),
        ("in ٢٠١٣, of 9​0%", "2013 year; 90 percent"),
        ("2 × 105 and 2 × 105.5", "2 plain; 105 plain; 2 plain; 105.5 plain"),
        ("over 4G and 5 G networks, 4 g of salt", "5 plain; 4 mass"),
        ("110M words, 5 M people, 2.5 bn", "110000000 plain; 5000000 plain; 2500000000 plain"),
        ("$2M, €2.5m and £3k", "2000000 dollars; 2500000 euros; 3000 pounds sterling"),
        ("of 20 M = 3", "20 plain; 3 plain"),
        ("0·71 and 5·10^3", "0.71 plain; 5000 plain"),
        ("10 m², 10 m2", "10 length^2; 10 length^2"),
        ("10 cm³", "0.00001 length^3"),
        ("120 mm Hg", "15998.64 pressure"),
        ("10<sup>5</sup> cells, <b>90</b>%", "100000 plain; 90 percent"),
        ("2002–03 and 2020-03", "2002 year; 2003 year; 2020 year; 3 plain"),
        ("(7) mg, [7] mg, *7* mg, _7 mg_", "0.007 mass; 0.007 mass; 0.007 mass; 0.007 mass"),
        (
            "1O%, 9О%, ٩٠٪, mortality⁹⁰%, x90%",
            "10 percent; 90 percent; 90 percent; 90 percent; 90 percent",
        ),
        ("10² %", "100 percent"),
        ("5‰, a hundred percent", "0.5 percent; 100 percent"),
        ("2 ounces", "56.69904625 mass"),
        ("5 g mL-1, 5 g L-1, 5 mL/kg", "5000 mass/volume; 5 mass/volume; 0.000005 volume/mass"),
    ],
)
def test_numbers_are_read_with_what_they_measure(text: str, values: str) -> None:
    """Numbers that are read wrongly accuse true claims and acquit false ones."""
    assert found(text) == values


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
    assert found(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "9 \u039cg",
        "5 m\u0131n",
        "f\u0131ve weeks",
        "5 \u0130U",
        "5 ml m\u0131n-1",
        "5 ml/m\u0130n",
        "5 ml S-1",
    ],
)
def test_letters_that_case_folding_takes_for_others_are_read(text: str) -> None:
    """Without regard to case a pattern matches them, and a table of units does not hold them."""
    assert [one.has_unit or one.is_vague for one in quantities(text)] == [True]


@pytest.mark.parametrize(
    ("fragment", "n_chars", "start", "end"),
    [
        ("1O", 200_000, "", "x"),
        ("1", 200_000, "", "%"),
        ("1,", 40_000, "", "%"),
        ("1 ", 40_000, "", "%"),
        ("(1)", 200_000, "", "%"),
        ("1,", 40_000, "[", "x"),
        ("1.", 200_000, "Fig. " + "1." * 20_000, "1%"),
        ("A'", 200_000, "", "x"),
        ("_", 200_000, "", "x"),
        ("x10^", 200_000, "", "x"),
        ("p < ", 200_000, "", "1"),
    ],
)
def test_the_time_to_read_a_text_grows_with_its_length(
    fragment: str, n_chars: int, start: str, end: str
) -> None:
    """A quote of one fragment over and over must not hold up an answer."""
    text = start + (fragment * n_chars)[:n_chars] + end

    with ends_in_time():
        quantities(text)
