"""A filter in the words of a question, "papers by Lund since 2019": it is offered to the user, never applied."""

import re
from collections.abc import Callable, Sequence

from rag_assets.core.domain import Condition, Filter, FilterField
from rag_assets.questions import Kind, Question, read
from rag_assets.questions.reading import STUDY
from rag_assets.questions.years import years_asked_for
from rag_assets.search.retrieval.named_works import writers_asked_for

_OF_PAPERS = re.compile(rf"\b{STUDY}\b[^?;:]{{0,40}}$", re.IGNORECASE)
"""What stands before years that are those of papers, not of what was studied."""


def offered_filter(question: Question, passing: Callable[[Filter], Sequence[str]]) -> Filter | None:
    """Authors and years by which a question names papers, without those that its own filter has.

    passing: gives the ids of the papers that pass a filter. None without such words, if no paper passes, and for a
    question that the records answer: "Which papers are by Lund?".
    """
    text, own = question.question, question.filter
    if Kind.PUBLICATION in read(text).kinds:
        return None
    years = tuple(one.years for one in years_asked_for(text) if _OF_PAPERS.search(text[: one.start]))
    conditions = [Condition(FilterField.AUTHOR, (person,)) for person in writers_asked_for(text)]
    conditions += [Condition(FilterField.YEAR, years)] if years else []
    offered = Filter(tuple(one for one in conditions if one not in own.conditions))
    return offered if offered.conditions and passing(own & offered) else None
