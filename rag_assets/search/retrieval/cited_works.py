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
from rag_assets.questions import QuestionKind, QuestionReading
from rag_assets.search.retrieval.known_papers import KnownPapers

_MOST_ENTRIES = 3
"""Most entries that are returned."""
_MOST_READ = 200
"""Most entries with a family name that are searched for a person of that name."""
_WORDS_BEFORE = 2
"""Number of words before a family name that may be the given name: "Ada B. Lund"."""
_WORD, _YEAR = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*"), re.compile(r"\b(?:19|20)\d\d")
_PAPERS_KEPT = 100


class CitedWorks:
    """Reads the rows of a paper when one of its chunks is asked for. May be used by several
    threads."""

    def __init__(
        self, references: OpenTable | None = None, papers: KnownPapers | None = None
    ) -> None:
        """references: the table of that name; None: no sentence is known to report other works.

        Raises MissingInput when the table is damaged, as the methods do.
        """
        self._references = references
        self._papers = papers or KnownPapers({})
        self._papers_of_rows = pa.nulls(0, pa.string()).dictionary_encode()  # no rows
        if references is not None:
            self._papers_of_rows = (
                references.columns(["paper_id"])["paper_id"].combine_chunks().dictionary_encode()
            )
        self._works_by_statement = lru_cache(_PAPERS_KEPT)(self._read_works)

    @cached_property
    def _numbers_of_papers(self) -> dict[str, int]:
        """The code of each paper id in `_papers_of_rows`."""
        return {
            paper: number
            for number, paper in enumerate(self._papers_of_rows.dictionary.to_pylist())
        }

    def reports_in(self, chunks: Mapping[str, Chunk]) -> dict[str, tuple[ReportedFinding, ...]]:
        """The reported findings of each chunk, by chunk id; chunks without any are left out."""
        found = {id_: tuple(self._reports(chunk)) for id_, chunk in chunks.items()}
        return {id_: reports for id_, reports in found.items() if reports}

    def entries_asked_for(self, reading: QuestionReading) -> dict[str, str]:
        """The entries of reference lists that name a work whose record a question asks for. Each
        has the id of a paper with this entry in its list."""
        entries: dict[str, str] = {}
        for part in reading.parts:
            if part.kinds & {QuestionKind.PUBLICATION, QuestionKind.RELATED_WORK}:
                for person in () if part.asked.works else part.asked.persons[:1]:
                    entries |= self.entries_by(person)
                for work in part.asked.works:
                    entries |= self.entries_naming(work)
        return entries

    def entries_naming(self, title: str) -> dict[str, str]:
        """The first entries of reference lists that contain a title. Each has the id of a paper
        with this entry in its list."""
        return {row["text"]: row["paper_id"] for row in self._rows_with(title, _MOST_ENTRIES)}

    def entries_by(self, person: str) -> dict[str, str]:
        """The first entries of reference lists that name a person among the authors. Each has the
        id of a paper with this entry in its list.

        person: for example "Ada Lund" or "Lund".
        """
        *given, family = person.split()
        rows = (
            row
            for row in self._rows_with(family, _MOST_READ)
            if _is_author(given[:1], family, row["text"])
        )
        return {row["text"]: row["paper_id"] for row in islice(rows, _MOST_ENTRIES)}

    def _rows_with(self, words: str, most: int) -> list[dict[str, Any]]:
        """At most `most` rows of the table whose entry contains these words, first rows first."""
        if self._references is None:
            return []
        holds = pc.match_substring(
            self._references.columns(["text"])["text"], words, ignore_case=True
        )
        return self._rows(np.from_dlpack(pc.indices_nonzero(holds.combine_chunks()))[:most])

    def _reports(self, chunk: Chunk) -> Iterator[ReportedFinding]:
        """The units of a chunk whose statement reports other works."""
        works_by_statement = self._works_by_statement(chunk.paper_id)
        for unit in chunk.units:
            if works := works_by_statement.get(unit.statement):
                yield ReportedFinding(unit.start, unit.end, tuple(works))

    def _read_works(self, paper_id: str) -> dict[int, list[CitedWork]]:
        """The works that each reporting statement of a paper refers to, by its number."""
        number = self._numbers_of_papers.get(paper_id, -1)  # -1: no row has it
        found: dict[int, list[CitedWork]] = {}
        for row in self._rows(
            np.flatnonzero(np.from_dlpack(self._papers_of_rows.indices) == number)
        ):
            for mention in row["mentions"]:
                if mention["is_reported"]:
                    work = self._work(paper_id, row["text"])
                    found.setdefault(mention["statement"], []).append(work)
        return found

    def _rows(self, numbers: npt.ArrayLike) -> list[dict[str, Any]]:
        return self._references.values(numbers, pa.Table.to_pylist) if self._references else []

    def _work(self, paper_id: str, entry: str) -> CitedWork:
        """The work of an entry, with its paper if the corpus has it."""
        return CitedWork(entry, self._papers.paper_of(entry, besides=paper_id))


def _is_author(given: Sequence[str], family: str, entry: str) -> bool:
    """Whether an entry has the family name among its authors, which are what precedes the first
    year. If there is a given name, a word next to the family name must begin with its initial:
    "Lund, A." and "A. B. Lund" fit "Ada Lund".

    given: the given name, or empty.
    """
    words = _WORD.findall(_YEAR.split(entry, maxsplit=1)[0])
    initials = {name[0].upper() for name in given}
    for at, word in enumerate(words):
        nearby = words[max(0, at - _WORDS_BEFORE) : at + 2]
        if word.casefold() == family.casefold() and initials <= {name[0] for name in nearby}:
            return True
    return False
