"""The metrics, and which answers are wrong: each metric is a record with its meaning, its computation
for one question, its floor and its direction.

A value is of one question, 0 to 1 unless the meaning names a unit; None where the question says
nothing about it. The value of an evaluation is the mean over its questions, so that slices,
intervals and comparisons need nothing else.

Sources: ir-measures (trec_eval) for rankings; Es et al. 2023, "RAGAS: Automated Evaluation of
Retrieval Augmented Generation", and the definitions of ragas 0.3 for faithfulness, answer
relevance, context precision and recall.
"""

import re
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, Literal

from rag_assets.core.domain.answers import FULL_SUPPORT_FROM
from rag_assets.core.errors import InvalidSettings
from rag_assets.core.text.folding import Folded
from rag_assets.evaluation.cases import Case, letters
from rag_assets.questions import Question

METRICS_VERSION = 5
"""Part of the key of an evaluation: raise it when a metric computes something else."""


@dataclass(frozen=True)
class Metric:
    """One figure of an evaluation."""

    name: str
    meaning: str
    compute: Callable[[Case], float | None]
    floor: float | None = None
    """Smallest accepted mean, or largest where lower is better; None: any."""
    direction: Literal["higher", "lower"] = "higher"
    """What is better."""

    def misses(self, value: float | None, floor: float | None) -> bool:
        """Whether a mean is worse than a floor; nothing is measured, or nothing demanded: no."""
        if value is None or floor is None:
            return False
        return value < floor if self.direction == "higher" else value > floor


def holds_fact(text: str, spellings: Sequence[str]) -> bool:
    """Whether one of the accepted spellings occurs in the text as whole words, however it is
    typeset."""
    folded = Folded.of(text).text
    return any(
        re.search(rf"(?<!\w){re.escape(Folded.of(one).text)}(?!\w)", folded) for one in spellings
    )


def _ranked(unit: Literal["paper", "page"], measure: str, case: Case) -> float | None:
    """A measure of ir-measures over distinct papers, or pages, in the order of the hits."""
    import ir_measures

    wanted = {
        key: 1 for one in case.question.expected for key in _keys(unit, one.paper_id, one.pages)
    }
    if not wanted or not case.is_answerable:
        return None
    found: dict[str, None] = {}
    for hit in case.hits:
        found.update(dict.fromkeys(_keys(unit, hit.paper_id, _pages(hit.page_start, hit.page_end))))
    run = {key: 1 / rank for rank, key in enumerate(found, start=1)}
    parsed = ir_measures.parse_measure(f"{measure}@{case.k}")
    return float(
        ir_measures.calc_aggregate([parsed], {"q": wanted}, {"q": run or {"": 0.0}})[parsed]
    )


def _keys(unit: str, paper_id: str, pages: Sequence[int]) -> list[str]:
    return [paper_id] if unit == "paper" else [f"{paper_id}#page={page}" for page in pages]


def _pages(start: int | None, end: int | None) -> range:
    return range(start, end + 1) if start is not None and end is not None else range(0)


def _answer_in_context(case: Case) -> float | None:
    text = "\n".join(one.text for one in case.contexts)
    facts = case.question.key_facts if case.is_answerable else ()
    return _share([holds_fact(text, fact) for fact in facts])


def _page_accuracy(case: Case) -> float | None:
    pages = {paper.paper_id: set(paper.pages) for paper in case.question.expected if paper.pages}
    return _share(
        [
            not pages[one.paper_id].isdisjoint(_pages(one.page_start, one.page_end))
            for claim in case.result.claims
            for one in claim.citations
            if one.paper_id in pages
        ]
    )


def _claims_carried(case: Case) -> float | None:
    carried: list[bool | None] = []
    for claim in case.result.claims:
        judged = claim.support.judged if claim.support else None
        carried.append(claim.is_quote or (None if judged is None else judged >= FULL_SUPPORT_FROM))
    return _share(carried)


def _key_facts(case: Case) -> float | None:
    facts = case.question.key_facts if case.is_answerable else ()
    return _share([holds_fact(case.result.answer, fact) for fact in facts])


def _forbidden_facts(case: Case) -> float | None:
    return _share(
        [not holds_fact(case.result.answer, fact) for fact in case.question.forbidden_facts]
    )


def _refusal_precision(case: Case) -> float | None:
    return (
        float(not case.is_answerable) if case.result.refused and case.question.is_labelled else None
    )


def _refusal_recall(case: Case) -> float | None:
    return None if case.is_answerable else float(case.result.refused)


def _faithfulness(case: Case) -> float | None:
    """Supported statements by all statements. Where every claim is a quote, no judge is needed:
    each is looked for."""
    if case.verdict:
        return _share(case.verdict.supported)
    claims = case.result.claims
    if not all(claim.is_quote for claim in claims):
        return None
    contexts = {one.chunk_id: letters(one.text) for one in case.contexts}
    return _share(
        [any(letters(claim.text) in text for text in contexts.values()) for claim in claims]
    )


def _context_precision(case: Case) -> float | None:
    """Mean of precision@i over the ranks i of useful contexts; useful is what holds an expected
    passage, or what the judge finds useful where none is named."""
    passages = _passages(case)
    useful = [any(passage in letters(one.text) for passage in passages) for one in case.contexts]
    if not passages:
        useful = (
            [bool(one) for one in case.verdict.useful]
            if case.verdict and case.question.reference
            else []
        )
    at_useful = [
        sum(useful[:rank]) / rank for rank, is_useful in enumerate(useful, start=1) if is_useful
    ]
    return (fmean(at_useful) if at_useful else 0.0) if useful else None


def _context_recall(case: Case) -> float | None:
    """Share of the expected passages, or else of the reference's sentences as the judge sees it,
    that the contexts hold."""
    if passages := _passages(case):
        text = "".join(letters(one.text) for one in case.contexts)
        return _share([passage in text for passage in passages])
    return _share(case.verdict.covered) if case.verdict else None


def _passages(case: Case) -> list[str]:
    return [letters(passage) for paper in case.question.expected for passage in paper.passages]


def _share(values: Sequence[bool | None]) -> float | None:
    told = [float(value) for value in values if value is not None]
    return fmean(told) if told else None


def _tokens(case: Case) -> float:
    return float(case.result.usage.n_input_tokens + case.result.usage.n_output_tokens)


_RANKINGS: tuple[tuple[str, str, str, float], ...] = (
    ("recall_at_k", "R", "Share", 0.9),
    ("mrr", "RR", "1/rank of the first", 0.7),
    ("ndcg", "nDCG", "nDCG", 0.7),
)
METRICS: tuple[Metric, ...] = (
    *(
        Metric(
            f"paper_{name}",
            f"{told} of the expected papers among the k best.",
            partial(_ranked, "paper", key),
            floor,
        )
        for name, key, told, floor in _RANKINGS
    ),
    *(
        Metric(
            f"page_{name}",
            f"{told} of the expected pages among the k best.",
            partial(_ranked, "page", key),
        )
        for name, key, told, _ in _RANKINGS
    ),
    Metric(
        "answer_in_context",
        "Share of the key facts that stand in the contexts.",
        _answer_in_context,
        0.7,
    ),
    Metric(
        "page_accuracy",
        "Share of citations of expected papers on an expected page.",
        _page_accuracy,
        0.8,
    ),
    Metric(
        "quote_fidelity",
        "Share of quotes whose words stand in the paper's file, looked up anew.",
        lambda case: _share(case.quotes_in_file),
        1.0,
    ),
    Metric(
        "citation_coverage",
        "Share of claims with a citation.",
        lambda case: _share([bool(claim.citations) for claim in case.result.claims]),
        1.0,
    ),
    Metric(
        "claims_carried",
        "Share of claims that are their own quote, or that the second look found carried by their quotes.",
        _claims_carried,
        0.9,
    ),
    Metric("key_fact_recall", "Share of the key facts that the answer says.", _key_facts, 0.7),
    Metric(
        "forbidden_facts_avoided",
        "Share of the forbidden facts that the answer does not say.",
        _forbidden_facts,
        1.0,
    ),
    Metric(
        "refusal_precision",
        "Share of the refused questions that no paper answers.",
        _refusal_precision,
        0.7,
    ),
    Metric(
        "refusal_recall",
        "Share of the questions without an answer that are refused.",
        _refusal_recall,
        0.9,
    ),
    Metric(
        "faithfulness",
        "Share of the answer's statements that the contexts say (RAGAS): by the judge, or by their words where every "
        "claim is a quote.",
        _faithfulness,
        0.9,
    ),
    Metric(
        "answer_relevance",
        "Cosine of the question and of questions that the judge makes from the answer (RAGAS).",
        lambda case: case.verdict.relevance if case.verdict else None,
        0.5,
    ),
    Metric(
        "context_precision",
        "Mean precision at the ranks of useful contexts (RAGAS): those with an expected passage, else by the judge.",
        _context_precision,
        0.3,
    ),
    Metric(
        "context_recall",
        "Share of the expected passages in the contexts, else of the reference's sentences by the judge (RAGAS).",
        _context_recall,
        0.7,
    ),
    Metric(
        "correctness",
        "Agreement of answer and reference by the judge: 1, 0.5 or 0.",
        lambda case: case.verdict.correctness if case.verdict else None,
        0.7,
    ),
    Metric(
        "latency_s",
        "Seconds from question to answer.",
        lambda case: case.seconds,
        direction="lower",
    ),
    Metric(
        "tokens", "Tokens that models read and wrote for the answer.", _tokens, direction="lower"
    ),
    Metric(
        "cost_usd",
        "Dollars that the answer cost, where prices are known.",
        lambda case: case.result.usage.cost_usd,
        direction="lower",
    ),
)
METRICS_BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
RIGHT = Metric(
    "right", "Share of the labelled questions whose answer is as expected.", lambda _: None
)
SHARES = frozenset(metric.name for metric in (RIGHT, *METRICS) if metric.direction == "higher")
"""Names of the metrics on a scale from 0 to 1."""
Values = Mapping[str, float | None]


def values_of(case: Case) -> dict[str, float | None]:
    """Every metric of one question."""
    return {metric.name: metric.compute(case) for metric in METRICS}


def gains(new: Values, old: Values) -> dict[str, float]:
    """What each metric of a question won, or lost, where both are known and differ; time, tokens
    and money left out."""
    return {
        name: value - known
        for name, value in new.items()
        if name in SHARES
        and value is not None
        and (known := old.get(name)) is not None
        and value != known
    }


def means(rows: Sequence[Values]) -> dict[str, float | None]:
    """The mean of each metric over the questions that say something about it; None where none
    does."""
    values = {
        name: [value for row in rows if (value := row.get(name)) is not None]
        for name in METRICS_BY_NAME
    }
    return {name: fmean(found) if found else None for name, found in values.items()}


def slices(rows: Sequence[tuple[Sequence[str], Values]]) -> dict[str, dict[str, Any]]:
    """Number of questions and means of each tag, by tag; rows: tags and values of each question."""
    tags = sorted({tag for of_row, _ in rows for tag in of_row})
    tagged = {tag: [values for of_row, values in rows if tag in of_row] for tag in tags}
    return {tag: {"n": len(found), **means(found)} for tag, found in tagged.items()}


def floors(given: Mapping[str, float]) -> dict[str, float | None]:
    """The floor of each metric; those given win over its own. Raises InvalidSettings for a name
    that no metric has."""
    if unknown := sorted(set(given) - set(METRICS_BY_NAME)):
        raise InvalidSettings(
            f"evaluation.floors: there is no metric {', '.join(unknown)}. Metrics are {', '.join(METRICS_BY_NAME)}."
        )
    return {metric.name: given.get(metric.name, metric.floor) for metric in METRICS}


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
    judged, not_judged, unlabelled = [], [], []
    for question in questions:
        if not question.is_labelled:
            unlabelled.append(question)
        elif reason := _reason(question, corpus, is_for_another=is_for_another):
            not_judged.append((question, reason))
        elif answered is not None and question.id not in answered:
            not_judged.append((question, _NO_ANSWER))
        else:
            judged.append(question)
    return Judgeable(tuple(judged), tuple(not_judged), tuple(unlabelled))


def question_rows(found: Judgeable, cases: Mapping[str, Case]) -> list[dict[str, Any]]:
    """One row per question; `outcome` is right, wrong, not judged or unlabelled. Judged ones have
    their values."""
    rows = []
    for question in found.judged:
        case = cases[question.id]
        outcome = "wrong" if (problem := problem_of(case)) else "right"
        row = _row(question, outcome, problem, expected_of(question), case.result.answer)
        rows.append({**row, "tags": list(question.tags), "values": values_of(case)})
    rows += [_row(question, "not judged", reason) for question, reason in found.not_judged]
    return [*rows, *(_row(question, "unlabelled") for question in found.unlabelled)]


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
