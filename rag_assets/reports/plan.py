"""What a template asks: its questions, how each is to be answered, and the place of each in the
report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rag_assets.answering.drafts import Background, Manner
from rag_assets.questions import Question
from rag_assets.reports.templates import Section, Template

FindPapers = Callable[[Section], Sequence[str]]
"""Ids of the papers of a section that does not name them one by one, in the order of its rows."""


@dataclass(frozen=True)
class PlannedQuestion:
    section: str
    """Key of the section."""
    asks: str
    """What is missing when nothing answers it."""
    question: Question
    manner: Manner
    paper_id: str | None = None
    """The paper it is about, in a table."""
    column: str | None = None
    """The column of the table that shows its answer."""


@dataclass(frozen=True)
class ReportPlan:
    """A template and everything that is asked for it."""

    template: Template
    questions: tuple[PlannedQuestion, ...]

    def of(self, section: Section) -> list[PlannedQuestion]:
        return [one for one in self.questions if one.section == section.key]


def plan_report(template: Template, find_papers: FindPapers) -> ReportPlan:
    """Everything that a template asks."""
    planned = [
        one for section in template.sections for one in _planned(section, template, find_papers)
    ]
    return ReportPlan(template, tuple(planned))


def _planned(
    section: Section, template: Template, find_papers: FindPapers
) -> Iterator[PlannedQuestion]:
    settings = section.settings
    manner = Manner(k=settings.k, background=Background(template.outline, _part(section, template)))
    if settings.columns:
        for paper_id in settings.listed_papers or dict.fromkeys(find_papers(section)):
            yield from _about_paper(section, paper_id, manner)
        return
    # A question of a list is asked unchanged, because the words of the heading would be searched
    # for, too.
    for number, item in enumerate(
        section.items or ((section.guidance,) if section.guidance else ()), start=1
    ):
        is_alone = bool(section.items) and item.endswith("?")
        question = Question(
            id=f"{section.key}/{number}",
            question=item if is_alone else f"{section.heading}: {item}",
            paper_ids=settings.listed_papers,
            where=settings.where,
        )
        yield PlannedQuestion(section.key, item, question, manner)


def _part(section: Section, template: Template) -> str:
    lines = [template.title, template.introduction, f"This part: {section.heading}"]
    return "\n".join(line for line in (*lines, section.guidance if section.items else "") if line)


def subject_of(section: Section) -> Question:
    """What papers are searched for that a section is about."""
    return Question(
        id=section.key,
        question=f"{section.heading}: {section.guidance}".strip(": "),
        where=section.settings.where,
    )


def _about_paper(section: Section, paper_id: str, manner: Manner) -> Iterator[PlannedQuestion]:
    for column, text in section.settings.columns.items():
        question = Question(
            id=f"{section.key}/{paper_id}/{column}",
            question=text,
            paper_ids=(paper_id,),
            where=section.settings.where,
        )
        yield PlannedQuestion(section.key, column, question, manner, paper_id, column)
