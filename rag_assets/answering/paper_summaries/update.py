"""Brings the summaries of papers up to date: papers whose text or summarizer changed are summarised again.

If a model cannot summarise a paper for now, its published summary stays as long as all its quotes are in published
chunks, and the next run asks again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from rag_assets.answering.paper_summaries.summarizers import PaperSummarizer
from rag_assets.core.domain import PaperPoint
from rag_assets.core.incremental import UpdatePlan, fingerprint, plan_update
from rag_assets.core.tables import (
    PAPER_SUMMARIES,
    chunks_from,
    fingerprints_by,
    map_papers,
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
    chunks = map_papers(read_chunks(to_do.to_build), lambda paper, own: (paper, own)) if n_papers else []
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
    """The papers whose published rows cite existing chunks only; a chunk's id follows from its text."""
    chunk_ids = set(made_of["chunk_id"].to_pylist())
    cited: dict[str, set[str]] = {paper: set() for paper in kept["paper_id"].to_pylist()}
    for row in kept.select(["paper_id", "claims"]).to_pylist():
        cited[row["paper_id"]] |= {one["chunk_id"] for claim in row["claims"] for one in claim["citations"]}
    return {paper for paper, ids in cited.items() if ids <= chunk_ids}
