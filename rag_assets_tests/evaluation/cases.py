"""A question that is answered well, its case, and the reply of a judge that agrees."""

from typing import Any

from rag_assets.core.domain import Citation, Claim, QAResult
from rag_assets.evaluation.cases import AnswerVerdict, Case, Found
from rag_assets.questions import Question
from rag_assets_testing.citations import answer_of, cited

QUOTE = "The customary constant k is 60, chosen in a pilot."
QUESTION: dict[str, Any] = {
    "id": "q1",
    "question": "Which k?",
    "expected": [{"paper_id": "fusion", "pages": [2], "passages": ["constant k is 60"]}],
    "key_facts": [["k is 60", "60"]],
    "forbidden_facts": [["600"]],
    "reference": "It is 60.",
}


def question(**changes: Any) -> Question:
    return Question.model_validate(QUESTION | changes)


def citation(page: int | None = 2, quote: str = QUOTE, paper_id: str = "fusion") -> Citation:
    return cited(quote, paper_id, page)


def result(*claims: Claim, **changes: Any) -> QAResult:
    said = claims or (() if changes.get("refused") else (Claim(QUOTE, (citation(),)),))
    return answer_of(*said, **{"question": "Which k?", "contexts": ("fusion:1",)} | changes)


def found(paper_id: str = "fusion", page: int | None = 2, text: str = QUOTE) -> Found:
    return Found(paper_id, f"{paper_id}:1", text, page, page)


def good_case(**changes: Any) -> Case:
    """Every metric at its best."""
    verdict = AnswerVerdict((True,), (True,), (True,), 1.0, 0.9)
    case = {
        "question": question(),
        "result": result(),
        "hits": (found(),),
        "contexts": (found(),),
        "k": 6,
        "quotes_in_file": (True,),
        "seconds": 1.0,
        "verdict": verdict,
    }
    return Case(**{**case, **changes})


def refused_case() -> Case:
    """A question that no paper answers, refused."""
    unanswerable = Question.model_validate(
        {"id": "q2", "question": "Which dose?", "answerable": False}
    )
    return Case(unanswerable, result(question_id="q2", refused=True))
