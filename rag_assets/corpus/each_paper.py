"""Updates tables that are made paper by paper: finds the papers whose rows must be made again, and
has a worker process make them."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import pyarrow as pa

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.incremental import fingerprint, plan_update
from rag_assets.core.paper_tables import Made, PapersUpdate, QuarantinedPaper, RowsByPaper
from rag_assets.core.promises import Offenders
from rag_assets.core.tables import packed, unpacked
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PaperJob:
    """The work on one paper, as it is sent to a worker process."""

    paper_id: str
    file_path: str
    """Named in messages."""
    packed: bytes
    """The paper's rows of the input table, see `tables.packed`."""
    fingerprint: str
    """Stored with the new rows. It tells the next run whether they are up to date."""
    title: str = ""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """Summaries of the paper's chunks, by chunk_id, for chunks that have one."""


PaperOutcome = bytes | QuarantinedPaper
"""The packed new rows of a paper, or the reason why it cannot be used."""
Texts = Callable[[str], tuple[str, Mapping[str, str]]]
"""Returns a paper's title and the summaries of its chunks, by paper_id."""


def no_texts(_paper_id: str) -> tuple[str, Mapping[str, str]]:
    return "", {}


def update_each(
    published: RowsByPaper,
    inputs: RowsByPaper,
    other_inputs: Callable[[str], Iterable[object]],
    work: Callable[[PaperJob], PaperOutcome],
    spread: Spread,
    *,
    texts: Texts = no_texts,
    n_rows: int | None = None,
) -> PapersUpdate:
    """Bring a table up to date with the papers of another table, `inputs`.

    other_inputs: by paper_id, everything else that a paper's new rows depend on (settings,
    versions). work: makes the rows of one paper. spread: runs `work` in worker processes; a paper
    whose worker process dies is quarantined. texts: title and summaries for the job of a paper.
    n_rows: how many of a paper's first rows `work` needs; None for all.
    """
    new_fingerprints = {
        paper: fingerprint(rows_fingerprint, *other_inputs(paper))
        for paper, rows_fingerprint in inputs.papers.items()
    }
    plan = plan_update(published.known, new_fingerprints)

    def jobs() -> Iterator[PaperJob]:
        for paper_id, paper_rows in inputs.rows(plan.to_build):
            file_path = paper_rows["file_path"][0].as_py()
            rows = packed(paper_rows.slice(0, n_rows))
            yield PaperJob(paper_id, file_path, rows, new_fingerprints[paper_id], *texts(paper_id))

    def outcomes() -> Generator[tuple[str, Made]]:
        with closing(spread(work, jobs())) as results:
            for job, result in results:
                if isinstance(result, Failure):
                    result = QuarantinedPaper.lost(
                        job.paper_id, job.file_path, result, job.fingerprint
                    )
                yield job.paper_id, unpacked(result) if isinstance(result, bytes) else result

    return PapersUpdate(plan, new_fingerprints, outcomes())


def made_or_quarantined(
    job: PaperJob,
    make: Callable[[pa.Table], pa.Table],
    broken: Callable[[pa.Table, pa.Table], Iterable[str]],
) -> PaperOutcome:
    """The packed rows that `make` makes of the paper, or the paper as quarantined with the first
    promise it breaks.

    A failure that is not the paper's fault (a missing model, a full disk) is raised, since it would
    quarantine every paper. A lack of memory is raised as well; the workforce handles it.
    """
    paper_rows = unpacked(job.packed)
    try:
        rows = make(paper_rows)
    except (RagAssetsError, OSError, MemoryError):
        raise
    except Exception as error:  # any error: one paper must not stop the others
        logger.exception("%s could not be cut", job.paper_id)
        reason = f"could not be cut, for a reason that was not foreseen ({type(error).__name__}: {error})"
    else:
        reason = next(iter(broken(rows, paper_rows)), "")
        if not reason:
            return packed(rows)
    message = f"{job.file_path} {reason}. Please report it with the file."
    return QuarantinedPaper(job.paper_id, job.file_path, message, job.fingerprint)


@dataclass(frozen=True)
class EachPaperCandidate:
    """A table before publication. Each paper with text must have rows in it, and no other paper
    may."""

    rows: Collection[str]
    """paper_id of each row, or of each paper with rows."""
    papers: Collection[str]
    """paper_id of each paper with text."""
    quarantined: Sequence[QuarantinedPaper] = ()

    @property
    def not_one_each(self) -> Offenders:
        """The papers that break this: see `not_one_each`."""
        quarantined_ids = {paper.paper_id for paper in self.quarantined}
        return not_one_each(self.rows, {*self.papers} - quarantined_ids)


def not_one_each(rows: Iterable[str], papers: Collection[str]) -> Offenders:
    """Papers with text that do not have exactly one row, and other papers that have rows.

    rows: the paper_id of each row, or a mapping by paper_id. papers: those with text.
    """
    n_rows = Counter(list(rows))  # `Counter` would take the values of a mapping as counts
    return [
        {"paper_id": paper, "n_rows": n_rows[paper], "has_text": paper in papers}
        for paper in sorted({*n_rows, *papers})
        if n_rows[paper] != int(paper in papers)
    ]
