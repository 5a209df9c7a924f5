"""Two rankings become one."""

import numpy as np
import pytest

from rag_assets.core.settings import RetrievalSettings
from rag_assets.search.retrieval.fusion import (
    CandidateScores,
    fused,
    min_max_blend,
    raised,
    rank_blend,
    weighted_down,
    with_other_wordings,
)

NAN = np.nan


def test_the_convex_blend_stretches_both_scores_to_their_own_range() -> None:
    """Cosines span 0.2 and BM25 scores 20: unstretched, the words would decide alone."""
    dense, lexical = np.array([0.8, 0.6, 0.7]), np.array([5.0, 20.0, NAN])

    scores = min_max_blend(dense, lexical, dense_weight=0.4)

    assert scores == pytest.approx(
        [0.4 * 1.0 + 0.6 * 0.25, 0.4 * 0.0 + 0.6 * 1.0, 0.4 * 0.5 + 0.6 * 0.0]
    )


@pytest.mark.parametrize(
    ("dense", "lexical", "wanted"),
    [
        pytest.param([0.3], [4.0], [1.0], id="one candidate, found by both"),
        pytest.param([0.3], [NAN], [0.4], id="one candidate, found by the vectors"),
        pytest.param([0.5, 0.5], [1.0, 3.0], [0.4, 1.0], id="equal cosines"),
        pytest.param([0.5, 0.9], [NAN, NAN], [0.0, 0.4], id="no word in common"),
        pytest.param([NAN, NAN], [1.0, 3.0], [0.0, 0.6], id="no vectors"),
        pytest.param([NAN, 0.9, 0.5], [NAN, NAN, NAN], [0.0, 0.4, 0.0], id="an unknown cosine"),
        pytest.param([], [], [], id="no candidate"),
    ],
)
def test_the_convex_blend_survives_scores_that_tell_nothing_apart(
    dense: list[float], lexical: list[float], wanted: list[float]
) -> None:
    """A division by zero here makes every score of a question NaN, and its ranking random."""
    scores = min_max_blend(np.array(dense), np.array(lexical), dense_weight=0.4)

    assert scores == pytest.approx(wanted)


def test_the_rank_blend_is_that_of_the_decision_record() -> None:
    """`score = w_vec*(-rank_vec) + w_bm25*(-rank_bm25)`, 0-based; behind the last where a list
    lacks the passage."""
    scores = rank_blend(np.array([0.0, 1.0, NAN]), np.array([1.0, NAN, 0.0]), (1.0, 0.5))

    assert scores == pytest.approx([-0.5, -1.0 - 0.5 * 2, -2.0])


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        (RetrievalSettings(fusion="convex", dense_weight=1.0), [1.0, 0.0]),
        (RetrievalSettings(fusion="convex", dense_weight=0.0), [0.0, 1.0]),
        (RetrievalSettings(fusion="rrf"), [1 / 61 + 1 / 62, 1 / 61 + 1 / 62]),
        (RetrievalSettings(fusion="rank_blend"), [-0.5, -1.0]),
        (RetrievalSettings(fusion="rank_blend", rank_weights=(2.0, 3.0)), [-3.0, -2.0]),
    ],
)
def test_each_setting_chooses_its_fusion(settings: RetrievalSettings, wanted: list[float]) -> None:
    """A setting that changes nothing is a lie in every benchmark that varies it."""
    ranks = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    candidates = CandidateScores(np.array([0.9, 0.1]), ranks[0], np.array([1.0, 2.0]), ranks[1])

    assert fused(candidates, settings, settings.dense_weight or 0.0) == pytest.approx(wanted)


@pytest.mark.parametrize("scores", [[0.9, 0.8, 0.1], [-1.0, -2.0, -9.0]])
def test_weighing_down_never_raises_a_score(scores: list[float]) -> None:
    """0.7 times a negative score is a better score: a model's words would climb above the
    authors'."""
    lowered = weighted_down(np.array(scores), np.array([0.5, 1.0, 1.0]))

    assert lowered[0] < lowered[1]
    assert lowered[1:] == pytest.approx(scores[1:])


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_a_raise_is_a_share_of_the_span_of_the_scores(size: float) -> None:
    """Reciprocal ranks are a hundred times smaller than convex scores: one weight must mean the
    same for both."""
    scores = size * np.array([0.2, 0.6, 1.2])

    found = raised(scores, np.array([0.5, 0.25, 0.0]))

    assert found == pytest.approx(size * np.array([0.7, 0.85, 1.2]))


def test_what_another_wording_finds_comes_between_the_strong_and_the_weak_hits_of_the_question() -> (
    None
):
    """A model's wording may miss what is asked: its best hit must not push aside what the question
    finds itself."""
    asked = {"best": 10.0, "good": 7.0, "weak": 3.0, "worst": 0.0}

    scores = with_other_wordings([asked, {"other": 0.2, "rest": 0.1}])

    assert sorted(asked.keys() | {"other"}, key=lambda id_: -scores[id_]) == [
        "best",
        "good",
        "other",
        "weak",
        "worst",
    ]


def test_what_several_searches_find_keeps_its_best_score() -> None:
    """The very passage that answers would fall behind those that one wording alone finds."""
    asked, other = {"both": 10.0, "weak": 0.0}, {"both": 0.1, "weak": 0.4, "rest": 0.0}

    for found in ([asked, other], [asked, other, {"rest": 1.0, "weak": 0.0, "both": 0.5}]):
        scores = with_other_wordings(found)
        assert (scores["both"], scores["weak"]) == (1.0, 0.5)
