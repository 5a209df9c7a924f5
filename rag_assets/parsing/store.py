"""Parsed documents by fingerprint, on disk as soon as they are parsed, so that a killed run repeats no finished file.

Documents are never changed in place, so workers may write at the same time. A file that could not be parsed leaves
its failure, for the same purpose.
"""

import gzip
import hashlib
import json
import logging
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_assets.domain import Document
from rag_assets.errors import MissingInput
from rag_assets.incremental import write_atomically
from rag_assets.parsing.worker_process import Failure

logger = logging.getLogger(__name__)
_DOCUMENT_SUFFIX = ".document"
_FAILURE_SUFFIX = ".failure.json"
_COMPRESSION_LEVEL = 6
_CHECKSUM_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True)
class DocumentStore:
    """A folder of documents, `ab/abcd….document`: SHA-256 of the rest (32 bytes), then the document as gzipped JSON.

    The checksum finds damage without unpacking, which an unchanged run of many papers can afford.
    """

    folder: Path

    def put(self, fingerprint: str, document: Document) -> None:
        """Keep a document; equal documents give equal bytes."""
        packed = gzip.compress(_adapter().dump_json(document), compresslevel=_COMPRESSION_LEVEL, mtime=0)
        write_atomically(self._path(fingerprint, _DOCUMENT_SUFFIX), hashlib.sha256(packed).digest() + packed)

    def has(self, fingerprint: str) -> bool:
        """Whether the document is there and not damaged; a damaged one is deleted, with a warning."""
        path = self._path(fingerprint, _DOCUMENT_SUFFIX)
        try:
            _packed(path)
        except FileNotFoundError:
            return False
        except (OSError, _Damaged):
            logger.warning("%s is damaged and is made anew.", path)
            path.unlink()
            return False
        return True

    def get(self, fingerprint: str) -> Document:
        """The document of that fingerprint. Raises MissingInput when it is not there or damaged."""
        path = self._path(fingerprint, _DOCUMENT_SUFFIX)
        try:
            return _adapter().validate_json(gzip.decompress(_packed(path)))
        except FileNotFoundError as error:
            raise MissingInput.table(path, asset="parsed_index") from error
        except (OSError, _Damaged, ValidationError) as error:
            raise MissingInput(
                f"{path} cannot be read as a parsed document. Materialize `parsed_index` again: "
                "rag-assets run --select parsed_index"
            ) from error

    def put_failure(self, fingerprint: str, failure: Failure) -> None:
        """Keep why there is no document."""
        content = json.dumps(asdict(failure), ensure_ascii=False).encode("utf-8", "replace")
        write_atomically(self._path(fingerprint, _FAILURE_SUFFIX), content)

    def failure(self, fingerprint: str) -> Failure | None:
        """Why there is no document, if that is known; a damaged file counts as absent."""
        try:
            return TypeAdapter(Failure).validate_json(self._path(fingerprint, _FAILURE_SUFFIX).read_bytes())
        except (OSError, ValidationError):
            return None

    def prune(self, used: Collection[str]) -> int:
        """Delete what is not of one of the `used` fingerprints, and all failures; returns how many files went.

        To be called after the index that names the documents was published.
        """
        kept = {self._path(fingerprint, _DOCUMENT_SUFFIX) for fingerprint in used}
        gone = [path for path in self.folder.glob("??/*") if path not in kept]
        for path in gone:
            path.unlink()
        return len(gone)

    def _path(self, fingerprint: str, suffix: str) -> Path:
        return self.folder / fingerprint[:2] / f"{fingerprint}{suffix}"


class _Damaged(Exception):
    """A file that is not as it was written."""


def _packed(path: Path) -> bytes:
    """The gzipped document in a file. Raises OSError and _Damaged."""
    content = path.read_bytes()
    packed = content[_CHECKSUM_BYTES:]
    if hashlib.sha256(packed).digest() != content[:_CHECKSUM_BYTES]:
        raise _Damaged
    return packed


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)
