"""Parsing papers: of each the best file first, the next one when that fails.

`parse_papers` runs the attempts in worker processes, round by round, and keeps every document and every failure at
once, so that a killed run repeats neither. `parse_attempt` is one attempt, in a worker.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rag_assets.domain import BlockKind, Document, PageSource, Source, Zone
from rag_assets.errors import UnreadableDocument
from rag_assets.incremental import fingerprint
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.document_promises import demand_promises
from rag_assets.parsing.files.raw import RawFile, hashed_content, head_and_sha256
from rag_assets.parsing.registry import expected_sources, parser_of, sniff, suffix_rank
from rag_assets.parsing.store import DocumentStore
from rag_assets.parsing.worker_process import Failure
from rag_assets.parsing.workers import run_limited
from rag_assets.settings import ParsingSettings

_WITHOUT_SUBJECT = (Zone.TITLE_PAGE, Zone.STATEMENTS, Zone.BACK)

Report = Callable[[int, int], None]
PageWork = Callable[[Document, RawFile, ParsingSettings], Document]


@dataclass(frozen=True)
class ParseJob:
    """Settings of a run, and where it keeps documents."""

    settings: ParsingSettings
    store: DocumentStore
    n_workers: int = 0
    """0: one per core."""


@dataclass(frozen=True)
class Fingerprints:
    """The fingerprints that the document of a paper may have. Each covers all that such a document follows from."""

    first_file: str
    """Of a document made from the first file that can be parsed, and from nothing else."""
    with_pdf: str
    """Of one that was made from that file and got pages from the PDF beside it: covers the reading of the PDF, too."""
    after_failure: str
    """Of one that was made after something failed: covers all files, the limits and the installed extras, too, because
    what failed may succeed when these change."""

    def any_of(self) -> tuple[str, ...]:
        return self.first_file, self.with_pdf, self.after_failure


@dataclass(frozen=True)
class Attempt:
    """A paper, which of its files is parsed next, and why the better ones failed."""

    paper: Paper
    """Its files are ranked."""
    fingerprints: Fingerprints
    at: int = 0
    """Index of the file; beyond the last when none is left."""
    failures: tuple[str, ...] = ()
    """Why each file before it failed, or the alignment with the PDF: whole sentences."""
    is_pdf_given_up: bool = False

    @property
    def file(self) -> PaperFile | None:
        files = self.paper.files
        return files[self.at] if self.at < len(files) else None

    @property
    def pdf(self) -> PaperFile | None:
        """The PDF that can give pages to the document of the file."""
        return pdf_beside(self.file, self.paper.files) if self.file and not self.is_pdf_given_up else None

    @property
    def key(self) -> str:
        """Names this attempt in the store, should it fail."""
        parts = [file.relative for file in (self.file, self.pdf) if file]
        return fingerprint(self.fingerprints.after_failure, parts)

    def after(self, failure: Failure) -> "Attempt":
        """The next attempt. A lost worker may be the PDF's fault, so the file is tried once without it."""
        if self.file is None:
            return self
        if failure.is_worker_lost and self.pdf:
            note = _no_pages_from(self.pdf, failure.reason)
            return replace(self, failures=(*self.failures, note), is_pdf_given_up=True)
        note = _sentence(self.file, failure.reason)
        return replace(self, at=self.at + 1, failures=(*self.failures, note))


@dataclass(frozen=True)
class Parsed:
    """What came of a successful attempt; the document itself is in the store."""

    fingerprint: str
    summary: Document
    """The document without its blocks."""
    n_blocks: int


def ranked(paper: Paper, settings: ParsingSettings) -> Paper:
    """The paper with the format and hash of each file, best file first by `settings.source_order`.

    A file that cannot be parsed gets its problem, and the rank that its suffix promises.
    """
    if paper.problem:
        return paper
    order = settings.source_order

    def rank(file: PaperFile) -> tuple[int, int, str]:
        sources = (file.format.source,) if file.format else expected_sources(file.path.name)
        best = min((order.index(source) for source in sources if source in order), default=len(order))
        return best, suffix_rank(file.path.name), file.relative

    return replace(paper, files=tuple(sorted((_examined(file, settings) for file in paper.files), key=rank)))


def pdf_beside(file: PaperFile, others: Sequence[PaperFile]) -> PaperFile | None:
    """The PDF among the `others` that can give pages to the document of a file; None for a PDF itself."""
    pdfs = [other for other in others if other.format and other.format.source is Source.PDF]
    return None if file in pdfs else next(iter(pdfs), None)


def parse_papers(papers: Sequence[Attempt], job: ParseJob, report: Report) -> list[tuple[Attempt, Parsed | None]]:
    """Parse each paper from the best of its files that can be parsed, starting with the given attempts.

    Returns the last attempt of each paper with what came of it, None when all files failed; in the order of the
    papers. `report(n_done, n_total)` counts papers.
    """
    done: dict[str, tuple[Attempt, Parsed | None]] = {}

    def settle(attempt: Attempt, parsed: Parsed | None) -> None:
        done[attempt.paper.paper_id] = attempt, parsed
        report(len(done), len(papers))

    attempts = []
    for first in papers:
        following = _next(first, job.store)
        if parsed := _kept(first, job.store):
            settle(first, parsed)
        elif following.file:
            attempts.append(following)
        else:
            settle(following, None)
    while attempts:
        failed = []
        work = partial(parse_attempt, job=job)
        for index, result in run_limited(work, attempts, job.settings.limits, job.n_workers):
            if isinstance(result, Parsed):
                settle(attempts[index], result)
                continue
            job.store.put_failure(attempts[index].key, result)
            following = _next(attempts[index].after(result), job.store)
            if following.file:
                failed.append(following)
            else:
                settle(following, None)
        attempts = failed
    return [done[first.paper.paper_id] for first in papers]


def parse_attempt(attempt: Attempt, job: ParseJob) -> Parsed:
    """Parse the file, give it pages, and keep the document. Raises UnreadableDocument, also for a broken promise."""
    file = attempt.file
    if file is None or file.format is None:
        raise UnreadableDocument(file.problem if file else "No file is left to be parsed.")
    document = parser_of(file.format)(_content_of(file, attempt.paper), job.settings)
    _demand_text(document)
    notes, kept_as = list(attempt.failures), attempt.fingerprints.first_file
    if attempt.pdf and (page_work := _page_work(document)):
        kept_as = attempt.fingerprints.with_pdf
        try:
            document = page_work(document, _content_of(attempt.pdf, attempt.paper), job.settings)
        except UnreadableDocument as error:
            notes.append(_no_pages_from(attempt.pdf, str(error)))
    document = replace(document, notes=(*notes, *document.notes))
    demand_promises(document)
    if notes:
        kept_as = attempt.fingerprints.after_failure
    job.store.put(kept_as, document)
    return _summary(kept_as, document)


def _examined(file: PaperFile, settings: ParsingSettings) -> PaperFile:
    """The file with the format and hash of its content, or the problem."""
    if file.problem:
        return file
    try:
        head, sha256 = head_and_sha256(file.path)
    except OSError as error:
        return replace(
            file, problem=f"cannot be opened ({error.strerror}). Give this user the right to read it, or remove it."
        )
    try:
        known = sniff(file.path.name, head)
    except UnreadableDocument as error:
        return replace(file, sha256=sha256, problem=str(error))
    problem = ""
    if known.source not in settings.source_order:
        problem = f"is {known.source}, which parsing.source_order leaves out. Add it there."
    elif known.source is Source.TEXT and not settings.use_text_txt:
        problem = "is text, and parsing.use_text_txt is off. Switch it on, or provide TEI or PDF."
    return replace(file, sha256=sha256, format=None if problem else known, problem=problem)


def _kept(attempt: Attempt, store: DocumentStore) -> Parsed | None:
    """What an earlier run made of the paper, if it is in the store."""
    for known in attempt.fingerprints.any_of():
        if store.has(known):
            return _summary(known, store.get(known))
    return None


def _next(attempt: Attempt, store: DocumentStore) -> Attempt:
    """Go past the files of which it is known that they fail, by their content or from a run that was killed."""
    while file := attempt.file:
        failure = store.failure(attempt.key) if file.format else Failure(file.problem, is_worker_lost=False)
        if failure is None:
            break
        attempt = attempt.after(failure)
    return attempt


def _content_of(file: PaperFile, paper: Paper) -> RawFile:
    return RawFile(paper.paper_id, file.relative, hashed_content(file.path, file.sha256))


def _sentence(file: PaperFile, reason: str) -> str:
    return reason if reason.startswith(file.relative) else f"{file.relative} {reason}"


def _no_pages_from(pdf: PaperFile, reason: str) -> str:
    return f"No pages could be taken from the PDF: {_sentence(pdf, reason)}"


def _summary(kept_as: str, document: Document) -> Parsed:
    return Parsed(kept_as, replace(document, blocks=()), len(document.blocks))


def _demand_text(document: Document) -> None:
    has_text = any(
        block.text.strip() and block.kind is not BlockKind.HEADING and block.zone not in _WITHOUT_SUBJECT
        for block in document.blocks
    )
    if not has_text:
        raise UnreadableDocument(
            "holds no text besides headings, statements and back matter. Replace it with the full paper."
        )


def _page_work(document: Document) -> PageWork | None:
    """What the paper's PDF can do for the pages of a document: all of them, what is not proved, or nothing."""
    from rag_assets.parsing.alignment.document import align_to_pdf, fill_from_pdf
    from rag_assets.parsing.alignment.gaps import has_gaps

    if document.page_source is PageSource.NONE:
        return align_to_pdf
    is_partial = document.page_source is PageSource.COORDS and any(has_gaps(block.spans) for block in document.blocks)
    return fill_from_pdf if is_partial else None
