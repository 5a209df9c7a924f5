"""Question files: JSON Lines with `id`, `question` and, optionally, a paper filter and what a right answer holds.

One format serves the qa asset, the smoke evaluation and batch retrieval.
"""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from rag_assets.errors import InvalidQuestions, MissingInput

MAX_QUESTION_CHARS = 4000
NonEmpty = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class ExpectedPaper(BaseModel):
    """A paper that states the answer, and the pages it stands on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paper_id: NonEmpty
    pages: tuple[int, ...] = ()
    """Physical, 1-based; empty when the paper has no pages or they do not matter."""


class Question(BaseModel):
    """One line of a question file. Unknown keys are kept out of the way of other tools' files."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)

    id: NonEmpty
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION_CHARS)]
    paper_ids: tuple[str, ...] | None = Field(None, description="Only these papers are searched.")
    expected: tuple[ExpectedPaper, ...] = ()
    key_facts: tuple[tuple[NonEmpty, ...], ...] = Field(
        (), description="Facts of a right answer, each a list of accepted spellings."
    )
    answerable: bool = True


def load_questions(path: Path) -> list[Question]:
    """Read a question file in its order; blank lines are skipped.

    Raises MissingInput when there is no such file, InvalidQuestions naming the line that cannot be used or whose id
    occurred before.
    """
    if not path.exists():
        raise MissingInput(
            f"The question file {path} does not exist. Create it with one JSON object a line, "
            '{"id": "q1", "question": "..."}, or name another with the setting questions.'
        )
    questions: list[Question] = []
    seen: set[str] = set()
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InvalidQuestions(f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            question = Question.model_validate_json(line)
        except ValidationError as error:
            problem = "; ".join(
                f"{'.'.join(str(part) for part in item['loc']) or 'the line'}: {item['msg']}" for item in error.errors()
            )
            raise InvalidQuestions.at(path, number, problem) from error
        if question.id in seen:
            raise InvalidQuestions.at(path, number, f'the id "{question.id}" occurred before')
        seen.add(question.id)
        questions.append(question)
    return questions
