"""Sentence boundaries in scientific prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.text.sentences import sentence_spans
from rag_assets_tests.cpu_limit import ends_in_time


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("We use Eq. 2 here. It works.", ["We use Eq. 2 here.", "It works."]),
        ("In Sect. 4.1 we show k = 60. Then more.", ["In Sect. 4.1 we show k = 60.", "Then more."]),
        ("It was found [12]. [13] It is new.", ["It was found [12]. [13]", "It is new."]),
        ("Colds were exacerbated.²⁹,³⁰ Iron fell.¹", ["Colds were exacerbated.²⁹,³⁰", "Iron fell.¹"]),
        ("The Board named Ms. Lund. She agreed.", ["The Board named Ms. Lund.", "She agreed."]),
        ("It was treated as MS. Patients agreed.", ["It was treated as MS.", "Patients agreed."]),
        ("Smith et al. (2020) agree. We do not.", ["Smith et al. (2020) agree.", "We do not."]),
        ("The value was 3.5 mg/kg (vs. 0.1). E. coli grew.", ["The value was 3.5 mg/kg (vs. 0.1).", "E. coli grew."]),
        (
            "Some are as old (Temin, 1985) . The number is about 45% as estimated today (Lander et al., 2001) . In "
            "some genes such as the Protein Kinase it is less. The rest is not known.",
            [
                "Some are as old (Temin, 1985) .",
                "The number is about 45% as estimated today (Lander et al., 2001) .",
                "In some genes such as the Protein Kinase it is less.",
                "The rest is not known.",
            ],
        ),
        ("First part\n\nSecond part", ["First part", "Second part"]),
        ("", []),
    ],
)
def test_scientific_abbreviations_do_not_end_a_sentence(text: str, sentences: list[str]) -> None:
    """A sentence cut at "Eq." is a quote nobody can read."""
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


@given(st.text(alphabet="aA .!?\n(1)[,", max_size=60))
def test_every_visible_character_lies_in_exactly_one_sentence(text: str) -> None:
    """What lies in none would never be chunked, indexed or cited."""
    spans = sentence_spans(text)

    covered = [offset for start, end in spans for offset in range(start, end)]
    assert len(covered) == len(set(covered))
    assert {i for i, character in enumerate(text) if not character.isspace()} <= set(covered)


def test_half_a_character_is_a_character_like_others() -> None:
    """Broken extractions hold such; one would stop the whole corpus."""
    text = "It fell \ud835 here. It rose \udc00 there."

    assert [text[start:end] for start, end in sentence_spans(text)] == [
        "It fell \ud835 here.",
        "It rose \udc00 there.",
    ]


def test_a_stretch_that_ends_nowhere_is_cut_in_time() -> None:
    """The segmenter takes minutes for one."""
    text = "word " * 100_000

    with ends_in_time():
        spans = sentence_spans(text)

    assert len(spans) > 1
    assert max(end - start for start, end in spans) <= 5_000


def test_a_sentence_of_abbreviations_is_read_in_time() -> None:
    """Read from its beginning at each of them, it takes the square of its length."""
    text = "Eq. 2 " * 50_000

    with ends_in_time():
        spans = sentence_spans(text)

    assert spans == [(0, len(text) - 1)]
