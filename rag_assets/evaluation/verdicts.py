"""Which questions of a file an evaluation judges, and which answers are wrong, in words."""

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.evaluation.cases import Case
from rag_assets.evaluation.metrics import holds_fact, values_of
from rag_assets.questions import Question

_NO_ANSWER = "not answered yet: the next run asks it"


def problem_of(case: Case) -> str:
    """What is wrong with an answer, for a reader; empty for a right one."""
    question, result = case.question, case.result
    missing = [fact for fact in question.key_facts if not holds_fact(result.answer, fact)]
    said = [fact[0] for fact in question.forbidden_facts if holds_fact(result.answer, fact)]
    if result.withheld:
        return f"withheld: {result.left_out[-1].why}"
    if result.refused and case.is_answerable:
        return "refused, although the corpus has an answer"
    if not case.is_answerable and not result.refused:
        return "answered, although the corpus has no answer"
    if said:
        return f"says what is wrong: {'; '.join(said)}"
    if case.is_answerable and missing:
        return f"{len(missing)} of {len(question.key_facts)} key facts missing"
    return ""


def expected_of(question: Question) -> str:
    """What a right answer is, in one line."""
    facts = "; ".join(" / ".join(fact) for fact in question.key_facts)
    papers = ", ".join(f"{p.paper_id} {list(p.pages) or ''}".strip() for p in question.expected)
    if question.answerable is False:
        return "a refusal"
    return " ".join(part for part in (facts, f"({papers})" if papers else "") if part) or (
        question.reference or ""
    )


@dataclass(frozen=True)
class Judgeable:
    """The questions of a file, sorted by what an evaluation can do with them; each in the order of
    the file."""

    judged: tuple[Question, ...]
    not_judged: tuple[tuple[Question, str], ...]
    """Labelled ones whose label does not hold for this corpus, with the reason."""
    unlabelled: tuple[Question, ...]
    """Questions without a label that says what a right answer is."""


def judgeable(
    questions: Sequence[Question], corpus: Collection[str], answered: Container[str] | None = None
) -> Judgeable:
    """Sort questions by their labels.

    corpus: ids of all papers, quarantined ones included: a paper that can no longer be read must
    not take its questions out of the evaluation. A question is judged when all papers it expects,
    and one of those it is restricted to, are in the corpus. "No paper answers this" is a statement
    about a whole corpus: if none of the papers that the file names is there, the file was written
    for another one, and no question of it is judged. answered: ids of the questions that have an
    answer, None for all: one that was left is judged when it has one.
    """
    named = {paper.paper_id for question in questions for paper in question.expected}
    named.update(paper_id for question in questions for paper_id in question.filter.papers or ())
    is_for_another = bool(named) and named.isdisjoint(corpus)
    labelled = [question for question in questions if question.is_labelled]
    reasons = {
        question.id: _reason(question, corpus, is_for_another=is_for_another)
        for question in labelled
    }
    if answered is not None:
        reasons |= {
            one.id: _NO_ANSWER for one in labelled if one.id not in answered and not reasons[one.id]
        }
    return Judgeable(
        judged=tuple(question for question in labelled if not reasons[question.id]),
        not_judged=tuple(
            (question, reasons[question.id]) for question in labelled if reasons[question.id]
        ),
        unlabelled=tuple(question for question in questions if not question.is_labelled),
    )


def question_rows(found: Judgeable, cases: Mapping[str, Case]) -> list[dict[str, Any]]:
    """One row per question; `outcome` is right, wrong, not judged or unlabelled. Judged ones have
    their values."""
    return [
        *(_judged(question, cases[question.id]) for question in found.judged),
        *(_row(question, "not judged", reason) for question, reason in found.not_judged),
        *(_row(question, "unlabelled") for question in found.unlabelled),
    ]


def _judged(question: Question, case: Case) -> dict[str, Any]:
    problem = problem_of(case)
    row = _row(
        question,
        "wrong" if problem else "right",
        problem,
        expected_of(question),
        case.result.answer,
    )
    return {**row, "tags": list(question.tags), "values": values_of(case)}


def _row(
    question: Question, outcome: str, why: str = "", expected: str = "", got: str = ""
) -> dict[str, Any]:
    facts = {"outcome": outcome, "why": why, "expected": expected, "got": got}
    return {"question_id": question.id, "question": question.question, **facts}


def _reason(question: Question, corpus: Collection[str], *, is_for_another: bool) -> str:
    if missing := [paper.paper_id for paper in question.expected if paper.paper_id not in corpus]:
        return f"not in the corpus: {', '.join(missing)}"
    searched = question.filter.papers
    if searched and not set(searched) & set(corpus):
        return f"not in the corpus: {', '.join(searched)}"
    return (
        "none of the papers that the question file names is in the corpus" if is_for_another else ""
    )
