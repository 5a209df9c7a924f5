"""Templates of reports: Markdown whose headings are sections, each with its guidance and,
optionally, its settings.

# Title
What the report is for.

## First section
What this section should say. Without a list below, heading and guidance are one question.

- Each item of a list is a question of its own.

## Studies
```toml
papers = ["smith2020", "lee2021"]
columns = { Sample = "How many people took part?", Result = "What was the main result?" }
```
What the table compares.

The same as JSON: {"title": ..., "sections": [{"heading": ..., "guidance": ...}]}.

The module also makes the plan of a report: the questions of its template, how each is to be
answered, and where the answer is shown.
"""

import logging
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rag_assets.answering.drafts import MAX_TRIES, AnswerOptions, Background
from rag_assets.core.errors import InvalidTemplate, MissingInput
from rag_assets.questions import Question
from rag_assets.questions.files import MAX_QUESTION_CHARS, FilterText, NonEmpty

logger = logging.getLogger(__name__)
MAX_TEMPLATE_CHARS = 200_000
MAX_SECTIONS = 200
MAX_ITEMS = 500
"""Largest number of list items in a template. Each is a question, and so a request if a model
answers."""
SUFFIXES = (".md", ".json")


class SectionSettings(BaseModel):
    """The settings of one section, as TOML in a fenced block below its heading."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    papers: Literal["all"] | Annotated[tuple[NonEmpty, ...], Field(max_length=1000)] | None = Field(
        None,
        description="Only these papers are searched; rows of a table. all: every paper that passes the filter.",
    )
    where: FilterText | None = Field(None, description="Only what passes this filter is searched.")
    k: Annotated[int, Field(ge=1, le=100)] | None = Field(
        None, description="Chunks read; default: answering.k."
    )
    length: Annotated[int, Field(ge=1, le=50)] | None = Field(
        None, description="Most claims per question."
    )
    columns: dict[NonEmpty, NonEmpty] = Field(
        {}, max_length=20, description="Columns of a table, one row per paper: the question."
    )
    summaries: bool = Field(
        False, description="Of earlier versions; the section is left out, with a warning."
    )

    @property
    def listed_papers(self) -> tuple[str, ...] | None:
        return None if self.papers == "all" else self.papers


class JsonSection(SectionSettings):
    """A section as JSON has it."""

    heading: NonEmpty
    guidance: str = ""
    items: tuple[NonEmpty, ...] = ()
    level: Annotated[int, Field(ge=2, le=6)] = 2


class JsonTemplate(BaseModel):
    """A template as JSON has it."""

    model_config = SectionSettings.model_config

    title: str = ""
    introduction: str = ""
    sections: tuple[JsonSection, ...]


@dataclass(frozen=True)
class Section:
    """One heading of a template and the text below it."""

    key: str
    """Made from the heading: "methods", or "methods-2" for the second section of that name."""
    heading: str
    level: int
    """Level of the heading, 2 to 6."""
    guidance: str
    items: tuple[str, ...]
    """Questions that are written as a list."""
    settings: SectionSettings

    @property
    def asks(self) -> bool:
        """Whether the section has a question. A heading that only groups other sections has
        none."""
        return bool(self.guidance or self.items or self.settings.columns)


@dataclass(frozen=True)
class Template:
    """The outline and the questions of a report."""

    name: str
    title: str
    introduction: str
    sections: tuple[Section, ...]

    @property
    def outline(self) -> str:
        """The headings, indented by level; shown to the model that answers one section."""
        return "\n".join(
            f"{'  ' * (section.level - 2)}- {section.heading}" for section in self.sections
        )


@dataclass
class _SectionDraft:
    """A section while a template is read; the first one is the title."""

    heading: str
    level: int
    place: str
    """Its line or JSON path, for messages."""
    paragraphs: list[str]
    items: list[str]
    settings: SectionSettings


def template_files(folder: Path) -> list[Path]:
    """The templates in a folder, sorted by name, without hidden files; empty if there is no such
    folder."""
    return sorted(
        path
        for path in folder.glob("*")
        if path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )


def load_template(path: Path) -> Template:
    """Read a template file. Raises MissingInput, and InvalidTemplate with file, line and
    remedy."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidTemplate(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from error
    except OSError as error:
        raise MissingInput(f"The template {path} cannot be read: {error.strerror}.") from error
    return parse_template(text, path)


def template_of_table(columns: Mapping[str, str], where: str | None = None) -> Template:
    """The template of a report that consists of one table of all papers. columns: name -> question.
    where: filter for the papers. Raises InvalidTemplate."""
    try:
        settings = SectionSettings(papers="all", where=where, columns=dict(columns))
    except ValidationError as error:
        raise InvalidTemplate("; ".join(one["msg"] for one in error.errors())) from error
    return Template(
        "table", "Papers", "", (Section("table", "Answers by paper", 2, "", (), settings),)
    )


def columns_of(lines: Iterable[str]) -> dict[str, str]:
    """Name of a column -> its question. A line is "Sample=How many took part?", or a question
    alone, which is its own name.

    A name ends at "=" only before a capital letter, so all of "Is k=60 used?" is a question. Raises
    InvalidTemplate when two columns have the same name, or one has no name.
    """
    columns: dict[str, str] = {}
    for line in lines:
        name, _, question = (part.strip() for part in line.partition("="))
        if not question[:1].isalpha() or question[0].islower():
            name = question = line.strip()
        if not name or name in columns:
            raise InvalidTemplate(
                f'Two columns are called "{name}": give each a name of its own, NAME=Question.'
                if name
                else f'The column "{line}" has no name: write NAME=Question, or the question alone.'
            )
        columns[name] = question
    return columns


def parse_template(text: str, path: Path) -> Template:
    """The template in `text`. path: its file, for messages, and for the name of the template.
    Raises InvalidTemplate."""
    if len(text) > MAX_TEMPLATE_CHARS:
        raise InvalidTemplate(
            f"{path} has {len(text)} characters; a template has at most {MAX_TEMPLATE_CHARS}."
        )
    if path.suffix == ".json":
        drafts = _json_drafts(text, path)
    else:
        drafts = _drafts(MarkdownIt("commonmark").parse(text), path)
    if not drafts or drafts[0].level != 1:
        raise InvalidTemplate.at(path, "line 1", "a template begins with its title: # Title")
    title, *sections = (draft for draft in drafts if not draft.settings.summaries)
    if title.items:
        raise InvalidTemplate.at(
            path, title.place, "the list stands below the title; put it below a ## heading"
        )
    if extra := next((section for section in sections if section.level == 1), None):
        raise InvalidTemplate.at(
            path, extra.place, "there is a second title; sections are headed ##"
        )
    if not 0 < len(sections) <= MAX_SECTIONS:
        raise InvalidTemplate(
            f"{path} has {len(sections)} sections (##); a report has 1 to {MAX_SECTIONS}."
        )
    if (n_items := sum(len(section.items) for section in sections)) > MAX_ITEMS:
        raise InvalidTemplate(
            f"{path} asks {n_items} questions in lists; a report has at most {MAX_ITEMS}."
        )
    keyed = [
        _section(draft, key, path) for draft, key in zip(sections, _keys(sections), strict=True)
    ]
    for section, draft, next_draft in zip(keyed, sections, [*sections[1:], None], strict=True):
        has_subsection = next_draft is not None and next_draft.level > section.level
        if not section.asks and not has_subsection:
            raise InvalidTemplate.at(
                path, draft.place, f'the section "{section.heading}" does not say what it is about'
            )
    return Template(path.stem, title.heading, "\n\n".join(title.paragraphs), tuple(keyed))


def _drafts(tokens: list[Token], path: Path) -> list[_SectionDraft]:
    """The title and the sections of a template in Markdown."""
    drafts: list[_SectionDraft] = []
    for at, token in enumerate(tokens):
        place = f"line {token.map[0] + 1 if token.map else 1}"
        if token.type == "heading_open":
            level = int(token.tag.removeprefix("h"))
            drafts.append(
                _SectionDraft(
                    _flat(tokens[at + 1].content), level, place, [], [], SectionSettings()
                )
            )
        elif token.type == "paragraph_open":
            if not drafts:
                raise InvalidTemplate.at(path, place, "a template begins with its title: # Title")
            is_item = token.level > 0  # a paragraph inside a list
            texts = drafts[-1].items if is_item else drafts[-1].paragraphs
            texts.append(_flat(tokens[at + 1].content))
        elif token.type == "fence" and drafts:
            drafts[-1].settings = _settings(token, path, place)
    return drafts


def _settings(token: Token, path: Path, place: str) -> SectionSettings:
    if token.info.strip() != "toml":
        raise InvalidTemplate.at(
            path, place, "a fenced block holds the settings of a section and begins with ```toml"
        )
    try:
        settings = SectionSettings.model_validate(tomllib.loads(token.content))
    except tomllib.TOMLDecodeError as error:
        raise InvalidTemplate.at(path, place, f"the settings are no TOML: {error}") from error
    except ValidationError as error:
        known = ", ".join(SectionSettings.model_fields)
        raise InvalidTemplate.at(
            path, place, f"{_problems(error)}. Settings of a section are {known}"
        ) from error
    if settings.summaries:
        logger.warning("%s, %s: left out; no model sums papers up any more.", path, place)
    return settings


def _problems(error: ValidationError) -> str:
    """What pydantic found wrong, with the path of each field."""
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())


def _json_drafts(text: str, path: Path) -> list[_SectionDraft]:
    """The title and the sections of a template in JSON."""
    try:
        template = JsonTemplate.model_validate_json(text)
    except ValidationError as error:
        known = ", ".join(JsonTemplate.model_fields), ", ".join(JsonSection.model_fields)
        raise InvalidTemplate(
            f"{path}: {_problems(error)}. A template has {known[0]}; a section {known[1]}."
        ) from error
    title = _SectionDraft(
        _flat(template.title) or path.stem,
        1,
        "title",
        [_flat(template.introduction)],
        [],
        SectionSettings(),
    )
    return [title] + [
        _SectionDraft(
            _flat(section.heading),
            section.level,
            f"sections.{number}",
            [_flat(section.guidance)] if section.guidance.strip() else [],
            list(map(_flat, section.items)),
            SectionSettings(
                **{name: getattr(section, name) for name in SectionSettings.model_fields}
            ),
        )
        for number, section in enumerate(template.sections)
    ]


def _section(draft: _SectionDraft, key: str, path: Path) -> Section:
    guidance = " ".join(draft.paragraphs)
    if not draft.heading:
        raise InvalidTemplate.at(path, draft.place, "the heading is empty")
    longest = max(
        [len(guidance), *map(len, draft.items), *map(len, draft.settings.columns.values())]
    )
    if len(draft.heading) + longest + 2 > MAX_QUESTION_CHARS:
        raise InvalidTemplate.at(
            path,
            draft.place,
            f"heading and guidance exceed {MAX_QUESTION_CHARS} characters; write a list of questions",
        )
    return Section(key, draft.heading, draft.level, guidance, tuple(draft.items), draft.settings)


def _keys(drafts: list[_SectionDraft]) -> list[str]:
    """The key of each section, see `Section.key`."""
    keys: list[str] = []
    for draft in drafts:
        slug = "-".join(
            "".join(char if char.isalnum() else " " for char in draft.heading.casefold()).split()
        )
        key, n = slug, 1
        while key in keys:
            n += 1
            key = f"{slug}-{n}"
        keys.append(key)
    return keys


def _flat(text: str) -> str:
    return " ".join(text.split())


FindPapers = Callable[[Section], Sequence[str]]
"""Function that finds the papers of a section that does not name them; their ids in the order of
rows."""


@dataclass(frozen=True)
class PlannedQuestion:
    """A question of a report, and how it is answered."""

    section: str
    """Key of the section."""
    asks: str
    """The question as a reader sees it: the list item, the guidance, or the name of the column."""
    question: Question
    options: AnswerOptions
    paper_id: str | None = None
    """In a table, the paper of the row."""
    column: str | None = None
    """In a table, the name of the column."""


@dataclass(frozen=True)
class ReportPlan:
    """A template and all of its questions."""

    template: Template
    questions: tuple[PlannedQuestion, ...]

    def of(self, section: Section) -> list[PlannedQuestion]:
        """The questions of a section."""
        return [question for question in self.questions if question.section == section.key]


def plan_report(template: Template, find_papers: FindPapers) -> ReportPlan:
    """The plan of a report."""
    planned = [
        question
        for section in template.sections
        for question in _planned(section, template, find_papers)
    ]
    return ReportPlan(template, tuple(planned))


def _planned(
    section: Section, template: Template, find_papers: FindPapers
) -> Iterator[PlannedQuestion]:
    """The questions of a section: one per paper and column of a table, or one per list item, or one
    of heading and guidance."""
    settings = section.settings
    options = AnswerOptions(
        k=settings.k,
        background=Background(template.outline, _description(section, template)),
        max_tries=MAX_TRIES,
    )
    if settings.columns:
        for paper_id in settings.listed_papers or dict.fromkeys(find_papers(section)):
            yield from _row_questions(section, paper_id, options)
        return
    guidance = (section.guidance,) if section.guidance else ()
    for number, item in enumerate(section.items or guidance, start=1):
        # a question in a list is asked without the heading, whose words would be searched too
        is_question = bool(section.items) and item.endswith("?")
        question = Question(
            id=f"{section.key}/{number}",
            question=item if is_question else f"{section.heading}: {item}",
            paper_ids=settings.listed_papers,
            where=settings.where,
        )
        yield PlannedQuestion(section.key, item, question, options)


def _description(section: Section, template: Template) -> str:
    """What the model is told about the section that it answers."""
    lines = [template.title, template.introduction, f"This part: {section.heading}"]
    return "\n".join(line for line in (*lines, section.guidance if section.items else "") if line)


def subject_of(section: Section) -> Question:
    """The question with which the papers of a section are searched."""
    return Question(
        id=section.key,
        question=f"{section.heading}: {section.guidance}".strip(": "),
        where=section.settings.where,
    )


def _row_questions(
    section: Section, paper_id: str, options: AnswerOptions
) -> Iterator[PlannedQuestion]:
    """The questions of one row of a table: one per column, each asked only of this paper."""
    options = replace(options, is_led=False)
    for column, text in section.settings.columns.items():
        question = Question(
            id=f"{section.key}/{paper_id}/{column}",
            question=text,
            paper_ids=(paper_id,),
            where=section.settings.where,
        )
        yield PlannedQuestion(section.key, column, question, options, paper_id, column)
