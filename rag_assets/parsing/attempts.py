"""Parsing papers: the best file of each paper first, the next one when that fails.

`parse_papers` sends the files of each attempt to a worker, round by round, and keeps every document
at once, so that a killed run repeats none. The work of a worker is in `one_attempt`.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from rag_assets.core.domain import BlockKind, Document
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import KnownFiles
from rag_assets.parsing.one_attempt import (
    Attempt,
    FilesOfAttempt,
    MadeDocument,
    kinds_of,
    parse_files,
)
from rag_assets.parsing.registry import installed_extras
from rag_assets.parsing.shared.files.raw import RawFile, hashed_content
from rag_assets.parsing.store import DocumentStore

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class ParseJob:
    """Settings of a run, and where it keeps documents."""

    settings: ParsingSettings
    store: DocumentStore
    spread: Spread
    """Does the work on papers, within `settings.limits`."""
    known: KnownFiles = field(default_factory=KnownFiles)

    def after_failure(self, paper: Paper) -> str:
        """Fingerprint of a paper when one of its files, or a page, cannot be read: it includes the
        limits and the installed extras, because with others that may succeed."""
        return fingerprint(paper.fingerprint, self._may_let_it_succeed)

    @cached_property
    def _may_let_it_succeed(self) -> tuple[str, list[str]]:
        return self.settings.limits.fingerprint(), installed_extras()

    def kept_as(self, paper: Paper) -> str | None:
        """The fingerprint under which a run that was killed kept the document of a paper; None if
        it kept none."""
        return next(
            (
                known
                for known in (paper.fingerprint, self.after_failure(paper))
                if self.store.has(known)
            ),
            None,
        )


@dataclass(frozen=True)
class Parsed:
    """The result of a successful attempt; the document itself is in the store."""

    fingerprint: str
    summary: Document
    """The document without its blocks."""
    kinds: Counter[BlockKind]
    """How many blocks it has of each kind."""


def parse_papers(
    papers: Sequence[Paper], job: ParseJob, report: Report
) -> list[tuple[Attempt, Parsed | None]]:
    """Parse each examined paper from the best of its files that can be parsed.

    Returns the last attempt of each paper with what came of it, None when all files failed; in the
    order of the papers. `report(n_done, n_total)` counts papers.
    """
    done: dict[str, tuple[Attempt, Parsed | None]] = {}

    def settle(attempt: Attempt, parsed: Parsed | None) -> None:
        done[attempt.paper.paper_id] = attempt, parsed
        report(len(done), len(papers))

    following = []
    for paper in papers:
        if kept_as := job.kept_as(paper):
            document = job.store.get(kept_as)
            settle(
                Attempt(paper), Parsed(kept_as, replace(document, blocks=()), kinds_of(document))
            )
        else:
            following.append(Attempt(paper))
    while following:
        attempts = []
        for attempt in (after.past_unusable() for after in following):
            if attempt.file:
                attempts.append(attempt)
            else:
                settle(attempt, None)
        following = []
        work = partial(parse_files, settings=job.settings)
        with closing(job.spread(work, _files_of(attempts, job, following))) as results:
            for files, result in results:
                if isinstance(result, MadeDocument):
                    settle(files.attempt, _kept(files.attempt.paper, result, job))
                else:
                    following.append(files.attempt.after(result))
    return [done[paper.paper_id] for paper in papers]


def _files_of(
    attempts: Sequence[Attempt], job: ParseJob, following: list[Attempt]
) -> Iterator[FilesOfAttempt]:
    """The files of the attempts, read one attempt after the other. Where one cannot be read any
    more, the attempt after it is added to `following`."""
    for attempt in attempts:
        try:
            yield read_files(attempt, job)
        except UnreadableDocument as error:
            following.append(attempt.after(Failure(str(error), is_worker_lost=False)))


def read_files(attempt: Attempt, job: ParseJob) -> FilesOfAttempt:
    """The files of an attempt that has one; without a PDF that cannot be read any more. Raises
    UnreadableDocument when the file itself is not as it was examined."""
    if attempt.file is None:
        raise UnreadableDocument("No file is left to be parsed.")
    file, pdf = _content_of(attempt.file, job, attempt.paper), None
    if attempt.pdf:
        try:
            pdf = _content_of(attempt.pdf, job, attempt.paper)
        except UnreadableDocument as error:
            attempt = attempt.without(attempt.pdf, str(error))
    return FilesOfAttempt(attempt, file, pdf)


def _kept(paper: Paper, made: MadeDocument, job: ParseJob) -> Parsed:
    kept_as = job.after_failure(paper) if made.is_after_failure else paper.fingerprint
    job.store.put(kept_as, made.packed)
    return Parsed(kept_as, made.summary, made.kinds)


def _content_of(file: PaperFile, job: ParseJob, paper: Paper) -> RawFile:
    if file.problem:
        raise UnreadableDocument(file.problem)
    content = (
        job.store.readings.get(file.sha256)
        if file.read_by
        else hashed_content(file.path, file.sha256)
    )
    if content is None:
        raise UnreadableDocument("is not kept any more. Run again.")
    return RawFile(paper.paper_id, file.relative, content)
