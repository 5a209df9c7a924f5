"""The metrics: each turns red for its own fault and for no other."""

import math
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from rag_assets.core.domain import TITLE_PAGE_HEADING, Claim, Support, Usage
from rag_assets.evaluation.cases import AnswerVerdict, Case, case_of
from rag_assets.evaluation.metrics import METRICS, floors, holds_fact, means, values_of
from rag_assets_tests.answering.builders import chunk
from rag_assets_tests.evaluation.cases import (
    QUOTE,
    citation,
    found,
    good_case,
    question,
    refused_case,
    result,
)

FLOORS = floors(
    {
        "page_recall_at_k": 0.9,
        "page_mrr": 0.7,
        "page_ndcg": 0.7,
        "latency_s": 5,
        "tokens": 9,
        "cost_usd": 1,
    }
)
NAMES = ["fusion", *(f"paper{n}" for n in range(9))]
FILLERS = [f"filler{n}" for n in range(400)]


def red(*cases: Case) -> set[str]:
    """The metrics that miss their floor."""
    values = means([values_of(case) for case in (*cases, refused_case())])
    return {
        metric.name for metric in METRICS if metric.misses(values[metric.name], FLOORS[metric.name])
    }


def ranked(expected: list[str], *papers: str) -> dict[str, Any]:
    named = [{"paper_id": name, "passages": ["constant k is 60"]} for name in expected]
    hits = tuple(found(name, None) for name in papers)
    return {"question": question(expected=named), "hits": hits, "k": len(hits)}


def paged(expected: list[int], *pages: int) -> dict[str, Any]:
    named = [{"paper_id": "fusion", "pages": expected, "passages": ["constant k is 60"]}]
    hits = tuple(found(page=page) for page in pages)
    return {"question": question(expected=named), "hits": hits, "k": len(hits)}


def verdict(**changes: Any) -> dict[str, Any]:
    return {"verdict": replace(good_case().verdict or AnswerVerdict(), **changes)}


OTHER = found("other", text="Ferritin fell.")
BROKEN: dict[str, dict[str, Any]] = {
    "paper_recall_at_k": ranked(NAMES, *NAMES[:8]),
    "paper_mrr": ranked(NAMES, "filler", *NAMES),
    "paper_ndcg": ranked(NAMES[:2], "fusion", *FILLERS, NAMES[1]),
    "page_recall_at_k": paged([*range(1, 11)], *range(1, 9)),
    "page_mrr": paged([*range(1, 11)], 99, *range(1, 11)),
    "page_ndcg": paged([2, 3], 2, *range(100, 500), 3),
    "answer_in_context": {
        "question": question(key_facts=[["pilot"]]), "contexts": (found(text="The constant k is 60."),)
    },
    "page_accuracy": {"result": result(Claim(QUOTE, (citation(page=3),)))},
    "quote_fidelity": {"quotes_in_file": (True, False)},
    "citation_coverage": {
        "result": result(Claim(QUOTE, (citation(),)), Claim("Also.", (), Support(0.9, 1.0))),
    },
    "claims_carried": {"result": result(Claim("k is 60 everywhere.", (citation(),), Support(0.9, 0.5)))},
    "key_fact_recall": {"result": result(Claim("It was chosen.", (citation(quote="It was chosen."),)))},
    "forbidden_facts_avoided": {"result": result(Claim(f"{QUOTE} Or 600.", (citation(quote=f"{QUOTE} Or 600."),)))},
    "faithfulness": verdict(supported=(True, False)),
    "answer_relevance": verdict(relevance=0.1),
    "context_precision": {"contexts": (OTHER, OTHER, OTHER, found())},
    "context_recall": {"contexts": (found(text="k is 60."), found()), "question": question(
        expected=[{"paper_id": "fusion", "pages": [2], "passages": ["constant k is 60", "in two pilots"]}])},
    "correctness": verdict(correctness=0.5),
    "latency_s": {"seconds": 20.0},
    "tokens": {"result": result(usage=Usage(1, 10, 90))},
    "cost_usd": {"result": result(usage=Usage(1, 1, 1, 9.0))},
}  # fmt: skip


def test_a_good_answer_is_green_in_every_metric() -> None:
    """Each metric is measured here: one that says nothing about a good answer could not turn red
    for a bad one."""
    values = means([values_of(case) for case in (good_case(), refused_case())])

    assert red(good_case()) == set()
    assert [name for name, value in values.items() if value is None] == []


@pytest.mark.parametrize("broken", BROKEN)
def test_an_answer_wrong_in_one_way_turns_that_metric_red_and_nothing_else(broken: str) -> None:
    """A metric that shows another fault than its own sends the reader to the wrong room."""
    assert red(good_case(**BROKEN[broken])) == {broken}


def test_refusals_are_measured_both_ways_and_one_does_not_hide_the_other() -> None:
    """A system that refuses everything has the best recall, one that refuses nothing cannot be
    wrong to refuse."""
    refused_wrongly = good_case(result=result(refused=True), quotes_in_file=(), verdict=None)
    answered = replace(refused_case(), result=result(question_id="q2"))
    of_refusals = {"refusal_precision", "refusal_recall"}

    assert red(good_case(), refused_wrongly) & of_refusals == {"refusal_precision"}
    assert red(good_case(), answered) & of_refusals == {"refusal_recall"}
    assert {*BROKEN, *of_refusals} == {metric.name for metric in METRICS}, (
        "every metric is broken here once"
    )


def test_rankings_are_scored_by_hand_computed_values() -> None:
    """A metric that is computed over the wrong thing looks like any other number."""
    asked = question(expected=[{"paper_id": "fusion", "pages": [2]}, {"paper_id": "metrics"}])
    hits = (found("other", 1), found("fusion", 2), found("fusion", 3), found("third", None))

    values = values_of(good_case(question=asked, hits=hits, k=3))

    assert values["paper_recall_at_k"] == pytest.approx(1 / 2)
    assert values["paper_mrr"] == pytest.approx(1 / 2)
    assert values["paper_ndcg"] == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert values["page_recall_at_k"] == pytest.approx(1.0)
    assert values["page_mrr"] == pytest.approx(1 / 2)


def test_without_a_judge_only_its_own_metrics_are_not_measured() -> None:
    """A figure that needs a model must be empty without one, not a guess."""
    values = values_of(good_case(verdict=None))

    assert [
        name for name, value in values.items() if value is None and not name.startswith("refusal")
    ] == [
        "answer_relevance",
        "correctness",
    ]
    written = result(Claim("k is 60 by habit.", (citation(),)))
    assert values_of(good_case(verdict=None, result=written))["faithfulness"] is None, (
        "words of a model need a judge"
    )


def test_quotes_of_the_record_of_a_paper_are_not_looked_for_in_its_file() -> None:
    """The record may come from a bibliography, and has labels of our own: an answer that names the
    authors made the fidelity red."""
    text = chunk("fusion", QUOTE)
    record = replace(chunk("fusion", "Authors: Ada Lund"), section_title=TITLE_PAGE_HEADING)
    engine, files = Mock(), Mock()
    engine.chunks.return_value = {one.chunk_id: one for one in (text, record)}
    engine.search.return_value, engine.standalone.return_value = [], question()
    claims = [
        Claim(one.text, (replace(citation(quote=one.text), chunk_id=one.chunk_id),))
        for one in (text, record)
    ]

    case_of(engine, files, question(), result(*claims))

    files.have_quotes.assert_called_once_with([("fusion.xml", QUOTE)])


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
