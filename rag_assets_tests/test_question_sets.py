"""Where the answers to a question file go."""

from pathlib import Path

import pytest

from rag_assets.core.errors import InvalidQuestions
from rag_assets.core.incremental import sealed_json
from rag_assets.core.settings import Settings, load_settings
from rag_assets.questions.files import configured_set, question_set

LINE = '{"id": "q", "question": "Why?"}\n'


def settings_for(data: Path, **files: Path) -> Settings:
    return load_settings(
        {"data_dir": str(data), **{name: str(file) for name, file in files.items()}}
    )


def answer(data: Path, file: Path) -> Path:
    """What `qa --questions` leaves in the folder of a question file."""
    asked = question_set(settings_for(data), file)
    asked.meta.parent.mkdir(parents=True, exist_ok=True)
    asked.meta.write_bytes(sealed_json({"question_file": asked.label}))
    return asked.answers


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for folder in (tmp_path / "data" / "questions", tmp_path / "elsewhere"):
        folder.mkdir(parents=True)
        (folder / "mine.jsonl").write_text(LINE)
    (tmp_path / "data" / "questions" / "smoke.jsonl").write_text(LINE)
    return tmp_path / "data"


def test_each_question_file_has_answers_of_its_own(data: Path) -> None:
    """Trying out questions must not replace the published answers."""
    mine = data / "questions" / "mine.jsonl"

    assert configured_set(settings_for(data)).answers == data / "output" / "qa.jsonl"
    assert (
        configured_set(settings_for(data, questions=mine)).answers == data / "output" / "qa.jsonl"
    )
    assert question_set(settings_for(data), mine).answers == data / "output" / "mine" / "qa.jsonl"


def test_two_files_of_one_name_do_not_share_a_folder(data: Path) -> None:
    """The second would destroy the answers to the first."""
    first, second = data / "questions" / "mine.jsonl", data.parent / "elsewhere" / "mine.jsonl"
    answers = answer(data, first)

    assert question_set(settings_for(data), first).answers == answers
    with pytest.raises(InvalidQuestions) as caught:
        question_set(settings_for(data), second)
    assert str(caught.value) == (
        f"{answers.parent} holds the answers to questions/mine.jsonl. Rename {second}, so that its answers get a "
        f"folder of their own, or delete {answers.parent}."
    )


def test_a_question_file_that_was_moved_keeps_its_folder(data: Path) -> None:
    """Nobody owns the folder any more; refusing it would only be a nuisance."""
    first, second = data / "questions" / "mine.jsonl", data.parent / "elsewhere" / "mine.jsonl"
    answers = answer(data, first)
    first.unlink()

    assert question_set(settings_for(data), second).answers == answers


@pytest.mark.parametrize(
    "name", ["eval.jsonl", "Eval", "qa.jsonl.jsonl", "qa.jsonl.staged.jsonl", "..jsonl", "...jsonl"]
)
def test_a_name_that_is_taken_below_the_output_folder_is_refused(data: Path, name: str) -> None:
    """data/output/eval holds the evaluation; `...jsonl` would lead out of the folder."""
    file = data / "questions" / name
    file.write_text(LINE)

    with pytest.raises(InvalidQuestions, match="the name is taken"):
        question_set(settings_for(data), file)
