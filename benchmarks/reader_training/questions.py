"""Question files: what readers ask of papers, and the numbers of the lines that answer it.

    # PAPER
    12<TAB>How many runners took part?
    40,7<TAB>did their ferritin fall
    -<TAB>Who paid for the study?

A line `# PAPER` names the paper of what follows by its id. Before the tab stand the numbers of all
lines that answer, the best one first; `-` where no line of the paper does. Empty lines are skipped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.reader_training.lines import BadFile, Line, text_of

UNANSWERED = "-"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one paper."""

    text: str
    paper: str
    answers: tuple[Line, ...]
    """The best one first; empty where no line of the paper answers."""


def read_questions(files: Sequence[Path], lines: Sequence[Line]) -> list[Question]:
    """The questions of all files, in order. Raises BadFile at the first line that cannot be
    used."""
    by_paper = {paper: list(own) for paper, own in groupby(lines, key=lambda one: one.paper)}
    return [question for file in files for question in _of_file(file, by_paper)]


def _of_file(file: Path, by_paper: Mapping[str, Sequence[Line]]) -> list[Question]:
    found: list[Question] = []
    paper = None
    for number, row in enumerate(text_of(file).split("\n"), start=1):
        try:
            if row.startswith("#"):
                paper = _paper(row, by_paper)
            elif row.strip():
                found.append(_question(row, paper, by_paper))
        except _Refused as refused:
            raise BadFile(f"{file}, line {number}: {refused}") from refused
    if not found:
        raise BadFile(f"{file} holds no questions.")
    return found


class _Refused(Exception):
    """What is wrong with a line of a question file."""


def _paper(row: str, by_paper: Mapping[str, Sequence[Line]]) -> str:
    paper = row.removeprefix("#").strip()
    if paper not in by_paper:
        raise _Refused(f'no paper "{paper}" is among the lines.')
    return paper


def _question(row: str, paper: str | None, by_paper: Mapping[str, Sequence[Line]]) -> Question:
    if paper is None:
        raise _Refused("a line `# PAPER` must stand before the first question.")
    numbers, _, text = row.partition("\t")
    numbers, text = numbers.strip(), text.strip()
    if not numbers or not text or "\t" in text:
        raise _Refused("expected the numbers of lines, one tab and a question.")
    if numbers == UNANSWERED:
        return Question(text, paper, ())
    own = by_paper[paper]
    return Question(
        text, paper, tuple(dict.fromkeys(_answer(one.strip(), own) for one in numbers.split(",")))
    )


def _answer(number: str, lines: Sequence[Line]) -> Line:
    if not (number.isascii() and number.isdigit()):
        raise _Refused(
            f'"{number}" is no number of a line; expected numbers with commas, or {UNANSWERED}.'
        )
    if int(number) >= len(lines):
        raise _Refused(
            f"the paper has no line {number}; its lines are numbered 0 to {len(lines) - 1}."
        )
    return lines[int(number)]
