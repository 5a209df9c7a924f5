"""Asset `smoke_eval`: retrieval and answers on questions with known answers, against floors and their own history.

Nothing is made from an evaluation, so there is nothing to withhold: it is materialized in any case, with every figure.
What is not good enough fails its checks, and with them the run.
"""

from collections.abc import Mapping
from typing import Any

import dagster as dg

from rag_assets.answering.evaluation.metrics import METRICS_VERSION
from rag_assets.answering.evaluation.promises import EVALUATION_PROMISES
from rag_assets.answering.evaluation.smoke import LATEST, NOTHING_TO_JUDGE, evaluated, recorded
from rag_assets.answering.records import read_results
from rag_assets.core.incremental import fingerprint
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.pipeline.assets.checks import results, skipped, specs
from rag_assets.pipeline.assets.evaluation_page import history_table, results_table
from rag_assets.pipeline.assets.publishing import Outcome, materialized
from rag_assets.pipeline.assets.qa import qa
from rag_assets.pipeline.assets.reporting import now
from rag_assets.pipeline.assets.resources import OpenEngine
from rag_assets.questions.files import configured_questions


@dg.asset(
    group_name="evaluation",
    deps=[qa],
    metadata={"also_reads": "questions, parsed_index, chunks, passages, profiles, chroma_index, bm25_index"},
    check_specs=specs("smoke_eval", EVALUATION_PROMISES),
    output_required=False,
    code_version=str(METRICS_VERSION),
    kinds={"json"},
)
def smoke_eval(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    engine: dg.ResourceParam[OpenEngine],
) -> Outcome:
    """Recall, MRR and nDCG of expected papers and pages, and what the answers got right; `data/output/eval/`."""
    questions = configured_questions(settings)
    if questions is None:
        notice = f"There is no question file {settings.question_file}: nothing is evaluated."
        yield from skipped(EVALUATION_PROMISES, notice)
        return
    answers, asked = read_results(settings.paths.qa), engine()
    latest = evaluated(settings, questions, answers, asked.corpus_version(), asked.search)
    evaluation = recorded(settings, latest, timestamp=now(), run_id=context.run.run_id)
    history = evaluation.history
    yield materialized(
        version=fingerprint(latest["inputs"]),
        counts={
            "n_added": int(evaluation.is_new),
            "n_changed": 0,
            "n_removed": 0,
            "n_unchanged": int(not evaluation.is_new),
        },
        n_rows=latest["n_judged"],
        path=settings.paths.evaluation / LATEST,
        settings={"retrieval": settings.retrieval, "evaluation": settings.evaluation},
        facts=_facts(latest, history[-1]),
        previews={"results": results_table(latest["results"]), "history": history_table(history)},
    )
    checked = check_all(EVALUATION_PROMISES, evaluation.run)
    yield from results(checked, _labels(history[-1], latest, context.run.run_id))


def _labels(record: Mapping[str, Any], latest: Mapping[str, Any], run_id: str) -> dict[str, str]:
    """Which evaluation a check is about: the same figures are checked again by every run that finds nothing new."""
    return {
        "evaluated": f"{record['timestamp']} in run {record['run_id']}",
        "checked": f"{now()} in run {run_id}",
        "question_file": latest["question_file"],
    }


def _facts(latest: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Every metric, whether it is accepted or not, so that the Plots tab shows a fall."""
    counts = {name: latest[name] for name in ("n_judged", "n_not_judged", "n_unlabelled", "n_failures")}
    verdict = "accepted" if record["accepted"] else "not accepted"
    return {
        **latest["metrics"],
        **counts,
        "verdict": verdict if latest["n_judged"] else f"nothing to judge: {NOTHING_TO_JUDGE}",
        "evaluated": f"{record['timestamp']} in run {record['run_id']}",
        "question_file": latest["question_file"],
    }
