"""The chunks and passages of the published corpus in memory: what a passage id means, and what stands beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Self

from rag_assets.domain import Chunk, Passage
from rag_assets.errors import StaleIndex


@dataclass(frozen=True)
class Library:
    """All chunks by id, and all passages in reading order."""

    chunks: Mapping[str, Chunk]
    passages: Sequence[Passage]
    """Sorted by paper, chunk and place in the chunk."""
    places: Mapping[str, int]
    """Index in `passages` by passage id."""

    @classmethod
    def of(cls, chunks: Sequence[Chunk], passages: Sequence[Passage]) -> Self:
        """Raises KeyError when a passage belongs to none of the chunks."""
        by_id = {chunk.chunk_id: chunk for chunk in chunks}
        ordered = sorted(passages, key=lambda one: (one.paper_id, by_id[one.chunk_id].ordinal, one.chunk_start))
        return cls(by_id, ordered, {one.passage_id: place for place, one in enumerate(ordered)})

    @classmethod
    def load(cls, chunks_file: Path, passages_file: Path) -> Self:
        """Read the published tables.

        Raises MissingInput when one is absent or cannot be used, StaleIndex when they do not fit each other.
        """
        from rag_assets import tables
        from rag_assets.table_files import required_table

        chunks = required_table(chunks_file, asset="chunks")
        passages = required_table(passages_file, asset="passages")
        try:
            return cls.of(tables.chunks_from(chunks), tables.passages_from(passages))
        except KeyError as error:
            raise StaleIndex(
                f"{passages_file} has passages of chunk {error}, which {chunks_file} does not have. "
                "Materialize `passages` and what follows it."
            ) from error

    @cached_property
    def row_hashes(self) -> Mapping[str, str]:
        """`Passage.row_hash` by passage id; what an index must describe to fit."""
        return {passage.passage_id: passage.row_hash for passage in self.passages}

    @cached_property
    def papers(self) -> frozenset[str]:
        return frozenset(passage.paper_id for passage in self.passages)

    def passage(self, passage_id: str) -> Passage:
        return self.passages[self.places[passage_id]]

    def chunks_by_id(self, chunk_ids: Iterable[str]) -> dict[str, Chunk]:
        """Those that exist, by id."""
        return {id_: self.chunks[id_] for id_ in chunk_ids if id_ in self.chunks}

    def chunk_of(self, passage: Passage) -> Chunk:
        return self.chunks[passage.chunk_id]

    def neighbours(self, passage: Passage, reach: int) -> list[Passage]:
        """Passages of the same section up to `reach` places away, the nearest first."""
        place = self.places[passage.passage_id]
        found = []
        for distance in range(1, reach + 1):
            for at in (place - distance, place + distance):
                if 0 <= at < len(self.passages) and self._share_section(passage, self.passages[at]):
                    found.append(self.passages[at])
        return found

    def _share_section(self, one: Passage, other: Passage) -> bool:
        return one.paper_id == other.paper_id and self.chunk_of(one).section_id == self.chunk_of(other).section_id
