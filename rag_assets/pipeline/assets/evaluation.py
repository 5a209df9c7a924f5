"""Asset `smoke_eval`: retrieval and answers on questions with known answers, against floors and
their own history.

No asset depends on an evaluation, so nothing is withheld: it is always materialized with every
figure, and its checks warn.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from rag_assets.answering.records import read_results
from rag_assets.core.incremental import fingerprint
from rag_assets.core.promises import check_all
from rag_assets.core.settings import Settings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.evaluation.history import EVALUATION_PROMISES
from rag_assets.evaluation.judge import open_judge
from rag_assets.evaluation.metrics import METRICS, METRICS_VERSION, floors
from rag_assets.evaluation.smoke import NOTHING_TO_JUDGE, RecordedEvaluation, evaluated, recorded
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.corpus import parsed_index
from rag_assets.pipeline.assets.index import ASKED
from rag_assets.pipeline.assets.previews import MAX_CELL_CHARS, lines, markdown_table, table
from rag_assets.pipeline.assets.publishing import (
    Made,
    Outcome,
    asset_step,
    checked_asset,
    now,
    skipped,
)
from rag_assets.pipeline.assets.qa import qa
from rag_assets.pipeline.assets.resources import OpenEngine
from rag_assets.pipeline.assets.sources import QUESTIONS
from rag_assets.questions.files import configured_questions


@checked_asset(
    "evaluation",
    EVALUATION_PROMISES,
    deps=[QUESTIONS, qa, parsed_index, *ASKED],
    kinds={"json"},
    version=METRICS_VERSION,
)
def smoke_eval(
    context: dg.AssetExecutionContext,
    settings: dg.ResourceParam[Settings],
    models: dg.ResourceParam[Connections],
    engine: dg.ResourceParam[OpenEngine],
) -> Outcome:
    """How good search and answers are: recall, MRR and nDCG of expected papers and pages, and what
    the answers got right; `data/output/eval/`."""
    questions = configured_questions(settings)
    if questions is None:
        notice = f"There is no question file {settings.question_file}: nothing is evaluated."
        yield from skipped(EVALUATION_PROMISES, notice)
        return

    def make() -> Made:
        asked = engine()
        judge = open_judge(settings, models, asked.question_vector)
        latest = evaluated(settings, questions, read_results(settings.paths.qa), asked, judge)
        run_id = context.run.run_id
        return _made(latest, recorded(settings, latest, timestamp=now(), run_id=run_id))

    path, groups = settings.paths.latest_evaluation, ["retrieval", "evaluation"]
    yield from asset_step(path, make, settings=groups, models=models, counted="evaluations")


def _made(latest: Mapping[str, Any], evaluation: RecordedEvaluation) -> Made:
    history, is_new = evaluation.history, evaluation.is_new
    figures, least = _figures(latest, history[-1]), floors(evaluation.run.settings.floors)
    return Made(
        fingerprint(latest["inputs"]),
        latest["n_judged"],
        check_all(EVALUATION_PROMISES, evaluation.run),
        lambda: {"n_added": int(is_new), "n_unchanged": int(not is_new)},
        figures,
        {
            "not_right": table(
                [
                    {"why": f"{row['outcome']}: {row.get('why', '')}", "question": row["question"]}
                    for row in latest["results"]
                    if row["outcome"] != "right"
                ]
            ),
            "history": _course(history, least),
            "metrics": _metrics(latest["metrics"], least),
            "worse": worse_table(latest["worse"]),
            "results": results_table(latest["results"]),
            "modes": modes_table(latest["modes"]),
            "slices": slices_table(history),
        },
    )


_N_DRAWN, _DRAWN = 50, ("paper_mrr", "key_fact_recall")


def _course(history: Sequence[Mapping[str, Any]], least: Mapping[str, float | None]) -> str:
    """Two of the metrics over time, with their floors, as a picture."""
    past = [entry["metrics"] for entry in history[-_N_DRAWN:]]
    course = {name: [metrics.get(name) for metrics in past] for name in _DRAWN}
    return lines(course, "evaluations, the last on the right; dotted: floors", least)


def _metrics(
    means: Mapping[str, float | None], least: Mapping[str, float | None]
) -> dg.MetadataValue[Any]:
    """The metrics against their floors."""
    rows = [
        {"metric": name, "value": _shown(means[name]), "floor": _shown(floor)}
        for name, floor in least.items()
        if means[name] is not None and floor
    ]
    return table(rows)


def _figures(latest: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    """Every metric, also of an evaluation that is not accepted, so that a fall is plotted."""
    names = ("n_judged", "n_not_judged", "n_unlabelled", "n_failures", "n_abstentions")
    counts = {name: latest[name] for name in names} | {"n_worse": len(latest["worse"])}
    verdict = "accepted" if record["accepted"] else "not accepted"
    return {
        **latest["metrics"],
        **counts,
        "verdict": verdict if latest["n_judged"] else f"nothing to judge: {NOTHING_TO_JUDGE}",
        "evaluated": f"{record['timestamp']} in run {record['run_id']}",
        "question_file": latest["question_file"],
    }


N_SLICED = 4
_ORDER = ("wrong", "not judged", "unlabelled", "right")


def worse_table(worse: Sequence[Mapping[str, Any]]) -> str:
    """Question and both answers; long ones from the sentence on in which they begin to differ."""
    rows = []
    for row in worse:
        answers: tuple[str, ...] = row["before"], row["now"]
        if max(map(len, answers)) > MAX_CELL_CHARS:
            pairs = zip(*answers, strict=False)
            n_equal = next(
                (n for n, (before, after) in enumerate(pairs) if before != after),
                min(map(len, answers)),
            )
            start = max(first for first, _ in sentence_spans(answers[0]) if first <= n_equal)
            answers = tuple(f"… {answer[start:]}" for answer in answers) if start else answers
        rows.append(
            {
                "question": row["question"],
                "before": answers[0],
                "now": answers[1],
                "worse": row["worse"],
            }
        )
    return markdown_table(rows)


def results_table(results: Sequence[Mapping[str, Any]]) -> str:
    """One row per question, wrong ones first."""
    ordered = sorted(results, key=lambda row: _ORDER.index(row["outcome"]))
    shown = ("question", "outcome", "why", "got", "expected", "question_id")
    return markdown_table([{name: row.get(name, "") for name in shown} for row in ordered])


def slices_table(history: Sequence[Mapping[str, Any]]) -> str:
    """One row per tag and metric of the newest evaluation, with the evaluations before it beside
    each figure."""
    rows = []
    for tag, newest in (history[-1].get("slices") or {}).items():
        past = [
            entry["slices"][tag]
            for entry in history[-N_SLICED:-1]
            if tag in (entry.get("slices") or {})
        ]
        for metric in METRICS:
            values = [figures_of_run.get(metric.name) for figures_of_run in (*past, newest)]
            if values[-1] is not None:
                figures = " → ".join("–" if value is None else f"{value:.3f}" for value in values)
                rows.append(
                    {
                        "tag": tag,
                        "questions": newest["n"],
                        "metric": metric.name,
                        "figures": figures,
                    }
                )
    return markdown_table(rows)


def modes_table(modes: Sequence[Mapping[str, Any]]) -> str:
    """One row per way to search, with the metrics that were measured."""
    measured = [
        name for name in (modes[0] if modes else ()) if any(row[name] is not None for row in modes)
    ]
    rows = [{name: _shown(row[name]) for name in measured} for row in modes]
    return markdown_table(rows)


def _shown(value: float | str | None) -> str:
    return value if isinstance(value, str) else "" if value is None else f"{value:.3f}"
