"""Brings the summaries of papers up to date: papers whose text or summarizer changed are summarised again.

If a model cannot summarise a paper for now, its published summary stays as long as all its quotes are in published
chunks, and the next run asks again. What must hold before they are published is at the end.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.answering.drafts import REFUSAL
from rag_assets.answering.promises import ANSWER_PROMISES, Published, promised
from rag_assets.answering.summarizers import QUESTIONS, PaperSummarizer
from rag_assets.answering.wording import worded
from rag_assets.core.domain import Chunk, PaperPoint, Point, QAResult
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.tables import (
    PAPER_SUMMARIES,
    by_paper,
    chunks_from,
    fingerprints_by,
    merged,
    paper_point_row,
    rows_of,
    rows_without,
    to_table,
)
from rag_assets.hosted.connections import ask_each

Report = Callable[[int, int], None]
"""Called with (done, total) papers."""


@dataclass(frozen=True)
class PaperSummaryUpdate:
    """The table as it should be published."""

    table: pa.Table
    """Schema PAPER_SUMMARIES, sorted by paper and point."""
    plan: UpdatePlan
    made: tuple[PaperPoint, ...]
    """The points made in this run."""
    left: Mapping[str, str]
    """Reasons, by id of the papers that could not be summarised in this run."""


def without_paper_summaries(published: pa.Table) -> PaperSummaryUpdate:
    """The update without a model: an empty table."""
    return PaperSummaryUpdate(
        PAPER_SUMMARIES.empty_table(), plan_update(fingerprints_by(published, "paper_id"), {}), (), {}
    )


def update_paper_summaries(
    published: pa.Table,
    made_of: pa.Table,
    read_chunks: Callable[[Sequence[str]], pa.Table],
    summarizer: PaperSummarizer,
    *,
    settings: str,
    n_at_once: int,
    report: Report,
) -> PaperSummaryUpdate:
    """Bring the summaries up to date with the papers that have chunks, `n_at_once` papers side by side.

    published: schema PAPER_SUMMARIES. made_of: paper_id, chunk_id and fingerprint of the chunks. read_chunks: gives the
    chunks of some papers, schema CHUNKS, sorted by paper, a paper's chunks in order. settings: fingerprint of the
    settings. Faults: as in `ask_each`.
    """
    wanted = {
        paper: fingerprint(version, summarizer.identity, settings)
        for paper, version in fingerprints_by(made_of, "paper_id").items()
    }
    to_do = plan_update(fingerprints_by(published, "paper_id"), wanted)
    if to_do.is_noop:
        return PaperSummaryUpdate(published, to_do, (), {})
    n_papers = len(to_do.to_build)
    chunks = list(by_paper(read_chunks(to_do.to_build))) if n_papers else []
    points, faults = ask_each(
        chunks, lambda own: summarizer.points(chunks_from(own)), n_at_once, lambda n_done: report(n_done, n_papers)
    )
    made = [point for paper in points.values() for point in paper]
    left = {paper: str(fault) for paper, fault in faults.items()}
    drop = set(to_do.to_drop) - _still_hold(rows_of(published, "paper_id", left), made_of)
    rows = [paper_point_row(point, wanted[point.paper_id]) for point in made]
    table = merged(rows_without(published, "paper_id", drop), to_table(rows, PAPER_SUMMARIES), ["paper_id", "point"])
    plan = plan_update(fingerprints_by(published, "paper_id"), fingerprints_by(table, "paper_id"))
    return PaperSummaryUpdate(table, plan, tuple(made), left)


def _still_hold(kept: pa.Table, made_of: pa.Table) -> set[str]:
    chunk_ids = set(made_of["chunk_id"].to_pylist())
    cited: dict[str, set[str]] = {paper: set() for paper in kept["paper_id"].to_pylist()}
    for row in kept.select(["paper_id", "claims"]).to_pylist():
        cited[row["paper_id"]] |= {one["chunk_id"] for claim in row["claims"] for one in claim["citations"]}
    return {paper for paper, ids in cited.items() if ids <= chunk_ids}


@dataclass(frozen=True)
class PaperSummariesCandidate:
    """Summaries that wait for publication."""

    table: pa.Table
    """All summaries, schema PAPER_SUMMARIES."""
    made: Sequence[PaperPoint]
    """The points made in this run. The others were checked against chunks of the same text when they were made."""
    chunk_ids: pa.Table
    """paper_id and chunk_id of the published chunks of the papers to be summarised; empty without a model."""
    chunks: Mapping[str, Chunk]
    """The published chunks that `made` cites, by id."""
    left: Mapping[str, str]
    """Reasons, by id of the papers that could not be summarised in this run."""


def as_answer(point: PaperPoint, question_id: str, question: str) -> QAResult:
    """A point of a paper as the answer to a question; a refusal if the point has no claims."""
    return QAResult(
        question_id=question_id,
        question=question,
        answer=worded(point.claims, ()) if point.claims else REFUSAL,
        claims=point.claims,
        refused=not point.claims,
        single_source=bool(point.claims),
        sources_used=(point.paper_id,) if point.claims else (),
        unanswered=(),
        model=point.model,
        contexts=tuple(dict.fromkeys(one.chunk_id for claim in point.claims for one in claim.citations)),
        fingerprint=fingerprint(point.model, point.paper_id, str(point.point)),
    )


def _incomplete(candidate: PaperSummariesCandidate) -> Offenders:
    """Papers that do not have each point once, unless they were left; and points of other papers."""
    pairs = Counter(zip(candidate.table["paper_id"].to_pylist(), candidate.table["point"].to_pylist(), strict=True))
    papers = set(pc.unique(candidate.chunk_ids["paper_id"]).to_pylist())
    found = {paper for paper, _ in pairs}
    return [
        {"paper_id": paper, "points": {point: pairs[paper, point] for point in map(str, Point)}}
        for paper in sorted(papers | found)
        if (paper in found or paper not in candidate.left)
        and (paper not in papers or any(pairs[paper, str(point)] != 1 for point in Point))
    ]


def _citing_missing_chunks(candidate: PaperSummariesCandidate) -> Offenders:
    chunks = candidate.chunk_ids
    paper_of = dict(zip(chunks["chunk_id"].to_pylist(), chunks["paper_id"].to_pylist(), strict=True))
    rows = candidate.table.select(["paper_id", "point", "claims"]).to_pylist()
    return [
        {"paper_id": row["paper_id"], "point": row["point"], "chunk_id": one["chunk_id"], "quote": one["quote"][:200]}
        for row in rows
        for claim in row["claims"]
        for one in claim["citations"]
        if paper_of.get(one["chunk_id"]) != row["paper_id"]
    ]


def _of_answers(promise: Promise[Any]) -> Promise[PaperSummariesCandidate]:
    def found(candidate: PaperSummariesCandidate) -> Offenders:
        answers = [as_answer(one, f"{one.paper_id}/{one.point}", QUESTIONS[one.point]) for one in candidate.made]
        held = Published(candidate.chunks, {}, min_sources=1)
        broken = (one for row in answers for one in promised(row, row.question, held).left_out)
        return [{"claim": one.claim, "why": one.why} for one in broken if one.promise == promise.name]

    return Promise(promise.name, promise.sentence, found)


PAPER_SUMMARY_PROMISES: list[Promise[PaperSummariesCandidate]] = [
    Promise(
        "four_points",
        "Every paper that a model summarises has each of the four points once, and no other has one.",
        _incomplete,
    ),
    Promise(
        "of_their_papers",
        "The points of a paper quote published chunks of that paper.",
        _citing_missing_chunks,
    ),
    *(_of_answers(one) for one in ANSWER_PROMISES if one.name not in ("enough_sources", "few_withheld")),
    Promise(
        "all_summarised",
        "Every paper was summarised by what paper_summaries.model names. One that was not keeps its earlier summary "
        "where that still holds, and the next run asks again.",
        lambda candidate: [{"paper_id": paper, "why": why} for paper, why in sorted(candidate.left.items())],
        "warning",
    ),
]
