"""Asset `smoke_eval`: retrieval and answers on questions with known answers, against floors and their own history."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import dagster as dg

from rag_assets.answering.records import read_results
from rag_assets.asking import search_state
from rag_assets.assets.conditions import on_new_content
from rag_assets.assets.guardrails import Audit, advisory, guardrail, guardrails_hold, specs
from rag_assets.assets.reporting import history_table, markdown_table, materialized
from rag_assets.errors import MissingInput
from rag_assets.evaluation.history import append_history, below_floor, fallen, read_history, set_damaged_aside
from rag_assets.evaluation.metrics import METRICS, METRICS_VERSION, evaluate
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import drafting, file_sha256, fingerprint
from rag_assets.questions import Question, load_questions
from rag_assets.retrieval.opening import open_searcher
from rag_assets.settings import Floors, Settings

HISTORY, LATEST = "history.jsonl", "latest.json"
N_FAILURES_SHOWN = 30
N_RUNS_SHOWN = 10


@dataclass(frozen=True)
class EvaluationDraft:
    """What the audits of `smoke_eval` look at."""

    latest: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    """Earlier evaluations, oldest first."""
    floors: Floors


EVALUATION_AUDITS: list[Audit[EvaluationDraft]] = [
    guardrail(
        "above_floors",
        "Every metric reaches its floor (evaluation.floors). The failing questions are listed in the evaluation.",
        lambda draft: below_floor(draft.latest["metrics"], draft.floors),
    ),
    guardrail(
        "not_fallen",
        "No metric falls more than evaluation.floors.max_drop below the median of its last five accepted runs on the "
        "same questions. If the new level is right, delete data/output/eval/history.jsonl.",
        lambda draft: fallen(draft.latest, draft.history, max_drop=draft.floors.max_drop),
    ),
    advisory(
        "questions_right",
        "Every smoke question is answered as expected.",
        lambda draft: draft.latest["failures"],
    ),
]


@dg.asset(
    group_name="evaluation",
    deps=["qa"],
    check_specs=specs("smoke_eval", EVALUATION_AUDITS),
    output_required=False,
    automation_condition=on_new_content(),
    kinds={"json"},
)
def smoke_eval(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
) -> Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]:
    """Recall, MRR and nDCG of expected papers and pages, and what the answers got right; `data/output/eval/`."""
    folder = settings.paths.evaluation
    set_damaged_aside(folder / HISTORY)
    history = read_history(folder / HISTORY)
    latest, is_new = _evaluated(settings, models, history)
    earlier = history if is_new else history[:-1]
    results = [
        audit.result(EvaluationDraft(latest, earlier, settings.evaluation.floors)) for audit in EVALUATION_AUDITS
    ]
    yield from results
    holds = guardrails_hold(results)
    if is_new:
        append_history(folder / HISTORY, {**latest, "accepted": holds, "run_id": context.run.run_id})
    if holds:
        with drafting() as draft:
            draft.put(
                folder / LATEST, json.dumps(latest, indent=2, ensure_ascii=False, sort_keys=True).encode() + b"\n"
            )
            draft.publish()
        yield materialized(
            version=fingerprint(latest["inputs"]),
            counts={"n_added": int(is_new), "n_changed": 0, "n_removed": 0, "n_unchanged": int(not is_new)},
            n_rows=latest["n_questions"],
            facts={**latest["metrics"], "n_failures": len(latest["failures"])},
            previews=_previews(latest, [*earlier, latest]),
        )


def _evaluated(
    settings: Settings, models: Connections, history: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], bool]:
    """The evaluation of the published answers, and whether it is a new one."""
    paths = settings.paths
    if not paths.qa.exists():
        raise MissingInput.table(paths.qa, asset="qa")
    questions = load_questions(settings.question_file)
    asked = fingerprint([question.model_dump(mode="json") for question in questions], settings.evaluation.k)
    inputs = fingerprint(
        asked, file_sha256(paths.qa), settings.retrieval.fingerprint(), search_state(settings), METRICS_VERSION
    )
    if history and history[-1]["inputs"] == inputs:
        return {key: value for key, value in history[-1].items() if key not in {"accepted", "run_id"}}, False
    return {"inputs": inputs, "questions": asked, **_evaluate(settings, models, questions)}, True


def _evaluate(settings: Settings, models: Connections, questions: Sequence[Question]) -> dict[str, Any]:
    results = {result.question_id: result for result in read_results(settings.paths.qa)}
    if unanswered := [question.id for question in questions if question.id not in results]:
        raise MissingInput(
            f"{settings.paths.qa} has no answer to {', '.join(unanswered)} of {settings.question_file}. "
            "Materialize `qa` first: rag-assets run --select +qa"
        )
    k = settings.evaluation.k
    with open_searcher(settings, models) as searcher:
        hits = {question.id: searcher.retrieve(question.question, k, question.paper_ids) for question in questions}
    evaluation = evaluate(questions, results, hits, k=k)
    return {
        "metrics": dict(evaluation.metrics),
        "failures": [asdict(failure) for failure in evaluation.failures],
        "n_questions": evaluation.n_questions,
    }


def _previews(latest: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {
        "history": history_table(history, METRICS, n_shown=N_RUNS_SHOWN),
        "failures": markdown_table(latest["failures"], n_shown=N_FAILURES_SHOWN),
    }
