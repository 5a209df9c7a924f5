"""The published chunks and passages, and the facts of papers that their readers need.

A passage is known by its `place`: a number from 0 in reading order, that is by paper, then by chunk,
then by its start in the chunk. Only what ranking needs is kept in memory; texts and everything else
are read from the tables when they are needed.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rag_assets.core.domain import Chunk, PaperFacts, Passage
from rag_assets.core.errors import StaleIndex
from rag_assets.core.table_files import OpenTable
from rag_assets.core.tables import chunks_from, in_parts, passages_from, passages_version

Numbers = npt.NDArray[np.int32]
_NONE: Numbers = np.empty(0, np.int32)


class CodedTexts(NamedTuple):
    """One text per passage: that of a place is `texts[codes[place]]`."""

    texts: pa.Array
    """The distinct texts."""
    codes: Numbers
    """For each place the index of its text in `texts`."""


class Library:
    """All published chunks and passages; may be used by several threads."""

    def __init__(
        self, chunks_file: Path, passages_file: Path, facts: Mapping[str, PaperFacts] | None = None
    ) -> None:
        """Open the published tables. facts: what is known of the papers, by paper_id.

        Raises MissingInput when one is absent or cannot be used, StaleIndex when they do not fit
        each other.
        """
        # Arrow's default pool keeps what was freed: 45 MB more of a process that opened 80,000
        # passages
        pa.set_memory_pool(pa.system_memory_pool())
        self._chunks, self._passages = OpenTable(chunks_file), OpenTable(passages_file)
        passages = self._passages.columns(["passage_id", "chunk_id", "chunk_start", "row_hash"])
        self.version = passages_version(passages)
        """Version of the passages. An index whose version differs was made from other passages."""
        chunks = self._chunks.columns(
            ["chunk_id", "paper_id", "section_id", "ordinal", "is_generated"]
        )
        self.n_passages, self.n_chunks = len(passages), len(chunks)
        self._chunk_rows = _Ids(chunks["chunk_id"])
        # For each row of the passages' file the row of its chunk.
        chunk_rows = np.concatenate(
            [_NONE, *map(self._chunk_rows.numbers, in_parts(passages["chunk_id"]))]
        )
        if lost := np.flatnonzero(chunk_rows < 0).tolist():
            raise StaleIndex(
                f"{passages_file} has passages of chunk {passages['chunk_id'][lost[0]].as_py()!r}, which {chunks_file} "
                "does not have. Materialize `passages` and what follows it."
            )
        paper_ids = chunks["paper_id"].to_pylist()
        self._paper_ids = sorted(set(paper_ids))
        papers = _codes(paper_ids)
        starts = _numbers(passages["chunk_start"].combine_chunks())
        ordinals = _numbers(chunks["ordinal"].combine_chunks())
        order = np.lexsort((starts, ordinals[chunk_rows], papers[chunk_rows]))
        self._passage_rows = order.astype(np.int32)
        """Row in the file by place."""
        self._chunk_row_of: Numbers = chunk_rows[order]
        """Row of the chunk by place."""
        sections = zip(paper_ids, chunks["section_id"].to_pylist(), strict=True)
        self._section_of = _codes([f"{paper}:{section}" for paper, section in sections])[
            self._chunk_row_of
        ]
        self._paper_of = papers[self._chunk_row_of]
        """Number of the paper by place."""
        self._is_generated = np.array(chunks["is_generated"].to_pylist(), np.bool_)
        self._ids = _Ids(passages["passage_id"], order)
        self.papers = frozenset(self._paper_ids)
        self.facts = facts or {}

    def places(self, passage_ids: Sequence[str]) -> Numbers:
        """The places of passages that exist. Raises KeyError for one that does not."""
        places = self._ids.numbers(passage_ids)
        if unknown := np.flatnonzero(places < 0).tolist():
            raise KeyError(passage_ids[unknown[0]])
        return places

    def facts_of(self, paper_id: str) -> PaperFacts:
        """What is known of a paper."""
        return self.facts.get(paper_id) or PaperFacts(cited_as=paper_id)

    def title_of(self, paper_id: str) -> str:
        """The title of a paper; empty where it is not known."""
        return self.facts_of(paper_id).title

    def passage_ids(self, places: Sequence[int]) -> list[str]:
        return [self._ids[place] for place in places]

    def chunk_numbers(self, places: Sequence[int] | Numbers) -> Numbers:
        """A number for the chunk of each place; passages of one chunk share it."""
        return self._chunk_row_of[places]

    def paper_ids(self, places: Sequence[int] | Numbers) -> list[str]:
        return [self._paper_ids[number] for number in self._paper_of[places]]

    def are_generated(self, places: Sequence[int] | Numbers) -> npt.NDArray[np.bool_]:
        """Whether a model wrote the text of each place."""
        return self._is_generated[self._chunk_row_of[places]]

    def places_of(self, paper_id: str) -> range:
        """The places of a paper that exists."""
        number = self._paper_ids.index(paper_id)
        start, end = np.searchsorted(self._paper_of, [number, number + 1])
        return range(int(start), int(end))

    def neighbours(self, place: int, reach: int) -> list[int]:
        """Places in the same section that are up to `reach` passages away, the nearest first."""
        near = [
            other
            for distance in range(1, reach + 1)
            for other in (place - distance, place + distance)
        ]
        return [
            other
            for other in near
            if 0 <= other < self.n_passages and self._section_of[other] == self._section_of[place]
        ]

    def passages(self, places: Sequence[int]) -> list[Passage]:
        """The passages at those places. Raises MissingInput when the table is damaged."""
        return self._passages.values(self._passage_rows[list(places)], passages_from)

    def chunks(self, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        """The chunks of those ids that exist. Raises MissingInput when the table is damaged."""
        rows = self._chunk_rows.numbers(list(chunk_ids))
        return {
            chunk.chunk_id: chunk for chunk in self._chunks.values(rows[rows >= 0], chunks_from)
        }

    def section_paths(self) -> CodedTexts:
        """The headings above each passage."""
        return _coded(self._passages, "section_path", self._passage_rows)

    def chunk_texts(self, name: str) -> CodedTexts:
        """A column of the chunks, for each of their passages."""
        return _coded(self._chunks, name, self._chunk_row_of)

    def passage_numbers(self, name: str, unknown: int) -> Numbers:
        """A column of numbers by place, with `unknown` in place of nulls."""
        column = self._passages.columns([name])[name].combine_chunks()
        return _numbers(column.fill_null(unknown))[self._passage_rows]


class _Ids:
    """Distinct ids, numbered from 0: finds the id of a number, and the number of an id.

    They are kept as bytes in one array, which takes far less memory than a dictionary of texts.
    """

    def __init__(self, ids: pa.ChunkedArray, order: npt.NDArray[np.int64] | None = None) -> None:
        """order: for each number the row of its id in `ids`; None: the number is the row."""
        n_bytes = max((len(id_.encode()) for part in in_parts(ids) for id_ in part), default=1)
        parts = (np.array([id_.encode() for id_ in part], f"S{n_bytes}") for part in in_parts(ids))
        in_file = np.concatenate([np.empty(0, f"S{n_bytes}"), *parts])
        self._ids = in_file if order is None else in_file[order]
        self._sorted = np.argsort(self._ids).astype(np.int32)

    def __getitem__(self, number: int) -> str:
        return bytes(self._ids[number]).decode()

    def numbers(self, ids: Sequence[str]) -> Numbers:
        """The number of each id, -1 for an unknown one."""
        if not len(self._ids) or not ids:
            return np.full(len(ids), -1, np.int32)
        wanted = np.array([id_.encode() for id_ in ids], np.bytes_)
        # An id that would sort behind the last one is compared with the last one.
        positions = np.searchsorted(self._ids, wanted, sorter=self._sorted)
        found = self._sorted[np.minimum(positions, len(self._sorted) - 1)]
        return np.where(self._ids[found] == wanted, found, np.int32(-1))


def _coded(table: OpenTable, name: str, rows: Numbers) -> CodedTexts:
    """A column of texts by place. rows: for each place the row of the table."""
    column = table.columns([name])[name].combine_chunks().dictionary_encode()
    codes = _numbers(column.indices)[rows]  # a `take` would import pandas
    # Free the column as it was in the file: a fifth of the memory of a large process.
    pa.default_memory_pool().release_unused()
    return CodedTexts(column.dictionary, codes)


def _numbers(column: pa.Array) -> Numbers:
    # `to_numpy` would import pandas, which takes 35 MB
    return np.from_dlpack(column).astype(np.int32, copy=False)


def _codes(values: Sequence[str]) -> Numbers:
    """A number for each value. Equal values have the same number, and the numbers have the same
    order as the values."""
    numbers = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([numbers[value] for value in values], np.int32)
