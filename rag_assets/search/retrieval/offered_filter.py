"""A filter in the words of a question, "papers by Lund since 2019": it is offered to the user,
never applied."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_assets.core.domain import Condition, Filter, FilterField
from rag_assets.questions import Kind, Question, read
from rag_assets.questions.reading import STUDY
from rag_assets.questions.years import years_asked_for
from rag_assets.search.retrieval.named_works import writers_asked_for

_OF_PAPERS = re.compile(rf"\b{STUDY}\b[^?;:]{{0,40}}$", re.IGNORECASE)
"""What stands before years that are those of papers, not of what was studied."""
_LOOKED_BACK = 80
"""Characters; looking through all of a long question for each year would take the square of its
length."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be asked instead."""

    question: str
    """The question without the words that became the filter: no paper says of itself that it is by
    Lund."""
    where: Filter


def offered_filter(question: Question, passing: Callable[[Filter], Sequence[str]]) -> Offer | None:
    """Authors and years by which a question names papers, without those that its own filter has.

    passing: gives the ids of the papers that pass a filter. None without such words, if no paper
    passes, and for a question that the records answer: "Which papers are by Lund?".
    """
    text, own = question.question, question.filter
    if Kind.PUBLICATION in read(text).kinds:
        return None
    asked = [
        one
        for one in years_asked_for(text)
        if _OF_PAPERS.search(text[max(0, one.start - _LOOKED_BACK) : one.start])
    ]
    by = _by(writers_asked_for(text), text)
    writers = writers_asked_for(text) if by else ()
    conditions = [Condition(FilterField.AUTHOR, (person,)) for person in writers]
    conditions += [Condition(FilterField.YEAR, tuple(one.years for one in asked))] if asked else []
    offered = Filter(tuple(one for one in conditions if one not in own.conditions))
    if not offered.conditions or not passing(own & offered):
        return None
    rest = text
    for said in (*(text[one.start : one.end] for one in asked), by):
        rest = rest.replace(said, "", 1)
    return Offer(re.sub(r"\s+(?=[?.,;]|$)", "", " ".join(rest.split())), offered)


def _by(writers: Sequence[str], text: str) -> str:
    """The words "by Ada Lund and Bo Moe"; empty where no "by" names the writers: "What did Lund
    write?"."""
    ends = ".+?".join(re.escape(one) for one in dict.fromkeys((*writers[:1], *writers[-1:])))
    found = re.search(rf"\bby {ends}", text, re.IGNORECASE) if writers else None
    return found[0] if found else ""
