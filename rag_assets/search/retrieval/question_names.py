"""What a question names: papers, and sections of them."""

from dataclasses import dataclass

import numpy as np

from rag_assets.search.indexing.protocols import Scope
from rag_assets.search.retrieval.filtering import Mask
from rag_assets.search.retrieval.fusion import Scores, raised
from rag_assets.search.retrieval.library import Library, Numbers
from rag_assets.search.retrieval.named_sections import SectionNames
from rag_assets.search.retrieval.paper_names import NO_PAPERS, NamedPapers, PaperNames

_WEIGHT = 0.6
"""Share of the span of all scores that passages of named papers and sections get more. Too high: they hide better ones
of other papers."""


@dataclass(frozen=True, slots=True)
class Named:
    """The papers and sections that a part of a question names."""

    papers: NamedPapers = NO_PAPERS
    in_sections: Mask | None = None
    """Which passages stand in a named section, of a clearly named paper where there is one; None without any."""
    sections: Scope | None = None
    """Those of them that are to be searched by themselves: of clearly named papers."""


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
