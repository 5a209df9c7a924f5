"""Asset `qa`: a verified answer to every question, published only when the guardrails hold."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import dagster as dg

from rag_assets.answering.drafts import kept_drafts
from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.records import (
    AuditedRun,
    append_audit,
    audit_row,
    keep_raw_replies,
    left_row,
    read_results,
    write_results,
)
from rag_assets.answering.update import (
    UPDATE_PROMISES,
    AnswerUpdate,
    answered,
    inputs_fingerprint,
    is_current,
    kept,
    meta_of,
    row_fingerprints,
)
from rag_assets.assets.answer_page import answers_page
from rag_assets.assets.checks import skipped, specs
from rag_assets.assets.publishing import Outcome, materialized, of_another_asset, write_audit_publish
from rag_assets.assets.reporting import now, progress
from rag_assets.domain import Chunk, Usage
from rag_assets.engine import CODE_VERSION, Engine, open_engine
from rag_assets.errors import MissingInput
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import data_version, read_json, staging
from rag_assets.kept import kept_file
from rag_assets.promises import CheckedPromise, Promise, check_all, nothing_withholds
from rag_assets.question_sets import QuestionSet, question_set, questions_to_answer
from rag_assets.questions import Question
from rag_assets.settings import Paths, Settings
from rag_assets.table_files import required_table
from rag_assets.tables import chunks_from, rows_of

QA_PROMISES: list[Promise[Any]] = [*ANSWER_PROMISES, *UPDATE_PROMISES]


@dg.asset(
    group_name="answers",
    deps=["questions", "chunks", "passages", "profiles", "chroma_index", "bm25_index", "index_meta"],
    check_specs=specs("qa", QA_PROMISES),
    output_required=False,
    code_version=CODE_VERSION,
    kinds={"jsonl"},
)
def qa(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
) -> Outcome:
    """A page-cited answer to every question of the question file; `data/output/qa.jsonl`, `data/logs/qa_audit.csv`."""
    paths, asked = settings.paths, question_set(settings)
    questions = questions_to_answer(settings)
    if questions is None:
        yield from _skipped(asked)
        return
    run = AuditedRun(now(), context.run.run_id, _index_version(paths), asked.label)
    spent_before = models.budget.spent
    with open_engine(settings, models) as engine:
        inputs = inputs_fingerprint(questions, run.index_version, engine.answers_version())
        update = _updated(engine, settings, questions, inputs)
    spent = models.budget.since(spent_before)
    checked = _checked(update, settings)
    _log(update, paths, run, verdict="published" if nothing_withholds(checked) else "withheld")

    def report(_: None) -> dg.MaterializeResult[Any] | None:
        made = _materialized(update, spent, asked, settings)
        if asked.folder is None:
            return made
        # the page, plots and data version of `qa` are those of the configured question file
        context.log_event(of_another_asset(["qa", asked.folder], made))
        return None

    yield from write_audit_publish(
        checked,
        publish=lambda: _publish(update, settings, inputs),
        report=report,
        labels={"question_file": asked.label},
    )


def _skipped(asked: QuestionSet) -> Iterator[dg.AssetCheckResult]:
    """Without questions there is nothing to publish: answers to earlier ones are withdrawn, as of any deleted
    question. Their drafts stay in the cache."""
    n_withdrawn = len(read_results(asked.answers))
    asked.answers.unlink(missing_ok=True)
    asked.meta.unlink(missing_ok=True)
    notice = f"There is no question file {asked.file}: nothing was answered, and nothing is evaluated."
    if n_withdrawn:
        notice += f" {n_withdrawn} answers to earlier questions were withdrawn."
    yield from skipped(QA_PROMISES, notice)


def _updated(engine: Engine, settings: Settings, questions: list[Question], inputs: str) -> AnswerUpdate:
    asked = question_set(settings)
    published = read_results(asked.answers)
    if is_current(asked.answers, asked.meta, inputs):
        return kept(published)
    return answered(
        questions,
        published,
        engine.trace,
        still_holds=lambda row: not engine.broken_promises(row),
        n_at_once=engine.n_at_once,
        report=progress("qa", "questions"),
    )


def _checked(update: AnswerUpdate, settings: Settings) -> list[CheckedPromise]:
    chunks = _cited_chunks(update, settings.paths)
    candidate = AnswersCandidate(update.results, chunks, settings.answering.min_sources)
    return [*check_all(ANSWER_PROMISES, candidate), *check_all(UPDATE_PROMISES, update)]


def _publish(update: AnswerUpdate, settings: Settings, inputs: str) -> None:
    paths, asked = settings.paths, question_set(settings)
    if not update.traces and update.plan.is_noop and asked.meta.exists():
        return
    with staging() as staged:
        answers = staged.path(asked.answers)
        write_results(update.results, answers)
        staged.put(asked.meta, meta_of(answers, inputs, update, question_file=asked.label))
        staged.publish()
    chunk_ids = set(required_table(paths.chunks, asset="chunks")["chunk_id"].to_pylist())
    drafts = kept_drafts(kept_file(settings))
    drafts.drop(key for key, draft in drafts.items() if key not in update.replies and not draft.chunk_ids <= chunk_ids)


def _log(update: AnswerUpdate, paths: Paths, run: AuditedRun, *, verdict: str) -> None:
    append_audit(
        paths.qa_audit,
        [
            *(audit_row(trace, run, verdict=verdict) for trace in update.news),
            *(left_row(left, run) for left in update.left),
        ],
    )
    keep_raw_replies(paths.raw_replies, update)


def _index_version(paths: Paths) -> str:
    meta = read_json(paths.index_meta)
    if meta is None:
        raise MissingInput.table(paths.index_meta, asset="index_meta")
    version: str = meta["version"]
    return version


def _cited_chunks(update: AnswerUpdate, paths: Paths) -> dict[str, Chunk]:
    cited = set[str]().union(*(result.quoted_chunk_ids for result in update.results))
    table = required_table(paths.chunks, asset="chunks")
    return {chunk.chunk_id: chunk for chunk in chunks_from(rows_of(table, "chunk_id", cited))}


def _materialized(
    update: AnswerUpdate, spent: Usage, asked: QuestionSet, settings: Settings
) -> dg.MaterializeResult[Any]:
    return materialized(
        version=data_version(row_fingerprints(update.results)),
        counts=update.plan.counts(),
        n_rows=len(update.results),
        path=asked.answers,
        settings={"retrieval": settings.retrieval, "answering": settings.answering},
        facts={
            **_facts(update, spent),
            "question_file": asked.label,
        },
        previews={"answers": answers_page(update.results, asked.answers)},
    )


def _facts(update: AnswerUpdate, spent: Usage) -> dict[str, Any]:
    results = update.results
    scores = [claim.support.score for result in results for claim in result.claims if claim.support]
    supports = [score for score in scores if score is not None]
    made = [draft for trace in update.traces for draft in trace.made]
    return {
        "n_refused": sum(result.refused for result in results),
        "n_single_source": sum(result.single_source for result in results),
        "n_claims": sum(len(result.claims) for result in results),
        "n_retries": sum(trace.retry_k is not None for trace in update.traces),
        "n_left": len(update.left),
        "n_unjudged": len(update.unjudged),
        "n_dropped_citations": sum(trace.final.verified.n_dropped_citations for trace in update.traces),
        "n_hallucinated_citations": sum(draft.n_hallucinated for draft in made),
        "n_left_out_claims": sum(len(result.left_out) for result in results),
        "n_mended_claims": sum(trace.n_mended for trace in update.traces),
        "mean_support": fmean(supports) if supports else None,
        "n_cached_drafts": sum(trace.n_cached for trace in update.traces),
        "n_model_requests": spent.n_requests,
        "n_input_tokens": spent.n_input_tokens,
        "n_output_tokens": spent.n_output_tokens,
        "cost_usd": spent.cost_usd,
        "model_seconds": sum(trace.model_seconds for trace in update.traces),
    }
