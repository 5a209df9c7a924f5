"""Questions that people wrote over papers that the project may not carry: words, labels and places.

`written/*.jsonl` has a question per row. Its lines stand in it as hashes of their words, so that
they are found again in the lines of any version of the parsers, and no text of a paper is told:

    {"paper": "iron", "question": "mean age of the men?", "kind": "condition",
     "marks": [[16, 19, "group"]], "answers": ["9f86d081884c"], "parts": [], "near": ["60303ae22b99"]}

`paper` is the paper's id, `written/papers.json` names its file. `marks` are stretches of the
question: the name of a paper, person or data set, the label of an element, a year or period, a
group or place. `answers` hold the best line first and are empty where the paper does not answer;
`parts` answer a part of the question; `near` are what a careless reader takes for the answer.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from benchmarks.reader_training.lines import BadFile, Line, text_of
from benchmarks.reader_training.questions import Question
from rag_assets.core.text.terms import words_of

_HASH_LENGTH = 12


def hash_of_words(text: str) -> str:
    """Twelve hexadecimal digits that are the same for two texts of the same words."""
    return hashlib.sha256(" ".join(words_of(text)).encode()).hexdigest()[:_HASH_LENGTH]


@dataclass(frozen=True, slots=True)
class Written:
    """The questions of one file whose paper is among the lines."""

    questions: tuple[Question, ...]
    n_lost: int
    """Questions that were left out, because a line that answers them was cut otherwise."""
    n_elsewhere: int
    """Questions about papers that are not among the lines."""


def read_written(file: Path, lines: Sequence[Line]) -> Written:
    """The questions of a file, each with the lines of its paper. Raises BadFile."""
    by_paper = {
        paper: {hash_of_words(line.text): line for line in own}
        for paper, own in groupby(lines, key=lambda line: line.paper)
    }
    questions: list[Question] = []
    n_lost = n_elsewhere = 0
    for number, row in enumerate(text_of(file).splitlines(), start=1):
        try:
            asked = json.loads(row)
            paper, text, hashes = asked["paper"], asked["question"], asked["answers"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{file}, line {number} is no written question.") from error
        own = by_paper.get(paper)
        if own is None:
            n_elsewhere += 1
        elif any(one not in own for one in hashes):
            n_lost += 1
        else:
            questions.append(Question(text, paper, tuple(own[one] for one in hashes)))
    return Written(tuple(questions), n_lost, n_elsewhere)
