"""Parsed documents by fingerprint: checked and kept as soon as they are parsed, so that a killed
run repeats no file.

Workers may write at the same time. A document that breaks a promise is quarantined, and the other
papers go on.

Papers may be gone from the papers folder, or too many to be taken for deleted. A disk that is not
mounted leaves an empty folder, one that fails leaves files that cannot be read. Read as "all papers
were deleted", it would empty every table and index and change every answer.
"""

import gzip
import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice
from pathlib import Path

import pyarrow as pa
from pydantic import TypeAdapter

from rag_assets.core import tables
from rag_assets.core.domain import Document, Span, all_boxes
from rag_assets.core.errors import MissingInput, UnreadableDocument
from rag_assets.core.kept import Kept, KeptFile
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import Paths

_COMPRESSION_LEVEL = 6
_AT_ONCE = 50
"""Packed documents that are held in memory; some take megabytes."""


@dataclass(frozen=True)
class DocumentStore:
    """The documents, as gzipped JSON, in the file of `kept`, until `prune`."""

    path: Path

    def put(self, fingerprint: str, document: bytes) -> None:
        """document: packed by `packed_document`."""
        self._packed.put(fingerprint, document)

    def has(self, fingerprint: str) -> bool:
        """Whether the document is there and not damaged, without unpacking it."""
        return not self.missing([fingerprint])

    def missing(self, fingerprints: Collection[str]) -> list[str]:
        """The fingerprints of which there is no document, or a damaged one."""
        return self._packed.missing(fingerprints)

    def get(self, fingerprint: str) -> Document:
        """The document of that fingerprint. Raises MissingInput when it is not there or damaged."""
        (document,) = self.each_packed([fingerprint])
        return unpacked_document(document)

    def each_packed(self, fingerprints: Iterable[str]) -> Iterator[bytes]:
        """The documents of those fingerprints in that order, packed; the file is opened once for
        some of them. Raises MissingInput for one that is not there or damaged."""
        left = iter(fingerprints)
        while some := list(islice(left, _AT_ONCE)):
            found = self._packed.get_all(some)
            for fingerprint in some:
                if fingerprint not in found:
                    raise MissingInput(
                        f"{self.path} has no document {fingerprint}, or a damaged one. Materialize `parsed_index` "
                        "again: rag-assets run --select parsed_index"
                    )
                yield found[fingerprint]

    def prune(self, used: Collection[str]) -> None:
        """Delete the documents of other fingerprints; call it after the index that names the used
        ones is published."""
        self._packed.drop(self._packed.keys() - set(used))

    def forget_readings_but(self, sha256s: Collection[str | None]) -> None:
        """Delete the readings of PDFs that are not among these."""
        there = self.readings.keys()
        self.readings.drop(key for key in there if key.partition(".")[0] not in sha256s)

    @property
    def readings(self) -> Kept[bytes]:
        """What GROBID made of PDFs, in the same file: by the SHA-256 of the PDF, a dot, and a hash
        of who read it."""
        return Kept(KeptFile(self.path), "readings", gzip.compress, gzip.decompress)

    @property
    def _packed(self) -> Kept[bytes]:
        return Kept(KeptFile(self.path), "documents", bytes, bytes)


def packed_document(document: Document) -> bytes:
    """The document as gzipped JSON."""
    return gzip.compress(_adapter().dump_json(document), compresslevel=_COMPRESSION_LEVEL, mtime=0)


def unpacked_document(content: bytes) -> Document:
    """The document that `packed_document` wrote."""
    return _adapter().validate_json(gzip.decompress(content))


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)


def demand_promises(document: Document) -> None:
    """Raise UnreadableDocument with the promise that the document breaks, if it breaks one."""
    for problem in chain(
        _page_problems(document), _box_problems(document), _storage_problems(document)
    ):
        raise UnreadableDocument(
            f"{problem}. Write the file again with the tool that made it, or remove it."
        )


def _page_problems(document: Document) -> Iterator[str]:
    """Broken promises, each as a phrase that can follow the name of the file."""
    for block in document.blocks:
        yield from _span_problems(block.text, block.spans, document.n_pages)
        yield from _span_problems(block.title, block.title_spans, document.n_pages)


def _span_problems(text: str, spans: Sequence[Span], n_pages: int | None) -> Iterator[str]:
    at = 0
    for span in spans:
        if not at <= span.start <= span.end <= len(text):
            yield f"gives a place from {span.start} to {span.end} in a text of {len(text)} characters"
        at = span.end
        first, last = span.page_start, span.page_end
        if first is None or last is None:
            if first != last:
                yield f"gives only one end of the pages of a text ({first} to {last})"
            continue
        if not 1 <= first <= last:
            yield f"puts a text on pages {first} to {last}"
        elif n_pages is not None and last > n_pages:
            yield f"puts a text on page {last}, but the document has {n_pages} pages (pages_within_document)"


def _box_problems(document: Document) -> Iterator[str]:
    for block in document.blocks:
        boxes = [
            *block.boxes,
            *all_boxes(block.title_spans),
            *(box for cell in block.cells for box in cell.boxes),
        ]
        edges = (edge for box in boxes for edge in (box.left, box.top, box.right, box.bottom))
        if not all(map(math.isfinite, edges)):
            yield "gives a box whose edge is no number"


def _storage_problems(document: Document) -> Iterator[str]:
    row = {
        "title": document.title,
        "n_pages": document.n_pages,
        "page_labels": list(document.page_labels),
        "n_source_chars": document.n_source_chars,
        "n_dropped_running": document.n_dropped_running,
        "notes": list(document.notes),
    }
    try:
        tables.to_table([row], tables.PARSED_INDEX)
        tables.to_table(
            tables.block_rows(document.blocks, {}, document.block_starts), tables.BLOCKS
        )
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        yield f"holds a number or a text that no table can hold ({error})"


_FEW = 10
"""Of fewer papers, most may go at once without a question, as long as one stays."""
_NO_FILE = "has no file"
_RECENT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Removal:
    """What would be removed from the published index."""

    before: Collection[str]
    """Papers that are published and were read, without those that were deleted over HTTP and lie in
    the trash."""
    now: Mapping[str, str | None]
    """Papers that have files, also under another id, with the reason why they cannot be read, if
    so."""
    is_allowed: bool
    """Whether the user has confirmed it: `execution.allow_removal`."""

    @property
    def vanished(self) -> list[str]:
        """Papers without any file that can be read, sorted."""
        return sorted(one for one in self.before if self.now.get(one, _NO_FILE) is not None)

    @property
    def is_most(self) -> bool:
        """Whether all papers would go, or more than half of ten or more."""
        n_gone, n_before = len(self.vanished), len(self.before)
        return n_gone > 0 and (n_gone == n_before or (n_before >= _FEW and n_gone > n_before / 2))


def note_removal(paths: Paths) -> None:
    """Write down that the removal of most papers was confirmed now."""
    paths.removal.parent.mkdir(parents=True, exist_ok=True)
    paths.removal.touch()


def is_recent(paths: Paths) -> bool:
    """Whether that was within a week. So long nothing that was paid for is forgotten: it may have
    been confirmed in error."""
    return paths.removal.exists() and time.time() - paths.removal.stat().st_mtime < _RECENT_S


def _unconfirmed(removal: Removal) -> Offenders:
    if removal.is_allowed or not removal.is_most:
        return []
    return [
        {"paper_id": one, "problem": removal.now.get(one, _NO_FILE)} for one in removal.vanished
    ]


def _question(removal: Removal, offenders: Offenders) -> str:
    return (
        f"{len(offenders)} of {len(removal.before)} papers are gone from the papers folder or cannot be read any more "
        f"({offenders[0]['paper_id']}: {offenders[0]['problem']}), so nothing was published. If its disk is not "
        "mounted, mount it. If they are meant to go, confirm it: rag-assets run --allow-removal, or "
        "execution.allow_removal in the launchpad."
    )


REMOVAL_PROMISES: list[Promise[Removal]] = [
    Promise(
        "most_papers_stay",
        "Most papers are still there and can be read, or their removal is confirmed (rag-assets run --allow-removal).",
        _unconfirmed,
        finding=_question,
    )
]
