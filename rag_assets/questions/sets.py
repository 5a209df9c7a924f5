"""Question files, and the files that the answers to them go to.

The configured file (setting `questions`) is answered in `data/output/qa.jsonl`. Any other file has a folder of its own,
`data/output/<stem>/`, so that trying out questions does not touch the published answers.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_assets.core.errors import InvalidQuestions
from rag_assets.core.incremental import read_json
from rag_assets.core.settings import Settings
from rag_assets.questions import Question, load_questions

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


def configured_set(settings: Settings) -> QuestionSet:
    """The question file of the setting `questions`, or the default one."""
    paths, file = settings.paths, settings.question_file
    return QuestionSet(file, _label(file, settings.data_dir), paths.qa, paths.qa_meta)


def question_set(settings: Settings, file: Path) -> QuestionSet:
    """The configured set, or that of another file. Raises InvalidQuestions when the folder for its answers is not
    free."""
    configured = configured_set(settings)
    if file.resolve() == configured.file.resolve():
        return configured
    folder = settings.paths.answers_to(file.stem)
    if file.stem.startswith(".") or file.stem.casefold().startswith(_TAKEN_PREFIX) or file.stem.casefold() == "eval":
        raise InvalidQuestions(f"The answers to {file} cannot go to {folder}: the name is taken. Rename the file.")
    label, meta = _label(file, settings.data_dir), folder / "qa_meta.json"
    owner = _owner(meta)
    if owner not in {None, label} and (settings.data_dir / str(owner)).exists():
        raise InvalidQuestions(
            f"{folder} holds the answers to {owner}. Rename {file}, so that its answers get a folder of their own, or "
            f"delete {folder}."
        )
    return QuestionSet(file, label, folder / settings.paths.qa.name, meta)


def configured_questions(settings: Settings) -> list[Question] | None:
    """The questions of the configured file; None when no file was named and the default one does not exist.

    Raises MissingInput when a file that was named does not exist, InvalidQuestions when it cannot be used.
    """
    file = settings.question_file
    return None if settings.questions is None and not file.exists() else load_questions(file)


def _owner(meta: Path) -> str | None:
    content: Any = read_json(meta)
    return str(content[OWNER]) if isinstance(content, dict) and OWNER in content else None


def _label(file: Path, data_dir: Path) -> str:
    path, root = file.resolve(), data_dir.resolve()
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()
