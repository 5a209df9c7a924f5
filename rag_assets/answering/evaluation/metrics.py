"""Answers and hits against what was expected: the figures of the smoke evaluation, and the questions they are about.

Ranking metrics come from ir-measures (trec_eval underneath); this module says what the documents and the judgements
are. Everything is a mean over questions, 0 to 1, higher is better; a figure no question can contribute to is None.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from rag_assets.core.domain import Citation, Hit, QAResult
from rag_assets.core.text.folding import Folded
from rag_assets.questions import ExpectedPaper, Question

METRICS_VERSION = 2
"""Part of the key of an evaluation: raise it when a metric computes something else."""
METRICS = (
    "paper_recall_at_k",
    "paper_mrr",
    "paper_ndcg",
    "page_recall_at_k",
    "page_mrr",
    "page_ndcg",
    "page_accuracy",
    "citation_coverage",
    "refusal_accuracy",
    "key_fact_recall",
)
Ranking = dict[str, float]


@dataclass(frozen=True)
class WrongAnswer:
    """A question whose answer differs from what was expected, with both."""

    question_id: str
    question: str
    problem: str
    expected: str
    got: str


@dataclass(frozen=True)
class Evaluation:
    """All figures of one evaluation and the questions that failed."""

    metrics: Mapping[str, float | None]
    failures: tuple[WrongAnswer, ...]


def evaluate(
    questions: Sequence[Question], results: Mapping[str, QAResult], hits: Mapping[str, Sequence[Hit]], *, k: int
) -> Evaluation:
    """Score every question; all must be labelled.

    results, hits: by question id; each question must have both. k: depth of the ranking metrics, in papers or pages.
    """
    answerable = [question for question in questions if _has_answer(question)]
    expected = [question for question in answerable if question.expected]
    metrics: dict[str, float | None] = {
        **_ranking_metrics(expected, hits, k, "paper"),
        **_ranking_metrics(expected, hits, k, "page"),
        "page_accuracy": _mean([share for q in expected if (share := _page_accuracy(q, results[q.id])) is not None]),
        "citation_coverage": _mean([float(bool(one.citations)) for q in questions for one in results[q.id].claims]),
        "refusal_accuracy": _mean([float(results[q.id].refused != _has_answer(q)) for q in questions]),
        "key_fact_recall": _mean(
            [float(holds_fact(results[q.id].answer, fact)) for q in answerable for fact in q.key_facts]
        ),
    }
    failures = [failure for q in questions if (failure := _failure(q, results[q.id]))]
    return Evaluation(metrics, tuple(failures))


def holds_fact(answer: str, spellings: Sequence[str]) -> bool:
    """Whether one of the accepted spellings occurs in the answer as whole words, however it is typeset."""
    folded = Folded.of(answer).text
    return any(
        re.search(rf"(?<!\w){re.escape(Folded.of(spelling).text)}(?!\w)", folded) is not None for spelling in spellings
    )


def _ranking_metrics(
    questions: Sequence[Question], hits: Mapping[str, Sequence[Hit]], k: int, unit: str
) -> dict[str, float | None]:
    import ir_measures
    from ir_measures import RR, R, nDCG

    measures = {f"{unit}_recall_at_k": R @ k, f"{unit}_mrr": RR @ k, f"{unit}_ndcg": nDCG @ k}
    judgements = {question.id: wanted for question in questions if (wanted := _judgements(question.expected, unit))}
    if not judgements:
        return dict.fromkeys(measures)
    runs = {question_id: _ranking(hits[question_id], unit) for question_id in judgements}
    values = ir_measures.calc_aggregate(measures.values(), judgements, runs)
    return {name: float(values[measure]) for name, measure in measures.items()}


def _judgements(expected: Sequence[ExpectedPaper], unit: str) -> dict[str, int]:
    if unit == "paper":
        return {paper.paper_id: 1 for paper in expected}
    return {_page_id(paper.paper_id, page): 1 for paper in expected for page in paper.pages}


def _ranking(hits: Sequence[Hit], unit: str) -> Ranking:
    found: dict[str, None] = {}
    for hit in hits:
        if unit == "paper":
            found.setdefault(hit.chunk.paper_id)
        elif hit.passage.page_start is not None and hit.passage.page_end is not None:
            for page in range(hit.passage.page_start, hit.passage.page_end + 1):
                found.setdefault(_page_id(hit.chunk.paper_id, page))
    return {name: 1.0 / rank for rank, name in enumerate(found, start=1)}


def _page_id(paper_id: str, page: int) -> str:
    return f"{paper_id}#page={page}"


def _page_accuracy(question: Question, result: QAResult) -> float | None:
    pages = {paper.paper_id: set(paper.pages) for paper in question.expected if paper.pages}
    citations = [c for claim in result.claims for c in claim.citations if c.paper_id in pages]
    return _mean([float(_is_on_a_page(citation, pages[citation.paper_id])) for citation in citations])


def _is_on_a_page(citation: Citation, pages: set[int]) -> bool:
    if citation.page_start is None or citation.page_end is None:
        return False
    return not pages.isdisjoint(range(citation.page_start, citation.page_end + 1))


def _failure(question: Question, result: QAResult) -> WrongAnswer | None:
    missing = [fact for fact in question.key_facts if not holds_fact(result.answer, fact)]
    if result.refused and _has_answer(question):
        problem = "refused, although the corpus has an answer"
    elif not _has_answer(question) and not result.refused:
        problem = "answered, although the corpus has no answer"
    elif _has_answer(question) and missing:
        problem = f"{len(missing)} of {len(question.key_facts)} key facts missing"
    else:
        return None
    facts = "; ".join(" / ".join(fact) for fact in (missing or question.key_facts))
    papers = ", ".join(f"{p.paper_id} {list(p.pages) or ''}".strip() for p in question.expected)
    return WrongAnswer(
        question.id, question.question, problem, f"{facts} ({papers})" if facts else "a refusal", result.answer
    )


def _has_answer(question: Question) -> bool:
    """Whether the corpus answers a labelled question: yes, unless its label says no."""
    return question.answerable is not False


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


@dataclass(frozen=True)
class Judgeable:
    """The questions of a file, sorted by what an evaluation can do with them; each in the order of the file."""

    judged: tuple[Question, ...]
    not_judged: tuple[tuple[Question, str], ...]
    """Labelled ones whose label does not hold for this corpus, with the reason."""
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
        not_judged=tuple((question, reasons[question.id]) for question in labelled if reasons[question.id]),
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
        *(_row(question, "not judged", reason) for question, reason in found.not_judged),
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
