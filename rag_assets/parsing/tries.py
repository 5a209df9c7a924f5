"""Papers through their candidates: the best file of each is tried first, the next when that one fails.

Runs the attempts in worker processes, round by round, and remembers what failed, so that a killed run repeats
neither a finished file nor one that had its time. What one attempt does is `attempts`' matter, what is changed and
what a row looks like `corpus`'.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.incremental import fingerprint
from rag_assets.parsing.attempts import (
    Attempt,
    Candidate,
    Fingerprints,
    Parsed,
    parse_attempt,
    pdf_beside,
    sentence,
    summary_of,
    without_pages,
)
from rag_assets.parsing.discovery import CandidateFile, PaperFiles
from rag_assets.parsing.store import DocumentStore
from rag_assets.parsing.worker_process import Failure
from rag_assets.parsing.workers import run_limited
from rag_assets.settings import ParseLimits, ParsingSettings

Report = Callable[[int, int], None]


def ignore_progress(n_done: int, n_total: int) -> None:
    """A report for callers that watch nothing."""


@dataclass(frozen=True)
class ParseJob:
    """With what, within which limits and by how many papers are parsed, and where documents are kept."""

    settings: ParsingSettings
    limits: ParseLimits
    store: DocumentStore
    n_workers: int = 0
    """0 is one a core."""


@dataclass(frozen=True)
class PaperToParse:
    """A paper, the hashes of its files and the fingerprints its document may have."""

    files: PaperFiles
    candidates: tuple[Candidate, ...]
    """Best first."""
    sha256s: Mapping[str, str]
    """relative path -> SHA-256 of each file that can be read."""
    fingerprints: Fingerprints

    @property
    def paper_id(self) -> str:
        return self.files.paper_id


@dataclass(frozen=True)
class Outcome:
    """How a paper fared."""

    paper: PaperToParse
    parsed: Parsed | None
    failures: tuple[str, ...]
    """Why each file failed that was tried before, whole sentences; all of them when nothing was parsed."""


@dataclass(frozen=True)
class _Try:
    """Where a paper stands among its candidates."""

    paper: PaperToParse
    at: int = 0
    failures: tuple[str, ...] = ()
    is_pdf_given_up: bool = False

    @property
    def candidate(self) -> Candidate | None:
        """The file to be tried; None when none is left."""
        candidates = self.paper.candidates
        return candidates[self.at] if self.at < len(candidates) else None

    @property
    def pdf(self) -> CandidateFile | None:
        """The PDF that can give pages to the file to be tried."""
        if self.is_pdf_given_up or self.candidate is None:
            return None
        return pdf_beside(self.candidate, self.paper.candidates)

    @property
    def key(self) -> str:
        """Names this try in the store, should it fail."""
        parts = [file.relative for file in (self.candidate and self.candidate.file, self.pdf) if file]
        return fingerprint(self.paper.fingerprints.after_failure, parts)

    def after(self, failure: Failure) -> "_Try":
        """The next try. When the worker was lost the PDF may be to blame, so the file is tried once without it."""
        candidate = self.candidate
        if candidate is None:
            return self
        if failure.is_worker_lost and self.pdf:
            note = without_pages(self.pdf, failure.reason)
            return replace(self, failures=(*self.failures, note), is_pdf_given_up=True)
        note = sentence(candidate.file, failure.reason)
        return replace(self, at=self.at + 1, failures=(*self.failures, note))


def parse_papers(papers: Sequence[PaperToParse], job: ParseJob, report: Report) -> list[Outcome]:
    """Parse each paper from the best of its files that can be parsed; outcomes in the order of the papers.

    `report(n_done, n_total)` counts papers.
    """
    outcomes: dict[str, Outcome] = {}

    def settle(outcome: Outcome) -> None:
        outcomes[outcome.paper.paper_id] = outcome
        report(len(outcomes), len(papers))

    tries = []
    for paper in papers:
        begun = _begun(paper, job)
        if isinstance(begun, Outcome):
            settle(begun)
        else:
            tries.append(begun)
    while tries:
        failed = []
        for tried, result in _run(tries, job):
            if isinstance(result, Parsed):
                settle(Outcome(tried.paper, result, tried.failures))
                continue
            job.store.put_failure(tried.key, result)
            following = _next(tried.after(result), job.store)
            if following.candidate:
                failed.append(following)
            else:
                settle(Outcome(tried.paper, None, following.failures))
        tries = failed
    return [outcomes[paper.paper_id] for paper in papers]


def _begun(paper: PaperToParse, job: ParseJob) -> _Try | Outcome:
    """The first try of a paper, or its outcome where nothing has to be run."""
    if paper.files.problem:
        return Outcome(paper, None, (paper.files.problem,))
    for known in paper.fingerprints.any_of():
        if job.store.has(known):
            return Outcome(paper, summary_of(known, job.store.get(known)), ())
    first = _next(_Try(paper), job.store)
    return first if first.candidate else Outcome(paper, None, first.failures)


def _next(tried: _Try, store: DocumentStore) -> _Try:
    """Go past what is known to fail: files of unknown content, and what failed in a run that was killed."""
    while tried.candidate:
        candidate = tried.candidate
        known = store.failure(tried.key) if candidate.source else Failure(candidate.problem, is_worker_lost=False)
        if known is None:
            break
        tried = tried.after(known)
    return tried


def _run(tries: Sequence[_Try], job: ParseJob) -> Iterator[tuple[_Try, Parsed | Failure]]:
    attempts = [_attempt(tried, candidate, job) for tried in tries if (candidate := tried.candidate)]
    for index, result in run_limited(parse_attempt, attempts, job.limits, job.n_workers):
        yield tries[index], result


def _attempt(tried: _Try, candidate: Candidate, job: ParseJob) -> Attempt:
    paper = tried.paper
    return Attempt(
        paper_id=paper.paper_id,
        candidate=candidate,
        sha256=paper.sha256s.get(candidate.file.relative, ""),
        pdf=tried.pdf,
        earlier=tried.failures,
        fingerprints=paper.fingerprints,
        settings=job.settings,
        limits=job.limits,
        documents=job.store.folder,
    )
