"""The paper that a question about a record describes in words that its record does not have, as in
another language: "Wann erschien die Studie über Schafe im Winter?" of "Sheep in winter".

Its title page is much nearer to these words than that of any other paper; or a little nearer, if the
persons named are its authors.
"""

import numpy as np

from rag_assets.core.domain import SectionKind
from rag_assets.questions import Question, QuestionKind, QuestionReading
from rag_assets.search.indexing.protocols import Scope
from rag_assets.search.retrieval.filtering import PassageFilters
from rag_assets.search.retrieval.known_papers import THE_PAPER
from rag_assets.search.retrieval.library import Library
from rag_assets.search.retrieval.named_works import is_among, is_quoted, papers_meant
from rag_assets.search.retrieval.ranking import CandidateSearch

_LEAST_COMPARED, _SHARE_WITH_AUTHORS = 3, 0.4
"""Least title pages among which one can be much nearer to a description than the others; and the
share of `EmbedderFacts.telling_margin` that is enough if the persons named are the authors. Chosen on
190 questions about records and 50 about works that are not there (docs/adr/0022)."""


def described_in(
    question: Question,
    reading: QuestionReading,
    library: Library,
    filters: PassageFilters,
    candidates: CandidateSearch,
) -> tuple[tuple[str], str] | None:
    """The paper, and the question with "the paper" in place of its description; None if there is no
    such paper, or a title is quoted: that is no description."""
    text, asked = question.question, reading.asked
    if (
        QuestionKind.PUBLICATION not in asked.kinds
        or len(reading.parts) > 1
        or not asked.works
        or is_quoted(text, asked.works[0])
        or papers_meant(text, asked, library.facts)
    ):
        return None
    # Compare the words with all title pages.
    are_passing = filters.of_kinds(frozenset({SectionKind.TITLE_PAGE}))
    if (passing := filters.passing(question.filter)) is not None:
        are_passing = are_passing & passing
    ids = frozenset(library.passage_ids(np.flatnonzero(are_passing).tolist()))
    if len(ids) < _LEAST_COMPARED:
        return None
    words = ", ".join((*asked.persons, *asked.works))
    hits, margin = candidates.nearest(words, Scope(passage_ids=ids))
    if margin is None or not hits:
        return None
    # Is the nearest one near enough?
    papers = library.paper_ids(library.places([one.passage_id for one in hits]))
    others = (hit.score for hit, paper in zip(hits, papers, strict=True) if paper != papers[0])
    authors = library.facts_of(papers[0]).authors
    if asked.persons and all(is_among(person, authors) for person in asked.persons):
        margin *= _SHARE_WITH_AUTHORS
    if hits[0].score - max(others, default=0.0) < margin:
        return None
    return (papers[0],), text.replace(asked.works[0], THE_PAPER, 1)
