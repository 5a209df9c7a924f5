"""Question and sentence are read together, by the packaged model with what was trained for it
added."""

from pathlib import Path

import numpy as np
import pytest

from rag_assets.search.reranking.trained_reader import (
    FILE,
    MAX_SENTENCE,
    PrecededText,
    TrainedReader,
)
from rag_assets_testing.numpy_bert import NumpyReader

QUESTION = "Why did the nurses wash their hands less often at night?"
ANSWER = "During the late shift, hygiene was neglected because each of them had to look after twice as many patients."
SAME_MATTER = "Washing of hands was counted by sensors that hung above every sink of the ward."
SAME_WORDS = "The nurses of the night and those of the day washed their hands in the same room."
OTHER_MATTER = "The bridge was closed to lorries after cracks had been found in two of its girders."

LONG_BEFORE = f"{OTHER_MATTER} {OTHER_MATTER} The night was so busy that no nurse had time to wash her hands at the sink."


@pytest.fixture(scope="module")
def reader(built_model: Path) -> TrainedReader:
    return TrainedReader(built_model, n_threads=2)


def test_the_sentence_that_answers_comes_before_those_about_the_same(reader: TrainedReader) -> None:
    """This is what it is for: nearness puts first what shares the question's words."""
    scores = reader.scores(
        QUESTION, [PrecededText(text) for text in (OTHER_MATTER, SAME_WORDS, SAME_MATTER, ANSWER)]
    )

    assert scores.argmax() == 3
    assert scores.argmin() == 0


def test_scores_are_those_of_an_independent_implementation(reader: TrainedReader) -> None:
    """A slip in the graph, the merging or the head would quietly choose other sentences. int8 moves
    a score by 0.2 on the mean of 120 real sentences, by 0.8 at most; their standard deviation is
    above 2."""
    independent = NumpyReader(FILE)
    sentences = [
        PrecededText(SAME_MATTER),
        PrecededText(ANSWER),
        PrecededText(ANSWER, "We looked for reasons in the rota."),
        PrecededText(OTHER_MATTER),
        PrecededText(OTHER_MATTER, LONG_BEFORE),
        PrecededText("Many nurses worked in the night.", "The wards were large."),
        PrecededText("Table 2: Falls by shift | Night: 41 | Day: 12"),
        PrecededText("The reasons were asked for in a letter.", ANSWER),
        PrecededText("word " * 2 * MAX_SENTENCE),
        PrecededText("It was the reason that the most of them gave.", LONG_BEFORE),
        PrecededText(""),
    ]

    scores = reader.scores(QUESTION, sentences)

    expected = np.array([independent.score(QUESTION, one.before, one.text) for one in sentences])
    differences = np.abs(scores - expected)
    assert differences.mean() < 0.4
    assert differences.max() < 1.2
    assert np.corrcoef(scores, expected)[0, 1] > 0.98
    assert np.std(expected) > 1.5


def test_a_score_depends_on_nothing_but_question_and_sentence(
    reader: TrainedReader, built_model: Path
) -> None:
    """An answer must not change because another paper was added, or because it was asked before."""
    alone = TrainedReader(built_model, n_threads=1).scores(QUESTION, [PrecededText(ANSWER)])
    among = reader.scores(
        QUESTION, [PrecededText(text) for text in (SAME_MATTER, ANSWER, OTHER_MATTER * 5)]
    )

    assert alone[0] == among[1]


def test_what_stands_before_a_sentence_counts(reader: TrainedReader) -> None:
    """ "It fell by half." says nothing alone."""
    question = "What happened to the number of falls on the ward?"
    scores = reader.scores(
        question,
        [
            PrecededText(
                "It fell by half within a year.", "We counted how many patients fell on the ward."
            ),
            PrecededText(
                "It fell by half within a year.", "The price of a litre of paint was noted."
            ),
        ],
    )

    assert scores[0] > scores[1]
