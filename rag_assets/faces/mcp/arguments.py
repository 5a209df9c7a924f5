"""Arguments that several tools share, with descriptions that an assistant reads."""

from typing import Annotated

from pydantic import Field

from rag_assets.core.domain import EVERYTHING, Filter, SectionKind, Source
from rag_assets.core.domain.filters import EXAMPLE
from rag_assets.core.settings import Effort
from rag_assets.questions import MAX_QUESTION_CHARS

MAX_K = 50
QuestionText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=MAX_QUESTION_CHARS,
        description="A whole question in English that can be understood without the conversation.",
    ),
]
PaperIds = Annotated[
    list[str] | None,
    Field(description='Search only these papers, by paper id as list_papers gives it, e.g. ["smith2020"].'),
]
Where = Annotated[
    str | None,
    Field(
        description=f'Search only what passes a filter, e.g. "{EXAMPLE}". Blanks part conditions, all of which must '
        "hold; commas part values, one of which is enough; a minus excludes. Fields: paper (an id), "
        f"source ({', '.join(Source)}), section ({', '.join(SectionKind)}), page (3, 3-7 or 3-; physical, from 1).",
    ),
]
HowMuchEffort = Annotated[
    Effort | None,
    Field(
        description="thorough takes a question of several parts apart, answers each, and searches again in other words "
        "for parts without an answer; it takes several times as long. By default as the server is set."
    ),
]
Depth = Annotated[
    int | None,
    Field(ge=1, le=MAX_K, description="How many chunks to return; by default as many as an answer reads."),
]


def filter_of(paper_ids: list[str] | None, where: str | None) -> Filter | None:
    """What both let through; None when neither is given. Raises InvalidFilter."""
    if paper_ids is None and where is None:
        return None
    papers = EVERYTHING if paper_ids is None else Filter.of_papers(paper_ids)
    return papers & (EVERYTHING if where is None else Filter.parse(where))
