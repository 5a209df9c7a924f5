"""The sentences of chunks that report other works, with the entries of the reference lists that
they refer to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.domain import Chunk, CitedWork, ReportedFinding
from rag_assets.core.table_files import OpenTable
from rag_assets.search.retrieval.known_papers import KnownPapers

_MOST_ENTRIES = 3
_MOST_READ = 200
"""Entries with a family name that are looked through for its person."""
_BESIDE = 2
"""Words before a family name that may hold the given one: "Ada B. Lund"."""
_WORD, _YEAR = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*"), re.compile(r"\b(?:19|20)\d\d")
_PAPERS_KEPT = 100


class CitedWorks:
    """Reads the rows of a paper when one of its chunks is asked for. May be used by several
    threads."""

    def __init__(
        self, references: OpenTable | None = None, papers: KnownPapers | None = None
    ) -> None:
        """references: the table of that name; None: no sentence is known to report.

        Raises MissingInput when the table is damaged, as the methods do.
        """
        self._references = references
        self._papers = papers or KnownPapers({})
        self._papers_of_rows = pa.nulls(0, pa.string()).dictionary_encode()
        if references is not None:
            self._papers_of_rows = (
                references.columns(["paper_id"])["paper_id"].combine_chunks().dictionary_encode()
            )
        self._of = lru_cache(_PAPERS_KEPT)(self._read)

    @cached_property
    def _numbers_of_papers(self) -> dict[str, int]:
        return {
            paper: number
            for number, paper in enumerate(self._papers_of_rows.dictionary.to_pylist())
        }

    def reports_in(self, chunks: Mapping[str, Chunk]) -> dict[str, tuple[ReportedFinding, ...]]:
        """Reports by chunk id, for the chunks that report other works."""
        found = {id_: tuple(self._reports(chunk)) for id_, chunk in chunks.items()}
        return {id_: reports for id_, reports in found.items() if reports}

    def entries_naming(self, title: str) -> dict[str, str]:
        """The first entries of reference lists that hold a title, each with a paper that has it in
        its list."""
        return {row["text"]: row["paper_id"] for row in self._holding(title, _MOST_ENTRIES)}

    def entries_by(self, person: str) -> dict[str, str]:
        """The first entries that name a person among their authors, each with a paper that has it
        in its list."""
        *given, family = person.split()
        rows = (
            row
            for row in self._holding(family, _MOST_READ)
            if _is_author(given[:1], family, row["text"])
        )
        return {row["text"]: row["paper_id"] for row in islice(rows, _MOST_ENTRIES)}

    def _holding(self, words: str, most: int) -> list[dict[str, Any]]:
        """The first rows whose entry holds these words."""
        if self._references is None:
            return []
        holds = pc.match_substring(
            self._references.columns(["text"])["text"], words, ignore_case=True
        )
        return self._rows(np.from_dlpack(pc.indices_nonzero(holds.combine_chunks()))[:most])

    def _reports(self, chunk: Chunk) -> Iterator[ReportedFinding]:
        for (start, end), works in self._of(chunk.paper_id).items():
            for unit in chunk.units:
                if unit.char_start < end and unit.char_end > start:
                    own_start, own_end = (
                        unit.start + place - unit.char_start for place in (start, end)
                    )
                    yield ReportedFinding(
                        max(unit.start, own_start), min(unit.end, own_end), tuple(works)
                    )

    def _read(self, paper_id: str) -> dict[tuple[int, int], list[CitedWork]]:
        """The works that each reporting sentence refers to, by its place in the paper's text."""
        number = self._numbers_of_papers.get(paper_id, -1)
        found: dict[tuple[int, int], list[CitedWork]] = {}
        for row in self._rows(
            np.flatnonzero(np.from_dlpack(self._papers_of_rows.indices) == number)
        ):
            for start, end in _reporting(row):
                found.setdefault((start, end), []).append(self._work(paper_id, row["text"]))
        return dict(sorted(found.items()))

    def _rows(self, numbers: npt.ArrayLike) -> list[dict[str, Any]]:
        return self._references.values(numbers, pa.Table.to_pylist) if self._references else []

    def _work(self, paper_id: str, entry: str) -> CitedWork:
        return CitedWork(entry, self._papers.paper_of(entry, besides=paper_id))


def _is_author(given: Sequence[str], family: str, entry: str) -> bool:
    """Whether an entry has a family name before its first year, beside a name with the initial of
    the given one."""
    words = _WORD.findall(_YEAR.split(entry, maxsplit=1)[0])
    initials = {name[0].upper() for name in given}
    beside = (
        {word[0] for word in words[max(0, at - _BESIDE) : at + 2]}
        for at, word in enumerate(words)
        if word.casefold() == family.casefold()
    )
    return any(initials <= found for found in beside)


def _reporting(row: dict[str, Any]) -> list[tuple[int, int]]:
    return [(one["start"], one["end"]) for one in row["mentions"] if one["is_reported"]]
