"""Which candidates hold what a question asks for."""

import numpy as np
import pytest

from rag_assets.answering.extractive.answer_types import raised_by_type
from rag_assets.answering.extractive.candidates import sentences
from rag_assets.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import chunk, context

OFF = ExtractiveSettings(min_relevance=0.4, answer_type_bonus=0.0)
STRICT = ExtractiveSettings(min_relevance=0.6)


def raised(question: str, text: str) -> list[str]:
    """First words of the sentences that are raised."""
    candidates = list(sentences([context(chunk("smith2020", text))], question))
    relevance = np.full(len(candidates), 0.5, np.float32)
    after = raised_by_type(question, candidates, relevance, ExtractiveSettings(min_relevance=0.4))
    assert np.array_equal(raised_by_type(question, candidates, relevance, OFF), relevance)
    assert np.array_equal(raised_by_type(question, candidates, relevance, STRICT), relevance), (
        "it stays below the floor"
    )
    assert all(after >= relevance)
    return [one.text.split()[0] for one, raised_ in zip(candidates, after, strict=True) if raised_ > 0.5]


@pytest.mark.parametrize(
    ("question", "text", "first_words"),
    [
        (
            "How many pages does the set contain?",
            "It contains 80,863 manually annotated pages of reports. Most pages of the set are in English language.",
            ["It"],
        ),
        (
            "How many sheep were bled?",
            "Forty sheep were bled in the spring of that year. The sheep stood on pastures that lay far above 2,000 m.",
            ["Forty"],
        ),
        (
            "What was the incidence of colds?",
            "The incidence of colds was 45 per cent in that group. The incidence of colds was clearly lower in summer.",
            ["The"],
        ),
        (
            "When do symptoms of a cold peak?",
            "Symptoms of a cold typically peak at two to three days. The symptoms of a cold overlap with other ones.",
            ["Symptoms"],
        ),
        (
            "Who approved the study of sheep?",
            "The study was approved by the ethics committee of Hill College. Our study was about sheep and their iron.",
            ["The"],
        ),
        (
            "Who paid for the study of sheep?",
            "The shepherds were paid 20 euros for each of the sheep. Our study of sheep had a grant of Hill College.",
            ["Our"],
        ),
        (
            "Why were two sheep excluded?",
            "Two sheep were excluded because of broken bones in the leg. Both of the sheep were seen again in spring.",
            ["Two"],
        ),
        ("Which sheep were bled?", "Forty sheep were bled in the spring of that year by the vets.", []),
    ],
)
def test_sentences_with_what_is_asked_for_are_raised(question: str, text: str, first_words: list[str]) -> None:
    """ "When" is not answered by the sentence nearest to the other words of the question."""
    assert raised(question, text) == first_words
