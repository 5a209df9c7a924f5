"""Asset `qa`: a verified answer to every question, published only when the guardrails hold."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import dagster as dg

from rag_assets.answer_models import answerer_fingerprint
from rag_assets.answering import audits
from rag_assets.answering.drafts import DraftAnswer
from rag_assets.answering.engine import place_of
from rag_assets.answering.records import (
    append_audit,
    audit_row,
    keep_raw_replies,
    left_row,
    read_results,
    write_results,
)
from rag_assets.answering.replies import ReplyCache
from rag_assets.answering.update import (
    AnswerUpdate,
    answered,
    inputs_fingerprint,
    is_current,
    kept,
    meta_of,
    row_fingerprints,
    unanswered_rows,
    unjudged_rows,
)
from rag_assets.asking import asking, search_state
from rag_assets.assets.conditions import on_new_content
from rag_assets.assets.guardrails import Audit, advisory, guardrail, guardrails_hold, specs
from rag_assets.assets.reporting import markdown_table, materialized, progress
from rag_assets.errors import MissingInput
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import data_version, drafting, read_json
from rag_assets.model import Chunk, QAResult, Usage
from rag_assets.questions import Question, load_questions
from rag_assets.settings import Paths, Settings
from rag_assets.table_files import required_table
from rag_assets.tables import chunks_from, rows_of

N_PREVIEWED = 12


@dataclass(frozen=True)
class QADraft:
    """What the audits of `qa` look at."""

    update: AnswerUpdate
    chunks: Mapping[str, Chunk]
    """The published chunks that are cited, by id."""
    min_sources: int


QA_AUDITS: list[Audit[QADraft]] = [
    guardrail("claims_cited", "Every claim has a citation.", lambda draft: audits.uncited_claims(draft.update.results)),
    guardrail(
        "quotes_in_source",
        "Every quote stands in the published chunk it cites. If not, the chunks changed under the answers: run again.",
        lambda draft: audits.quotes_not_in_source(draft.update.results, draft.chunks),
    ),
    guardrail(
        "pages_hold_quotes",
        "The cited pages are those of the text the quote stands in.",
        lambda draft: audits.pages_not_holding_quote(draft.update.results, draft.chunks),
    ),
    guardrail(
        "numbers_agree",
        "No claim contradicts a number in its quotes.",
        lambda draft: audits.claims_that_contradict(draft.update.results),
    ),
    guardrail(
        "enough_sources",
        "An answer cites answering.min_sources papers or says that fewer support it; a refusal is the fixed sentence.",
        lambda draft: audits.too_few_sources(draft.update.results, min_sources=draft.min_sources),
    ),
    advisory(
        "all_answered",
        "Every question was answered this time. What was left is asked by the next run, and only that.",
        lambda draft: unanswered_rows(draft.update),
    ),
    advisory(
        "all_judged",
        "The judge, where there is one (judging.model), was heard on every answer. Else the reason says why.",
        lambda draft: unjudged_rows(draft.update),
    ),
]


@dg.asset(
    group_name="answers",
    deps=["index_meta", "chunks"],
    check_specs=specs("qa", QA_AUDITS),
    output_required=False,
    automation_condition=on_new_content(),
    kinds={"jsonl"},
)
def qa(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
    """A page-cited answer to every question of the question file; `data/output/qa.jsonl`, `data/logs/qa_audit.csv`."""
    paths = settings.paths
    questions = load_questions(settings.question_file)
    index_version = _index_version(paths)
    inputs = inputs_fingerprint(questions, index_version, search_state(settings), answerer_fingerprint(settings))
    spent_before = models.budget.spent
    update = _updated(settings, models, questions, inputs)
    spent = models.budget.since(spent_before)
    results = [
        audit.result(QADraft(update, _cited_chunks(update, paths), settings.answering.min_sources))
        for audit in QA_AUDITS
    ]
    yield from results
    holds = guardrails_hold(results)
    _log(update, paths, context.run.run_id, index_version, verdict="published" if holds else "withheld")
    if holds:
        _publish(update, paths, inputs)
        yield materialized(
            version=data_version(row_fingerprints(update.results)),
            counts=update.plan.counts(),
            n_rows=len(update.results),
            facts=_facts(update, spent),
            previews={"answers": markdown_table(_preview(update), n_shown=N_PREVIEWED)},
        )


def _updated(settings: Settings, models: Connections, questions: list[Question], inputs: str) -> AnswerUpdate:
    paths = settings.paths
    published = read_results(paths.qa)
    ReplyCache(paths.answers, DraftAnswer).remove_damaged()
    ReplyCache(paths.verdicts, dict[int, float]).remove_damaged()
    if is_current(paths.qa, paths.qa_meta, inputs):
        return kept(published)
    with asking(settings, paths.answers, models) as opened:
        return answered(
            questions,
            published,
            opened.engine.answer,
            still_holds=lambda row: _holds(row, opened.searcher.library.chunks, settings),
            n_at_once=opened.n_at_once,
            report=progress("qa", "questions"),
        )


def _holds(row: QAResult, chunks: Mapping[str, Chunk], settings: Settings) -> bool:
    """Whether an earlier answer would pass every guardrail today."""
    draft = QADraft(kept([row]), chunks, settings.answering.min_sources)
    return guardrails_hold(audit.result(draft) for audit in QA_AUDITS)


def _publish(update: AnswerUpdate, paths: Paths, inputs: str) -> None:
    if not update.attempts and update.plan.is_noop and paths.qa_meta.exists():
        return
    with drafting() as draft:
        answers = draft.path(paths.qa)
        write_results(update.results, answers)
        draft.put(paths.qa_meta, meta_of(answers, inputs, update))
        draft.publish()
    chunk_ids = set(required_table(paths.chunks, asset="chunks")["chunk_id"].to_pylist())
    ReplyCache(paths.answers, DraftAnswer).prune(update.replies, lambda draft: draft.chunk_ids <= chunk_ids)
    ReplyCache(paths.verdicts, dict[int, float]).prune((), lambda _verdicts: True)


def _log(update: AnswerUpdate, paths: Paths, run_id: str, index_version: str, *, verdict: str) -> None:
    facts = {
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "run_id": run_id,
        "index_version": index_version,
    }
    append_audit(
        paths.qa_audit,
        [
            *(audit_row(attempts, **facts, verdict=verdict) for attempts in update.news),
            *(left_row(left, **facts) for left in update.left),
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
    cited = {c.chunk_id for result in update.results for claim in result.claims for c in claim.citations}
    table = required_table(paths.chunks, asset="chunks")
    return {chunk.chunk_id: chunk for chunk in chunks_from(rows_of(table, "chunk_id", cited))}


def _facts(update: AnswerUpdate, spent: Usage) -> dict[str, Any]:
    results = update.results
    supports = [claim.support.score for result in results for claim in result.claims if claim.support]
    made = [draft for attempts in update.attempts for draft in attempts.made]
    return {
        "n_refused": sum(result.refused for result in results),
        "n_single_source": sum(result.single_source for result in results),
        "n_claims": sum(len(result.claims) for result in results),
        "n_retries": sum(attempts.retry_k is not None for attempts in update.attempts),
        "n_left": len(update.left),
        "n_unjudged": len(update.unjudged),
        "n_dropped_citations": sum(attempts.verified.n_dropped_citations for attempts in update.attempts),
        "n_hallucinated_citations": sum(draft.n_hallucinated for draft in made),
        "n_contradicted_claims": sum(attempts.verified.n_contradicted_claims for attempts in update.attempts),
        "mean_support": fmean(supports) if supports else None,
        "n_cached_drafts": sum(attempts.n_cached for attempts in update.attempts),
        "n_model_requests": spent.n_requests,
        "n_input_tokens": spent.n_input_tokens,
        "n_output_tokens": spent.n_output_tokens,
        "cost_usd": spent.cost_usd,
        "model_seconds": sum(attempts.seconds for attempts in update.attempts),
    }


def _preview(update: AnswerUpdate) -> list[dict[str, Any]]:
    return [
        {
            "question": result.question,
            "answer": result.answer,
            "cited": "; ".join(dict.fromkeys(place_of(c) for claim in result.claims for c in claim.citations)),
        }
        for result in update.results
    ]
