"""How many claims an answer has, and which parts of a question stay open."""

from collections.abc import Sequence

import numpy as np
import pytest

from rag_assets.answering.extractive.candidates import candidate
from rag_assets.answering.extractive.relevance import Part
from rag_assets.answering.extractive.selection import Selection
from rag_assets.settings import ExtractiveSettings
from rag_assets_tests.answering.builders import chunk, context

SENTENCES = (
    "Ewes of the hill flock were shorn in May at the northern barn.",
    "Rams grazed near a lake until autumn came.",
    "Lambs drank milk from bottles during snow storms.",
    "Dogs guarded every gate against wolves and thieves.",
)


def selected(parts: Sequence[Sequence[float]], *, is_read: bool = True) -> tuple[Selection, list[Part]]:
    """What is chosen of SENTENCES. parts: for each the relevance of every sentence."""
    within = context(chunk("farm", "\n\n".join(SENTENCES)))
    starts = [within.text.index(one) for one in SENTENCES]
    candidates = [candidate(within, 0, start, start + len(one)) for one, start in zip(SENTENCES, starts, strict=True)]
    asked = [Part(f"part {n}?", {}, np.array(one, np.float32), is_read=is_read) for n, one in enumerate(parts)]
    selection = Selection(candidates, asked, [within], ExtractiveSettings(min_relevance=0.6))
    selection.choose(min_papers=1)
    return selection, asked


@pytest.mark.parametrize(
    ("parts", "n_claims"),
    [
        ([[0.9, 0.8, 0.8, 0.8]], 2),
        ([[0.9, 0.8, 0.0, 0.0], [0.0, 0.0, 0.9, 0.8]], 3),
        ([[0.9, 0.8, 0.8, 0.8], [0.9, 0.8, 0.8, 0.8]], 2),
        ([[0.9, 0.8, 0.8, 0.8], [0.1, 0.1, 0.1, 0.1]], 2),
    ],
    ids=["one part", "two parts", "two parts that one sentence answers", "a part that nothing answers"],
)
def test_one_claim_stands_beside_the_best_ones_of_the_parts(parts: list[list[float]], n_claims: int) -> None:
    """A sentence that says when and where leaves no room for two others that say neither."""
    selection, _ = selected(parts)

    assert len(selection.chosen) == n_claims


@pytest.mark.parametrize(
    ("relevance", "is_read", "is_open"), [(0.5, True, False), (0.45, True, True), (0.5, False, True)]
)
def test_a_part_that_a_sentence_of_another_one_nearly_answers_is_not_called_open(
    relevance: float, is_read: bool, is_open: bool
) -> None:
    """ "27 of 5,040 were kept" stood above "No sentence was found for: how many were kept?"."""
    selection, (_, other) = selected([[0.9, 0.0, 0.0, 0.0], [relevance, 0.0, 0.0, 0.0]], is_read=is_read)

    assert selection.unanswered_parts() == ([other] if is_open else [])
