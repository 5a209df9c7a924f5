"""Which names of a question are said to be missing."""

import pytest

from rag_assets.answering.verify.names import missing_names
from rag_assets_tests.answering.builders import chunk, context

STUDY = (
    "Self-control predicted unemployment in two British cohorts from 1974 to 2008. The coronavirus SARS-CoV-2 was "
    "found in thirty-one samples by YOLO v5x6. Personal protective equipment was worn by 1,250 nurses in China and "
    "Germany. The World Health Organization treated Clostridium difficile with oseltamivir. "
    "ACE2 is a receptor of MERS-CoV. José Åkesson of Münster measured TNF-α. "
    "The air held PM₂.₅ and CO₂, the milk Ca²⁺ and H2O2, 10⁵ cells in each m²."
)


def missing(question: str, text: str = STUDY, paper_id: str = "smith2020") -> list[str]:
    return [name.text for name in missing_names(question, [context(chunk(paper_id, text))])]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did the Japanese cohort show?", ["Japanese"]),
        ("What did the cohort of 1958 show?", ["1958"]),
        ("Which dose of BMS-986158 was given?", ["BMS-986158"]),
        ("Was SARS-CoV-1 found in the samples?", ["SARS-CoV-1"]),
        ("What did YOLOv8 find?", ["YOLOv8"]),
        ("Does rupintrivir help?", ["rupintrivir"]),
        ("Rupintrivir: does it help?", ["Rupintrivir"]),
        ("How many of the 4,711 nurses wore it?", ["4,711"]),
        ("What did the Diamond Princess show?", ["Diamond Princess"]),
        ("Is ACE3 a receptor?", ["ACE3"]),
    ],
)
def test_a_name_that_stands_nowhere_is_missing(question: str, names: list[str]) -> None:
    """Sentences about something else would pass for the answer."""
    assert missing(question) == names


@pytest.mark.parametrize(
    "question",
    [
        "What did the Chinese nurses wear?",
        "What did the German nurses wear?",
        "Was SARS CoV 2 found?",
        "Was sars-cov-2 found in thirty-one samples?",
        "Was SARSCoV2 found?",
        "What did YOLOv5x6 find?",
        "Who wore PPE?",
        "What did the WHO do?",
        "How many of the 1250 nurses wore it?",
        "What are coronaviruses?",
        "What are Coronaviruses?",
        "Are anti-MERS-CoV drugs known?",
        "What happened on 5th March?",
        "Did the air hold PM2.5, CO2, Ca2+, H₂O₂ or 10^5 cells per m2?",
        "What was paid in USD in Q2 FY2008?",
        "Which approach worked best, and which hardship followed?",
        "What did Jose Akesson of Munster measure of TNF-alpha?",
        "What did Aakesson of Muenster measure?",
        "What did Jose\u0301 A\u030akesson measure?",
    ],
)
def test_a_name_in_another_spelling_is_not_missing(question: str) -> None:
    """A refusal because a paper writes a name otherwise is worse than none."""
    assert missing(question) == []


def test_the_id_of_a_paper_names_it() -> None:
    """The name of a company stands in the file's name, and on few pages of its report."""
    assert missing("What did Boeing report in 2022?", paper_id="BOEING_2022_10K") == []


def decisive(question: str) -> list[bool]:
    return [
        name.is_decisive for name in missing_names(question, [context(chunk("smith2020", STUDY))])
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What did the Japanese cohort show?",
        "Which dose of BMS-986158 was given?",
        "Does rupintrivir help?",
        "What is the BMI?",
        "What did the 4711 nurses wear?",
        "How many nurses were ill in 2009?",
    ],
)
def test_a_name_that_stands_nowhere_decides_about_a_refusal(question: str) -> None:
    """An answer about British cohorts is no answer about Japanese ones."""
    assert decisive(question) == [True]


@pytest.mark.parametrize(
    "question",
    [
        "What did the study of 1958 show?",
        "What did the 1958 study show?",
        "What did the 1958 British cohort show?",
        "What was found by Harper (1958)?",
        "What did Harper et al., 1958 find?",
        "Which receptor was described in cells in 1958?",
        "What does the book by Harper 1958 say?",
        "What does page 47 show?",
        "What does Section 47 show?",
    ],
)
def test_a_year_or_number_that_a_paper_may_leave_out_refuses_nothing(question: str) -> None:
    """The year of a paper stands in few of its sentences, pages have no number in the text."""
    contexts = [context(chunk("harper", STUDY.replace("1974", "the seventies")))]

    assert [name.is_decisive for name in missing_names(question, contexts)] == [False]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which UV lamp was used?", "The samples lay below an ultraviolet lamp."),
        ("What did the EEG show?", "Electroencephalography showed slow waves."),
        ("What did the EEGs show?", "Electroencephalography showed slow waves."),
        ("What did the MRI show?", "In fMRI the cortex was active."),
        ("What did the World Bank do?", STUDY),
        ("What treats Clodstridium difficile?", STUDY),
    ],
)
def test_a_name_of_which_something_was_found_refuses_nothing(question: str, text: str) -> None:
    """Short forms of one word, half of a name and slips of the keyboard are no evidence."""
    found = missing_names(question, [context(chunk("smith2020", text))])

    assert [name.is_decisive for name in found] == [False]


@pytest.mark.parametrize("word", ["Universe", "University", "Viewing", "Ulva"])
def test_an_acronym_is_short_for_no_word_without_its_letters_apart_and_in_order(word: str) -> None:
    """Otherwise any word would do."""
    found = missing_names(
        "Which UIV lamp was used?", [context(chunk("smith2020", f"A {word} lamp was used."))]
    )

    assert [name.is_decisive for name in found] == [True]
