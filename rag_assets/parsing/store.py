"""Parsed documents by fingerprint, kept as soon as they are parsed, so that a killed run repeats no finished file.

Workers may write at the same time.
"""

import gzip
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter

from rag_assets.core.domain import Document
from rag_assets.core.errors import MissingInput
from rag_assets.core.kept import Kept, KeptFile

_COMPRESSION_LEVEL = 6


@dataclass(frozen=True)
class DocumentStore:
    """The documents, as gzipped JSON, in the file of `kept`, until `prune`."""

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

    def prune(self, used: Collection[str]) -> None:
        """Delete documents that are not of one of the `used` fingerprints.

        To be called after the index that names the documents was published.
        """
        self._documents.drop(self._documents.keys() - set(used))

    @property
    def _documents(self) -> Kept[Document]:
        return Kept(KeptFile(self.path), "documents", _packed, _unpacked)


def _packed(document: Document) -> bytes:
    return gzip.compress(_adapter().dump_json(document), compresslevel=_COMPRESSION_LEVEL, mtime=0)


def _unpacked(content: bytes) -> Document:
    return _adapter().validate_json(gzip.decompress(content))


@cache
def _adapter() -> TypeAdapter[Document]:
    return TypeAdapter(Document)
