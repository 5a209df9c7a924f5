"""A filter becomes the passages that a search may return.

Papers are handed to the indexes by id, those found by their records too. What an index does not
keep (format, kind of section, pages) is looked up in the published tables, once per library, and
handed over as a set of passages.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import islice

import numpy as np
import numpy.typing as npt

from rag_assets.core.domain import (
    Condition,
    Filter,
    FilterField,
    NumberRange,
    PaperFacts,
    SectionKind,
    Value,
)
from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.headings import section_kinds
from rag_assets.questions import QuestionKind
from rag_assets.search.indexing.protocols import Scope
from rag_assets.search.retrieval.library import CodedTexts, Library

logger = logging.getLogger(__name__)
_FILTERS_KEPT = 4
_MOST_TOLD = 20
_NO_PAGE = -1
_OF_RECORDS: Mapping[FilterField, Callable[[PaperFacts], Sequence[str]]] = {
    FilterField.AUTHOR: lambda paper: paper.authors,
    FilterField.YEAR: lambda paper: [paper.year],
    FilterField.VENUE: lambda paper: [paper.venue],
    FilterField.TYPE: lambda paper: [paper.type],
    FilterField.LANGUAGE: lambda paper: [paper.language],
}
"""The values of a field in the record of a paper; an empty text means that it is not known."""
_OF_PAPERS = {FilterField.PAPER, *_OF_RECORDS}
Mask = npt.NDArray[np.bool_]
"""True or False for each passage, by its place in the library."""


class PassageFilters:
    """Says which passages of a library a filter lets through; may be used by several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._masks: Mapping[FilterField, Callable[[Condition], Mask]] = {
            FilterField.SOURCE: lambda condition: _is_one_of(
                self._sources, lambda source: source in condition.values
            ),
            FilterField.SECTION: lambda condition: self.of_kinds(
                frozenset(kind for kind in condition.values if isinstance(kind, SectionKind))
            ),
            FilterField.PAGE: self._of_pages,
            **dict.fromkeys(_OF_PAPERS, self._of_papers),
        }
        self._kept_scope = lru_cache(_FILTERS_KEPT)(self._scope)
        self._kept_mask = lru_cache(_FILTERS_KEPT)(self._mask)
        self._kept_papers = lru_cache(_FILTERS_KEPT)(self._papers_named)
        self._kept_kinds = lru_cache(_FILTERS_KEPT)(self._of_kinds)

    def scope(self, where: Filter) -> Scope | None:
        """The passages that meet all conditions; None for a filter without conditions. Logs a
        warning for each of the first names in the filter that no paper has."""
        for field, unknown in islice(self._unknown_names(where), _MOST_TOLD):
            alike = get_close_matches(unknown, self._names(field), n=1)
            meant = f"; is {alike[0]} meant?" if alike else ""
            what = "id" if field is FilterField.PAPER else field
            logger.warning("No paper of the corpus has the %s %s%s", what, unknown, meant)
        return self._kept_scope(where)

    def passing(self, where: Filter) -> Mask | None:
        """Which passages meet all conditions; None for a filter without conditions."""
        return self._kept_mask(where) if where.conditions else None

    def of_kinds(self, kinds: frozenset[SectionKind]) -> Mask:
        """Which passages are below a heading of one of these kinds."""
        return self._kept_kinds(kinds)

    def _mask(self, where: Filter) -> Mask:
        passing = np.ones(self._library.n_passages, np.bool_)
        for one in where.conditions:
            # True ^ mask inverts the mask: "not in the year 2019".
            passing &= self._masks[one.field](one) ^ one.is_excluded
        return passing

    def _scope(self, where: Filter) -> Scope | None:
        """Ids of papers if all conditions are about papers, since every index keeps these;
        otherwise ids of passages."""
        if not where.conditions:
            return None
        if all(one.field in _OF_PAPERS for one in where.conditions):
            papers = self._library.papers
            for one in where.conditions:
                named = self._kept_papers(one)
                papers = papers - named if one.is_excluded else papers & named
            return Scope(paper_ids=tuple(sorted(papers)))
        return Scope(
            passage_ids=frozenset(
                self._library.passage_ids(np.flatnonzero(self._kept_mask(where)).tolist())
            )
        )

    def _unknown_names(self, where: Filter) -> Iterator[tuple[FilterField, str]]:
        """Yields the texts in conditions about papers that fit no paper, each with its field,
        sorted."""
        named = {
            (one.field, value)
            for one in where.conditions
            if one.field in _OF_PAPERS
            for value in one.values
            if isinstance(value, str)
        }
        for field, name in sorted(named):
            if not self._kept_papers(Condition(field, (name,))):
                yield field, name

    def _names(self, field: FilterField) -> set[str]:
        """All values that papers have in a field; for authors also their last names alone."""
        if field is FilterField.PAPER:
            return set(self._library.papers)
        names = {name for paper in self._library.papers for name in self._recorded(paper, field)}
        if field is FilterField.AUTHOR:
            names |= {name.split()[-1] for name in names}
        return names

    def _recorded(self, paper: str, field: FilterField) -> list[str]:
        """The values in the paper's record, without empty ones."""
        return [text for text in _OF_RECORDS[field](self._library.facts_of(paper)) if text.strip()]

    def _papers_named(self, condition: Condition) -> frozenset[str]:
        """The papers that fit one of the condition's values. A paper whose record is empty in this
        field fits no value."""
        if condition.field is FilterField.PAPER:
            return self._library.papers & set(map(str, condition.values))
        return frozenset(
            paper
            for paper in self._library.papers
            if any(
                _is_meant(condition.field, value, recorded)
                for recorded in self._recorded(paper, condition.field)
                for value in condition.values
            )
        )

    def _of_papers(self, condition: Condition) -> Mask:
        papers = self._kept_papers(condition)
        return _is_one_of(self._papers, lambda paper: paper in papers)

    def _of_kinds(self, kinds: frozenset[SectionKind]) -> Mask:
        return _is_one_of(
            self._section_paths, lambda path: not kinds.isdisjoint(section_kinds(path.split(" > ")))
        )

    def _of_pages(self, condition: Condition) -> Mask:
        """Which passages are at least partly on one of the pages; a passage whose page is not known
        never is."""
        first, last = self._pages
        passing = np.zeros(len(first), np.bool_)
        for pages in condition.values:
            if isinstance(pages, NumberRange):
                passing |= (
                    (last >= pages.first) & (first <= (pages.last or np.inf)) & (first != _NO_PAGE)
                )
        return passing

    @cached_property
    def _papers(self) -> CodedTexts:
        return self._library.chunk_texts("paper_id")

    @cached_property
    def _sources(self) -> CodedTexts:
        return self._library.chunk_texts("source")

    @cached_property
    def _section_paths(self) -> CodedTexts:
        return self._library.section_paths()

    @cached_property
    def _pages(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The first and the last page of each passage, `_NO_PAGE` if not known."""
        first, last = (
            self._library.passage_numbers(name, _NO_PAGE) for name in ("page_start", "page_end")
        )
        return first, last


def _is_meant(field: FilterField, value: Value, recorded: str) -> bool:
    """Whether the value of a filter fits the text of a record; accents, case and points do not
    count.

    "Lund" fits the author "Ada Lund", which ends with it. "Nature" fits the venue "Nature
    Medicine", which contains it. In other fields both must be the same.
    """
    if isinstance(value, NumberRange):
        return int(recorded) in value
    wanted, words = _words(value), _words(recorded)
    if field is FilterField.VENUE:
        return wanted in words
    return words.endswith(wanted) if field is FilterField.AUTHOR else words == wanted


@lru_cache(50_000)
def _words(text: str) -> str:
    """The words of a text in plain letters, with a blank before and after each, so that only whole
    words are found in it. A text without letters and digits stays as it is, and fits nothing."""
    return f" {' '.join(filter(None, map(letters_of, text.split()))) or text} "


def _is_one_of(column: CodedTexts, is_wanted: Callable[[str], bool]) -> Mask:
    """Which rows of a column have a wanted value. `is_wanted` is called once per distinct value."""
    wanted = np.array([is_wanted(value) for value in column.texts.to_pylist()], np.bool_)
    mask: Mask = wanted[column.codes] if len(wanted) else np.zeros(len(column.codes), np.bool_)
    return mask


_FILTER_KINDS = {
    SectionKind.STATEMENTS: (
        SectionKind.STATEMENTS,
        SectionKind.FUNDING,
        SectionKind.DATA,
        SectionKind.ETHICS,
    )
}
"""A filter for any of these kinds asks for statements. Any other kind is asked for only by a filter
for that kind."""


def not_asked_for(kinds: Set[QuestionKind], where: Filter) -> frozenset[SectionKind]:
    """The kinds of sections that must not be found for a question of these kinds: title pages and
    statements, unless the question or the filter asks for them.

    Otherwise they would be found too often: a title page has the words of most questions on the
    paper's subject, and statements have those of many questions about money or data.
    """
    asked = {
        SectionKind.TITLE_PAGE: QuestionKind.PUBLICATION in kinds,
        SectionKind.STATEMENTS: QuestionKind.STATEMENTS in kinds,
    }
    return frozenset(
        kind
        for kind, is_asked in asked.items()
        if not is_asked and not any(map(where.names, _FILTER_KINDS.get(kind, (kind,))))
    )
