"""What an index is to the rest of the house: rows go in by id, ids and scores come out.

Two seams for reading, `VectorStore` (Chroma on disk here, a server elsewhere) and `LexicalIndex` (tantivy here), and
one for writing, `IndexTarget`, which `update` keeps in step with the passages. What the scores of both mean together
is `retrieval.fusion`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from rag_assets.domain import Passage

Vectors = npt.NDArray[np.float32]


class Scored(NamedTuple):
    """A passage an index returned."""

    passage_id: str
    score: float
    """Cosine (-1 to 1) from a vector store, BM25 (above 0) from a lexical index; higher is better."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """What the indexes keep of a passage, or are made from."""

    passage_id: str
    chunk_id: str
    paper_id: str
    section: str
    """Title of the section that the passage begins in, empty if it has none."""
    page_start: int | None
    page_end: int | None
    fingerprint: str
    """Changes with anything else here."""
    text: str

    @classmethod
    def of(cls, passage: Passage) -> Self:
        return cls(
            passage_id=passage.passage_id,
            chunk_id=passage.chunk_id,
            paper_id=passage.paper_id,
            section=passage.section_title,
            page_start=passage.page_start,
            page_end=passage.page_end,
            fingerprint=passage.row_hash,
            text=passage.text,
        )


class IndexReader(Protocol):
    """An index opened for reading: no byte on disk changes."""

    def fingerprints(self) -> dict[str, str]:
        """passage_id -> fingerprint of everything inside."""
        ...

    def close(self) -> None: ...


class VectorStore(IndexReader, Protocol):
    """Vectors by passage."""

    def search(self, question: Vectors, limit: int, paper_ids: Sequence[str] | None = None) -> list[Scored]:
        """Nearest passages of a unit vector, shape (dim,), best first; ties by passage_id."""
        ...

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        """Exact cosine of a unit vector, shape (dim,), with the stored vectors of those passages."""
        ...


class LexicalIndex(IndexReader, Protocol):
    """Words by passage."""

    def search(self, question: str, limit: int, paper_ids: Sequence[str] | None = None) -> list[Scored]:
        """Passages sharing a word with a question of any characters, best BM25 first; ties by passage_id."""
        ...


class IndexWriter(IndexReader, Protocol):
    """An index opened for writing."""

    def upsert(self, rows: Sequence[IndexRow]) -> None:
        """Write one batch durably."""
        ...

    def delete(self, passage_ids: Sequence[str]) -> None:
        """Drop passages durably; unknown ids are ignored."""
        ...

    def faults(self, sample: Sequence[IndexRow]) -> list[str]:
        """Passage ids of `sample` that a search would not find as they should be."""
        ...

    def recall(self, sample: Sequence[IndexRow]) -> float | None:
        """Share of the exact nearest neighbours of `sample` that a search finds; None where every search is exact."""
        ...


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What an index was built with; a folder of another identity is replaced, never updated."""

    kind: str
    model_id: str
    """The embedding model; empty for words."""
    settings: str
    """Fingerprint of the settings (or of the analyser) that shape the index."""


class IndexTarget(Protocol):
    """Which index is wanted, and how it is written."""

    @property
    def identity(self) -> IndexIdentity: ...

    @property
    def forgets_in_place(self) -> bool:
        """False where a deleted passage stays in the files and in the statistics: then a deletion means a rebuild."""
        ...

    @property
    def min_recall(self) -> float:
        """An updated index whose recall is below this is built from nothing; 0 where every search is exact."""
        ...

    def read(self, folder: Path) -> IndexReader:
        """Open the index in `folder` without changing it. Raises whatever its library raises if it cannot."""
        ...

    def write(self, folder: Path) -> IndexWriter:
        """Open the index in `folder`, creating it where the folder is empty."""
        ...

    def complete(self, folder: Path, rows: Sequence[IndexRow]) -> None:
        """Write what else belongs to an index of exactly `rows`; the index is closed meanwhile."""
        ...
