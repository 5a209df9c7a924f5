"""Asset `qa`: a verified answer to every question, published only when the guardrails hold; and its
page in the UI.

The questions of any other file are answered, checked and audited in the same way.
"""

import logging
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any

import dagster as dg

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
    row_fingerprints,
    unchanged_answers,
    write_results,
)
from rag_assets.answering.wording import claim_note, nearest_heading, notes_of, place_of
from rag_assets.core.domain import Claim, QAResult
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import data_version, read_sealed, staging
from rag_assets.core.kept import kept_file
from rag_assets.core.promises import CheckedPromise, Promise, check_all, nothing_withholds
from rag_assets.core.settings import Paths, Settings
from rag_assets.core.table_files import read_columns
from rag_assets.core.text.display import markdown_text
from rag_assets.engine import CODE_VERSION, Engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.index import ASKED
from rag_assets.pipeline.assets.previews import MAX_MARKDOWN_CHARS, MOST_ROWS, table
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    changes,
    checked_asset,
    now,
    progress,
    skipped,
)
from rag_assets.pipeline.assets.resources import OpenEngine
from rag_assets.pipeline.assets.sources import QUESTIONS
from rag_assets.questions import Question
from rag_assets.questions.files import (
    QuestionSet,
    configured_questions,
    configured_set,
    unasked_notice,
)

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
        raise MissingInput.table(paths.index_meta)
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


logger = logging.getLogger(__name__)


@checked_asset(
    "answers", QA_PROMISES, deps=[QUESTIONS, *ASKED], kinds={"jsonl"}, version=CODE_VERSION
)
def qa(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
    engine: dg.ResourceParam[OpenEngine],
) -> Outcome:
    """A page-cited answer to every question of the question file; `data/output/qa.jsonl`,
    `data/logs/qa_audit.csv`."""
    asked, questions = configured_set(settings), configured_questions(settings)
    if questions is None:
        yield from _skipped(asked, settings)
        return
    if notice := unasked_notice(settings):
        logger.warning(notice)

    def make() -> Made:
        report = progress("qa", "questions")
        file = answer_file(
            engine(), settings, asked, questions, run_id=context.run.run_id, report=report
        )
        return _made(file, settings)

    groups = ["retrieval", "answering"]
    yield from asset_step(asked.answers, make, settings=groups, models=models, counted="questions")


def _skipped(asked: QuestionSet, settings: Settings) -> Iterator[dg.AssetCheckResult]:
    """Withdraw the answers to earlier questions, as those of any deleted question. Their drafts
    stay in the cache."""
    n_withdrawn = len(read_results(asked.answers))
    asked.answers.unlink(missing_ok=True)
    asked.meta.unlink(missing_ok=True)
    notice = (
        f"There is no question file {asked.file}: nothing was answered, and nothing is evaluated."
    )
    if n_withdrawn:
        notice += f" {n_withdrawn} answers to earlier questions were withdrawn."
    notice = f"{notice} {unasked_notice(settings)}".rstrip()
    yield from skipped(QA_PROMISES, notice)


def _made(file: AnsweredFile, settings: Settings) -> Made:
    results = file.update.results
    files = {
        "question_file": file.asked.label,
        "audit_file": dg.MetadataValue.path(settings.paths.qa_audit.absolute()),
    }

    def publish() -> dict[str, Any]:
        file.publish(settings)
        return changes(file.update.plan) | file.update.plan.counts()

    return Made(
        data_version(row_fingerprints(results)),
        len(results),
        file.checked,
        publish,
        _facts(file.update) | files,
        {
            "answers": table(
                sorted(map(_row, results), key=lambda row: _ORDER.index(row["state"]))
            ),
            "answers_in_full": answers_page(results),
        },
    )


def _facts(update: AnswerUpdate) -> dict[str, Any]:
    results = update.results
    scores = [claim.support.score for result in results for claim in result.claims if claim.support]
    supports = [score for score in scores if score is not None]
    made = [draft for trace in update.traces for draft in trace.made]
    return {
        "n_refused": sum(result.refused for result in results),
        "n_withheld": sum(result.withheld for result in results),
        "n_single_source": sum(result.single_source for result in results),
        "n_claims": sum(len(result.claims) for result in results),
        "n_retries": sum(trace.retry_k is not None for trace in update.traces),
        "n_left": len(update.left),
        "n_unjudged": len(update.unjudged),
        "n_dropped_citations": sum(
            trace.final.verified.n_dropped_citations for trace in update.traces
        ),
        "n_hallucinated_citations": sum(draft.n_hallucinated for draft in made),
        "n_left_out_claims": sum(len(result.left_out) for result in results),
        "n_mended_claims": sum(trace.n_mended for trace in update.traces),
        "mean_support": fmean(supports) if supports else None,
        "n_cached_drafts": sum(trace.n_cached for trace in update.traces),
        "model_seconds": sum(trace.model_seconds for trace in update.traces),
    }


_ORDER = ("refused", "withheld", "single source", "answered")
_ROOM_FOR_NOTE = 500
_ROW_CHARS = 100
"""Of a question and of an answer in the table, whose columns are narrow."""


def answers_page(results: Sequence[QAResult]) -> str:
    """All answers as Markdown, one heading each. If they are too many, a line says how many are
    only in their file, whose path is on the page."""
    parts: list[str] = []
    n_chars = 0
    for result in results[:MOST_ROWS]:
        part = _answer(result)
        n_chars += len(part) + 2
        if n_chars > MAX_MARKDOWN_CHARS - _ROOM_FOR_NOTE:
            break
        parts.append(part)
    if n_more := len(results) - len(parts):
        parts.append(f"*{n_more} more answers are in the file below.*")
    return "\n\n".join(parts) or "*none*"


def _row(result: QAResult) -> dict[str, Any]:
    """An answer in one row; its papers are in the answers in full."""
    pages = [citation.page_start for claim in result.claims for citation in claim.citations]
    answer = " ".join(claim.text for claim in result.claims) or result.answer
    return {
        "state": _state(result) or "answered",
        "question": textwrap.shorten(result.question, _ROW_CHARS, placeholder=" …"),
        "answer": textwrap.shorten(answer, _ROW_CHARS, placeholder=" …"),
        "pages": ["?" if page is None else page for page in dict.fromkeys(pages)],
    }


def _state(result: QAResult) -> str:
    """What a reader should know first; empty for an answer like any other."""
    if result.refused or result.withheld:
        return "refused" if result.refused else "withheld"
    return "single source" if result.single_source else ""


def _answer(result: QAResult) -> str:
    mark = f" — **{state}**" if (state := _state(result)) else ""
    heading = f"### {markdown_text(f'{result.question} ({result.question_id})')}{mark}"
    lead = markdown_text(" ".join(one.text for one in result.lead))
    claims = [_claim(claim) for claim in result.claims] or [markdown_text(result.answer)]
    paragraphs = [lead, *claims] if lead else claims
    remarked_paragraphs = [f"*{markdown_text(remark)}*" for remark in notes_of(result)]
    return "\n\n".join([heading, *paragraphs, *remarked_paragraphs, *_nearest(result)])


def _nearest(result: QAResult) -> list[str]:
    """Heading and list of the nearest sentences, if there are any."""
    if not result.nearest:
        return []
    lines = [f"- {_with_places(claim)}" for claim in result.nearest]
    return [markdown_text(nearest_heading(result)), "\n".join(lines)]


def _claim(claim: Claim) -> str:
    """The claim with its places and its note, then those of its quotes that do not stand in it."""
    note = claim_note(claim)
    lines = [_with_places(claim)]
    lines += [f"*{markdown_text(note)}*"] if note else []
    lines += [
        f"> “{markdown_text(citation.quote)}” {markdown_text(f'[{place_of(citation)}]')}"
        for citation in claim.citations
        if citation.quote not in claim.text
    ]
    return "\n\n".join(lines)


def _with_places(claim: Claim) -> str:
    places = "; ".join(dict.fromkeys(place_of(citation) for citation in claim.citations))
    return f"{markdown_text(claim.text)} {markdown_text(f'[{places}]')}"
