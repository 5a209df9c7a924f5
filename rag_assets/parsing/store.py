"""Parsed documents by fingerprint, on disk as soon as they are parsed: a killed run repeats no finished file.

Content-addressed and never changed in place, so workers may write at the same time. A file that could not be parsed
leaves its failure, for the same purpose. What a fingerprint is made of is `corpus`' matter.
"""

import gzip
import json
import zlib
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_assets.domain import Document
from rag_assets.errors import MissingInput
from rag_assets.incremental import write_atomically
from rag_assets.parsing.worker_process import Failure

_DOCUMENT_SUFFIX = ".json.gz"
_FAILURE_SUFFIX = ".failure.json"
_COMPRESSION_LEVEL = 6


@dataclass(frozen=True)
class DocumentStore:
    """A folder of documents, `ab/abcd….json.gz`."""

    folder: Path

    def put(self, fingerprint: str, document: Document) -> None:
        """Keep a document; equal documents give equal bytes."""
        content = gzip.compress(_adapter().dump_json(document), compresslevel=_COMPRESSION_LEVEL, mtime=0)
        write_atomically(self._path(fingerprint, _DOCUMENT_SUFFIX), content)

    def has(self, fingerprint: str) -> bool:
        return self._path(fingerprint, _DOCUMENT_SUFFIX).exists()

    def get(self, fingerprint: str) -> Document:
        """The document of that fingerprint. Raises MissingInput when it is not there or damaged."""
        path = self._path(fingerprint, _DOCUMENT_SUFFIX)
        try:
            return _adapter().validate_json(gzip.decompress(path.read_bytes()))
        except FileNotFoundError as error:
            raise MissingInput.table(path, asset="parsed_index") from error
        except (OSError, EOFError, zlib.error, ValidationError) as error:
            raise MissingInput(
                f"{path} cannot be read as a parsed document. Delete it, then materialize `parsed_index` again: "
                "rag-assets run --select parsed_index"
            ) from error

    def remove_damaged(self) -> list[Path]:
        """Delete documents and failures whose content is not as it was written, so that their files are parsed again.

        Compares gzip's checksums, which cost a tenth of reading a document. Returns what was deleted.
        """
        damaged = [path for path in sorted(self.folder.glob("??/*")) if not _is_whole(path)]
        for path in damaged:
            path.unlink()
        return damaged

    def put_failure(self, fingerprint: str, failure: Failure) -> None:
        """Keep why there is no document."""
        content = json.dumps(asdict(failure), ensure_ascii=False).encode("utf-8", "replace")
        write_atomically(self._path(fingerprint, _FAILURE_SUFFIX), content)

    def failure(self, fingerprint: str) -> Failure | None:
        """Why there is no document, if that is known."""
        path = self._path(fingerprint, _FAILURE_SUFFIX)
        return Failure(**json.loads(path.read_bytes())) if path.exists() else None

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


def _is_whole(path: Path) -> bool:
    content = path.read_bytes()
    try:
        if path.name.endswith(_DOCUMENT_SUFFIX):
            gzip.decompress(content)
            return True
        Failure(**json.loads(content))
    except (OSError, EOFError, zlib.error, ValueError, TypeError):
        return False
    return True


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)
