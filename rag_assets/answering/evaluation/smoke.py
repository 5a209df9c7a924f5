"""The smoke evaluation: the published answers and hits against what the question file expects, recorded with its past.

`latest.json` holds the newest evaluation in full, `history.jsonl` the figures of all of them.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rag_assets.answering.evaluation.history import (
    EvaluatedRun,
    append_history,
    before,
    is_recorded,
    read_history,
    set_damaged_aside,
)
from rag_assets.answering.evaluation.judged import judgeable, question_rows
from rag_assets.answering.evaluation.metrics import METRICS_VERSION, Evaluation, evaluate
from rag_assets.core.domain import Hit, QAResult
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import file_sha256, fingerprint, sealed, unsealed, write_atomically
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
from rag_assets.questions import Question

logger = logging.getLogger(__name__)
HISTORY, LATEST = "history.jsonl", "latest.json"
NOTHING_TO_JUDGE = (
    "No question says what a right answer is (expected, key_facts or answerable), or those that do are about papers "
    "that are not in the corpus."
)
_KEPT_IN_HISTORY = ("inputs", "questions", "metrics", "n_judged", "n_failures")
Search = Callable[[Question, int], Sequence[Hit]]
"""question, k -> the best k chunks."""


@dataclass(frozen=True)
class RecordedEvaluation:
    """An evaluation that is in the history."""

    run: EvaluatedRun
    history: list[dict[str, Any]]
    """All evaluations, oldest first; this one is the last."""
    is_new: bool
    """Whether its inputs or its verdict differ from those of the one before it."""


def evaluated(
    settings: Settings,
    questions: Sequence[Question],
    results: Sequence[QAResult],
    corpus_version: str,
    search: Search,
) -> dict[str, Any]:
    """The evaluation of the published answers `results`; the last one if it was made from the same inputs.

    corpus_version: changes with anything that hits follow from. Raises MissingInput when an answer is missing.
    """
    paths = settings.paths
    if not paths.qa.exists():
        raise MissingInput.table(paths.qa, asset="qa")
    corpus = set(read_columns(paths.parsed_index, ["paper_id"])["paper_id"].to_pylist())
    found = judgeable(questions, corpus)
    asked = fingerprint([question.model_dump(mode="json") for question in found.judged], settings.evaluation.k)
    inputs = fingerprint(
        asked,
        [question.model_dump(mode="json") for question in questions],
        file_sha256(paths.qa),
        settings.retrieval.fingerprint(),
        corpus_version,
        METRICS_VERSION,
    )
    latest = paths.evaluation / LATEST
    last = unsealed(latest.read_bytes()) if latest.exists() else None  # None if it is damaged
    if last is not None and last.get("inputs") == inputs:
        return last
    evaluation = _evaluation(settings, found.judged, {result.question_id: result for result in results}, search)
    if not found.judged:
        logger.info("smoke_eval: nothing to judge. %s", NOTHING_TO_JUDGE)
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


def recorded(settings: Settings, latest: Mapping[str, Any], *, timestamp: str, run_id: str) -> RecordedEvaluation:
    """Write an evaluation down; the history gets no second entry of the same inputs and verdict."""
    folder = settings.paths.evaluation
    set_damaged_aside(folder / HISTORY)
    history = read_history(folder / HISTORY)
    run = EvaluatedRun(latest, before(history, latest["inputs"]), settings.evaluation.floors)
    verdict = {"accepted": not run.too_low and not run.fallen}
    entry = {**verdict, **{key: latest[key] for key in _KEPT_IN_HISTORY}}
    is_new = not is_recorded(entry, history)
    if is_new:
        history = [*history, {"timestamp": timestamp, "run_id": run_id, **entry}]
        append_history(folder / HISTORY, history[-1])
    content = json.dumps(sealed({**latest, **verdict}), indent=2, ensure_ascii=False, sort_keys=True)
    write_atomically(folder / LATEST, content.encode() + b"\n")
    return RecordedEvaluation(run, history, is_new)


def _evaluation(
    settings: Settings, questions: Sequence[Question], results: Mapping[str, QAResult], search: Search
) -> Evaluation:
    if unanswered := [question.id for question in questions if question.id not in results]:
        raise MissingInput(
            f"{settings.paths.qa} has no answer to {', '.join(unanswered)} of {settings.question_file}. "
            "Materialize `qa` first: rag-assets run --select +qa"
        )
    k = settings.evaluation.k
    return evaluate(questions, results, {question.id: search(question, k) for question in questions}, k=k)
