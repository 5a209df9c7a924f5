"""The sentences of chunks that report other works, with the entries of the reference lists that they refer to."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from threading import Lock
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import Chunk, CitedWork, Report
from rag_assets.core.tables import REFERENCES, rows_of
from rag_assets.search.retrieval.titled_papers import TitledPapers

_MOST_ENTRIES = 3


class CitedWorks:
    """Reads the rows of a paper when one of its chunks is asked for. May be used by several threads."""

    def __init__(self, references: pa.Table | None = None, titles: Mapping[str, str] | None = None) -> None:
        """references: schema REFERENCES; None: no sentence is known to report. titles: of papers, by paper_id."""
        self._references = REFERENCES.empty_table() if references is None else references
        self._titles = titles or {}
        self._lock = Lock()
        self._known: dict[str, dict[tuple[int, int], list[CitedWork]]] = {}

    @cached_property
    def _papers(self) -> TitledPapers:
        return TitledPapers(self._titles)

    def reports_in(self, chunks: Mapping[str, Chunk]) -> dict[str, tuple[Report, ...]]:
        """By chunk id, for those of the chunks that report other works."""
        found = {id_: tuple(self._reports(chunk)) for id_, chunk in chunks.items()}
        return {id_: reports for id_, reports in found.items() if reports}

    def entries_naming(self, title: str) -> dict[str, str]:
        """The first entries of reference lists that hold a title, each with a paper that has it in its list."""
        holds = pc.match_substring(self._references["text"], title, ignore_case=True)
        rows = self._references.filter(holds).slice(0, _MOST_ENTRIES).to_pylist()
        return {row["text"]: row["paper_id"] for row in rows}

    def _reports(self, chunk: Chunk) -> Iterator[Report]:
        for (start, end), works in self._of(chunk.paper_id).items():
            for unit in chunk.units:
                if unit.char_start < end and unit.char_end > start:
                    own_start, own_end = (unit.start + place - unit.char_start for place in (start, end))
                    yield Report(max(unit.start, own_start), min(unit.end, own_end), tuple(works))

    def _of(self, paper_id: str) -> dict[tuple[int, int], list[CitedWork]]:
        """The works that each reporting sentence refers to, by its place in the paper's text."""
        with self._lock:
            if paper_id not in self._known:
                found: dict[tuple[int, int], list[CitedWork]] = {}
                for row in rows_of(self._references, "paper_id", [paper_id]).to_pylist():
                    for start, end in _reporting(row):
                        found.setdefault((start, end), []).append(self._work(paper_id, row["text"]))
                self._known[paper_id] = dict(sorted(found.items()))
            return self._known[paper_id]

    def _work(self, paper_id: str, entry: str) -> CitedWork:
        return CitedWork(entry, self._papers.paper_of(entry, besides=paper_id))


def _reporting(row: dict[str, Any]) -> list[tuple[int, int]]:
    return [(one["start"], one["end"]) for one in row["mentions"] if one["is_reported"]]
