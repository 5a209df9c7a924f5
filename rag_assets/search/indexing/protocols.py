"""What an index is to the rest of the project: rows go in by id, ids and scores come out.

Vectors are read through `VectorStore`, words through `TantivyIndex`; `IndexFiles` is how one engine keeps an
index in a folder, which `folders` stages and publishes. How the two kinds of scores are combined is
decided in `retrieval.fusion`.
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
"""Constant of reciprocal rank fusion, by a store or by us. Source: Cormack, Clarke and Buettcher
2009."""


class Scored(NamedTuple):
    """A passage an index returned."""

    passage_id: str
    score: float
    """Cosine (-1 to 1) from a vector store, BM25 (above 0) from a lexical index; higher is
    better."""


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
    heading_text: str = ""
    """Titles of the paper and of its sections."""
    summary: str = ""

    @property
    def embedded_text(self) -> str:
        """What its vector is made from."""
        return embedded_text(self.text, self.summary)


@dataclass(frozen=True, slots=True)
class Scope:
    """The passages that a search may return: those of some papers, or an enumeration. Exactly one
    of both is given."""

    paper_ids: tuple[str, ...] | None = None
    passage_ids: frozenset[str] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no passage may be returned."""
        return not (self.paper_ids or self.passage_ids)

    @classmethod
    def within(cls, scope: "Scope | None", paper_ids: Sequence[str]) -> "Scope | None":
        """The papers that a scope lets through; None if it lets no paper through, or enumerates
        passages."""
        allowed = (
            paper_ids
            if scope is None
            else [one for one in paper_ids if one in (scope.paper_ids or ())]
        )
        return cls(paper_ids=tuple(allowed)) if allowed else None


def for_reading_only(_: Sequence[IndexRow]) -> NoReturn:
    """Makes no vectors: for an index that is not written to."""
    raise ValueError("this index was opened for reading: it has no vectors to write")


@dataclass(frozen=True)
class VectorSource:
    """What the vectors of an index are made of."""

    model_id: str
    vectors_of: Callable[[Sequence[IndexRow]], Vectors]
    """Unit vectors of passages, shape (n, dim), in the order of the rows. It may raise what it
    likes."""
    sparse_model: str | None = None
    """Identity of a sparse model whose vectors are stored beside them, if any."""
    sparse_of: Callable[[Sequence[IndexRow]], list[SparseVector]] = for_reading_only
    """Its vectors of passages, in the order of the rows; needed for writing only."""


class VectorStore(Protocol):
    """Vectors by passage, opened for reading: no byte of the index changes. May be used by several
    threads."""

    def search(self, question: Vectors, limit: int, scope: Scope | None = None) -> list[Scored]:
        """Nearest passages of a unit vector, shape (dim,), best first; ties by passage_id.

        scope: the passages that may be returned, None for all; as many are found as there are, up
        to `limit`.
        """
        ...

    def cosines(self, question: Vectors, passage_ids: Sequence[str]) -> dict[str, float]:
        """Exact cosine of a unit vector, shape (dim,), with the stored vectors of those
        passages."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class HybridQuestion:
    """A question in all the ways that Qdrant compares."""

    text: str
    vector: Vectors
    """Unit vector of the embedding model, shape (dim,)."""
    sparse: SparseVector | None = None
    """Vector of the sparse model, for an index that has one."""


@dataclass(frozen=True, slots=True)
class HybridHits:
    """What Qdrant found and fused; each list best first, ties by passage_id."""

    fused: list[Scored]
    """Everything that is in one of its lists, scored 0 to 1 over all of them."""
    nearest: list[Scored]
    """By cosine."""
    by_words: list[Scored]
    """By BM25."""


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """What an index was built with; an index of another identity is replaced, never updated."""

    kind: str
    model_id: str
    """The embedding model; empty for words."""
    settings: str
    """Fingerprint of the settings (or of the analyser) that shape the index."""


@dataclass(frozen=True)
class IndexManifest:
    """Description of an index, kept with it and written last: an index that has one is whole."""

    identity: IndexIdentity
    passages: str
    """Data version of passage_id -> fingerprint."""
    n_passages: int
    n_changed: int = field(default=0, compare=False)
    """Passages added, changed or removed since the index was built from nothing."""
    without: tuple[str, ...] = field(default=(), compare=False)
    """Passages that are not inside, because no vector could be made of their papers. Sorted."""

    @classmethod
    def of(cls, identity: IndexIdentity, fingerprints: Mapping[str, str]) -> Self:
        """The manifest of an index of that identity and of these passages."""
        return cls(identity, data_version(fingerprints), len(fingerprints))

    @property
    def version(self) -> str:
        """Changes with the identity and the passages."""
        return fingerprint(asdict(self.identity), self.passages, self.n_passages, *self.without)

    @property
    def n_held(self) -> int:
        """Passages inside."""
        return self.n_passages - len(self.without)


Report = Callable[[int, int], None]
"""Called with (passages done, passages to do) while an index is written."""


Opened = TypeVar("Opened", covariant=True)
"""A `VectorStore` or the `TantivyIndex`."""


class IndexFiles(Protocol[Opened]):
    """How one engine keeps an index in a folder. Everything but what is opened for reading is
    closed again when a method returns."""

    @property
    def most_changed(self) -> float:
        """Share of the passages that may change until the index is built from nothing instead of
        updated."""
        ...

    @property
    def place(self) -> str:
        """Where the index is, if only a note of it is in the folder; else empty."""
        ...

    @property
    def identity(self) -> IndexIdentity:
        """Identity of the index that is wanted."""
        ...

    def fingerprints(self, folder: Path) -> dict[str, str]:
        """passage_id -> fingerprint of everything that the folder holds; empty for an empty
        folder."""
        ...

    def write(self, folder: Path, rows: Mapping[str, IndexRow], report: Report) -> None:
        """Bring it durably to exactly `rows` (by passage_id); what is the same by fingerprint is
        left alone. Its files may be links to published ones: those are replaced, not written into."""
        ...

    def faulty(self, folder: Path, sample: Sequence[IndexRow]) -> tuple[str, ...]:
        """Ids of passages of `sample` that it does not hold or find as it should."""
        ...

    def is_there(self, folder: Path, n_passages: int) -> bool:
        """Whether what the intact files name has so many passages. Raises StoreUnavailable,
        StoreRefused if a server does not answer."""
        ...

    def open(self, folder: Path) -> Opened:
        """Open it for reading, whatever is published later. Raises what its library raises."""
        ...


COLUMNS = tuple(
    "passage_id chunk_id paper_id section_title page_start page_end row_hash text heading_text summary".split()
)
"""In the order of the fields of a row."""


def index_rows(passages: pa.Table) -> list[IndexRow]:
    """A row for each row of a table that has these columns."""
    columns = (passages[name].to_pylist() for name in COLUMNS)
    return [IndexRow(*values) for values in zip(*columns, strict=True)]
