"""Which questions of a file can be judged on the corpus as it is."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rag_assets.answering.evaluation.metrics import WrongAnswer
from rag_assets.questions import Question


@dataclass(frozen=True)
class NotJudged:
    """A labelled question whose label does not hold for this corpus."""

    question: Question
    reason: str


@dataclass(frozen=True)
class Judgeable:
    """The questions of a file, sorted by what an evaluation can do with them; each in the order of the file."""

    judged: tuple[Question, ...]
    not_judged: tuple[NotJudged, ...]
    unlabelled: tuple[Question, ...]
    """Questions without a label that says what a right answer is."""


def judgeable(questions: Sequence[Question], corpus: Collection[str]) -> Judgeable:
    """Sort questions by their labels.

    corpus: ids of all papers, quarantined ones included: a paper that can no longer be read must not take its
    questions out of the evaluation. A question is judged when all papers it expects, and one of those it is restricted
    to, are in the corpus. "No paper answers this" is a statement about a whole corpus: if none of the papers that the
    file names is there, the file was written for another one, and no question of it is judged.
    """
    named = {paper.paper_id for question in questions for paper in question.expected}
    named.update(paper_id for question in questions for paper_id in question.filter.papers or ())
    is_for_another = bool(named) and named.isdisjoint(corpus)
    labelled = [question for question in questions if question.is_labelled]
    reasons = {question.id: _reason(question, corpus, is_for_another=is_for_another) for question in labelled}
    return Judgeable(
        judged=tuple(question for question in labelled if not reasons[question.id]),
        not_judged=tuple(NotJudged(question, reasons[question.id]) for question in labelled if reasons[question.id]),
        unlabelled=tuple(question for question in questions if not question.is_labelled),
    )


def question_rows(found: Judgeable, failures: Sequence[WrongAnswer]) -> list[dict[str, str]]:
    """One row per question; `outcome` is right, wrong, not judged or unlabelled."""
    wrong = {failure.question_id: failure for failure in failures}
    return [
        *(
            _row(question, "wrong", failure.problem, failure.expected, failure.got)
            if (failure := wrong.get(question.id))
            else _row(question, "right")
            for question in found.judged
        ),
        *(_row(one.question, "not judged", one.reason) for one in found.not_judged),
        *(_row(question, "unlabelled") for question in found.unlabelled),
    ]


def _row(question: Question, outcome: str, why: str = "", expected: str = "", got: str = "") -> dict[str, str]:
    facts = {"outcome": outcome, "why": why, "expected": expected, "got": got}
    return {"question_id": question.id, "question": question.question, **facts}


def _reason(question: Question, corpus: Collection[str], *, is_for_another: bool) -> str:
    if missing := [paper.paper_id for paper in question.expected if paper.paper_id not in corpus]:
        return f"not in the corpus: {', '.join(missing)}"
    searched = question.filter.papers
    if searched and not set(searched) & set(corpus):
        return f"not in the corpus: {', '.join(searched)}"
    return "none of the papers that the question file names is in the corpus" if is_for_another else ""
