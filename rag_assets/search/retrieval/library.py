"""The published chunks and passages, held in memory as Arrow columns, and the facts of papers that their readers need.

A passage is known by its place: its number in reading order, which is by paper, chunk and place in the chunk.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rag_assets.core.domain import Chunk, PaperFacts, Passage
from rag_assets.core.errors import StaleIndex
from rag_assets.core.incremental import data_version
from rag_assets.core.table_files import required_table
from rag_assets.core.tables import chunks_from, passages_from

Numbers = npt.NDArray[np.int32]


class Library:
    """All published chunks and passages; may be used by several threads."""

    def __init__(self, chunks_file: Path, passages_file: Path, facts: Mapping[str, PaperFacts] | None = None) -> None:
        """Open the published tables. facts: what is known of the papers, by paper_id.

        Raises MissingInput when one is absent or cannot be used, StaleIndex when they do not fit each other.
        """
        # Arrow's default pool keeps what was freed: 45 MB more of a process that opened 80,000 passages
        pa.set_memory_pool(pa.system_memory_pool())
        chunks = self._chunks = required_table(chunks_file).combine_chunks()
        passages = self._passages = required_table(passages_file).combine_chunks()
        passage_ids, row_hashes = passages["passage_id"].to_pylist(), passages["row_hash"].to_pylist()
        self.version = data_version(dict(zip(passage_ids, row_hashes, strict=True)))
        """Data version of passage_id -> row hash; an index that fits has the same."""
        self.n_passages, self.n_chunks = len(passage_ids), len(chunks)
        self._chunk_rows = {id_: row for row, id_ in enumerate(chunks["chunk_id"].to_pylist())}
        of_chunk = [self._chunk_rows.get(id_, -1) for id_ in passages["chunk_id"].to_pylist()]
        if -1 in of_chunk:
            lost = passages["chunk_id"][of_chunk.index(-1)].as_py()
            raise StaleIndex(
                f"{passages_file} has passages of chunk {lost!r}, which {chunks_file} does not have. "
                "Materialize `passages` and what follows it."
            )
        self._paper_ids = sorted(set(chunks["paper_id"].to_pylist()))
        papers = _codes(chunks["paper_id"].to_pylist())
        starts, ordinals = (np.array(column.to_pylist()) for column in (passages["chunk_start"], chunks["ordinal"]))
        order = np.lexsort((starts, ordinals[of_chunk], papers[of_chunk]))
        self._passage_rows = order.astype(np.int32)
        """Row in the file by place."""
        self._chunk_row_of: Numbers = np.array(of_chunk, np.int32)[order]
        """Row of the chunk by place."""
        sections = zip(papers.tolist(), chunks["section_id"].to_pylist(), strict=True)
        self._section_of = _codes([f"{paper}:{section}" for paper, section in sections])[self._chunk_row_of]
        self._paper_of = papers[self._chunk_row_of]
        """Number of the paper by place."""
        self._is_generated = np.array(chunks["is_generated"].to_pylist(), np.bool_)
        self._ids = np.array([id_.encode() for id_ in passage_ids], np.bytes_)[order]
        self._by_id = np.argsort(self._ids).astype(np.int32)
        self.papers = frozenset(self._paper_ids)
        self.facts = facts or {}

    def places(self, passage_ids: Sequence[str]) -> Numbers:
        """The places of passages that exist. Raises KeyError for one that does not."""
        if not passage_ids:
            return np.empty(0, np.int32)
        wanted = np.array([id_.encode() for id_ in passage_ids], np.bytes_)
        at = np.searchsorted(self._ids, wanted, sorter=self._by_id)
        found = self._by_id[np.minimum(at, len(self._by_id) - 1)]
        if unknown := np.flatnonzero(self._ids[found] != wanted).tolist():
            raise KeyError(passage_ids[unknown[0]])
        return np.asarray(found, np.int32)

    def facts_of(self, paper_id: str) -> PaperFacts:
        """What is known of a paper."""
        return self.facts.get(paper_id) or PaperFacts(cited_as=paper_id)

    def title_of(self, paper_id: str) -> str:
        """The title of a paper; empty where it is not known."""
        return self.facts_of(paper_id).title

    def passage_ids(self, places: Sequence[int]) -> list[str]:
        return [self._ids[place].decode() for place in places]

    def chunk_numbers(self, places: Sequence[int] | Numbers) -> Numbers:
        """A number for the chunk of each place; passages of one chunk share it."""
        return self._chunk_row_of[places]

    def paper_ids(self, places: Sequence[int] | Numbers) -> list[str]:
        """The paper of each place."""
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
        """Places of the same section up to `reach` away, the nearest first."""
        near = [at for distance in range(1, reach + 1) for at in (place - distance, place + distance)]
        return [at for at in near if 0 <= at < self.n_passages and self._section_of[at] == self._section_of[place]]

    def passages(self, places: Sequence[int]) -> list[Passage]:
        """The passages at those places."""
        return passages_from(_rows(self._passages, self._passage_rows[list(places)].tolist()))

    def chunks(self, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        """The chunks of those ids that exist."""
        rows = [self._chunk_rows[id_] for id_ in chunk_ids if id_ in self._chunk_rows]
        return {chunk.chunk_id: chunk for chunk in chunks_from(_rows(self._chunks, rows))}

    def passage_column(self, name: str) -> pa.Array:
        """A column of the passages, by place."""
        return self._passages[name].combine_chunks().take(pa.array(self._passage_rows))

    def chunk_column(self, name: str) -> pa.Array:
        """A column of the chunks, by the places of their passages."""
        return self._chunks[name].combine_chunks().take(pa.array(self._chunk_row_of))


def _rows(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    """Some rows of a table, in the order given. Its own `take` would import pandas, which takes 35 MB."""
    return pa.concat_tables([table.slice(0, 0), *(table.slice(row, 1) for row in rows)])


def _codes(values: Sequence[str]) -> Numbers:
    """A number for each value; equal values have the same, and numbers sort as the values do."""
    numbers = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([numbers[value] for value in values], np.int32)
