"""Parsing papers. The first file of a paper that can be parsed gives its document; then the files
beside it are compared with it, and a PDF adds page numbers and the text of the first pages.

Each file is sent to the workers as a separate item: if a file crashes its worker, only that file is
lost. `parse_papers` stores each document as soon as it is made, so that a killed run repeats none.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from rag_assets.core.domain import BlockKind, Document, PageSource, SourceFormat, Zone
from rag_assets.core.errors import NotTheSource, UnreadableDocument
from rag_assets.core.incremental import fingerprint
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.folding import letters_of
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Spread
from rag_assets.parsing.discovery import Paper, PaperFile
from rag_assets.parsing.known_files import KnownFiles, is_pdf
from rag_assets.parsing.registry import Format, installed_extras, parser_of
from rag_assets.parsing.shared.files import RawFile, hashed_content
from rag_assets.parsing.store import (
    DocumentStore,
    demand_promises,
    packed_document,
    unpacked_document,
)

_ZONES_WITHOUT_CONTENT = (Zone.TITLE_PAGE, Zone.STATEMENTS, Zone.BACK)
_SAMPLE_LETTERS, _N_SAMPLES, _LEAST_LETTERS = 20, 200, 200
_LEAST_SHARED = 0.1
"""A PDF is of the same paper if it contains this share of the samples (20 letters each) of the
document. Measured on 13 pairs of TEI and PDF: at least .78 in the PDF of the same paper, at most
.03 in that of another."""
_MOST_MISSING = 0.3
"""A file that has this share more of another's text than the other way round has text that the
other lacks. Measured on 35 pairs of a PDF and a document: at most .23, and at least .39 for the
first half of a paper of several pages."""


@dataclass(frozen=True)
class ParsedDocument:
    """A document as a worker returns it."""

    packed: bytes
    """The document as gzipped JSON, the form that the store keeps."""
    summary: Document
    """The document without its blocks."""
    kinds: Counter[BlockKind]
    """How many blocks it has of each kind."""

    @classmethod
    def of(cls, document: Document) -> "ParsedDocument":
        kinds = Counter(block.kind for block in document.blocks)
        return cls(packed_document(document), replace(document, blocks=()), kinds)


@dataclass(frozen=True)
class ParseAttempt:
    """The state of parsing one paper: first its files are tried one after the other until one gives
    a document, then the files beside that one are compared with it, and a PDF adds pages."""

    paper: Paper
    file_index: int = 0
    """Index of the file that makes the document; beyond the last when none is left."""
    document: ParsedDocument | None = None
    """The document of that file; None until it is parsed."""
    n_compared: int = 0
    """How many of the files beside that one have been compared with it, or failed."""
    failures: tuple[str, ...] = ()
    """Why files failed: whole sentences."""

    @property
    def next_file(self) -> PaperFile | None:
        """The file that is read next; None when the paper is done."""
        files = () if self.paper.problem else self.paper.files[self.file_index :]
        if not files or self.document is None:
            return files[0] if files else None
        others = (file for file in self.paper.files if file is not files[0] and file.format)
        beside = [file for file in others if is_pdf(file) or file in files]
        return next(iter(beside[self.n_compared :]), None)

    def after(self, result: ParsedDocument | Failure) -> "ParseAttempt":
        """The attempt once `next_file` has been read.

        If a file beside it fails, the document stays as it was. If that file shows that the
        document is of another paper, or cut off, the document is given up and the next file is
        tried.
        """
        n_compared = self.n_compared + (self.document is not None)
        if isinstance(result, ParsedDocument):
            return replace(self, document=result, n_compared=n_compared)
        file, reason = self.paper.files[self.file_index], result.reason
        if self.document and self.next_file and not isinstance(result.raised, NotTheSource):
            problem = _failure_sentence(self.next_file, reason)
            what = "No pages could be taken from the PDF: " if is_pdf(self.next_file) else ""
            return replace(
                self, n_compared=n_compared, failures=(*self.failures, f"{what}{problem}")
            )
        failures = (*self.failures, _failure_sentence(file, reason))
        return ParseAttempt(self.paper, self.file_index + 1, failures=failures)


@dataclass(frozen=True)
class FileToRead:
    """The content of `attempt.next_file`, with the attempt it belongs to."""

    attempt: ParseAttempt
    raw: RawFile


def read_file(file: FileToRead, settings: ParsingSettings) -> ParsedDocument:
    """Runs in a worker. Parses the file; if the attempt has a document already, it is compared with
    the file, and a PDF adds pages to it. Raises UnreadableDocument, also for a broken promise."""
    parsed, beside = file.attempt.document, file.attempt.next_file
    source = file.attempt.paper.files[file.attempt.file_index]
    if parsed is None:
        document = _parsed(source, file.raw, settings)
    else:
        document = unpacked_document(parsed.packed)
        if beside and beside.format and not beside.format.needs:
            document = _compared(document, source, beside.format, file.raw, settings)
        if beside and is_pdf(beside):
            document = _with_pages(_with_front(document, file.raw, settings), file.raw, settings)
    demand_promises(document)
    return ParsedDocument.of(document)


def _parsed(file: PaperFile, raw: RawFile, settings: ParsingSettings) -> Document:
    if file.format is None:
        raise UnreadableDocument(file.problem)
    document = parser_of(file.format)(raw, settings)
    _demand_text(document)
    if file.read_by:
        document = replace(document, notes=(f"Read by {file.read_by}.", *document.notes))
    return document


def _failure_sentence(file: PaperFile, reason: str) -> str:
    """A sentence "<file> <reason>", such as "a.pdf is empty."; for TEI that GROBID made of a PDF,
    it names both."""
    name = (
        f"{file.read_by}'s reading of {file.relative}"
        if file.read_by and file.format
        else file.relative
    )
    sentence = reason if reason.startswith(file.relative) else f"{name} {reason}"
    return sentence.encode("utf-8", "replace").decode("utf-8")  # tables hold no lone surrogates


def _demand_text(document: Document) -> None:
    has_text = any(
        block.text.strip()
        and block.kind is not BlockKind.HEADING
        and block.zone not in _ZONES_WITHOUT_CONTENT
        for block in document.blocks
    )
    if not has_text:
        raise UnreadableDocument(
            "holds no text besides headings, statements and back matter. Replace it with the full paper."
        )


def _compared(
    document: Document, source: PaperFile, beside: Format, raw: RawFile, settings: ParsingSettings
) -> Document:
    """The document, with a note on the text that it lacks and the file beside it has; no_text_lost
    counts this text.

    Raises NotTheSource for a damaged file that lacks text or its end, and if both share hardly any
    text and a server read the document: it may have answered with another paper. A file with little
    text (a scan) proves nothing.
    """
    own, other = letters_of(document.text), letters_of(_text_in(raw, beside, settings))
    if len(other) <= _LEAST_LETTERS:
        return document
    share_shared = _share_found(own, other)
    if source.read_by and share_shared < _LEAST_SHARED:
        raise NotTheSource("is of another paper: hardly any of its words are in the PDF.")
    missing = share_shared - _share_found(other, own)
    lacks = f"lacks {max(missing, 0):.0%} of the text that {raw.path} has"
    if document.is_cut_off or (document.is_mended and missing > _MOST_MISSING):
        end = "ends in the middle and " if document.is_cut_off else ""
        raise NotTheSource(f"is damaged: it {end}{lacks}. Write it again, or remove it.")
    if missing <= _MOST_MISSING:
        return document
    return replace(
        document,
        n_source_chars=document.n_source_chars + round(missing * len(other)),
        notes=(*document.notes, f"{document.file_path} {lacks}: compare them, and remove one."),
    )


def _text_in(file: RawFile, known: Format, settings: ParsingSettings) -> str:
    """The text of a file for comparison; empty if it cannot be read."""
    from rag_assets.parsing.formats.pdf.file import text_layer  # loads the PDF engine

    try:
        if known.source is SourceFormat.PDF:
            return text_layer(file.content, settings.limits.max_pages)
        return parser_of(known)(file, settings).text
    except UnreadableDocument:
        return ""


def _share_found(letters: str, among: str) -> float:
    """The share of up to 200 samples of 20 letters, evenly spread, that occur in `among`."""
    step = max(len(letters) // _N_SAMPLES, _SAMPLE_LETTERS)
    starts = range(0, len(letters) - _SAMPLE_LETTERS + 1, step)
    n_found = sum(letters[start : start + _SAMPLE_LETTERS] in among for start in starts)
    return n_found / max(len(starts), 1)


def _with_front(document: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """The document with the text of the first pages of its PDF; unchanged if they cannot be
    read."""
    from rag_assets.parsing.formats.pdf.document import printed_front  # loads the PDF engine

    try:
        return replace(document, printed=printed_front(pdf, settings))
    except UnreadableDocument:
        return document


def _with_pages(document: Document, pdf: RawFile, settings: ParsingSettings) -> Document:
    """The document with page numbers from the PDF: for all blocks if it has none, and only for the
    gaps if it has some from coordinates."""
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

    def failure_fingerprint(self, paper: Paper) -> str:
        """Fingerprint of a paper when one of its files, or a page, cannot be read. It includes the
        limits and the installed extras: when one of them changes, the paper is parsed again."""
        return fingerprint(paper.fingerprint, self._limits_and_extras)

    @cached_property
    def _limits_and_extras(self) -> tuple[str, list[str]]:
        return self.settings.limits.fingerprint(), installed_extras()

    def stored_outcome(self, paper: Paper) -> "ParseOutcome | None":
        """The outcome for a paper whose document is in the store already, because an earlier run
        was killed before it published; else None."""
        for key in (paper.fingerprint, self.failure_fingerprint(paper)):
            if self.store.has(key):
                stored = ParsedDocument.of(self.store.get(key))
                return ParseOutcome(paper, key, stored.summary, stored.kinds)
        return None


@dataclass(frozen=True)
class ParseOutcome:
    """The result of parsing a paper; the document itself is in the store."""

    paper: Paper
    fingerprint: str
    """Key of the document in the store, and its mark in the parsed index."""
    summary: Document | None = None
    """The document without its blocks; None when nothing of the paper can be used."""
    kinds: Counter[BlockKind] = field(default_factory=Counter)
    """How many blocks it has of each kind."""
    error: str = ""
    """Why nothing of it can be used."""


def parse_papers(papers: Sequence[Paper], job: ParseJob, report: Report) -> list[ParseOutcome]:
    """Parse each examined paper from the first of its files that can be parsed. Returns one outcome
    per paper, in the order of `papers`. `report(n_done, n_total)` counts papers."""
    outcomes = {paper.paper_id: stored for paper in papers if (stored := job.stored_outcome(paper))}
    queue: deque[tuple[ParseAttempt, PaperFile]] = deque()

    def enqueue_or_finish(attempt: ParseAttempt) -> None:
        if file := attempt.next_file:
            queue.appendleft((attempt, file))  # first, so that few documents wait in memory
            return
        outcomes[attempt.paper.paper_id] = _stored_outcome(attempt, job)
        report(len(outcomes), len(papers))

    def queued_files() -> Iterator[FileToRead]:
        while queue:
            attempt, file = queue.popleft()
            try:
                yield FileToRead(attempt, _raw_file(file, job, attempt.paper))
            except UnreadableDocument as error:
                enqueue_or_finish(attempt.after(Failure(str(error), is_worker_lost=False)))

    for paper in reversed(papers):
        if paper.paper_id not in outcomes:
            enqueue_or_finish(ParseAttempt(paper))
    work = partial(read_file, settings=job.settings)
    while queue:  # results add files to the queue after `queued_files` may have ended
        with closing(job.spread(work, queued_files())) as results:
            for file, result in results:
                enqueue_or_finish(file.attempt.after(result))
    return [outcomes[paper.paper_id] for paper in papers]


def _stored_outcome(attempt: ParseAttempt, job: ParseJob) -> ParseOutcome:
    """Put the document of a finished attempt into the store, with the failures of other files as
    notes; returns its outcome."""
    paper, parsed, failures = attempt.paper, attempt.document, attempt.failures
    if parsed is None:
        error = paper.problem or " ".join(failures)
        return ParseOutcome(paper, job.failure_fingerprint(paper), error=error)
    if failures:
        document = unpacked_document(parsed.packed)
        parsed = ParsedDocument.of(replace(document, notes=(*failures, *document.notes)))
    is_whole = not (failures or parsed.summary.n_pages_unread or parsed.summary.n_pages_cut)
    key = paper.fingerprint if is_whole else job.failure_fingerprint(paper)
    job.store.put(key, parsed.packed)
    return ParseOutcome(paper, key, parsed.summary, parsed.kinds)


def _raw_file(file: PaperFile, job: ParseJob, paper: Paper) -> RawFile:
    """The content of a file, which must still have its hash; TEI that GROBID made is in the store.
    Raises UnreadableDocument."""
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
