"""Parsed documents by fingerprint, kept as soon as they are parsed, so that a killed run repeats no finished file.

Workers may write at the same time. A file that could not be parsed leaves its failure, for the same purpose.
"""

import gzip
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from rag_assets.domain import Document
from rag_assets.errors import MissingInput
from rag_assets.kept import Kept, KeptFile
from rag_assets.parsing.worker_process import Failure

_COMPRESSION_LEVEL = 6


@dataclass(frozen=True)
class DocumentStore:
    """The documents, as gzipped JSON, and failures in the file of `kept`; all of them are kept until `prune`."""

    path: Path

    def put(self, fingerprint: str, document: Document) -> None:
        """Keep a document; equal documents give equal bytes."""
        self._documents.put(fingerprint, document)

    def has(self, fingerprint: str) -> bool:
        """Whether the document is there and not damaged; told without unpacking it."""
        return self._documents.has(fingerprint)

    def get(self, fingerprint: str) -> Document:
        """The document of that fingerprint. Raises MissingInput when it is not there or damaged."""
        document = self._documents.get(fingerprint)
        if document is None:
            raise MissingInput(
                f"{self.path} has no document {fingerprint}, or a damaged one. Materialize `parsed_index` again: "
                "rag-assets run --select parsed_index"
            )
        return document

    def put_failure(self, fingerprint: str, failure: Failure) -> None:
        """Keep why there is no document."""
        self._failures.put(fingerprint, failure)

    def failure(self, fingerprint: str) -> Failure | None:
        """Why there is no document, if that is known."""
        return self._failures.get(fingerprint)

    def prune(self, used: Collection[str]) -> None:
        """Delete documents that are not of one of the `used` fingerprints, and all failures.

        To be called after the index that names the documents was published.
        """
        self._documents.drop(self._documents.keys() - set(used))
        self._failures.drop(self._failures.keys())

    @property
    def _documents(self) -> Kept[Document]:
        return Kept(KeptFile(self.path), "documents", _packed, _unpacked)

    @property
    def _failures(self) -> Kept[Failure]:
        return Kept(KeptFile(self.path), "failures", _written, TypeAdapter(Failure).validate_json)


def _packed(document: Document) -> bytes:
    return gzip.compress(_adapter().dump_json(document), compresslevel=_COMPRESSION_LEVEL, mtime=0)


def _unpacked(content: bytes) -> Document:
    return _adapter().validate_json(gzip.decompress(content))


def _written(failure: Failure) -> bytes:
    """A reason may name a file whose name cannot be encoded."""
    return json.dumps(asdict(failure), ensure_ascii=False).encode("utf-8", "replace")


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)
