"""Which names of a question are said to be missing."""

import pytest

from rag_assets.answering.extractive.missing_names import missing_names
from rag_assets.answering.extractive.names import names_in
from rag_assets_tests.answering.builders import chunk, context

STUDY = (
    "Self-control predicted unemployment in two British cohorts from 1974 to 2008. The coronavirus SARS-CoV-2 was "
    "found in thirty-one samples by YOLO v5x6. Personal protective equipment was worn by 1,250 nurses in China and "
    "Germany. The World Health Organization treated Clostridium difficile with oseltamivir. "
    "ACE2 is a receptor of MERS-CoV."
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
        "What did the cohorts in Great Britain show?",
        "What did the UK cohorts show?",
        "Was SARS CoV 2 found?",
        "Was sars-cov-2 found in 31 samples?",
        "Was SARSCoV2 found?",
        "What did YOLOv5x6 find?",
        "Who wore PPE?",
        "What did the WHO do?",
        "How many of the 1250 nurses wore it?",
        "What are coronaviruses?",
        "What are Coronaviruses?",
        "Are anti-MERS-CoV drugs known?",
        "What happened on 5th March?",
        "What was paid in USD in Q2 FY2008?",
        "What is the days payable outstanding (DPO)?",
        "Which approach worked best, and which hardship followed?",
    ],
)
def test_a_name_in_another_spelling_is_not_missing(question: str) -> None:
    """A refusal because a paper writes a name otherwise is worse than none."""
    assert missing(question) == []


def test_words_that_are_no_names_are_never_missing() -> None:
    """Papers say them in other words."""
    assert names_in("Does perseverance prevent joblessness among adolescents?") == []


def test_title_case_tells_no_names() -> None:
    """Every word would be one."""
    assert names_in("What Is The Effect Of Perseverance On Joblessness?") == []
    assert names_in("WHAT IS THE EFFECT OF PERSEVERANCE?") == []


def test_the_id_of_a_paper_names_it() -> None:
    """The name of a company stands in the file's name, and on few pages of its report."""
    assert missing("What did Boeing report in 2022?", paper_id="BOEING_2022_10K") == []


def decisive(question: str) -> list[bool]:
    return [name.is_decisive for name in missing_names(question, [context(chunk("smith2020", STUDY))])]


def test_names_codes_and_drugs_decide_about_a_refusal() -> None:
    """An answer about British cohorts is no answer about Japanese ones."""
    assert decisive("What did the Japanese cohort show?") == [True]
    assert decisive("Which dose of BMS-986158 was given?") == [True]
    assert decisive("Does rupintrivir help?") == [True]


def test_what_papers_write_otherwise_is_said_and_refuses_nothing() -> None:
    """Years of publication, acronyms, rounded numbers, half of a name and slips of the keyboard are no evidence."""
    assert decisive("What did the study of 1958 show?") == [False]
    assert decisive("What is the BMI?") == [False]
    assert decisive("What did the 4711 nurses wear?") == [False]
    assert decisive("What did the World Bank do?") == [False]
    assert decisive("What treats Clodstridium difficile?") == [False]
