"""Parsed documents by fingerprint: checked and kept as soon as they are parsed, so that a killed
run repeats no file.

Workers may write at the same time. A document that breaks a promise is quarantined; the other
papers are processed.

The module also decides whether the disappearance of many papers must be confirmed by the user. An
unmounted disk leaves an empty folder, and a failing one leaves files that cannot be read. If that
were taken for "all papers were deleted", every table and index would become empty.
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
from rag_assets.core.incremental import make_folder
from rag_assets.core.kept import Kept, KeptFile
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import Paths

_COMPRESSION_LEVEL = 6
_BATCH_SIZE = 50
"""Number of packed documents in memory; some take megabytes."""


@dataclass(frozen=True)
class DocumentStore:
    """The documents as gzipped JSON, each under the fingerprint of its paper. They stay until
    `prune` deletes them."""

    path: Path
    """The file of `core.kept`, which holds other things too."""

    def put(self, fingerprint: str, document: bytes) -> None:
        """Store a document that `packed_document` packed."""
        self._packed.put(fingerprint, document)

    def has(self, fingerprint: str) -> bool:
        """Whether the document is there and not damaged; it is not unpacked for that."""
        return not self.missing([fingerprint])

    def missing(self, fingerprints: Collection[str]) -> list[str]:
        """The fingerprints whose document is not there or damaged."""
        return self._packed.missing(fingerprints)

    def get(self, fingerprint: str) -> Document:
        """The document of that fingerprint. Raises MissingInput when it is not there or damaged."""
        (document,) = self.each_packed([fingerprint])
        return unpacked_document(document)

    def each_packed(self, fingerprints: Iterable[str]) -> Iterator[bytes]:
        """The packed documents of those fingerprints, in that order; they are read in batches.
        Raises MissingInput for one that is not there or damaged."""
        remaining = iter(fingerprints)
        while batch := list(islice(remaining, _BATCH_SIZE)):
            found = self._packed.get_all(batch)
            for fingerprint in batch:
                if fingerprint not in found:
                    raise MissingInput(
                        f"{self.path} has no document {fingerprint}, or a damaged one. Materialize `parsed_index` "
                        "again: rag-assets run --select parsed_index"
                    )
                yield found[fingerprint]

    def prune(self, used: Collection[str]) -> None:
        """Delete all documents but those with a fingerprint in `used`. Call it only after the index
        that names these is published."""
        self._packed.drop(self._packed.keys() - set(used))

    def forget_readings_but(self, sha256s: Collection[str | None]) -> None:
        """Delete the readings of all PDFs but those with a hash in `sha256s`."""
        keys = self.readings.keys()
        self.readings.drop(key for key in keys if key.partition(".")[0] not in sha256s)

    @property
    def readings(self) -> Kept[bytes]:
        """The TEI that GROBID made of PDFs, in the same file. A key is "<SHA-256 of the PDF>.<hash
        of the reader's version and form>"."""
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
    """Raise UnreadableDocument with the first promise that the document breaks, if it breaks
    one."""
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
    """Spans ascend without overlap, lie within the text, and have both pages or none."""
    end_before = 0
    for span in spans:
        if not end_before <= span.start <= span.end <= len(text):
            yield f"gives a place from {span.start} to {span.end} in a text of {len(text)} characters"
        end_before = span.end
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
    """Values that a column cannot hold, such as an integer above 2**31; found by writing them."""
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


_LEAST_TO_ASK = 10
"""In a corpus of fewer papers, most may disappear without confirmation, as long as one stays."""
_NO_FILE = "has no file"
_RECENT_S = 7 * 24 * 3600


@dataclass(frozen=True)
class Removal:
    """The papers that a run would remove from the published index."""

    before: Collection[str]
    """Ids of papers that are published and were read, without those that were deleted over HTTP
    and lie in the trash."""
    now: Mapping[str, str | None]
    """Ids of the papers that have files now, also if the paper got another id -> why they cannot be
    read; None if they can."""
    is_allowed: bool
    """Whether the user has confirmed it: `execution.allow_removal`."""

    @property
    def vanished(self) -> list[str]:
        """Ids of papers without any file that can be read, sorted."""
        return sorted(
            paper_id for paper_id in self.before if self.now.get(paper_id, _NO_FILE) is not None
        )

    @property
    def is_most(self) -> bool:
        """Whether all papers would go, or more than half of a corpus of ten or more."""
        n_gone, n_before = len(self.vanished), len(self.before)
        is_half = n_before >= _LEAST_TO_ASK and n_gone > n_before / 2
        return n_gone > 0 and (n_gone == n_before or is_half)


def note_removal(paths: Paths) -> None:
    """Record that the user confirmed the removal of most papers now."""
    make_folder(paths.removal.parent)
    paths.removal.touch()


def is_recent(paths: Paths) -> bool:
    """Whether such a removal was confirmed within the last week. Until then nothing that cost money
    is deleted, because the user may have confirmed it in error."""
    return paths.removal.exists() and time.time() - paths.removal.stat().st_mtime < _RECENT_S


def _unconfirmed(removal: Removal) -> Offenders:
    if removal.is_allowed or not removal.is_most:
        return []
    return [
        {"paper_id": paper_id, "problem": removal.now.get(paper_id, _NO_FILE)}
        for paper_id in removal.vanished
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
