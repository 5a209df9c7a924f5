"""Parsing papers: the best file of each paper that can be parsed makes its document; then the PDF
beside that file, if there is one, adds pages and the printed front.

Each file is an item of its own for the workers: one that ends its worker costs only what it would
have given. `parse_papers` keeps every document at once: a killed run repeats none.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from rag_assets.core.domain import BlockKind, Document, PageSource, Zone
from rag_assets.core.errors import AnotherPaper, UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.folding import letters_of
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import KnownFiles, is_pdf
from rag_assets.parsing.registry import installed_extras, parser_of
from rag_assets.parsing.shared.files import RawFile, hashed_content
from rag_assets.parsing.store import (
    DocumentStore,
    demand_promises,
    packed_document,
    unpacked_document,
)

_WITHOUT_SUBJECT = (Zone.TITLE_PAGE, Zone.STATEMENTS, Zone.BACK)
_STRETCH, _N_STRETCHES, _LEAST_PRINTED = 20, 200, 200
_LEAST_SHARED = 0.1
"""The least share of stretches of 20 letters. Measured on 13 pairs of TEI and PDF: .78 or more of a
paper's own, .03 or less of any other's."""


@dataclass(frozen=True)
class MadeDocument:
    """A document as a worker hands it back."""

    packed: bytes
    """As the store keeps it."""
    summary: Document
    """The document without its blocks."""
    kinds: Counter[BlockKind]
    """How many blocks it has of each kind."""

    @classmethod
    def of(cls, document: Document) -> "MadeDocument":
        kinds = Counter(block.kind for block in document.blocks)
        return cls(packed_document(document), replace(document, blocks=()), kinds)


@dataclass(frozen=True)
class ParseAttempt:
    """An examined paper, and how far it has come: a file to be parsed, then the PDF beside it."""

    paper: Paper
    at: int = 0
    """Index of the file that makes the document; beyond the last when none is left."""
    made: MadeDocument | None = None
    """The document of that file."""
    is_pdf_read: bool = False
    """Whether the PDF beside the file has added to the document, or failed to."""
    failures: tuple[str, ...] = ()
    """Why files failed: whole sentences."""

    @property
    def to_read(self) -> PaperFile | None:
        """The file that is read next; None when the paper is done."""
        files = () if self.paper.problem else self.paper.files[self.at :]
        if not files or self.made is None:
            return files[0] if files else None
        has_pages = self.is_pdf_read or is_pdf(files[0])
        return None if has_pages else next(filter(is_pdf, self.paper.files), None)

    def after(self, result: MadeDocument | Failure) -> "ParseAttempt":
        """The attempt when `to_read` has been read. A PDF that fails leaves the document as it
        was."""
        if isinstance(result, MadeDocument):
            return replace(self, made=result, is_pdf_read=self.made is not None)
        file, reason = self.paper.files[self.at], result.reason
        if self.made and self.to_read and not isinstance(result.raised, AnotherPaper):
            note = f"No pages could be taken from the PDF: {_sentence(self.to_read, reason)}"
            return replace(self, is_pdf_read=True, failures=(*self.failures, note))
        failures = (*self.failures, _sentence(file, reason))
        return replace(self, at=self.at + 1, made=None, failures=failures)


@dataclass(frozen=True)
class FileToRead:
    """What a worker needs for `attempt.to_read`."""

    attempt: ParseAttempt
    raw: RawFile


def read_file(file: FileToRead, settings: ParsingSettings) -> MadeDocument:
    """The document of the file, or the one that is made already with what its PDF adds. Raises
    UnreadableDocument, also for a broken promise."""
    made, source = file.attempt.made, file.attempt.paper.files[file.attempt.at]
    if made is None:
        document = _parsed(source, file.raw, settings)
    else:
        document = unpacked_document(made.packed)
        if source.read_by:
            _demand_same_paper(document, file.raw, settings)
        document = _with_pages(_with_front(document, file.raw, settings), file.raw, settings)
    demand_promises(document)
    return MadeDocument.of(document)


def _parsed(file: PaperFile, raw: RawFile, settings: ParsingSettings) -> Document:
    if file.format is None:
        raise UnreadableDocument(file.problem)
    document = parser_of(file.format)(raw, settings)
    _demand_text(document)
    if file.read_by:
        document = replace(document, notes=(f"Read by {file.read_by}.", *document.notes))
    return document


def _sentence(file: PaperFile, reason: str) -> str:
    """The reason behind the name of the file, or of what GROBID made of it."""
    name = (
        f"{file.read_by}'s reading of {file.relative}"
        if file.read_by and file.format
        else file.relative
    )
    told = reason if reason.startswith(file.relative) else f"{name} {reason}"
    return told.encode("utf-8", "replace").decode("utf-8")  # tables hold no lone surrogates


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
    """Raise AnotherPaper where almost no stretch of a server's reading is in the PDF: it is
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
        raise AnotherPaper("is of another paper: hardly any of its words are in the PDF.")


def _with_front(document: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """The document with the first pages of its PDF; without them where they cannot be read."""
    from rag_assets.parsing.formats.pdf.document import printed_front  # loads the PDF engine

    try:
        return replace(document, printed=printed_front(pdf, settings))
    except UnreadableDocument:
        return document


def _with_pages(document: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """The document with the pages that it lacks: all of them, or those not proved."""
    from rag_assets.parsing.places.document import align_to_pdf, fill_from_pdf, has_gaps

    if document.page_source is PageSource.NONE:
        return align_to_pdf(document, pdf, settings)
    is_partial = document.page_source is PageSource.COORDS and any(
        has_gaps(block.spans) for block in document.blocks
    )
    return fill_from_pdf(document, pdf, settings) if is_partial else document


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

    def kept(self, paper: Paper) -> "ParseOutcome | None":
        """What a run that was killed kept of a paper."""
        for known in (paper.fingerprint, self.after_failure(paper)):
            if self.store.has(known):
                made = MadeDocument.of(self.store.get(known))
                return ParseOutcome(paper, known, made.summary, made.kinds)
        return None


@dataclass(frozen=True)
class ParseOutcome:
    """What came of a paper; the document itself is in the store."""

    paper: Paper
    fingerprint: str
    summary: Document | None = None
    """The document without its blocks; None when nothing of the paper can be used."""
    kinds: Counter[BlockKind] = field(default_factory=Counter)
    """How many blocks it has of each kind."""
    error: str = ""
    """Why nothing of it can be used."""


def parse_papers(papers: Sequence[Paper], job: ParseJob, report: Report) -> list[ParseOutcome]:
    """Parse each examined paper from the best of its files that can be parsed; in the order of the
    papers. `report(n_done, n_total)` counts papers."""
    done = {paper.paper_id: kept for paper in papers if (kept := job.kept(paper))}
    waiting: deque[tuple[ParseAttempt, PaperFile]] = deque()

    def go_on(attempt: ParseAttempt) -> None:
        if file := attempt.to_read:
            waiting.appendleft((attempt, file))  # first, so that few documents wait in memory
            return
        done[attempt.paper.paper_id] = _finished(attempt, job)
        report(len(done), len(papers))

    def files() -> Iterator[FileToRead]:
        while waiting:
            attempt, file = waiting.popleft()
            try:
                yield FileToRead(attempt, _content_of(file, job, attempt.paper))
            except UnreadableDocument as error:
                go_on(attempt.after(Failure(str(error), is_worker_lost=False)))

    for paper in reversed(papers):
        if paper.paper_id not in done:
            go_on(ParseAttempt(paper))
    work = partial(read_file, settings=job.settings)
    while waiting:
        with closing(job.spread(work, files())) as results:
            for file, result in results:
                go_on(file.attempt.after(result))
    return [done[paper.paper_id] for paper in papers]


def _finished(attempt: ParseAttempt, job: ParseJob) -> ParseOutcome:
    """What came of the paper, its document kept with the failures as notes."""
    paper, made, failures = attempt.paper, attempt.made, attempt.failures
    if made is None:
        error = paper.problem or " ".join(failures)
        return ParseOutcome(paper, job.after_failure(paper), error=error)
    if failures:
        document = unpacked_document(made.packed)
        made = MadeDocument.of(replace(document, notes=(*failures, *document.notes)))
    is_whole = not (failures or made.summary.n_pages_unread or made.summary.n_pages_cut)
    kept_as = paper.fingerprint if is_whole else job.after_failure(paper)
    job.store.put(kept_as, made.packed)
    return ParseOutcome(paper, kept_as, made.summary, made.kinds)


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
