"""What a question names: papers (`paper_names`) and sections of them.

A section is named by a noun for parts of documents together with the words around it: "in the cash
flow statement". These words are compared with the headings above a passage, not with its text,
because many passages of a report mention the balance sheet, but only one table is the balance sheet.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rag_assets.core.text.folding import letters_of
from rag_assets.core.text.names import pieces_of
from rag_assets.search.indexing.protocols import Scope
from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.fusion import Scores, raised
from rag_assets.search.retrieval.library import Library, Numbers
from rag_assets.search.retrieval.paper_names import NO_PAPERS, NamedPapers, PaperNames

_NAMED = re.compile(
    r"\b(?:in|within|on|from|by|using|of|under|see|to) (?:only |primarily |mainly |just )?(?:the|its|their|this|that) "
    r"(?P<name>(?:[\w&-]+ ){0,3}?(?P<noun>statement|sheet|section|chapter|appendix|note|abstract|introduction|"
    r"background|discussion|conclusion|limitation)s?\b(?: of (?:the )?[\w-]+(?: flows?\b)?)?)",
    re.IGNORECASE,
)
_ALONE = frozenset(
    {"abstract", "introduction", "background", "discussion", "conclusion", "limitation"}
)
"""Nouns that name a section by themselves."""
_NAME_NOTHING = frozenset({"the", "and", "last", "first", "next", "same", "section", "chapter"})
"""Words that do not distinguish a section from others."""
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
        paths, codes = self._paths
        are_named = [any(_is_below(path, words) for words in wanted) for path in paths]
        return np.array(are_named, np.bool_)[codes] if any(are_named) else None

    @cached_property
    def _paths(self) -> tuple[list[list[str]], Numbers]:
        """The headings of each distinct section path as letters without spaces; and for each place
        the index of its path."""
        texts, codes = self._library.section_paths()
        paths = [path.split(" > ") for path in texts.to_pylist()]
        return [[letters_of(heading) for heading in path] for path in paths], codes


def sections_named(question: str) -> list[frozenset[str]]:
    """The words of each section that a question names, in small letters and without plural
    endings."""
    found: list[frozenset[str]] = []
    for match in _NAMED.finditer(question):
        words = [_singular(word) for word in pieces_of(match["name"]) if len(word) >= _LEAST_CHARS]
        distinctive = frozenset(words) - _NAME_NOTHING
        if len(distinctive) > 1 or match["noun"].lower() in _ALONE:
            found.append(distinctive)
    return found


def _is_below(path: list[str], words: frozenset[str]) -> bool:
    """Whether one of the headings contains all the words.

    path: headings without spaces, because PDF files have wrong spaces inside words.
    """
    return any(all(word in heading for word in words) for heading in path)


def _singular(word: str) -> str:
    """The word without a plural "s": "statements" -> "statement", but "loss" stays."""
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


_WEIGHT = 0.6
"""How much is added to the scores of passages of named papers and sections, as a share of the
difference between the highest and the lowest score. If it is too large, these passages hide better
ones of other papers."""


@dataclass(frozen=True, slots=True)
class Named:
    """The papers and sections that a part of a question names."""

    papers: NamedPapers = NO_PAPERS
    in_sections: Mask | None = None
    """Which passages are in a named section; if papers are clearly named, only passages of these.
    None if no section is named."""
    sections: Scope | None = None
    """The passages of named sections in clearly named papers. They are searched by themselves."""


NOTHING_NAMED = Named()


class QuestionNames:
    """Finds what a question names; may be used by several threads."""

    def __init__(self, library: Library, papers: PaperNames | None) -> None:
        """papers: None compares no question with the names of papers."""
        self._library = library
        self._papers = papers
        self._sections = SectionNames(library)

    def named_by(self, part: str, question: str, passing: Mask | None) -> Named:
        """The papers that a part of a question names, or else those that the whole question names;
        and the sections that the whole question names.

        passing: which passages may be found; None for all.
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
        """The papers for which a question has a word or key that names no other paper; see
        `NamedPapers.alone`."""
        return self._papers.named_by(question).alone if self._papers else ()

    def raise_named(self, scores: Scores, places: Numbers, named: Named) -> Scores:
        """The scores of passages, raised for passages of named papers and sections; shape (n,)."""
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
