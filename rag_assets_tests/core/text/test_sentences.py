"""Sentence boundaries in scientific prose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_assets.core.text.sentences import sentence_spans
from rag_assets_tests.cpu_limit import ends_in_time


def sentences_of(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("We use Eq. 2 here. It works.", ["We use Eq. 2 here.", "It works."]),
        ("In Sect. 4.1 we show k = 60. Then more.", ["In Sect. 4.1 we show k = 60.", "Then more."]),
        ("It was found [12]. [13] It is new.", ["It was found [12]. [13]", "It is new."]),
        (
            "Colds were exacerbated.²⁹,³⁰ Iron fell.¹",
            ["Colds were exacerbated.²⁹,³⁰", "Iron fell.¹"],
        ),
        ("Cows breathed PM₂.₅ in Bergen. It fell.", ["Cows breathed PM₂.₅ in Bergen.", "It fell."]),
        ("The Board named Ms. Lund. She agreed.", ["The Board named Ms. Lund.", "She agreed."]),
        ("It was treated as MS. Patients agreed.", ["It was treated as MS.", "Patients agreed."]),
        ("Smith et al. (2020) agree. We do not.", ["Smith et al. (2020) agree.", "We do not."]),
        (
            "The value was 3.5 mg/kg (vs. 0.1). E. coli grew.",
            ["The value was 3.5 mg/kg (vs. 0.1).", "E. coli grew."],
        ),
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
        (
            "It fell, p < .05. The rest did not, p > .1. It is <10 or >20 here. Then more.",
            [
                "It fell, p < .05.",
                "The rest did not, p > .1.",
                "It is <10 or >20 here.",
                "Then more.",
            ],
        ),
        ("", []),
    ],
)
def test_abbreviations_and_relations_are_no_ends_and_no_brackets(
    text: str, sentences: list[str]
) -> None:
    """A sentence cut at "Eq." is a quote nobody can read; from "<" to the next ">" none would end."""
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "There was an effect of age, F(1, 21) = 3.45, p = .03, and of sex, F(2, 156) = 1.18, ps < .05.",
        "Scores fell (M = 3.2, SD = 0.5; t(45) = 2.1, p = .03. See Table 2) and rose later (n = 31).",
        "Scores fell (d = 0.4, 95% CI [0.1, 0.7]. All ps < .05. Cohen's d is given) in both arms.",
        "Deaths fell, χ2(1, N = 178) = 0.48, and visits rose, χ2(1, N = 311) = 22.1 [both n.s. At 5%].",
        "The test Q(A (z) = 1) is taken where the other test (B (z) = 0) is not.",
        "We thank the ward of (a) Bergen, the ward of (b) Oslo and (c) Tromsø.",
        "We compared them as follows, 1) iron in all, 2) zinc given in weeks, 3) copper given daily, 4) no drug.",
        "It costs 2.0 • 10 3 dollars and 3.0 • 10 4 hours.",
    ],
)
def test_statistics_in_brackets_do_not_end_a_sentence(sentence: str) -> None:
    """A quote that is published with its sentence would begin at "21) = 3.45", and sentences behind
    would be lost."""
    text = f"{sentence} The rest did not. It was (too). Then more."

    assert sentences_of(text) == [
        sentence,
        "The rest did not.",
        "It was (too).",
        "Then more.",
    ]


def test_the_items_of_a_list_are_sentences() -> None:
    """Joined, a list would be quoted and read as one sentence."""
    text = "(a) iron given daily\n(b) zinc given weekly\n\n1) copper\n2) no drug"

    assert sentences_of(text) == text.replace("\n\n", "\n").split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "It fell (in all. It rose.",
        "It fell [5, [6] . It rose.",
        f"It fell (as [5] said. {'It rose. ' * 99})",
    ],
)
def test_a_bracket_that_is_not_closed_soon_hides_no_end(text: str) -> None:
    """Extractions lose brackets: a page would become one sentence."""
    assert len(sentence_spans(text)) > 1


@given(st.text(alphabet="aA .!?\n(1)[,", max_size=60))
def test_every_visible_character_lies_in_exactly_one_sentence(text: str) -> None:
    """What lies in none would never be chunked, indexed or cited."""
    spans = sentence_spans(text)

    covered = [offset for start, end in spans for offset in range(start, end)]
    assert len(covered) == len(set(covered))
    assert {i for i, character in enumerate(text) if not character.isspace()} <= set(covered)


def test_a_stretch_that_ends_nowhere_is_cut_in_time() -> None:
    """The segmenter takes minutes for one."""
    text = "word " * 100_000

    with ends_in_time():
        spans = sentence_spans(text)

    assert len(spans) > 1
    assert max(end - start for start, end in spans) <= 5_000


def test_what_sentencex_loses_is_in_a_sentence_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It loses the blank lines of some texts; all sentences behind them were cut two characters too
    early."""
    monkeypatch.setattr(
        "sentencex.segment", lambda _language, text: [text[:9], text[11:20], text[20:]]
    )
    text = "One ends.\n\nTwo ends. Three ends."

    assert sentences_of(text) == [
        "One ends.",
        "Two ends.",
        "Three ends.",
    ]
