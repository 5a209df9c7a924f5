"""Which file of a paper is read, what is tried next when that fails, and one such try.

`candidates` and `next_attempt` decide in the pipeline's process; `parse_attempt` runs in a worker, where a file may do
its worst. Fingerprints, rows and the order of the whole are `corpus`' matter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rag_assets.errors import InvalidSettings, UnreadableDocument
from rag_assets.incremental import file_sha256
from rag_assets.model import BlockKind, Document, PageSource, Source, Zone
from rag_assets.parsing.discovery import CandidateFile
from rag_assets.parsing.registry import expected_sources, parser_of, sniff, suffix_rank
from rag_assets.parsing.store import DocumentStore
from rag_assets.settings import ParseLimits, ParsingSettings


@dataclass(frozen=True)
class Candidate:
    """A file of a paper and what it holds."""

    file: CandidateFile
    source: Source | None
    """None when it cannot be parsed, for the reason in `problem`."""
    problem: str = ""


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
    fingerprint: str
    """Under which the document is kept when nothing failed ..."""
    fingerprint_after_failure: str
    """... and when something did, which other limits might save."""
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
    """The files of a paper, best first by `settings.source_order`; what cannot be parsed stands where it was due.

    Raises InvalidSettings for an unknown name in `settings.source_order`.
    """
    order = _order(settings)
    found = [_candidate(file, settings, order) for file in files]

    def rank(candidate: Candidate) -> tuple[int, int, str]:
        sources = (candidate.source,) if candidate.source else expected_sources(candidate.file.path.name)
        best = min((order.index(source) for source in sources if source in order), default=len(order))
        return best, suffix_rank(candidate.file.path.name), candidate.file.relative

    return sorted(found, key=rank)


def _order(settings: ParsingSettings) -> list[Source]:
    unknown = [name for name in settings.source_order if name not in list(Source)]
    if unknown:
        raise InvalidSettings(
            f"parsing.source_order names {', '.join(unknown)}; known are {', '.join(Source)}. Mend rag_assets.toml."
        )
    return [Source(name) for name in settings.source_order]


def _candidate(file: CandidateFile, settings: ParsingSettings, order: Sequence[Source]) -> Candidate:
    if file.problem:
        return Candidate(file, None, file.problem)
    try:
        sniffed = sniff(file.path)
    except OSError as error:
        return Candidate(file, None, f"cannot be read ({error.strerror}). Check that the file is still there.")
    if sniffed.source is None:
        return Candidate(file, None, sniffed.problem)
    if sniffed.source not in order:
        return Candidate(file, None, f"is {sniffed.source}, which parsing.source_order leaves out. Add it there.")
    if sniffed.source is Source.TEXT and not settings.use_text_txt:
        return Candidate(file, None, "is text, and parsing.use_text_txt is off. Switch it on, or provide TEI or PDF.")
    return Candidate(file, sniffed.source)


def sentence(file: CandidateFile, reason: str) -> str:
    """A reason with the file's name before it and without paths of this machine."""
    told = reason.replace(str(file.path), file.relative)
    return told if told.startswith(file.relative) else f"{file.relative} {told}"


def parse_attempt(attempt: Attempt) -> Parsed:
    """Parse the file, give it pages, and keep the document. Raises UnreadableDocument."""
    file, source = attempt.candidate.file, attempt.candidate.source
    if source is None:
        raise UnreadableDocument(attempt.candidate.problem)
    document = parser_of(source)(file.path, attempt.paper_id, file.relative, attempt.settings, attempt.limits)
    _demand_text(document)
    if file_sha256(file.path) != attempt.sha256:
        raise UnreadableDocument("changed while it was read. Run again when it is complete.")
    notes = list(attempt.earlier)
    if attempt.pdf and document.page_source is PageSource.NONE:
        document, problem = _aligned(document, attempt.pdf, attempt.limits)
        notes += problem
    document = replace(document, notes=(*notes, *document.notes))
    fingerprint = attempt.fingerprint_after_failure if notes else attempt.fingerprint
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


def _aligned(document: Document, pdf: CandidateFile, limits: ParseLimits) -> tuple[Document, list[str]]:
    """The document with pages from the PDF, or as it was and the reason."""
    from rag_assets.parsing.alignment.pages import align_to_pdf

    align: Callable[[Document, Path, ParseLimits], Document] = align_to_pdf
    try:
        return align(document, pdf.path, limits), []
    except UnreadableDocument as error:
        return document, [without_pages(pdf, str(error))]
