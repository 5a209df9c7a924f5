"""The question file of a run, and the files that its answers go to.

The configured file (setting `questions`) is answered in `data/output/qa.jsonl`. Any other file has a folder of its own,
`data/output/<stem>/`, so that trying out questions does not touch the published answers.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.errors import InvalidQuestions
from rag_assets.incremental import read_json
from rag_assets.questions import Question, load_questions
from rag_assets.settings import Settings

OWNER = "question_file"
"""Key of qa_meta.json: the question file whose answers lie beside it."""
_TAKEN_PREFIX = "qa.jsonl"
"""The published answers and their draft lie in data/output beside the folders."""


@dataclass(frozen=True)
class QuestionSet:
    """A question file and where its answers are published."""

    file: Path
    label: str
    """The file as it is recorded: from the data folder if it lies inside, else absolute; with forward slashes."""
    answers: Path
    meta: Path
    """What the published answers were made from."""
    folder: str | None
    """Name of its folder below data/output; None for the configured file."""


def question_set(settings: Settings) -> QuestionSet:
    """The question file this run answers. Raises InvalidQuestions when the folder for its answers is not free."""
    paths, configured = settings.paths, settings.question_file
    other = settings.other_questions
    if other is None or other.resolve() == configured.resolve():
        label = _label(configured, settings.data_dir)
        return QuestionSet(configured, label, paths.qa, paths.qa_meta, None)
    folder = paths.answers_to(other.stem)
    if other.stem.startswith(".") or other.stem.casefold().startswith(_TAKEN_PREFIX) or other.stem.casefold() == "eval":
        raise InvalidQuestions(f"The answers to {other} cannot go to {folder}: the name is taken. Rename the file.")
    label, meta = _label(other, settings.data_dir), folder / "qa_meta.json"
    owner = _owner(meta)
    if owner not in {None, label} and (settings.data_dir / str(owner)).exists():
        raise InvalidQuestions(
            f"{folder} holds the answers to {owner}. Rename {other}, so that its answers get a folder of their own, or "
            f"delete {folder}."
        )
    return QuestionSet(other, label, folder / paths.qa.name, meta, other.stem)


def questions_to_answer(settings: Settings) -> list[Question] | None:
    """The questions of this run; None when no file was named and the default one does not exist.

    Raises MissingInput when a file that was named does not exist, InvalidQuestions when it cannot be used.
    """
    asked = question_set(settings)
    return evaluated_questions(settings) if asked.folder is None else load_questions(asked.file)


def evaluated_questions(settings: Settings) -> list[Question] | None:
    """The questions of the configured file, which the smoke evaluation judges; None and errors as above."""
    file = settings.question_file
    return None if settings.questions is None and not file.exists() else load_questions(file)


def check_questions(settings: Settings, assets: Collection[str] | None) -> None:
    """Raise what is wrong with the question files that these assets (None: all) will read, before any work is done."""
    if assets is None or "qa" in assets:
        questions_to_answer(settings)
    if assets is None or "smoke_eval" in assets:
        evaluated_questions(settings)


def _owner(meta: Path) -> str | None:
    content: Any = read_json(meta)
    return str(content[OWNER]) if isinstance(content, dict) and OWNER in content else None


def _label(file: Path, data_dir: Path) -> str:
    path, root = file.resolve(), data_dir.resolve()
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
