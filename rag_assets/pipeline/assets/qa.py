"""Asset `qa`: a verified answer to every question, published only when the guardrails hold."""

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import dagster as dg

from rag_assets.answering.records import read_results
from rag_assets.answering.update import AnswerUpdate, row_fingerprints
from rag_assets.core.domain import Usage
from rag_assets.core.incremental import data_version
from rag_assets.core.settings import Settings
from rag_assets.engine import CODE_VERSION
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.answer_files import QA_PROMISES, AnsweredFile, answer_file
from rag_assets.pipeline.assets.answer_page import answers_page, audit_table
from rag_assets.pipeline.assets.checks import skipped, specs
from rag_assets.pipeline.assets.index import index_meta
from rag_assets.pipeline.assets.publishing import Outcome, materialized, write_audit_publish
from rag_assets.pipeline.assets.reporting import progress
from rag_assets.pipeline.assets.resources import OpenEngine
from rag_assets.pipeline.assets.sources import QUESTIONS
from rag_assets.questions.files import QuestionSet, configured_questions, configured_set


@dg.asset(
    group_name="answers",
    deps=[QUESTIONS, index_meta],
    metadata={"also_reads": "chunks, passages, profiles, chroma_index, bm25_index"},
    check_specs=specs("qa", QA_PROMISES),
    output_required=False,
    code_version=CODE_VERSION,
    kinds={"jsonl"},
)
def qa(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
    engine: dg.ResourceParam[OpenEngine],
) -> Outcome:
    """A page-cited answer to every question of the question file; `data/output/qa.jsonl`, `data/logs/qa_audit.csv`."""
    asked, questions = configured_set(settings), configured_questions(settings)
    if questions is None:
        yield from _skipped(asked)
        return
    spent_before = models.budget.spent
    report = progress("qa", "questions")
    file = answer_file(engine(), settings, asked, questions, run_id=context.run.run_id, report=report)
    spent = models.budget.since(spent_before)
    yield from write_audit_publish(
        file.checked,
        publish=lambda: file.publish(settings),
        report=lambda _: _materialized(file, spent, settings),
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


def _materialized(file: AnsweredFile, spent: Usage, settings: Settings) -> dg.MaterializeResult[Any]:
    results, audited = file.update.results, settings.paths.qa_audit
    files = {"question_file": file.asked.label, "audit_file": dg.MetadataValue.path(audited.absolute())}
    return materialized(
        version=data_version(row_fingerprints(results)),
        counts=file.update.plan.counts(),
        n_rows=len(results),
        path=file.asked.answers,
        settings={"retrieval": settings.retrieval, "answering": settings.answering},
        facts=_facts(file.update, spent) | files,
        previews={"answers": answers_page(results, file.asked.answers), "audit": audit_table(audited)},
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
