"""Answers to the questions of a file: made, checked, published and audited.

The file may be the configured one, whose answers are the asset `qa`, or any other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rag_assets.answering.drafts import MAX_TRIES, AnswerOptions, kept_drafts
from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.records import (
    QA_AUDIT,
    UPDATE_PROMISES,
    AnswerUpdate,
    AuditedRun,
    answered,
    audit_row,
    inputs_fingerprint,
    is_current,
    keep_raw_replies,
    left_row,
    meta_of,
    read_results,
    unchanged_answers,
    write_results,
)
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import read_sealed, staging
from rag_assets.core.kept import kept_file
from rag_assets.core.promises import CheckedPromise, Promise, check_all, nothing_withholds
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import read_columns
from rag_assets.engine import Engine
from rag_assets.pipeline.assets.publishing import now
from rag_assets.questions import Question
from rag_assets.questions.files import QuestionSet

QA_PROMISES: list[Promise[Any]] = [*ANSWER_PROMISES, *UPDATE_PROMISES]


@dataclass(frozen=True)
class AnsweredFile:
    """The answers to a question file as they should be published."""

    asked: QuestionSet
    update: AnswerUpdate
    checked: list[CheckedPromise]
    inputs: str
    """Fingerprint of everything that the answers depend on."""

    def publish(self, settings: Settings) -> None:
        """Publish the answers, and delete kept drafts that quote a chunk which is gone."""
        asked, update, paths = self.asked, self.update, settings.paths
        if not update.traces and update.plan.is_noop and asked.meta.exists():
            return
        with staging() as staged:
            answers = staged.path(asked.answers)
            write_results(update.results, answers)
            staged.put(asked.meta, meta_of(answers, self.inputs, update, question_file=asked.label))
            staged.publish()
        chunk_ids = set(read_columns(paths.chunks, ["chunk_id"])["chunk_id"].to_pylist())
        drafts = kept_drafts(kept_file(settings))
        stale = [key for key, draft in drafts.items() if not draft.chunk_ids <= chunk_ids]
        drafts.drop(key for key in stale if key not in update.replies)


def answer_file(
    engine: Engine,
    settings: Settings,
    asked: QuestionSet,
    questions: list[Question],
    *,
    run_id: str,
    report: Callable[[int, int], None],
) -> AnsweredFile:
    """The answers to `questions`, those of `asked`, checked and in the audit, but not published.

    Raises MissingInput when there is no index.
    """
    paths = settings.paths
    meta = read_sealed(paths.index_meta)
    if meta is None:
        raise MissingInput.table(paths.index_meta, asset="index_meta")
    inputs = inputs_fingerprint(questions, meta["version"], engine.answers_version())
    published = read_results(asked.answers)
    if is_current(asked.answers, asked.meta, inputs):
        update = unchanged_answers(published)
    else:
        update = answered(
            questions,
            published,
            partial(engine.trace, options=AnswerOptions(max_tries=MAX_TRIES)),
            still_holds=engine.keeps_promises,
            n_at_once=engine.n_at_once,
            report=report,
        )
    candidate = AnswersCandidate(update.results)
    checked = [*check_all(ANSWER_PROMISES, candidate), *check_all(UPDATE_PROMISES, update)]
    run = AuditedRun(now(), run_id, meta["version"], asked.label)
    audit(update, paths, run, is_published=nothing_withholds(checked))
    return AnsweredFile(asked, update, checked, inputs)


def audit(update: AnswerUpdate, paths: Paths, run: AuditedRun, *, is_published: bool) -> None:
    """Append the answers of an update to the audit, and keep replies that could not be read."""
    rows = [
        audit_row(
            trace,
            run,
            verdict="published" if is_published and not trace.result.withheld else "withheld",
        )
        for trace in update.news
    ]
    QA_AUDIT.append(paths.qa_audit, [*rows, *(left_row(left, run) for left in update.left)])
    keep_raw_replies(paths.raw_replies, update)
