"""The smoke evaluation: compares the published answers with what the question file expects.

`latest.json` contains the newest evaluation, `history.jsonl` the figures of all of them.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any

from rag_assets.core.domain import QAResult
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import (
    file_sha256,
    fingerprint,
    read_sealed,
    sealed_json,
    write_atomically,
)
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
from rag_assets.engine import Engine, open_engine
from rag_assets.evaluation.cases import Case, Judge, K, SourceFiles, case_of, hits_of
from rag_assets.evaluation.history import (
    EVALUATION_AUDIT,
    EvaluatedRun,
    append_history,
    before,
    is_recorded,
    read_history,
    set_damaged_aside,
)
from rag_assets.evaluation.metrics import (
    METRICS_VERSION,
    gains,
    judgeable,
    means,
    question_rows,
    slices,
    values_of,
)
from rag_assets.questions import Question
from rag_assets.questions.files import configured_set

logger = logging.getLogger(__name__)
NOTHING_TO_JUDGE = (
    "No question says what a right answer is (expected, key_facts, reference or answerable), or those that do are "
    "about papers that are not in the corpus."
)
MODE_METRICS = (
    "paper_recall_at_k",
    "paper_mrr",
    "paper_ndcg",
    "page_mrr",
    "answer_in_context",
    "context_recall",
)
"""The metrics by which the modes of search are compared; the hits are used as contexts then."""
_KEPT_IN_HISTORY = ("inputs", "questions", "metrics", "slices", "n_judged", "n_failures")


@dataclass(frozen=True)
class RecordedEvaluation:
    """An evaluation after it was written to the history."""

    run: EvaluatedRun
    history: list[dict[str, Any]]
    """All evaluations, oldest first; this one is the last."""
    is_new: bool
    """Whether its inputs or its verdict differ from those of the one before it."""


def evaluated(
    settings: Settings,
    questions: Sequence[Question],
    results: Sequence[QAResult],
    engine: Engine,
    judge: Judge | None,
) -> dict[str, Any]:
    """The evaluation of the published answers `results`, as it is written to `latest.json`; the last
    one is returned if it was made from the same inputs.

    A question without an answer is not judged. Raises MissingInput when there is no answer at all.
    """
    paths = settings.paths
    if not paths.qa.exists():
        raise MissingInput.table(paths.qa)
    corpus = set(read_columns(paths.parsed_index, ["paper_id"])["paper_id"].to_pylist())
    answers = {result.question_id: result for result in results}
    if not answers:
        raise MissingInput(
            f"{paths.qa} has no answer to the questions of {settings.question_file}. "
            "Materialize `qa` first: rag-assets run --select +qa"
        )
    found = judgeable(questions, corpus, answers)
    label = configured_set(settings).label
    questions_hash = fingerprint([question.model_dump(mode="json") for question in found.judged], K)
    inputs = fingerprint(
        questions_hash,
        label,
        [question.model_dump(mode="json") for question in questions],
        file_sha256(paths.qa),
        settings.retrieval.fingerprint(),
        settings.evaluation.judge,
        engine.corpus_version(),
        METRICS_VERSION,
    )
    last = read_sealed(paths.latest_evaluation)
    if last is not None and last.get("inputs") == inputs:
        return last
    if not found.judged:
        logger.info("smoke_eval: nothing to judge. %s", NOTHING_TO_JUDGE)
    with SourceFiles(settings) as files:
        cases = {
            question.id: case_of(engine, files, question, answers[question.id], judge=judge)
            for question in found.judged
        }
    rows = question_rows(found, cases)
    values = [row["values"] for row in rows if "values" in row]
    return {
        "inputs": inputs,
        "questions": questions_hash,
        "question_file": label,
        "metrics": means(values),
        "slices": slices([(row["tags"], row["values"]) for row in rows if "values" in row]),
        "modes": _modes(settings, found.judged, answers, engine) if found.judged else [],
        "results": rows,
        "worse": worse(rows, (last or {}).get("results", ())),
        "n_judged": len(found.judged),
        "n_not_judged": len(found.not_judged),
        "n_unlabelled": len(found.unlabelled),
        "n_failures": sum(row["outcome"] == "wrong" for row in rows),
        "n_abstentions": sum(case.verdict.abstained for case in cases.values() if case.verdict),
    }


def worse(
    rows: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The questions whose answers or hits are worse than in the evaluation before, with both
    answers. before: rows of that evaluation."""
    earlier = {row["question"]: row for row in before if "values" in row}
    found = []
    for row in rows:
        old = earlier.get(row["question"])
        if old is None or "values" not in row:
            continue
        fallen = [name for name, gain in gains(row["values"], old["values"]).items() if gain < 0]
        if fallen or (old["outcome"], row["outcome"]) == ("right", "wrong"):
            found.append(
                {
                    "question": row["question"],
                    "before": old["got"],
                    "now": row["got"],
                    "worse": ", ".join(fallen),
                }
            )
    return found


def _modes(
    settings: Settings,
    questions: Sequence[Question],
    answers: Mapping[str, QAResult],
    engine: Engine,
) -> list[dict[str, Any]]:
    """The metrics of each mode of search for these questions: vectors only, words only, both, and
    with the reranker if the settings have one."""
    retrieval, modes = settings.retrieval, {}
    weights = {"vectors": 1.0, "words": 0.0, "both": retrieval.dense_weight}
    for name, weight in weights.items():
        changed = retrieval.model_copy(update={"dense_weight": weight, "reranker": "none"})
        modes[name] = settings.model_copy(update={"retrieval": changed})
    if retrieval.reranker != "none":
        modes["reranked"] = settings
    rows = []
    for name, mode in modes.items():
        opened = nullcontext(engine) if mode == settings else closing(open_engine(mode))
        with opened as mode_engine:
            values = []
            for question in questions:
                hits = hits_of(mode_engine, question, K)
                values.append(values_of(Case(question, answers[question.id], hits, hits, K)))
        found = means(values)
        rows.append({"mode": name} | {metric: found[metric] for metric in MODE_METRICS})
    return rows


def recorded(
    settings: Settings, latest: Mapping[str, Any], *, timestamp: str, run_id: str
) -> RecordedEvaluation:
    """Write an evaluation to `latest.json`, the audit and the history. The history gets no second
    entry with the same inputs and verdict."""
    paths = settings.paths
    set_damaged_aside(paths.evaluation_history)
    history = read_history(paths.evaluation_history)
    run = EvaluatedRun(latest, before(history, latest["inputs"]), settings.evaluation)
    EVALUATION_AUDIT.append(paths.evaluation_audit, run.audit_rows(timestamp, run_id))
    verdict = {"accepted": not run.too_low and not run.fallen}
    entry = {**verdict, **{key: latest[key] for key in _KEPT_IN_HISTORY}}
    is_new = not is_recorded(entry, history)
    if is_new:
        history = [*history, {"timestamp": timestamp, "run_id": run_id, **entry}]
        append_history(paths.evaluation_history, history[-1])
    write_atomically(paths.latest_evaluation, sealed_json({**latest, **verdict}))
    return RecordedEvaluation(run, history, is_new)
