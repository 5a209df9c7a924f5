"""Parsing papers: the best file of each paper first, the next one when that fails.

`parse_papers` sends the files of each attempt to a worker, round by round, and keeps every document
at once, so that a killed run repeats none.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from rag_assets.core.domain import BlockKind, Document, PageSource, Zone
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.folding import letters_of
from rag_assets.core.workforce.seam import Spread
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import KnownFiles, is_pdf
from rag_assets.parsing.registry import installed_extras, parser_of
from rag_assets.parsing.shared.files.raw import RawFile, hashed_content
from rag_assets.parsing.store import DocumentStore, demand_promises, packed_document

_WITHOUT_SUBJECT = (Zone.TITLE_PAGE, Zone.STATEMENTS, Zone.BACK)
_STRETCH, _N_STRETCHES, _LEAST_PRINTED = 20, 200, 200
_LEAST_SHARED = 0.1
"""The least share of stretches of 20 letters. Measured on 13 pairs of TEI and PDF: .78 or more of a
paper's own, .03 or less of any other's."""
PageWork = Callable[[Document, RawFile, ParsingSettings], Document]


@dataclass(frozen=True)
class Attempt:
    """An examined paper, which of its files is parsed next, and why the better ones failed."""

    paper: Paper
    at: int = 0
    """Index of the file; beyond the last when none is left."""
    failures: tuple[str, ...] = ()
    """Why each file before it failed, or the alignment with the PDF: whole sentences."""
    is_pdf_given_up: bool = False

    @property
    def file(self) -> PaperFile | None:
        files = self.paper.files
        return files[self.at] if self.at < len(files) and not self.paper.problem else None

    @property
    def pdf(self) -> PaperFile | None:
        """The PDF beside the file, which can give pages to its document; None where the file is the
        PDF."""
        if self.is_pdf_given_up or self.file is None or is_pdf(self.file):
            return None
        return next(filter(is_pdf, self.paper.files), None)

    @property
    def error(self) -> str:
        """Why nothing of the paper can be used."""
        return self.paper.problem or " ".join(self.failures)

    def after(self, failure: Failure) -> "Attempt":
        """The next attempt. A lost worker may be due to the PDF, so the file is tried once without
        it."""
        if self.file is None:
            return self
        if failure.is_worker_lost and self.pdf:
            return self.without(self.pdf, failure.reason)
        note = _sentence(self.file, failure.reason)
        return replace(self, at=self.at + 1, failures=(*self.failures, note))

    def without(self, pdf: PaperFile, reason: str) -> "Attempt":
        """The attempt at the same file without its PDF."""
        return replace(
            self, failures=(*self.failures, _no_pages_from(pdf, reason)), is_pdf_given_up=True
        )

    def past_unusable(self) -> "Attempt":
        """The attempt at the next file that has no known problem."""
        attempt = self
        while (file := attempt.file) and file.problem:
            attempt = attempt.after(Failure(file.problem, is_worker_lost=False))
        return attempt


@dataclass(frozen=True)
class FilesOfAttempt:
    """What a worker needs for one attempt."""

    attempt: Attempt
    file: RawFile
    pdf: RawFile | None
    """That of `attempt.pdf`."""


@dataclass(frozen=True)
class MadeDocument:
    """What a worker made of the files of an attempt."""

    packed: bytes
    """The document as the store keeps it."""
    summary: Document
    """The document without its blocks."""
    kinds: Counter[BlockKind]
    """How many blocks it has of each kind."""
    is_after_failure: bool
    """A file of the paper failed, or the alignment with its PDF."""


def parse_files(files: FilesOfAttempt, settings: ParsingSettings) -> MadeDocument:
    """Parse the file and give it pages. Raises UnreadableDocument, also for a broken promise."""
    attempt, file = files.attempt, files.attempt.file
    if file is None or file.format is None:
        raise UnreadableDocument(file.problem if file else "No file is left to be parsed.")
    document = parser_of(file.format)(files.file, settings)
    _demand_text(document)
    if file.read_by:
        document = replace(document, notes=(f"Read by {file.read_by}.", *document.notes))
        if files.pdf:
            _demand_same_paper(document, files.pdf, settings)
    if pdf := files.file if is_pdf(file) else files.pdf:
        document = _with_front(document, pdf, settings)
    notes = list(attempt.failures)
    if attempt.pdf and files.pdf and (page_work := _page_work(document)):
        try:
            document = page_work(document, files.pdf, settings)
        except UnreadableDocument as error:
            notes.append(_no_pages_from(attempt.pdf, str(error)))
    document = replace(document, notes=(*notes, *document.notes))
    demand_promises(document)
    return MadeDocument(
        packed_document(document),
        replace(document, blocks=()),
        kinds_of(document),
        bool(notes or document.n_pages_unread or document.n_pages_cut),
    )


def kinds_of(document: Document) -> Counter[BlockKind]:
    return Counter(block.kind for block in document.blocks)


def _sentence(file: PaperFile, reason: str) -> str:
    """The reason behind the name of the file, or of what GROBID made of it."""
    name = (
        f"{file.read_by}'s reading of {file.relative}"
        if file.read_by and file.format
        else file.relative
    )
    return reason if reason.startswith(file.relative) else f"{name} {reason}"


def _no_pages_from(pdf: PaperFile, reason: str) -> str:
    return f"No pages could be taken from the PDF: {_sentence(pdf, reason)}"


def _demand_text(document: Document) -> None:
    has_text = any(
        block.text.strip()
        and block.kind is not BlockKind.HEADING
        and block.zone not in _WITHOUT_SUBJECT
        for block in document.blocks
    )
    if not has_text:
        raise UnreadableDocument(
            "holds no text besides headings, statements and back matter. Replace it with the full paper."
        )


def _demand_same_paper(document: Document, pdf: RawFile, settings: ParsingSettings) -> None:
    """Raise UnreadableDocument where almost no stretch of a server's reading is in the PDF: it is
    another paper's."""
    from rag_assets.parsing.formats.pdf.file import text_layer  # loads the PDF engine

    try:
        printed = letters_of(text_layer(pdf.content, settings.limits.max_pages))
    except UnreadableDocument:
        return
    read = letters_of(document.text)
    step = max(len(read) // _N_STRETCHES, _STRETCH)
    found = [read[at : at + _STRETCH] in printed for at in range(0, len(read) - _STRETCH + 1, step)]
    if len(printed) > _LEAST_PRINTED and sum(found) < _LEAST_SHARED * len(found):
        raise UnreadableDocument("is of another paper: hardly any of its words are in the PDF.")


def _with_front(document: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """The document with the first pages of its PDF; without them where they cannot be read."""
    from rag_assets.parsing.formats.pdf.document import printed_front  # loads the PDF engine

    try:
        return replace(document, printed=printed_front(pdf, settings))
    except UnreadableDocument:
        return document


def _page_work(document: Document) -> PageWork | None:
    """The function that adds pages from the paper's PDF: all of them, or those not proved; None if
    none are missing."""
    from rag_assets.parsing.places.document import align_to_pdf, fill_from_pdf, has_gaps

    if document.page_source is PageSource.NONE:
        return align_to_pdf
    is_partial = document.page_source is PageSource.COORDS and any(
        has_gaps(block.spans) for block in document.blocks
    )
    return fill_from_pdf if is_partial else None


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
