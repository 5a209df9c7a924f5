"""Which sentences can hold the number or date that a question asks for, and which say what something is."""

import pytest

from rag_assets.answering.extractive.definitions import defines
from rag_assets.answering.extractive.figures import lacks_figure


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("How many birds died?", "Several birds died in the winter of 1987 [12, 13].", True),
        ("How many birds died?", "Eleven birds died in the winter.", False),
        ("How large was the herd?", "The herd was counted as in Figure 2 of the survey.", True),
        ("What percentage of seeds sprouted?", "They counted 40 seeds in 3 boxes.", True),
        ("What percentage of seeds sprouted?", "Of the seeds, 12 of 40 sprouted.", False),
        ("When was the lake drained?", "The lake was drained by the monks.", True),
        ("When was the lake drained?", "The lake was drained in 1831.", False),
        ("Why was the lake drained?", "The lake was drained by the monks.", False),
    ],
)
def test_numbers_and_dates_are_told_from_years_and_references(question: str, text: str, lacks: bool) -> None:
    """The number of a reference looks like a count, and an answer without a number answers no "how many"."""
    assert lacks_figure(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "is_definition"),
    [
        ("What is meant by leaf area index (LAI)?", "LAI is the leaf area above each square metre of ground.", True),
        ("What is meant by leaf area index (LAI)?", "We multiplied light by the leaf area index.", False),
        ("What is Trawlnet?", "We present Trawlnet, a model of fishing fleets.", True),
        ("What does the code QX mean in the logs?", "QX stands for a buoy that was lost.", True),
        ("What is the effect of shade on growth?", "The effect of shade on growth is a matter of light.", False),
    ],
)
def test_definitions_are_told_from_mentions(question: str, text: str, is_definition: bool) -> None:
    """Every sentence of a paper mentions its subject; one says what it is."""
    assert defines(question, text) is is_definition
