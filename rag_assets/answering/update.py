"""Bringing qa.jsonl up to date: which questions must be answered, and when nothing must be done at all.

What the published answers were made from is kept beside them (`qa_meta.json`): the index, the questions, the
settings and the answerer. While it is the same and the file is as it was written, no index or model is opened.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_assets.answering.engine import QAAttempts
from rag_assets.answering.records import result_fingerprint
from rag_assets.incremental import UpdatePlan, file_sha256, fingerprint, plan_update, read_json
from rag_assets.model import QAResult
from rag_assets.questions import Question


@dataclass(frozen=True)
class AnswerUpdate:
    """All rows as they should be published, and what came about in making them."""

    results: tuple[QAResult, ...]
    """One a question, in the order of the question file."""
    attempts: tuple[QAAttempts, ...]
    """How each row came about; empty when nothing had to be done."""
    plan: UpdatePlan

    @property
    def news(self) -> list[QAAttempts]:
        """The attempts whose row is not the published one; these go into the audit."""
        changed = set(self.plan.to_build)
        return [attempts for attempts in self.attempts if attempts.result.question_id in changed]

    @property
    def replies(self) -> set[str]:
        """Fingerprints of the drafts in use."""
        return {reply for attempts in self.attempts for reply in attempts.replies}


def inputs_fingerprint(questions: Sequence[Question], *made_with: str) -> str:
    """Everything answers follow from: the questions, and the fingerprints of index, settings and answerer."""
    return fingerprint([question.model_dump(mode="json") for question in questions], list(made_with))


def is_current(qa: Path, meta: Path, inputs: str) -> bool:
    """Whether the published answers were made from `inputs` and are still as they were written."""
    return qa.exists() and read_json(meta) == {"inputs": inputs, "sha256": file_sha256(qa)}


def meta_of(qa: Path, inputs: str) -> bytes:
    """What `is_current` compares with, for the answers in the file `qa`."""
    return json.dumps({"inputs": inputs, "sha256": file_sha256(qa)}, indent=2).encode() + b"\n"


def kept(published: Sequence[QAResult]) -> AnswerUpdate:
    """The update of answers that are current."""
    fingerprints = row_fingerprints(published)
    return AnswerUpdate(tuple(published), (), plan_update(fingerprints, fingerprints))


def answered(
    questions: Sequence[Question],
    published: Sequence[QAResult],
    answer: Callable[[Question], QAAttempts],
    report: Callable[[int, int], None],
) -> AnswerUpdate:
    """Answer every question; replies that are cached cost nothing. report: called with (done, total)."""
    attempts = []
    for done, question in enumerate(questions, start=1):
        attempts.append(answer(question))
        report(done, len(questions))
    results = tuple(item.result for item in attempts)
    return AnswerUpdate(results, tuple(attempts), plan_update(row_fingerprints(published), row_fingerprints(results)))


def row_fingerprints(results: Sequence[QAResult]) -> dict[str, str]:
    """question_id -> fingerprint of the whole row."""
    return {result.question_id: result_fingerprint(result) for result in results}
