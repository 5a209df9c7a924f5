"""The figures of the smoke evaluation."""

import math
from dataclasses import replace

import pytest

from rag_assets.answering.evaluation.metrics import evaluate, holds_fact
from rag_assets.core.domain import Citation, Claim, Hit, QAResult, Verification
from rag_assets.questions import Question
from rag_assets_tests.answering.builders import chunk
from rag_assets_tests.search.retrieval.corpus import passage_of

QUESTION = Question.model_validate(
    {
        "id": "q1",
        "question": "Which k?",
        "expected": [{"paper_id": "fusion", "pages": [2]}, {"paper_id": "metrics", "pages": []}],
        "key_facts": [["k = 60", "60"], ["1.2"]],
    }
)
UNANSWERABLE = Question.model_validate({"id": "q2", "question": "Which dose?", "answerable": False})


def hit(rank: int, paper_id: str, page: int | None) -> Hit:
    found = chunk(paper_id, f"text of {paper_id} {page}", page=page)
    passage = passage_of(found.chunk_id, found.text, paper_id=paper_id, page=page)
    return Hit(rank, 1 / rank, found, passage)


def result(question_id: str, answer: str, page: int | None = 2, *, refused: bool = False) -> QAResult:
    citation = Citation("fusion", "fusion:1", page, page, "quote", (), Verification.EXACT, start=0, end=5)
    claims = () if refused else (Claim(answer, (citation,)),)
    return QAResult(question_id, "?", answer, claims, refused, False, (), (), "m", (), "f")


def test_rankings_are_scored_by_hand_computed_values() -> None:
    """A metric that is computed over the wrong thing looks like any other number."""
    hits = {"q1": [hit(1, "other", 1), hit(2, "fusion", 2), hit(3, "fusion", 3), hit(4, "third", None)]}
    results = {"q1": result("q1", "k is 60")}

    metrics = evaluate([QUESTION], results, hits, k=3).metrics

    assert metrics["paper_recall_at_k"] == pytest.approx(1 / 2)
    assert metrics["paper_mrr"] == pytest.approx(1 / 2)
    ideal = 1 + 1 / math.log2(3)
    assert metrics["paper_ndcg"] == pytest.approx((1 / math.log2(3)) / ideal)
    assert metrics["page_recall_at_k"] == pytest.approx(1.0)
    assert metrics["page_mrr"] == pytest.approx(1 / 2)


def test_answers_are_scored_for_facts_pages_and_refusals() -> None:
    """These decide whether the nightly run is green."""
    results = {"q1": result("q1", "The constant k is 60.", page=3), "q2": result("q2", "no", refused=True)}

    evaluation = evaluate([QUESTION, UNANSWERABLE], results, {"q1": [hit(1, "fusion", 2)]}, k=3)

    assert evaluation.metrics["key_fact_recall"] == pytest.approx(1 / 2)
    assert evaluation.metrics["page_accuracy"] == 0.0
    assert evaluation.metrics["refusal_accuracy"] == 1.0
    assert evaluation.metrics["citation_coverage"] == 1.0
    [failure] = evaluation.failures
    assert (failure.question_id, failure.problem) == ("q1", "1 of 2 key facts missing")
    assert failure.expected == "1.2 (fusion [2], metrics)"


def test_a_wrong_refusal_and_a_wrong_answer_are_failures() -> None:
    """Each is the other's opposite; a mean over both hides them."""
    results = {"q1": result("q1", "no", refused=True), "q2": result("q2", "Take 5 mg.")}

    evaluation = evaluate([QUESTION, UNANSWERABLE], results, {"q1": []}, k=3)

    assert evaluation.metrics["refusal_accuracy"] == 0.0
    assert [failure.problem for failure in evaluation.failures] == [
        "refused, although the corpus has an answer",
        "answered, although the corpus has no answer",
    ]


def test_a_claim_without_citation_lowers_the_coverage() -> None:
    """The guardrail should make this impossible; the metric must still see it."""
    uncited = replace(result("q1", "60"), claims=(Claim("60", ()),))

    assert evaluate([QUESTION], {"q1": uncited}, {"q1": []}, k=3).metrics["citation_coverage"] == 0.0


@pytest.mark.parametrize(
    ("answer", "spelling", "holds"),
    [
        ("k is 60.", "60", True),
        ("k is 160.", "60", False),
        ("uses BMS‑986158 daily", "BMS-986158", True),
        ("k1 = 1.2 and", "k1 = 1.2", True),
        ("k1 = 1.25 and", "k1 = 1.2", False),
    ],
)
def test_a_fact_is_matched_as_whole_words(answer: str, spelling: str, holds: bool) -> None:
    """ "60" inside "160" is not the fact."""
    assert holds_fact(answer, [spelling]) is holds
