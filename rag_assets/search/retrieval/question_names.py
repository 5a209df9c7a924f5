"""What a question names: papers ("Activision 2019", "the AMCOR 10-Q of Q2 2023"), and sections of them.

A word of the question names papers when it occurs in their profiles and hardly anywhere else: nearly all passages that
hold it are of these papers. So "Boeing" names a report, while "coronavirus" in the title of one of many papers about it
names nothing. In a file's name any word of the question counts; in a title or on a first page only one that the
question writes as a name. Years and quarters distinguish the named papers; by themselves they name none.

A section ("in the cash flow statement") is named by a noun for parts of documents with the words around it. It is
looked for in the headings above a passage, not in its text: many passages of a report mention the balance sheet, and
one table is it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rag_assets.core.text.names import joined_pairs, periods_in, words_of, words_written_as_names
from rag_assets.search.indexing.protocols import LexicalIndex, Scope
from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.fusion import Scores, raised
from rag_assets.search.retrieval.library import Library, Numbers

_NAMED = re.compile(
    r"\b(?:in|within|on|from|by|using|of|under|see|to) (?:only |primarily |mainly |just )?(?:the|its|their|this|that) "
    r"(?P<name>(?:[\w&-]+ ){0,3}?(?P<noun>statement|sheet|section|chapter|appendix|note|abstract|introduction|"
    r"background|discussion|conclusion|limitation)s?\b(?: of (?:the )?[\w-]+(?: flows?\b)?)?)",
    re.IGNORECASE,
)
_ALONE = frozenset({"abstract", "introduction", "background", "discussion", "conclusion", "limitation"})
"""Nouns that name a section by themselves."""
_NAME_NOTHING = frozenset({"the", "and", "last", "first", "next", "same", "section", "chapter"})
_WORD = re.compile(r"[^\W_]+")
_LEAST_CHARS = 3


class SectionNames:
    """The headings of all published passages; may be used by several threads."""

    def __init__(self, library: Library) -> None:
        self._library = library

    def named_by(self, question: str) -> Mask | None:
        """Which passages are below a heading that the question names; None where it names none."""
        wanted = sections_named(question)
        if not wanted:
            return None
        paths, column = self._paths
        are_named = [any(_is_below(path, words) for words in wanted) for path in paths]
        return np.array(are_named, np.bool_)[column.indices.to_numpy()] if any(are_named) else None

    @cached_property
    def _paths(self) -> tuple[list[list[str]], pa.DictionaryArray]:
        """The headings of each distinct section path, and the paths by place."""
        column = self._library.passage_column("section_path").dictionary_encode()
        paths = [path.split(" > ") for path in column.dictionary.to_pylist()]
        return [["".join(_WORD.findall(title)).lower() for title in path] for path in paths], column


def sections_named(question: str) -> list[frozenset[str]]:
    """The words of each section that a question names, in small letters and without plural endings."""
    found: list[frozenset[str]] = []
    for match in _NAMED.finditer(question):
        words = [_singular(word.lower()) for word in _WORD.findall(match["name"]) if len(word) >= _LEAST_CHARS]
        telling = frozenset(words) - _NAME_NOTHING
        if len(telling) > 1 or match["noun"].lower() in _ALONE:
            found.append(telling)
    return found


def _is_below(path: list[str], words: frozenset[str]) -> bool:
    """Whether one heading holds all the words. Headings have no spaces here: PDF files put some inside words."""
    return any(all(word in title for word in words) for title in path)


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


_LEAST_CONCENTRATION = 0.9
"""Share of the passages with a word that must be of the papers it names. At 0.7, names of viruses and countries in
titles cost COVID-QA 9 of 1,000 answers in the first chunk."""
_FEW, _MOST_NAMED = 4, 0.25
"""Papers, or share of all papers, that a word may name; one in the names of more is too common."""
_CLEAR = 0.5
"""Share of log(1 + papers) from which on the words' idf is a clear name. One word of one paper has nearly all of it."""
_NEAR_BEST = 0.8
"""Papers with this share of the best score are searched by themselves, if they are few."""
PaperNumbers = npt.NDArray[np.int64]
_NONE: PaperNumbers = np.empty(0, np.int64)


@dataclass(frozen=True)
class NamedPapers:
    """The papers that a question names."""

    scores: Mapping[str, float]
    """By paper_id, above 0, up to 1."""
    clearly: tuple[str, ...] = ()
    """The few that are named clearly enough to be searched by themselves; sorted."""
    alone: tuple[str, ...] = ()
    """Papers that a word of the question names alone; sorted."""

    def shares(self, paper_ids: Sequence[str]) -> npt.NDArray[np.float64]:
        """The score of each paper, 0 for one that is not named; shape (n,)."""
        return np.array([self.scores.get(paper, 0.0) for paper in paper_ids], np.float64)


NO_PAPERS = NamedPapers({})


class PaperNames:
    """Names of all published papers; may be used by several threads."""

    def __init__(self, profiles: pa.Table, words: LexicalIndex | None) -> None:
        """profiles: schema PROFILES. words: counts where else a word occurs; None: only file names are compared."""
        self._ids: list[str] = profiles["paper_id"].to_pylist()
        self._words = words
        self._by_file = _papers_by_word(profiles["file_words"])
        self._by_page = _papers_by_word(profiles["page_words"])
        self._by_period = _papers_by_word(profiles["periods"])
        self._n_periods = np.maximum(1, pc.list_value_length(profiles["periods"]).to_numpy())

    def named_by(self, question: str) -> NamedPapers:
        """The papers that a question names, and how clearly."""
        named, alone = np.zeros(len(self._ids)), set[str]()
        names, joined = words_written_as_names(question), set(joined_pairs(question))
        for word in sorted({*words_of(question), *joined}):
            papers = _NONE if periods_in(word) else self._papers_of(word, word in names, word in joined)
            named[papers] += self._idf(len(papers))
            if len(papers) == 1:
                alone.add(self._ids[papers[0]])
        if not named.any():
            return NO_PAPERS
        clear = np.minimum(1.0, named / (_CLEAR * log(1 + len(self._ids))))
        total = np.where(named > 0, named + self._period_scores(question), 0.0)
        scores = clear * total / total.max()
        found = {self._ids[number]: float(scores[number]) for number in np.flatnonzero(scores)}
        best = max(found.values())
        clearly = sorted(paper for paper, score in found.items() if score >= _NEAR_BEST * best)
        is_clear = clear.max() >= _CLEAR and len(clearly) <= _FEW
        return NamedPapers(found, tuple(clearly) if is_clear else (), tuple(sorted(alone)))

    def _papers_of(self, word: str, is_name: bool, is_joined: bool) -> PaperNumbers:
        """PaperNumbers of the papers that a word names."""
        by_file = self._by_file.get(word, _NONE)
        if self._words is None:
            return by_file if is_name or is_joined else _NONE
        papers = np.union1d(by_file, self._by_page.get(word, _NONE)) if is_name else by_file
        if not 0 < len(papers) <= max(_FEW, _MOST_NAMED * len(self._ids)):
            return _NONE
        n_passages = self._words.n_holding(word)
        if not n_passages:
            return _NONE if n_passages is None else by_file
        n_own = self._words.n_holding(word, [self._ids[number] for number in papers]) or 0
        return papers if n_own >= _LEAST_CONCENTRATION * n_passages else _NONE

    def _period_scores(self, question: str) -> npt.NDArray[np.float64]:
        """The idf of the periods that question and paper share, times the share they are of the paper's own: the report
        of a quarter is not meant by a question about the year."""
        shared, n_shared = np.zeros(len(self._ids)), np.zeros(len(self._ids))
        for period in sorted(periods_in(question)):
            papers = self._by_period.get(period, _NONE)
            shared[papers] += self._idf(len(papers))
            n_shared[papers] += 1
        scores: npt.NDArray[np.float64] = shared * n_shared / self._n_periods
        return scores

    def _idf(self, n_papers: int) -> float:
        return log(1 + (len(self._ids) - n_papers + 0.5) / (n_papers + 0.5))


def _papers_by_word(column: pa.ChunkedArray) -> dict[str, PaperNumbers]:
    """PaperNumbers of the rows whose list holds a word, by word."""
    lists = column.combine_chunks()
    encoded = lists.flatten().dictionary_encode()
    codes, rows = encoded.indices.to_numpy(), pc.list_parent_indices(lists).to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    parts: Sequence[PaperNumbers] = np.split(rows[order], ends[:-1]) if len(ends) else []
    return dict(zip(encoded.dictionary.to_pylist(), parts, strict=True))


_WEIGHT = 0.6
"""Share of the span of all scores that passages of named papers and sections get more. Too high: they hide better ones
of other papers."""


@dataclass(frozen=True, slots=True)
class Named:
    """The papers and sections that a part of a question names."""

    papers: NamedPapers = NO_PAPERS
    in_sections: Mask | None = None
    """Which passages are in a named section, of a clearly named paper where there is one; None without any."""
    sections: Scope | None = None
    """The ones of clearly named papers, which are searched by themselves."""


NOTHING_NAMED = Named()


class QuestionNames:
    """Finds what a question names; may be used by several threads."""

    def __init__(self, library: Library, papers: PaperNames | None) -> None:
        """papers: None compares no question with the names of papers."""
        self._library = library
        self._papers = papers
        self._sections = SectionNames(library)

    def named_by(self, part: str, question: str, passing: Mask | None) -> Named:
        """What a part of a question names; what the whole question names, where the part names no paper.

        passing: the passages that may be found; None for all.
        """
        papers = self._papers_named_by(part, question)
        in_sections = self._sections.named_by(question)
        if in_sections is None:
            return Named(papers)
        if passing is not None:
            in_sections = in_sections & passing
        if not papers.clearly:
            return Named(papers, in_sections)
        in_sections = in_sections & self._of_papers(papers.clearly)
        ids = self._library.passage_ids(np.flatnonzero(in_sections).tolist())
        return Named(papers, in_sections, Scope(passage_ids=frozenset(ids)) if ids else None)

    def papers_named_alone(self, question: str) -> tuple[str, ...]:
        """The papers that words of a question name, each by itself."""
        return self._papers.named_by(question).alone if self._papers else ()

    def raise_named(self, scores: Scores, places: Numbers, named: Named) -> Scores:
        """The scores of passages, with what those of named papers and sections get more; shape (n,)."""
        shares = named.papers.shares(self._library.paper_ids(places))
        if named.in_sections is not None:
            shares += named.in_sections[places]
        return raised(scores, _WEIGHT * shares)

    def _papers_named_by(self, part: str, question: str) -> NamedPapers:
        if self._papers is None:
            return NO_PAPERS
        named = self._papers.named_by(part)
        return named if named.scores else self._papers.named_by(question)

    def _of_papers(self, paper_ids: tuple[str, ...]) -> Mask:
        mask = np.zeros(self._library.n_passages, np.bool_)
        for paper_id in paper_ids:
            mask[self._library.places_of(paper_id)] = True
        return mask
