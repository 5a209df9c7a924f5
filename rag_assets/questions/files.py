"""Question files and the files that the answers to them go to.

A question file has JSON Lines with `id`, `question` and, optionally, filters and what a right answer
says. The answers to the file that the setting `questions` names are published in
`data/output/qa.jsonl`. The answers to any other file go to `data/output/<stem>/`, so that trying out
questions does not change the published ones.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PlainSerializer,
    StringConstraints,
    ValidationError,
)
from pydantic_core import PydanticCustomError

from rag_assets.core.domain import EVERYTHING, Filter
from rag_assets.core.errors import InvalidFilter, InvalidQuestions, MissingInput
from rag_assets.core.incremental import read_sealed
from rag_assets.core.settings import Settings
from rag_assets.core.text.display import legible
from rag_assets.questions.reading import NO_WORDS, has_words

logger = logging.getLogger(__name__)
MAX_QUESTION_CHARS = 4000
_LINE_BREAKS = str.maketrans("\n\r\t", "   ")
_EXAMPLE = 'Write one JSON object per line, {"id": "q1", "question": "..."}, or name another file.'
OWNER = "question_file"
"""Key of qa_meta.json; its value is the question file whose answers are in the same folder."""
_TAKEN_PREFIX = "qa.jsonl"
"""A folder in data/output must not have a name like this: the published answers and their draft are
there."""


def _as_filter(value: object) -> object:
    """The filter of a text; any other value unchanged, for pydantic to check."""
    try:
        return Filter.parse(value) if isinstance(value, str) else value
    except InvalidFilter as error:
        raise PydanticCustomError("filter", "{problem}", {"problem": str(error)}) from error


FilterText = Annotated[InstanceOf[Filter], BeforeValidator(_as_filter), PlainSerializer(str)]
"""A filter, written in its syntax."""
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Turned = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARS)
]


class ExpectedPaper(BaseModel):
    """A paper that states the answer, and the pages with the answer."""

    model_config = ConfigDict(frozen=True, extra="allow")

    paper_id: NonEmpty
    pages: tuple[int, ...] = ()
    """Physical, 1-based; empty when the paper has no pages or they do not matter."""
    passages: tuple[NonEmpty, ...] = ()
    """Texts of the paper that must be in the contexts, word for word."""


class Question(BaseModel):
    """One line of a question file. Keys that are not known are kept, and change nothing."""

    model_config = ConfigDict(
        frozen=True, extra="allow", coerce_numbers_to_str=True, hide_input_in_errors=True
    )

    id: NonEmpty
    question: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=MAX_QUESTION_CHARS)
    ]
    """May have no words: then this question is refused, and the others are answered."""
    paper_ids: tuple[str, ...] | None = Field(None, description="Only these papers are searched.")
    where: FilterText | None = Field(None, description="Only what passes this filter is searched.")
    expected: tuple[ExpectedPaper, ...] = ()
    key_facts: tuple[tuple[NonEmpty, ...], ...] = Field(
        (), description="Facts of a right answer, each a list of accepted spellings."
    )
    answerable: bool | None = Field(
        None, description="False: no paper of the corpus answers it. Empty: not said."
    )
    forbidden_facts: tuple[tuple[NonEmpty, ...], ...] = Field(
        (), description="What a right answer never says, each a list of spellings."
    )
    reference: NonEmpty | None = Field(
        None, description="A right answer in words, for a model that judges."
    )
    tags: tuple[NonEmpty, ...] = Field(
        (), description="Slices of an evaluation that the question belongs to."
    )
    conversation: tuple[Turned, ...] = Field(
        (), description="Questions asked before this one, oldest first."
    )

    @property
    def filter(self) -> Filter:
        """The filter of the search: both `paper_ids` and `where` must let a passage through."""
        papers = EVERYTHING if self.paper_ids is None else Filter.of_papers(self.paper_ids)
        return papers & (self.where or EVERYTHING)

    @property
    def given(self) -> dict[str, Any]:
        """The keys that are not known, with their values; published with the answer."""
        return self.model_extra or {}

    @property
    def is_labelled(self) -> bool:
        """Whether the line says what a right answer is."""
        says = (self.expected, self.key_facts, self.forbidden_facts, self.reference)
        return any(says) or self.answerable is not None


def asked(text: str) -> Question:
    """A single question, neither of a file nor of a conversation. Raises InvalidQuestions as `said`
    does, and when it has no words that can be searched for."""
    question = said(text)
    if not has_words(text):
        raise InvalidQuestions(NO_WORDS)
    return question


def said(text: str) -> Question:
    """A question of a conversation. It may have several lines, and unlike in `asked`, no words that
    can be searched for: "Why?".

    Raises InvalidQuestions when it is blank, too long or has characters that are not text.
    """
    if not text.strip():
        raise InvalidQuestions(NO_WORDS)
    if len(text.strip()) > MAX_QUESTION_CHARS:
        raise InvalidQuestions(
            f"A question has 1 to {MAX_QUESTION_CHARS} characters, this one {len(text.strip())}."
        )
    if not text.translate(_LINE_BREAKS).isprintable():
        raise InvalidQuestions("The question holds characters that are no text. Write it in UTF-8.")
    return Question(id=text, question=text)


def load_questions(path: Path) -> list[Question]:
    """The questions of a file in its order; blank lines are skipped. Keys that are not known are
    told once.

    Raises MissingInput when the file does not exist. Raises InvalidQuestions when it has no
    question, or lines that cannot be used or repeat an id; all of these are named. Errors quote no
    values but ids and filters, because any file may be named by mistake.
    """
    questions: list[Question] = []
    problems: dict[int, str] = {}
    seen: set[str] = set()
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            question = Question.model_validate_json(line)
        except ValidationError as error:
            problems[number] = "; ".join(
                f"{'.'.join(map(str, item['loc'])) or 'the line'}: {item['msg']}"
                for item in error.errors()
            )
            continue
        if question.id in seen:
            problems[number] = f'the id "{question.id}" occurred before'
        seen.add(question.id)
        questions.append(question)
    if problems:
        raise InvalidQuestions.at(path, problems)
    if not questions:
        raise InvalidQuestions(f"{path} holds no question. {_EXAMPLE}")
    parts = [part for question in questions for part in (question, *question.expected)]
    _tell_unknown_keys(
        path, tuple(dict.fromkeys(key for part in parts for key in part.model_extra or ()))
    )
    return questions


@dataclass(frozen=True)
class QuestionSet:
    """A question file and where its answers are published."""

    file: Path
    label: str
    """The path of the file as it is recorded, with forward slashes: relative to the data folder if
    the file is inside it, else absolute."""
    answers: Path
    meta: Path
    """The file that records what the published answers were made from."""


def configured_set(settings: Settings) -> QuestionSet:
    """The question file of the setting `questions`, or the default one."""
    paths, file = settings.paths, settings.question_file
    return QuestionSet(file, _label(file, settings.data_dir), paths.qa, paths.qa_meta)


def question_set(settings: Settings, file: Path) -> QuestionSet:
    """The set of a question file. Raises InvalidQuestions when the folder for its answers is used
    for something else."""
    configured = configured_set(settings)
    if file.resolve() == configured.file.resolve():
        return configured
    folder = settings.paths.answers_to(file.stem)
    if (
        file.stem.startswith(".")
        or file.stem.casefold().startswith(_TAKEN_PREFIX)
        or file.stem.casefold() == "eval"
    ):
        raise InvalidQuestions(
            f"The answers to {file} cannot go to {folder}: the name is taken. Rename the file."
        )
    label, meta = _label(file, settings.data_dir), folder / "qa_meta.json"
    owner = _owner(meta)
    if owner not in {None, label} and (settings.data_dir / str(owner)).exists():
        raise InvalidQuestions(
            f"{folder} holds the answers to {owner}. Rename {file}, so that its answers get a folder of their own, or "
            f"delete {folder}."
        )
    return QuestionSet(file, label, folder / settings.paths.qa.name, meta)


def configured_questions(settings: Settings) -> list[Question] | None:
    """The questions of the configured file; None if the setting names no file and the default one
    does not exist.

    Raises MissingInput when the named file does not exist, InvalidQuestions when a file cannot be
    used.
    """
    file = settings.question_file
    return None if settings.questions is None and not file.exists() else load_questions(file)


def unasked_files(settings: Settings) -> list[Path]:
    """The files in the questions folder that were never answered: runs answer another file, and no
    command has named them."""
    files = sorted(settings.paths.questions.glob("*.jsonl"))
    others = [file for file in files if file.resolve() != settings.question_file.resolve()]
    return [file for file in others if not settings.paths.answers_to(file.stem).exists()]


def unasked_notice(settings: Settings) -> str:
    """What to do about the `unasked_files`; empty if there are none."""
    if not (files := unasked_files(settings)):
        return ""
    named = ", ".join(str(file) for file in files)
    return (
        f"Runs ask {settings.question_file}, and not {named}. To ask another file in every run, set "
        f'questions = "{files[0]}" in rag_assets.toml; to ask it once: rag-assets qa --questions {files[0]}'
    )


def _owner(meta: Path) -> str | None:
    """The label of the question file whose answers `meta` describes; None if it is not recorded."""
    content = read_sealed(meta) or {}
    return str(content[OWNER]) if OWNER in content else None


def _label(file: Path, data_dir: Path) -> str:
    """See `QuestionSet.label`."""
    path, root = file.resolve(), data_dir.resolve()
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8-sig").split("\n")
    except FileNotFoundError as error:
        raise MissingInput(f"The question file {path} does not exist. {_EXAMPLE}") from error
    except UnicodeDecodeError as error:
        raise InvalidQuestions(
            f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from error
    except OSError as error:
        raise InvalidQuestions(
            f"{path} cannot be read as a question file: {error.strerror}."
        ) from error


@cache
def _tell_unknown_keys(path: Path, keys: Sequence[str]) -> None:
    """Warn of keys that are not known, with the known one that may be meant; once per process."""
    known = [*Question.model_fields, *ExpectedPaper.model_fields]
    shown = [
        f"{key} (perhaps {alike[0]} is meant)"
        if (alike := get_close_matches(key, known, n=1))
        else key
        for key in keys
    ]
    if shown:
        logger.warning(
            "%s: these keys are not known and change nothing; the answers have them as `given`: %s",
            path,
            legible(", ".join(shown)),
        )
