"""Tables that are made paper by paper: which papers must be made again, and the work on each in a
worker."""

from collections import Counter
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from rag_assets.core.incremental import fingerprint, plan_update
from rag_assets.core.paper_tables import Made, PapersUpdate, QuarantinedPaper, RowsByPaper
from rag_assets.core.promises import Offenders
from rag_assets.core.tables import packed, unpacked
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread


@dataclass(frozen=True)
class PaperJob:
    """A paper as it is sent to a worker."""

    paper_id: str
    file_path: str
    """For messages."""
    packed: bytes
    """Its rows of the table that the new rows are made from, see `tables.packed`."""
    fingerprint: str
    """Stored with the rows that are made."""
    title: str = ""
    summaries: Mapping[str, str] = field(default_factory=dict)
    """By chunk_id; chunks without one are left out."""


PaperOutcome = bytes | QuarantinedPaper
"""The packed rows made of a paper, or why it cannot be used."""
Texts = Callable[[str], tuple[str, Mapping[str, str]]]


def no_texts(_paper_id: str) -> tuple[str, Mapping[str, str]]:
    return "", {}


def update_each(
    published: RowsByPaper,
    inputs: RowsByPaper,
    made_with: Callable[[str], Iterable[object]],
    work: Callable[[PaperJob], PaperOutcome],
    spread: Spread,
    *,
    texts: Texts = no_texts,
    n_rows: int | None = None,
) -> PapersUpdate:
    """Bring a table up to date with the papers of another, a paper's rows in order.

    made_with: by paper_id, everything but the rows of `inputs` that its new rows follow from.
    spread: does the work on papers; a paper that ends its worker is quarantined. texts: title and
    summaries of a job. n_rows: the first so many rows of a paper are enough; None: all.
    """
    wanted = {
        paper: fingerprint(made_of, *made_with(paper)) for paper, made_of in inputs.papers.items()
    }
    plan = plan_update(published.known, wanted)

    def jobs() -> Iterator[PaperJob]:
        for paper_id, own in inputs.rows(plan.to_build):
            rows, file_path = packed(own.slice(0, n_rows)), own["file_path"][0].as_py()
            yield PaperJob(paper_id, file_path, rows, wanted[paper_id], *texts(paper_id))

    def made() -> Generator[tuple[str, Made]]:
        with closing(spread(work, jobs())) as results:
            for job, result in results:
                if isinstance(result, Failure):
                    result = QuarantinedPaper.lost(
                        job.paper_id, job.file_path, result, job.fingerprint
                    )
                yield job.paper_id, unpacked(result) if isinstance(result, bytes) else result

    return PapersUpdate(plan, wanted, made())


@dataclass(frozen=True)
class EachPaperCandidate:
    """A table before publication that must have rows of each paper with text, and of no other."""

    rows: Collection[str]
    """paper_id of each row, or of each paper with rows."""
    papers: Collection[str]
    """paper_id of each paper with text."""
    quarantined: Sequence[QuarantinedPaper] = ()

    @property
    def not_one_each(self) -> Offenders:
        lost = {paper.paper_id for paper in self.quarantined}
        return not_one_each(self.rows, {*self.papers} - lost)


def not_one_each(rows: Iterable[str], papers: Collection[str]) -> Offenders:
    """Papers that have no row or several, and rows of no paper. rows: paper_id of each."""
    n_rows = Counter(list(rows))  # of a mapping, the keys
    return [
        {"paper_id": paper, "n_rows": n_rows[paper], "has_text": paper in papers}
        for paper in sorted({*n_rows, *papers})
        if n_rows[paper] != (paper in papers)
    ]
