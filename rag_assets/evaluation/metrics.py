"""The metrics, and the rule by which an answer is wrong. Each metric is a record with its meaning,
its computation for one question, its floor and its direction.

The value of a metric for one question is between 0 and 1, unless its meaning names a unit; it is
None if the question has no label for it. The value for an evaluation is the mean over its
questions, so slices, intervals and comparisons need only these values.

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
"""Part of the key of an evaluation: raise it when a metric is computed in another way."""


@dataclass(frozen=True)
class Metric:
    """A metric of answers or of search."""

    name: str
    meaning: str
    compute: Callable[[Case], float | None]
    floor: float | None = None
    """Smallest accepted mean, or the largest if lower values are better; None: no limit."""
    direction: Literal["higher", "lower"] = "higher"
    """Whether higher or lower values are better."""

    def misses(self, value: float | None, floor: float | None) -> bool:
        """Whether a mean is worse than a floor; False if one of them is None."""
        if value is None or floor is None:
            return False
        return value < floor if self.direction == "higher" else value > floor


def holds_fact(text: str, spellings: Sequence[str]) -> bool:
    """Whether one of the accepted spellings of a fact occurs in the text as whole words. Both are
    compared in folded form."""
    folded = Folded.of(text).text
    return any(
        re.search(rf"(?<!\w){re.escape(Folded.of(spelling).text)}(?!\w)", folded)
        for spelling in spellings
    )


def _ranked(unit: Literal["paper", "page"], measure: str, case: Case) -> float | None:
    """A measure of the library ir-measures ("R", "RR", "nDCG"), computed over the distinct papers or
    pages of the hits, in their order."""
    import ir_measures

    wanted = {
        key: 1
        for paper in case.question.expected
        for key in _keys(unit, paper.paper_id, paper.pages)
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
    """The keys of a paper for the ranking: its id, or one key for each page."""
    return [paper_id] if unit == "paper" else [f"{paper_id}#page={page}" for page in pages]


def _pages(start: int | None, end: int | None) -> range:
    return range(start, end + 1) if start is not None and end is not None else range(0)


def _answer_in_context(case: Case) -> float | None:
    return _key_facts_in("\n".join(found.text for found in case.contexts), case)


def _key_facts_in(text: str, case: Case) -> float | None:
    """The share of the key facts that occur in a text; None if the question has no answer."""
    facts = case.question.key_facts if case.is_answerable else ()
    return _share([holds_fact(text, fact) for fact in facts])


def _page_accuracy(case: Case) -> float | None:
    pages = {paper.paper_id: set(paper.pages) for paper in case.question.expected if paper.pages}
    return _share(
        [
            not pages[citation.paper_id].isdisjoint(_pages(citation.page_start, citation.page_end))
            for claim in case.result.claims
            for citation in claim.citations
            if citation.paper_id in pages
        ]
    )


def _claims_carried(case: Case) -> float | None:
    are_supported: list[bool | None] = []
    for claim in case.result.claims:
        judged = claim.judged
        if claim.is_quote:
            are_supported.append(True)
        else:
            are_supported.append(None if judged is None else judged >= FULL_SUPPORT_FROM)
    return _share(are_supported)


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
    """The share of supported statements. If every claim is a quote, no judge is needed: the claims
    are searched in the contexts."""
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
    """The mean of precision@i over the ranks i of the useful contexts. A context is useful if it
    contains an expected passage; without expected passages, if the judge says so."""
    if passages := _passages(case):
        useful = [any(text in letters(found.text) for text in passages) for found in case.contexts]
    elif case.verdict and case.question.reference:
        useful = [bool(verdict) for verdict in case.verdict.useful]
    else:
        return None
    if not useful:
        return None
    precisions = [
        sum(useful[:rank]) / rank for rank, is_useful in enumerate(useful, start=1) if is_useful
    ]
    return fmean(precisions) if precisions else 0.0


def _context_recall(case: Case) -> float | None:
    """The share of the expected passages that the contexts contain; without expected passages, the
    share of the reference's sentences that the contexts say according to the judge."""
    if passages := _passages(case):
        text = "".join(letters(found.text) for found in case.contexts)
        return _share([passage in text for passage in passages])
    return _share(case.verdict.covered) if case.verdict else None


def _passages(case: Case) -> list[str]:
    return [letters(passage) for paper in case.question.expected for passage in paper.passages]


def _share(values: Sequence[bool | None]) -> float | None:
    """The share of True among the values that are not None; None if there are none."""
    known = [float(value) for value in values if value is not None]
    return fmean(known) if known else None


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
            f"{words} of the expected papers among the k best.",
            partial(_ranked, "paper", measure),
            floor,
        )
        for name, measure, words, floor in _RANKINGS
    ),
    *(
        Metric(
            f"page_{name}",
            f"{words} of the expected pages among the k best.",
            partial(_ranked, "page", measure),
        )
        for name, measure, words, _ in _RANKINGS
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
    Metric(
        "key_fact_recall",
        "Share of the key facts that the answer says.",
        lambda case: _key_facts_in(case.result.answer, case),
        0.7,
    ),
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
    """Metric -> new value minus old value, for each metric of a question whose values are known and
    differ. Time, tokens and money are left out."""
    return {
        name: value - known
        for name, value in new.items()
        if name in SHARES
        and value is not None
        and (known := old.get(name)) is not None
        and value != known
    }


def means(rows: Sequence[Values]) -> dict[str, float | None]:
    """Metric -> its mean over the questions that have a value; None if none has one."""
    values = {
        name: [value for row in rows if (value := row.get(name)) is not None]
        for name in METRICS_BY_NAME
    }
    return {name: fmean(found) if found else None for name, found in values.items()}


def slices(rows: Sequence[tuple[Sequence[str], Values]]) -> dict[str, dict[str, Any]]:
    """Tag -> number of questions with this tag, and their means. rows: tags and values of each
    question."""
    tags = sorted({tag for row_tags, _ in rows for tag in row_tags})
    tagged = {tag: [values for row_tags, values in rows if tag in row_tags] for tag in tags}
    return {tag: {"n": len(found), **means(found)} for tag, found in tagged.items()}


def floors(given: Mapping[str, float]) -> dict[str, float | None]:
    """Metric -> its floor: the given one, or else its own. Raises InvalidSettings for an unknown
    metric."""
    if unknown := sorted(set(given) - set(METRICS_BY_NAME)):
        raise InvalidSettings(
            f"evaluation.floors: there is no metric {', '.join(unknown)}. Metrics are {', '.join(METRICS_BY_NAME)}."
        )
    return {metric.name: given.get(metric.name, metric.floor) for metric in METRICS}


_NO_ANSWER = "not answered yet: the next run asks it"


def problem_of(case: Case) -> str:
    """What is wrong with an answer, in words for the user; empty for a right answer."""
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
    """The expected answer in one line."""
    facts = "; ".join(" / ".join(fact) for fact in question.key_facts)
    papers = ", ".join(f"{p.paper_id} {list(p.pages) or ''}".strip() for p in question.expected)
    if question.answerable is False:
        return "a refusal"
    return " ".join(part for part in (facts, f"({papers})" if papers else "") if part) or (
        question.reference or ""
    )


@dataclass(frozen=True)
class Judgeable:
    """The questions of a file in three groups; each group in the order of the file."""

    judged: tuple[Question, ...]
    """Questions whose answers can be judged."""
    not_judged: tuple[tuple[Question, str], ...]
    """Labelled questions that cannot be judged in this corpus, with the reason."""
    unlabelled: tuple[Question, ...]
    """Questions without a label that says what a right answer is."""


def judgeable(
    questions: Sequence[Question], corpus: Collection[str], answered: Container[str] | None = None
) -> Judgeable:
    """Divide questions into those that can be judged, those that cannot, and those without labels.

    A question is judged if all papers that it expects are in the corpus, and one of those to which
    it is restricted. If none of the papers that the file names is in the corpus, the file was
    written for another corpus, and no question is judged: its label "no paper answers this" is
    about that corpus.

    corpus: ids of all papers, also of the quarantined ones, because a paper that can no longer be
    read must not remove its questions from the evaluation. answered: ids of the questions that have
    an answer; None: all have one.
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
