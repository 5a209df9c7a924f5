"""Asset `smoke_eval`: retrieval and answers on questions with known answers, against floors and their own history.

Nothing is made from an evaluation, so there is nothing to withhold: it is materialized in any case, with every figure.
What is not good enough fails its checks, and with them the run.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import dagster as dg

from rag_assets.answering.records import read_results
from rag_assets.asking import search_state
from rag_assets.assets.checks import results, skipped, specs
from rag_assets.assets.conditions import on_new_content
from rag_assets.assets.evaluation_page import history_table, results_table
from rag_assets.assets.reporting import materialized, now
from rag_assets.checksums import sealed, unsealed
from rag_assets.errors import MissingInput
from rag_assets.evaluation.history import (
    append_history,
    before,
    is_recorded,
    read_history,
    set_damaged_aside,
)
from rag_assets.evaluation.judged import judgeable, question_rows
from rag_assets.evaluation.metrics import METRICS_VERSION, Evaluation, evaluate
from rag_assets.evaluation.promises import EVALUATION_PROMISES, EvaluatedRun
from rag_assets.hosted.connections import Connections
from rag_assets.incremental import file_sha256, fingerprint, write_atomically
from rag_assets.promises import check_all
from rag_assets.question_sets import evaluated_questions
from rag_assets.questions import Question
from rag_assets.retrieval.opening import open_searcher
from rag_assets.settings import Settings
from rag_assets.table_files import read_columns

logger = logging.getLogger(__name__)
HISTORY, LATEST = "history.jsonl", "latest.json"
_NOTHING_TO_JUDGE = (
    "No question says what a right answer is (expected, key_facts or answerable), or those that do are about papers "
    "that are not in the corpus."
)
_KEPT_IN_HISTORY = ("inputs", "questions", "metrics", "n_judged", "n_failures")


@dg.asset(
    group_name="evaluation",
    deps=["qa"],
    check_specs=specs("smoke_eval", EVALUATION_PROMISES),
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
    questions = evaluated_questions(settings)
    if questions is None:
        notice = f"There is no question file {settings.question_file}: nothing is evaluated."
        yield from skipped(context, EVALUATION_PROMISES, notice)
        return
    folder = settings.paths.evaluation
    set_damaged_aside(folder / HISTORY)
    history = read_history(folder / HISTORY)
    latest = _evaluation(settings, models, questions)
    against = EvaluatedRun(latest, before(history, latest["inputs"]), settings.evaluation.floors)
    record = {
        "accepted": not against.too_low and not against.fallen,
        **{key: latest[key] for key in _KEPT_IN_HISTORY},
    }
    is_new = not is_recorded(record, history)
    if is_new:
        history = [*history, {"timestamp": now(), "run_id": context.run.run_id, **record}]
        append_history(folder / HISTORY, history[-1])
    _write(folder / LATEST, {**latest, "accepted": record["accepted"]})
    yield materialized(
        version=fingerprint(latest["inputs"]),
        counts={"n_added": int(is_new), "n_changed": 0, "n_removed": 0, "n_unchanged": int(not is_new)},
        n_rows=latest["n_judged"],
        facts=_facts(latest, history[-1], settings),
        previews={"results": results_table(latest["results"]), "history": history_table(history)},
    )
    checked = check_all(EVALUATION_PROMISES, against)
    yield from results(checked, _labels(history[-1], latest, context.run.run_id))  # Dagster files them under the newest


def _evaluation(settings: Settings, models: Connections, questions: Sequence[Question]) -> dict[str, Any]:
    """The evaluation of the published answers; the last one when it was made from the same."""
    paths = settings.paths
    if not paths.qa.exists():
        raise MissingInput.table(paths.qa, asset="qa")
    corpus = set(read_columns(paths.parsed_index, ["paper_id"], asset="parsed_index")["paper_id"].to_pylist())
    found = judgeable(questions, corpus)
    asked = fingerprint([question.model_dump(mode="json") for question in found.judged], settings.evaluation.k)
    inputs = fingerprint(
        asked,
        [question.model_dump(mode="json") for question in questions],
        file_sha256(paths.qa),
        settings.retrieval.fingerprint(),
        search_state(settings),
        METRICS_VERSION,
    )
    last = _last(paths.evaluation / LATEST)
    if last is not None and last.get("inputs") == inputs:
        return last
    evaluation = _evaluate(settings, models, found.judged)
    if not found.judged:
        logger.info("smoke_eval: nothing to judge. %s", _NOTHING_TO_JUDGE)
    return {
        "inputs": inputs,
        "questions": asked,
        "question_file": str(settings.question_file),
        "metrics": dict(evaluation.metrics),
        "failures": [asdict(failure) for failure in evaluation.failures],
        "results": question_rows(found, evaluation.failures),
        "n_judged": len(found.judged),
        "n_not_judged": len(found.not_judged),
        "n_unlabelled": len(found.unlabelled),
        "n_failures": len(evaluation.failures),
    }


def _evaluate(settings: Settings, models: Connections, questions: Sequence[Question]) -> Evaluation:
    results = {result.question_id: result for result in read_results(settings.paths.qa)}
    if unanswered := [question.id for question in questions if question.id not in results]:
        raise MissingInput(
            f"{settings.paths.qa} has no answer to {', '.join(unanswered)} of {settings.question_file}. "
            "Materialize `qa` first: rag-assets run --select +qa"
        )
    k = settings.evaluation.k
    if not questions:
        return evaluate([], {}, {}, k=k)
    with open_searcher(settings, models) as searcher:
        hits = {question.id: searcher.retrieve(question.question, k, question.paper_ids) for question in questions}
    return evaluate(questions, results, hits, k=k)


def _write(path: Path, latest: Mapping[str, Any]) -> None:
    write_atomically(path, json.dumps(sealed(latest), indent=2, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def _last(path: Path) -> dict[str, Any] | None:
    """The last evaluation; None when there is none, or it is damaged: then it is made anew."""
    return unsealed(path.read_bytes()) if path.exists() else None


def _labels(record: Mapping[str, Any], latest: Mapping[str, Any], run_id: str) -> dict[str, str]:
    """Which evaluation a check is about: the same figures are checked again by every run that finds nothing new."""
    return {
        "evaluated": f"{record['timestamp']} in run {record['run_id']}",
        "checked": f"{now()} in run {run_id}",
        "question_file": latest["question_file"],
    }


def _facts(latest: Mapping[str, Any], record: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Every metric, whether it is accepted or not, so that the Plots tab shows a fall."""
    counts = {name: latest[name] for name in ("n_judged", "n_not_judged", "n_unlabelled", "n_failures")}
    verdict = "accepted" if record["accepted"] else "not accepted"
    return {
        **latest["metrics"],
        **counts,
        "verdict": verdict if latest["n_judged"] else f"nothing to judge: {_NOTHING_TO_JUDGE}",
        "evaluated": f"{record['timestamp']} in run {record['run_id']}",
        "question_file": latest["question_file"],
        "evaluation_file": dg.MetadataValue.path((settings.paths.evaluation / LATEST).absolute()),
    }
