"""Questions put to the product's engine, and what is measured of each."""

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from benchmarks.quality.measures import (
    DEPTH,
    Found,
    SaidSentence,
    retrieval_measures,
    sentence_measures,
)
from benchmarks.quality.questions import AskedQuestion
from benchmarks.quality.runs import Row
from rag_assets.core.domain import Claim, Context, Hit
from rag_assets.core.errors import InvalidQuestions
from rag_assets.engine import Engine

BUDGETS = (1000, 3000, 6000, 10000)
"""Tokens of packed context; the last is what an answerer gets by default."""
N_SEEN = 5
Returned = TypeVar("Returned")
Ask = Callable[[Engine, AskedQuestion], Row]


def ask_for_hits(engine: Engine, question: AskedQuestion) -> Row:
    """Search and packing, as `retrieve` and every answer do it."""
    contexts: dict[int, list[Found]] = {budget: [] for budget in BUDGETS}
    try:
        hits, cost = _timed(lambda: engine.search(question.text, DEPTH))
    except InvalidQuestions:  # "Why was this?" has no word to search for, so nothing is found
        hits, cost = [], {}
    else:
        for budget in BUDGETS:
            contexts[budget] = [
                _of_context(one)
                for one in engine.evidence(question.text, budget_tokens=budget).contexts
            ]
    found = [_of_hit(hit) for hit in hits]
    return Row(
        question.id, question.text, question.group, question.half,
        retrieval_measures(question, found, contexts), cost, {"hits": _seen(hits[:N_SEEN])},
    )  # fmt: skip


def ask_for_answer(engine: Engine, question: AskedQuestion) -> Row:
    """The whole answer, as `ask` gives it."""
    try:
        trace, cost = _timed(lambda: engine.trace(question.text))
    except InvalidQuestions:
        return Row(
            question.id, question.text, question.group, question.half,
            sentence_measures(question, [], []), {}, {"said": []},
        )  # fmt: skip
    said, nearest = (
        [_said(claim) for claim in claims] for claims in (trace.result.claims, trace.result.nearest)
    )
    return Row(
        question.id, question.text, question.group, question.half,
        sentence_measures(question, said, nearest), {} if trace.n_cached else cost,
        {"said": [one.quote for one in said], "papers": [sorted(one.papers) for one in said]},
    )  # fmt: skip


def _timed(work: Callable[[], Returned]) -> tuple[Returned, dict[str, float]]:
    """What was returned, and the seconds it took: on the clock, and of the processor in all
    threads."""
    started, cpu_started = time.perf_counter(), time.process_time()
    done = work()
    return done, {"clock": time.perf_counter() - started, "cpu": time.process_time() - cpu_started}


def _of_hit(hit: Hit) -> Found:
    return Found(hit.chunk.text, hit.chunk.paper_id, hit.chunk.page_start, hit.chunk.page_end)


def _of_context(context: Context) -> Found:
    return Found(context.text, context.paper_id, context.page_start, context.page_end)


def _said(claim: Claim) -> SaidSentence:
    quotes = " ".join(citation.quote for citation in claim.citations)
    return SaidSentence(quotes, frozenset(citation.paper_id for citation in claim.citations))


def _seen(hits: Sequence[Hit]) -> list[dict[str, Any]]:
    return [
        {
            "paper": hit.chunk.paper_id,
            "pages": [hit.chunk.page_start, hit.chunk.page_end],
            "chunk": hit.chunk.chunk_id,
        }
        for hit in hits
    ]
