"""Which file of a paper is read, what is tried next when that fails, and one such try.

`candidates` and `next_attempt` decide in the pipeline's process; `parse_attempt` runs in a worker, where a file may do
its worst. Fingerprints, rows and the order of the whole are `corpus`' matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_assets.domain import BlockKind, Document, PageSource, Source, Zone
from rag_assets.errors import UnreadableDocument
from rag_assets.incremental import file_sha256
from rag_assets.parsing.discovery import CandidateFile
from rag_assets.parsing.promises import demand_promises
from rag_assets.parsing.registry import Format, expected_sources, parser_of, sniff, suffix_rank
from rag_assets.parsing.store import DocumentStore
from rag_assets.settings import ParseLimits, ParsingSettings

PageWork = Callable[[Document, Path, ParsingSettings, ParseLimits], Document]


@dataclass(frozen=True)
class Candidate:
    """A file of a paper and what it holds."""

    file: CandidateFile
    format: Format | None
    """None when it cannot be parsed, for the reason in `problem`."""
    problem: str = ""

    @property
    def source(self) -> Source | None:
        return self.format.source if self.format else None


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
    """One try to parse one file of a paper."""

    paper_id: str
    candidate: Candidate
    sha256: str
    """Of the file, as it was when the try was planned."""
    pdf: CandidateFile | None
    """The paper's PDF, from which a document without pages gets them; None when there is none or it failed."""
    earlier: tuple[str, ...]
    """Why better files, or their alignment with the PDF, failed: whole sentences."""
    fingerprints: Fingerprints
    """One of them names the document in the store."""
    settings: ParsingSettings
    limits: ParseLimits
    documents: Path
    """Folder of the store."""


@dataclass(frozen=True)
class Parsed:
    """What came of a successful attempt; the document itself is in the store."""

    fingerprint: str
    summary: Document
    """The document without its blocks."""
    n_blocks: int


def candidates(files: Sequence[CandidateFile], settings: ParsingSettings) -> list[Candidate]:
    """The files of a paper, best first by `settings.source_order`; what cannot be parsed stands where it was due."""
    order = settings.source_order
    found = [_candidate(file, settings) for file in files]

    def rank(candidate: Candidate) -> tuple[int, int, str]:
        sources = (candidate.source,) if candidate.source else expected_sources(candidate.file.path.name)
        best = min((order.index(source) for source in sources if source in order), default=len(order))
        return best, suffix_rank(candidate.file.path.name), candidate.file.relative

    return sorted(found, key=rank)


def _candidate(file: CandidateFile, settings: ParsingSettings) -> Candidate:
    if file.problem:
        return Candidate(file, None, file.problem)
    try:
        sniffed = sniff(file.path)
    except OSError as error:
        return Candidate(file, None, f"cannot be read ({error.strerror}). Check that the file is still there.")
    if sniffed.format is None:
        return Candidate(file, None, sniffed.problem)
    source = sniffed.format.source
    if source not in settings.source_order:
        return Candidate(file, None, f"is {source}, which parsing.source_order leaves out. Add it there.")
    if source is Source.TEXT and not settings.use_text_txt:
        return Candidate(file, None, "is text, and parsing.use_text_txt is off. Switch it on, or provide TEI or PDF.")
    return Candidate(file, sniffed.format)


def pdf_beside(candidate: Candidate, others: Sequence[Candidate]) -> CandidateFile | None:
    """The PDF among the `others` that can give pages to the document of a candidate; None for a PDF itself."""
    if candidate.source is Source.PDF:
        return None
    return next((other.file for other in others if other is not candidate and other.source is Source.PDF), None)


def sentence(file: CandidateFile, reason: str) -> str:
    """A reason with the file's name before it and without paths of this machine."""
    told = reason.replace(str(file.path), file.relative)
    return told if told.startswith(file.relative) else f"{file.relative} {told}"


def parse_attempt(attempt: Attempt) -> Parsed:
    """Parse the file, give it pages, and keep the document. Raises UnreadableDocument, also for a broken promise."""
    file, known = attempt.candidate.file, attempt.candidate.format
    if known is None:
        raise UnreadableDocument(attempt.candidate.problem)
    document = parser_of(known)(file.path, attempt.paper_id, file.relative, attempt.settings, attempt.limits)
    _demand_text(document)
    if file_sha256(file.path) != attempt.sha256:
        raise UnreadableDocument("changed while it was read. Run again when it is complete.")
    notes, fingerprint = list(attempt.earlier), attempt.fingerprints.first_file
    if attempt.pdf and (page_work := _page_work(document)):
        document, problem = _with_pages(document, page_work, attempt.pdf, attempt)
        notes, fingerprint = [*notes, *problem], attempt.fingerprints.with_pdf
    document = replace(document, notes=(*notes, *document.notes))
    demand_promises(document)
    if notes:
        fingerprint = attempt.fingerprints.after_failure
    DocumentStore(attempt.documents).put(fingerprint, document)
    return summary_of(fingerprint, document)


def summary_of(fingerprint: str, document: Document) -> Parsed:
    """What the index says about a document."""
    return Parsed(fingerprint, replace(document, blocks=()), len(document.blocks))


def without_pages(pdf: CandidateFile, reason: str) -> str:
    """The note of a document that could not be aligned with its PDF."""
    return f"No pages could be taken from the PDF: {sentence(pdf, reason)}"


def _demand_text(document: Document) -> None:
    has_text = any(
        block.text.strip() and block.kind is not BlockKind.HEADING and block.zone is not Zone.BACK
        for block in document.blocks
    )
    if not has_text:
        raise UnreadableDocument("holds no text besides headings and back matter. Replace it with the full paper.")


def _page_work(document: Document) -> PageWork | None:
    """What the paper's PDF can do for the pages of a document: all of them, what is not proved, or nothing."""
    from rag_assets.parsing.alignment.document import align_to_pdf, fill_from_pdf
    from rag_assets.parsing.alignment.gaps import has_gaps

    if document.page_source is PageSource.NONE:
        return align_to_pdf
    is_partial = document.page_source is PageSource.COORDS and any(has_gaps(block.spans) for block in document.blocks)
    return fill_from_pdf if is_partial else None


def _with_pages(
    document: Document, page_work: PageWork, pdf: CandidateFile, attempt: Attempt
) -> tuple[Document, list[str]]:
    """The document with pages from the PDF, or as it was and the reason."""
    try:
        return page_work(document, pdf.path, attempt.settings, attempt.limits), []
    except UnreadableDocument as error:
        return document, [without_pages(pdf, str(error))]
