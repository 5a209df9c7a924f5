"""Bringing qa.jsonl and qa_audit.csv up to date: which questions must be answered, and the rows of
their results.

What the published answers were made from is kept beside them (`qa_meta.json`): the index, the
questions, the settings and the answerer. While it is the same and the file is as it was written, no
index or model is opened. The first eight columns of the audit are those of ADR 0004, in its order;
the rest follow.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.drafts import UNVERIFIED
from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.audit_log import AuditLog
from rag_assets.core.domain import QAResult, Usage
from rag_assets.core.incremental import (
    UpdatePlan,
    file_sha256,
    fingerprint,
    plan_update,
    read_sealed,
    sealed_json,
    write_atomically,
)
from rag_assets.core.promises import Promise
from rag_assets.hosted.connections import ask_each
from rag_assets.questions import Question

logger = logging.getLogger(__name__)
_TO_DO = {"n_left": 0, "n_unjudged": 0}
_MOST_SHOWN = 10


@dataclass(frozen=True)
class DeferredQuestion:
    """A question that was not answered this time, and why; the next run asks it again."""

    question: Question
    reason: str
    spent: Usage = field(default_factory=Usage)
    """What was spent on it in vain."""


@dataclass(frozen=True)
class AnswerUpdate:
    """All rows as they should be published, and what came about in making them."""

    results: tuple[QAResult, ...]
    """One per question, in the order of the question file."""
    traces: tuple[AnswerTrace, ...]
    """How each row came about; empty when nothing had to be done."""
    plan: UpdatePlan
    left: tuple[DeferredQuestion, ...] = ()
    """Questions without an answer to what is asked now."""

    @property
    def news(self) -> list[AnswerTrace]:
        """The answers whose row is not the published one; these go into the audit."""
        changed = set(self.plan.to_build)
        return [trace for trace in self.traces if trace.result.question_id in changed]

    @property
    def replies(self) -> set[str]:
        """Fingerprints of the drafts in use."""
        return {attempt.fingerprint for trace in self.traces for attempt in trace.attempts}

    @property
    def unjudged(self) -> list[AnswerTrace]:
        """Answers that the judge could not check; the next run asks it again."""
        return [trace for trace in self.traces if trace.unjudged]


def inputs_fingerprint(questions: Sequence[Question], *made_with: str) -> str:
    """Everything answers follow from: the questions, and the fingerprints of index, settings and
    answerer."""
    return fingerprint(
        [question.model_dump(mode="json") for question in questions], list(made_with)
    )


def unanswered_rows(update: AnswerUpdate) -> list[dict[str, str]]:
    """The questions that were left, with the reason."""
    return [
        {"question_id": left.question.id, "question": left.question.question, "why": left.reason}
        for left in update.left
    ]


def unjudged_rows(update: AnswerUpdate) -> list[dict[str, str]]:
    """Answers that the judge could not check, with the reason."""
    return [
        {
            "question_id": trace.result.question_id,
            "question": trace.result.question,
            "why": trace.unjudged,
        }
        for trace in update.unjudged
    ]


def is_current(qa: Path, meta: Path, inputs: str) -> bool:
    """Whether the published answers were made from `inputs` and are still as they were written."""
    if not qa.exists():
        return False
    known = read_sealed(meta) or {}
    made_of = {"inputs": inputs, "sha256": file_sha256(qa), **_TO_DO}
    return all(known.get(name) == value for name, value in made_of.items())


def meta_of(
    qa: Path, inputs: str, update: AnswerUpdate, *, question_file: str, text: bytes = b""
) -> bytes:
    """The record that `is_current` compares with, for the answers in the file `qa`; never equal
    while work is left.

    text: the report that is published with the answers, if there is one.
    """
    to_do = {"n_left": len(update.left), "n_unjudged": len(update.unjudged)}
    sums = {"sha256": file_sha256(qa), "text_sha256": hashlib.sha256(text).hexdigest()}
    meta = {"inputs": inputs, "question_file": question_file, **sums, **to_do}
    return sealed_json(meta)


def unchanged_answers(published: Sequence[QAResult]) -> AnswerUpdate:
    """The update of answers that are current."""
    fingerprints = row_fingerprints(published)
    return AnswerUpdate(tuple(published), (), plan_update(fingerprints, fingerprints))


def answered(
    questions: Sequence[Question],
    published: Sequence[QAResult],
    answer: Callable[[Question], AnswerTrace],
    *,
    still_holds: Callable[[QAResult], bool],
    n_at_once: int,
    report: Callable[[int, int], None],
) -> AnswerUpdate:
    """Answer every question, `n_at_once` side by side; replies that are cached cost nothing.

    report: called with (done, total). A question whose request fails for good is left and the
    others go on; when the budget is spent, access denied or nothing answers any more, all that
    remain are left. A left question keeps its published answer while it asks the same, of the same
    papers, and `still_holds` says so. Raises what stopped the run, else the first fault, when no
    question at all was answered.
    """
    asked = ((question.id, question) for question in questions)
    made, faults = ask_each(asked, answer, n_at_once, lambda n_done: report(n_done, len(questions)))
    if faults and not made:
        reasons = list(faults.values())
        raise max(
            reasons, key=reasons.count
        )  # the one that ended the asking counts for all that were not asked
    traces = tuple(made[question.id] for question in questions if question.id in made)
    rows = {trace.result.question_id: trace.result for trace in traces}
    why = {id_: row.answer for id_, row in rows.items() if row.answer.startswith(UNVERIFIED)}
    rows = {id_: row for id_, row in rows.items() if id_ not in why}
    # a fault that ends the asking is that of all questions behind it, which cost nothing
    own = {fault: key for key, fault in reversed(faults.items())}
    spent = {key: fault.spent for fault, key in own.items()}
    spent |= {trace.result.question_id: trace.spent for trace in traces}
    why |= {id_: str(fault) for id_, fault in faults.items()}
    left = tuple(
        DeferredQuestion(each, why[each.id], spent.get(each.id) or Usage())
        for each in questions
        if each.id in why
    )
    _warn_of(left, len(questions))
    asked_before = {(result.question_id, result.question): result for result in published}
    for item in left:
        earlier = asked_before.get((item.question.id, item.question.question))
        if earlier and _is_of_asked_papers(earlier, item.question) and still_holds(earlier):
            rows[item.question.id] = earlier
    results = tuple(rows[question.id] for question in questions if question.id in rows)
    plan = plan_update(row_fingerprints(published), row_fingerprints(results))
    return AnswerUpdate(results, traces, plan, left)


def _warn_of(left: Sequence[DeferredQuestion], n_questions: int) -> None:
    for reason in dict.fromkeys(item.reason for item in left):
        ids = [item.question.id for item in left if item.reason == reason]
        shown = ", ".join(ids[:_MOST_SHOWN]) + (
            f" and {len(ids) - _MOST_SHOWN} more" if len(ids) > _MOST_SHOWN else ""
        )
        logger.warning(
            "%d of %d questions are left for the next run (%s): %s",
            len(ids),
            n_questions,
            shown,
            reason,
        )


def _is_of_asked_papers(result: QAResult, question: Question) -> bool:
    """Whether an earlier answer says something, of papers that the question allows now."""
    if not result.claims or question.where is not None:
        return False
    return question.paper_ids is None or set(result.sources_used) <= set(question.paper_ids)


def row_fingerprints(results: Sequence[QAResult]) -> dict[str, str]:
    """question_id -> fingerprint of the whole row."""
    return {result.question_id: result_fingerprint(result) for result in results}


def result_fingerprint(result: QAResult) -> str:
    """Changes with anything in a row of qa.jsonl."""
    return fingerprint(asdict(result))


UPDATE_PROMISES: list[Promise[AnswerUpdate]] = [
    Promise(
        "all_answered",
        "Every question was answered this time. What was left is asked by the next run, and only that.",
        unanswered_rows,
        "warning",
    ),
    Promise(
        "all_judged",
        "The judge, where there is one (answering.judge.model), was heard on every answer. Else the reason says why.",
        unjudged_rows,
        "warning",
    ),
]


QA_AUDIT = AuditLog(
    (
        "timestamp",
        "question",
        "initial_k",
        "sources_used_initial",
        "guardrail_triggered",
        "retry_k",
        "final_sources_used",
        "final_answer_len",
        "run_id",
        "index_version",
        "model",
        "n_input_tokens",
        "n_output_tokens",
        "cost_usd",
        "n_dropped_citations",
        "question_id",
        "outcome",
        "n_unanswered",
        "fingerprint",
        "verdict",
        "n_requests",
        "n_cached_drafts",
        "model_seconds",
        "reading",
        "n_hallucinated_citations",
        "n_left_out_claims",
        "n_mended_claims",
        "question_file",
        "steps",
        "left_out",
    ),
    subject=("question_file", "question_id"),
    statement=("fingerprint", "verdict"),
)
"""data/logs/qa_audit.csv."""
_RESULT = TypeAdapter(QAResult)


def read_results(path: Path) -> list[QAResult]:
    """The rows of qa.jsonl in order; none when it does not exist yet, is damaged, or was written by
    an older version; all rows are then made again.
    """
    if not path.exists():
        return []
    # only a line feed ends a record: quotes may hold any of the other line separators of Unicode
    try:
        return [
            _RESULT.validate_json(line) for line in path.read_bytes().split(b"\n") if line.strip()
        ]
    except ValidationError:
        logger.warning("%s is damaged, or of another version, and counts as not there.", path)
        return []


def write_results(results: Sequence[QAResult], path: Path) -> None:
    """One JSON object per line, keys in the order of the contract; equal results give equal
    bytes."""
    lines = [json.dumps(asdict(result), ensure_ascii=False) + "\n" for result in results]
    path.write_text("".join(lines), "utf-8")


@dataclass(frozen=True)
class AuditedRun:
    """Values shared by all rows of one run, by column."""

    timestamp: str
    """ISO 8601 in UTC."""
    run_id: str
    index_version: str
    question_file: str
    """The `QuestionSet.label`; question ids are unique within it."""


def audit_row(trace: AnswerTrace, run: AuditedRun, *, verdict: str) -> dict[str, object]:
    """One row of the audit; `verdict` says whether the answer was published."""
    result, first, final, spent = trace.result, trace.attempts[0], trace.final, trace.spent
    return {
        **asdict(run),
        "question": result.question,
        "initial_k": first.k,
        "sources_used_initial": first.n_sources,
        "guardrail_triggered": trace.retry_k is not None,
        "retry_k": trace.retry_k,
        "final_sources_used": len(result.sources_used),
        "final_answer_len": len(result.answer),
        "model": result.model,
        "n_input_tokens": spent.n_input_tokens,
        "n_output_tokens": spent.n_output_tokens,
        "cost_usd": spent.cost_usd,
        "n_dropped_citations": final.verified.n_dropped_citations,
        "question_id": result.question_id,
        "n_unanswered": len(result.unanswered),
        "fingerprint": result_fingerprint(result),
        "outcome": _outcome(result),
        "verdict": verdict,
        "n_requests": spent.n_requests,
        "n_cached_drafts": trace.n_cached,
        "model_seconds": round(trace.model_seconds, 3),
        "reading": final.draft.reading.value,
        "n_hallucinated_citations": sum(attempt.draft.n_hallucinated for attempt in trace.attempts),
        "n_left_out_claims": len(result.left_out),
        "n_mended_claims": trace.n_mended,
        "steps": "; ".join(step.kind for step in trace.steps),
        "left_out": json.dumps([asdict(one) for one in result.left_out], ensure_ascii=False)
        if result.left_out
        else "",
    }


def _outcome(result: QAResult) -> str:
    if result.withheld:
        return "withheld"
    return "refused" if result.refused else "single_source" if result.single_source else "answered"


def left_row(left: DeferredQuestion, run: AuditedRun) -> dict[str, object]:
    """The row of a question that was not answered this time; its verdict says why."""
    return {
        **asdict(run),
        "question": left.question.question,
        "question_id": left.question.id,
        "outcome": "left",
        "fingerprint": "",
        "verdict": left.reason,
        **asdict(left.spent),
    }


def keep_raw_replies(folder: Path, update: AnswerUpdate) -> None:
    """Write the replies of models that were not as asked for below `folder`, for a reader to
    judge."""
    for attempt in (attempt for trace in update.traces for attempt in trace.attempts):
        if attempt.draft.raw_reply:
            path = folder / f"{attempt.fingerprint}.txt"
            write_atomically(path, attempt.draft.raw_reply.encode("utf-8", "replace"))
