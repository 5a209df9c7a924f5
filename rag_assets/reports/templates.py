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

What a template asks: its questions, how each is to be answered, and the place of each in the
report.
"""

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

MAX_TEMPLATE_CHARS = 200_000
MAX_SECTIONS = 200
MAX_ITEMS = 500
"""Questions written as list items in a template: each is a request where a model answers."""
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
    """Stays the same while the heading does: "methods", or "methods-2" for the second of that
    name."""
    heading: str
    level: int
    """2 to 6."""
    guidance: str
    items: tuple[str, ...]
    """Questions written as a list."""
    settings: SectionSettings

    @property
    def asks(self) -> bool:
        """Whether something is asked; a heading that only groups others has nothing below it."""
        return bool(self.guidance or self.items or self.settings.columns)


@dataclass(frozen=True)
class Template:
    """A report that is to be written."""

    name: str
    title: str
    introduction: str
    sections: tuple[Section, ...]

    @property
    def outline(self) -> str:
        """The headings, for the model that answers one section."""
        return "\n".join(
            f"{'  ' * (section.level - 2)}- {section.heading}" for section in self.sections
        )


@dataclass
class _SectionDraft:
    heading: str
    level: int
    place: str
    """Where it is written, for messages."""
    paragraphs: list[str]
    items: list[str]
    settings: SectionSettings


def template_files(folder: Path) -> list[Path]:
    """The templates of a folder, by name, without hidden files; empty when there is no such
    folder."""
    return sorted(
        path
        for path in folder.glob("*")
        if path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )


def load_template(path: Path) -> Template:
    """Read a template. Raises MissingInput, InvalidTemplate naming file, line and remedy."""
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
    """A report that is one table of all papers. columns: question by name. where: a filter; the
    papers that pass it. Raises InvalidTemplate."""
    try:
        settings = SectionSettings(papers="all", where=where, columns=dict(columns))
    except ValidationError as error:
        raise InvalidTemplate("; ".join(one["msg"] for one in error.errors())) from error
    return Template(
        "table", "Papers", "", (Section("table", "Answers by paper", 2, "", (), settings),)
    )


def columns_of(asked: Iterable[str]) -> dict[str, str]:
    """The question by the name of its column, of "Sample=How many took part?" or of a question
    alone, its own name.

    A name ends at a = before a capital letter, so "Is k=60 used?" is all question. Raises
    InvalidTemplate when two columns have one name, or one has none.
    """
    columns: dict[str, str] = {}
    for line in asked:
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
    """The template written in `text`; path: its file, for messages and its name. Raises
    InvalidTemplate."""
    if len(text) > MAX_TEMPLATE_CHARS:
        raise InvalidTemplate(
            f"{path} has {len(text)} characters; a template has at most {MAX_TEMPLATE_CHARS}."
        )
    drafts = (
        _json_drafts(text, path)
        if path.suffix == ".json"
        else _drafts(MarkdownIt("commonmark").parse(text), path)
    )
    if not drafts or drafts[0].level != 1:
        raise InvalidTemplate.at(path, "line 1", "a template begins with its title: # Title")
    title, *sections = drafts
    if title.items:
        raise InvalidTemplate.at(
            path, title.place, "the list stands below the title; put it below a ## heading"
        )
    if extra := next((one for one in sections if one.level == 1), None):
        raise InvalidTemplate.at(
            path, extra.place, "there is a second title; sections are headed ##"
        )
    if not 0 < len(sections) <= MAX_SECTIONS:
        raise InvalidTemplate(
            f"{path} has {len(sections)} sections (##); a report has 1 to {MAX_SECTIONS}."
        )
    if (n_items := sum(len(one.items) for one in sections)) > MAX_ITEMS:
        raise InvalidTemplate(
            f"{path} asks {n_items} questions in lists; a report has at most {MAX_ITEMS}."
        )
    keyed = [
        _section(draft, key, path) for draft, key in zip(sections, _keys(sections), strict=True)
    ]
    for section, draft, following in zip(keyed, sections, [*sections[1:], None], strict=True):
        if not section.asks and (following is None or following.level <= section.level):
            raise InvalidTemplate.at(
                path, draft.place, f'the section "{section.heading}" does not say what it is about'
            )
    return Template(path.stem, title.heading, "\n\n".join(title.paragraphs), tuple(keyed))


def _drafts(tokens: list[Token], path: Path) -> list[_SectionDraft]:
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
            written = drafts[-1].items if token.level else drafts[-1].paragraphs
            written.append(_flat(tokens[at + 1].content))
        elif token.type == "fence" and drafts:
            drafts[-1].settings = _settings(token, path, place)
    return drafts


def _settings(token: Token, path: Path, place: str) -> SectionSettings:
    if token.info.strip() != "toml":
        raise InvalidTemplate.at(
            path, place, "a fenced block holds the settings of a section and begins with ```toml"
        )
    try:
        return SectionSettings.model_validate(tomllib.loads(token.content))
    except tomllib.TOMLDecodeError as error:
        raise InvalidTemplate.at(path, place, f"the settings are no TOML: {error}") from error
    except ValidationError as error:
        known = ", ".join(SectionSettings.model_fields)
        raise InvalidTemplate.at(
            path, place, f"{_problems(error)}. Settings of a section are {known}"
        ) from error


def _problems(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())


def _json_drafts(text: str, path: Path) -> list[_SectionDraft]:
    try:
        given = JsonTemplate.model_validate_json(text)
    except ValidationError as error:
        known = ", ".join(JsonTemplate.model_fields), ", ".join(JsonSection.model_fields)
        raise InvalidTemplate(
            f"{path}: {_problems(error)}. A template has {known[0]}; a section {known[1]}."
        ) from error
    title = _SectionDraft(
        _flat(given.title) or path.stem,
        1,
        "title",
        [_flat(given.introduction)],
        [],
        SectionSettings(),
    )
    return [title] + [
        _SectionDraft(
            _flat(one.heading),
            one.level,
            f"sections.{number}",
            [_flat(one.guidance)] if one.guidance.strip() else [],
            list(map(_flat, one.items)),
            SectionSettings(**{name: getattr(one, name) for name in SectionSettings.model_fields}),
        )
        for number, one in enumerate(given.sections)
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
"""Ids of the papers of a section that does not name them one by one, in the order of its rows."""


@dataclass(frozen=True)
class PlannedQuestion:
    section: str
    """Key of the section."""
    asks: str
    """What is missing when nothing answers it."""
    question: Question
    options: AnswerOptions
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
    options = AnswerOptions(
        k=settings.k,
        background=Background(template.outline, _part(section, template)),
        max_tries=MAX_TRIES,
    )
    if settings.columns:
        for paper_id in settings.listed_papers or dict.fromkeys(find_papers(section)):
            yield from _about_paper(section, paper_id, options)
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
        yield PlannedQuestion(section.key, item, question, options)


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


def _about_paper(
    section: Section, paper_id: str, options: AnswerOptions
) -> Iterator[PlannedQuestion]:
    options = replace(options, is_led=False)
    for column, text in section.settings.columns.items():
        question = Question(
            id=f"{section.key}/{paper_id}/{column}",
            question=text,
            paper_ids=(paper_id,),
            where=section.settings.where,
        )
        yield PlannedQuestion(section.key, column, question, options, paper_id, column)
