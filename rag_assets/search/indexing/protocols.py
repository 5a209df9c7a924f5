"""What an index is for the rest of the project: rows are written by passage id, a search returns
ids and scores.

A `VectorStore` searches vectors, the `TantivyIndex` searches words. `IndexFiles` is how an engine
stores an index in a folder, which `folders` stages and publishes. How the two kinds of scores are
combined is decided in `retrieval.fusion`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rag_assets.core.domain import SparseVector, embedded_text
from rag_assets.core.incremental import data_version, fingerprint

Vectors = npt.NDArray[np.float32]
RRF_K = 60
"""Constant of reciprocal rank fusion, in Qdrant and in our own code. Source: Cormack, Clarke and
Buettcher 2009."""


class Scored(NamedTuple):
    """A passage that a search found."""

    passage_id: str
    score: float
    """Cosine (-1 to 1) from a vector store, BM25 (above 0) from a lexical index; higher is
    better."""


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One passage as the indexes need it."""

    passage_id: str
    chunk_id: str
    paper_id: str
    section: str
    """Title of the section in which the passage begins; empty if it has none."""
    page_start: int | None
    page_end: int | None
    fingerprint: str
    """Changes if another field changes."""
    text: str
    heading_text: str = ""
    """Titles of the paper and of the sections around the passage."""
    summary: str = ""

    @property
    def stored(self) -> dict[str, str | int | None]:
        """The values that a vector store keeps beside the vector."""
        names = ("chunk_id", "paper_id", "section", "page_start", "page_end", "fingerprint")
        return {name: getattr(self, name) for name in names}

    @property
    def embedded_text(self) -> str:
        """The text that the passage's vector is made from."""
        return embedded_text(self.text, self.summary)


@dataclass(frozen=True, slots=True)
class Scope:
    """The passages that a search may return: those of some papers, or listed passages. Exactly one
    of the two fields is set."""

    paper_ids: tuple[str, ...] | None = None
    passage_ids: frozenset[str] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no passage may be returned."""
        return not (self.paper_ids or self.passage_ids)

    @classmethod
    def within(cls, scope: "Scope | None", paper_ids: Sequence[str]) -> "Scope | None":
        """A scope of those of `paper_ids` that `scope` allows. None if there are none, or if
        `scope` lists passages."""
        allowed = paper_ids
        if scope is not None:
            allowed = [paper_id for paper_id in paper_ids if paper_id in (scope.paper_ids or ())]
        return cls(paper_ids=tuple(allowed)) if allowed else None


def for_reading_only(_: Sequence[IndexRow]) -> NoReturn:
    """Stands in for the function that makes vectors, in an index that is only read."""
    raise ValueError("this index was opened for reading: it has no vectors to write")


@dataclass(frozen=True)
class VectorSource:
    """Where the vectors of an index come from."""

    model_id: str
    vectors_of: Callable[[Sequence[IndexRow]], Vectors]
    """Unit vectors of passages, shape (n, dim), in the order of the rows. May raise any error."""
    sparse_model: str | None = None
    """Identity of a sparse model, if its vectors are stored too."""
    sparse_of: Callable[[Sequence[IndexRow]], list[SparseVector]] = for_reading_only
    """Sparse vectors of passages, in the order of the rows; needed for writing only."""


class VectorStore(Protocol):
    """The vectors of passages, opened for reading: no byte of the index changes. May be used by
    several threads."""

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        """The passages nearest to a unit vector of shape (dim,), best first; equal scores are
        sorted by passage_id.

        scope: the passages that may be returned, None for all. Returns `limit` passages, or all
        allowed ones if there are fewer.
        """
        ...

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        """The exact cosine of a unit vector, shape (dim,), with the stored vector of each passage;
        passages without a vector are left out."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class HybridQuestion:
    """A question in all the forms that Qdrant compares with passages."""

    text: str
    vector: Vectors
    """Unit vector of the embedding model, shape (dim,)."""
    sparse: SparseVector | None = None
    """Vector of the sparse model, if the index has one."""


@dataclass(frozen=True, slots=True)
class HybridHits:
    """What Qdrant found and fused. Each list is sorted best first; equal scores are sorted by
    passage_id."""

    fused: list[Scored]
    """All passages of the fused lists, scored from 0 to 1."""
    nearest: list[Scored]
    """Found by the cosine of the vectors."""
    by_words: list[Scored]
    """Found by BM25."""


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What an index was built with. An index of another identity is replaced, not updated."""

    kind: str
    model_id: str
    """The embedding model; empty in an index of words."""
    settings: str
    """Fingerprint of the settings (or of the analyser) that shape the index."""


@dataclass(frozen=True)
class IndexManifest:
    """Description of an index, stored with it. It is written last, so an index that has one is
    complete."""

    identity: IndexIdentity
    passages: str
    """A hash of the passages: of passage_id -> fingerprint, see `data_version`."""
    n_passages: int
    """Passages of the corpus, including those in `without`."""
    n_changed: int = field(default=0, compare=False)
    """Passages added, changed or removed since the index was built from nothing."""
    without: tuple[str, ...] = field(default=(), compare=False)
    """Passages that are not in the index, because no vectors could be made for their papers.
    Sorted."""

    @classmethod
    def of(cls, identity: IndexIdentity, fingerprints: Mapping[str, str]) -> Self:
        """The manifest of an index with that identity and these passages."""
        return cls(identity, data_version(fingerprints), len(fingerprints))

    @property
    def version(self) -> str:
        """Changes if the identity or the passages change."""
        return fingerprint(asdict(self.identity), self.passages, self.n_passages, *self.without)

    @property
    def n_indexed(self) -> int:
        """The number of passages in the index."""
        return self.n_passages - len(self.without)


Report = Callable[[int, int], None]
"""Called with (passages done, passages to do) while an index is written."""


Opened = TypeVar("Opened", covariant=True)
"""A `VectorStore` or the `TantivyIndex`."""


class IndexFiles(Protocol[Opened]):
    """How one engine stores an index in a folder. Apart from what `open` returns, nothing stays
    open after a method returns."""

    @property
    def most_changed(self) -> float:
        """If a larger share of the passages changed since the index was built, it is built from
        nothing instead of updated."""
        ...

    @property
    def address(self) -> str:
        """Address of the server that has the index; empty if the index is in the folder."""
        ...

    @property
    def identity(self) -> IndexIdentity:
        """The identity that the index should have."""
        ...

    def fingerprints(self, folder: Path) -> dict[str, str]:
        """passage_id -> fingerprint, for all passages in the folder's index; empty for an empty
        folder."""
        ...

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """Make the index hold exactly `rows` (by passage_id), durably. Passages with the same
        fingerprint are not written again. Files in the folder may be links to published ones, so
        they are replaced, never written into."""
        ...

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Ids of passages in `sample` that the index does not store or find correctly."""
        ...

    def is_complete(self, folder: Path, n_passages: int) -> bool:
        """Whether the index that the unchanged files refer to exists and has `n_passages` passages.
        Raises StoreUnavailable or StoreRefused if its server does not answer."""
        ...

    def open(self, folder: Path) -> Opened:
        """Open the index for reading. It stays usable if another version is published later. Raises
        the errors of the engine's library."""
        ...


COLUMNS = tuple(
    "passage_id chunk_id paper_id section_title page_start page_end row_hash text heading_text summary".split()
)
"""Columns of the passages, in the order of the fields of `IndexRow`."""


def index_rows(passages: pa.Table) -> list[IndexRow]:
    """One `IndexRow` for each row of a table that has the columns `COLUMNS`."""
    columns = (passages[name].to_pylist() for name in COLUMNS)
    return [IndexRow(*values) for values in zip(*columns, strict=True)]
