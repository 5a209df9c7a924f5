"""What replies say of the corpus besides what the engine finds: titles, counts, version.

Only small files are read, so that it can be told while the engine opens.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from rag_assets.core.incremental import read_json
from rag_assets.core.settings import Paths
from rag_assets.core.table_files import published_or_empty
from rag_assets.core.tables import PARSED_INDEX

_State = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class CorpusFacts:
    """Of what is published now."""

    titles: Mapping[str, str]
    """By paper id; empty text where a paper has none."""
    n_papers: int
    """Papers that could be read."""
    n_chunks: int
    version: str | None
    """Changes with everything that can be searched; None when there is no index yet."""


class PublishedFacts:
    """Reads the facts, and keeps them until their files change; safe to use from several threads."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._files = (paths.parsed_index, paths.chunk_stats, paths.index_meta)
        self._reading = Lock()
        self._kept: tuple[_State, CorpusFacts] | None = None

    def now(self) -> CorpusFacts:
        with self._reading:
            state = tuple(_stat(file) for file in self._files)
            if self._kept is None or self._kept[0] != state:
                self._kept = state, self._read()
            return self._kept[1]

    def _read(self) -> CorpusFacts:
        paths = self._paths
        papers = published_or_empty(paths.parsed_index, PARSED_INDEX).table
        rows = papers.select(["paper_id", "title", "status"]).to_pylist()
        return CorpusFacts(
            titles={row["paper_id"]: row["title"] or "" for row in rows},
            n_papers=sum(row["status"] == "parsed" for row in rows),
            n_chunks=(read_json(paths.chunk_stats) or {}).get("n_chunks", 0),
            version=(read_json(paths.index_meta) or {}).get("version"),
        )


def _stat(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
