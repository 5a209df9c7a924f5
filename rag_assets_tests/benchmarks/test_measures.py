"""What is counted of one question, on rankings small enough to count by hand."""

import math

import ir_measures
import pytest

from benchmarks.quality.measures import (
    Found,
    SaidSentence,
    ndcg,
    retrieval_measures,
    sentence_measures,
)
from benchmarks.quality.questions import AskedQuestion

QUESTION = AskedQuestion(
    "q1", "How much did ferritin fall?", "iron", "tuning", frozenset(["iron"]), frozenset([("iron", 2)]),
    answer="fell by 12 %",
)  # fmt: skip
OTHER = Found("Basalt takes up water.", "basalt", 2, 2)
RIGHT_PAPER = Found("Runners trained for a month.", "iron", 1, 1)
ANSWER = Found("Ferritin FELL\nby 12 % in all groups.", "iron", 1, 2)


def test_the_first_right_hit_is_found_at_its_rank_by_paper_page_and_words() -> None:
    """A rank that is off by one makes hit@1 of the second hit, and every default is chosen from
    such figures."""
    measures = retrieval_measures(
        QUESTION, [OTHER, RIGHT_PAPER, ANSWER], {1000: [RIGHT_PAPER], 3000: [OTHER, ANSWER]}
    )

    assert measures["document hit@1"] == 0
    assert measures["document MRR@10"] == 1 / 2
    assert measures["page hit@1"] == 0
    assert measures["page hit@3"] == 1
    assert measures["page MRR@10"] == 1 / 3
    assert measures["answer hit@3"] == 1
    assert measures["answer nDCG@10"] == pytest.approx(1 / math.log2(4))
    assert (measures["answer in 1000"], measures["answer in 3000"]) == (0, 1)
    assert (measures["page in 1000"], measures["page in 3000"]) == (0, 1)


def test_what_is_not_known_of_a_question_is_not_measured() -> None:
    """A set without pages would count as one whose pages are never found."""
    unpaged = AskedQuestion("q1", "How much?", "iron", "tuning", frozenset(["iron"]))

    measures = retrieval_measures(unpaged, [ANSWER], {1000: [ANSWER]})

    assert {name.split()[0] for name in measures} == {"document"}


def test_ndcg_is_the_one_of_ir_measures() -> None:
    """Figures stand beside published ones, which are of this definition."""
    relevant = {"d2", "d3", "d9"}
    ranking = [f"d{number}" for number in range(1, 9)]
    run = [ir_measures.ScoredDoc("q", document, -rank) for rank, document in enumerate(ranking)]
    wanted = [ir_measures.Qrel("q", document, 1) for document in relevant]

    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10], wanted, run)[ir_measures.nDCG @ 10]

    assert ndcg([document in relevant for document in ranking], len(relevant)) == pytest.approx(
        theirs
    )


def test_an_answer_is_complete_with_at_most_one_claim_beside_it() -> None:
    """An answer that has to be searched for among others would count as much as one that stands
    alone."""
    right = SaidSentence(
        "In this trial, ferritin fell by 12 % in all groups of runners.", frozenset(["iron"])
    )
    other = SaidSentence("Hepcidin rose in one group of runners.", frozenset(["iron"]))
    asked = AskedQuestion(
        "q", "What?", "iron", "tuning", frozenset(["iron"]), answer="ferritin fell by 12 %"
    )

    complete = [
        sentence_measures(asked, said)["complete"]
        for said in ([right], [other, right], [right, other, other])
    ]

    assert complete == [1, 1, 0]
    assert sentence_measures(asked, [other])["complete"] == 0
