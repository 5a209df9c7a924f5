"""The smoke evaluation: the published answers and hits against what the question file expects, recorded with its past.

`latest.json` holds the newest evaluation in full, `history.jsonl` the figures of all of them.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rag_assets.answering.evaluation.metrics import METRICS_VERSION, Evaluation, evaluate, judgeable, question_rows
from rag_assets.core.domain import Hit, QAResult
from rag_assets.core.errors import MissingInput
from rag_assets.core.incremental import (
    CHECKSUM_KEY,
    file_sha256,
    fingerprint,
    keep_aside,
    sealed,
    unsealed,
    write_atomically,
)
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import Floors, Settings
from rag_assets.core.table_files import read_columns
from rag_assets.questions import Question

_N_DECIMALS, _N_RECENT = 4, 5


def read_history(path: Path) -> list[dict[str, Any]]:
    """All undamaged evaluations, oldest first; an empty list before the first one."""
    return [entry for line in _lines(path) if (entry := _entry(line)) is not None]


def append_history(path: Path, entry: Mapping[str, Any]) -> None:
    """Add one evaluation with its checksum; a reader, or a kill, sees all of it or nothing."""
    earlier = path.read_bytes() if path.exists() else b""
    write_atomically(path, earlier + json.dumps(sealed(entry), sort_keys=True).encode() + b"\n")


def set_damaged_aside(path: Path) -> None:
    """Move damaged lines to a file beside the history."""
    lines = _lines(path)
    if damaged := [line for line in lines if _entry(line) is None]:
        keep_aside(path, damaged, kept=[line for line in lines if _entry(line) is not None])


def _lines(path: Path) -> list[bytes]:
    content = path.read_bytes() if path.exists() else b""
    return [line for line in content.split(b"\n") if line.strip()]


def _entry(line: bytes) -> dict[str, Any] | None:
    """One evaluation; None for a damaged line. Lines of earlier versions have no checksum."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    return unsealed(line) if CHECKSUM_KEY in found else found


def before(history: Sequence[Mapping[str, Any]], inputs: str) -> list[Mapping[str, Any]]:
    """The entries before the newest evaluation, which was made from `inputs` and may already be in the history."""
    earlier = list(history)
    while earlier and earlier[-1]["inputs"] == inputs:
        earlier.pop()
    return earlier


def is_recorded(entry: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the newest entry was made from the same inputs, with the same verdict."""
    return bool(history) and all(history[-1].get(key) == entry[key] for key in ("inputs", "accepted"))


@dataclass(frozen=True)
class EvaluatedRun:
    """An evaluation, and what it is compared with."""

    latest: Mapping[str, Any]
    history: Sequence[Mapping[str, Any]]
    """Earlier evaluations, oldest first."""
    floors: Floors

    @property
    def too_low(self) -> list[dict[str, Any]]:
        """Metrics below their floor; a metric that no question contributes to is not judged.

        Floors of the ranking metrics hold for papers; pages are judged by the citations' page accuracy.
        """
        floors = {name: getattr(self.floors, name.removeprefix("paper_"), None) for name in self.latest["metrics"]}
        return [
            {"metric": name, "value": value, "floor": floors[name]}
            for name, value in self.latest["metrics"].items()
            if value is not None and floors[name] is not None and value < floors[name]
        ]

    @property
    def fallen(self) -> list[dict[str, Any]]:
        """Metrics more than `max_drop` below the median of their last five accepted values on the same questions."""
        past = [one for one in self.history if one["accepted"] and one["questions"] == self.latest["questions"]]
        offenders = []
        for name, value in self.latest["metrics"].items():
            recent = [found for one in past if (found := one["metrics"].get(name)) is not None][-_N_RECENT:]
            if value is not None and recent and value < median(recent) - self.floors.max_drop:
                offenders.append({"metric": name, "value": value, "median_of_last_runs": median(recent)})
        return offenders


def _figures(_run: EvaluatedRun, offenders: Offenders) -> str:
    told = []
    for row in offenders:
        metric, value, limit = row.values()
        kind = "its floor" if "floor" in row else "the median of the last runs,"
        told.append(f"{metric} is {round(value, _N_DECIMALS)}, below {kind} {round(limit, _N_DECIMALS)}")
    return "; ".join(told)


def _below_floors(run: EvaluatedRun, offenders: Offenders) -> str:
    names = ", ".join(f"evaluation.floors.{row['metric'].removeprefix('paper_')}" for row in offenders)
    return (
        f"{_figures(run, offenders)}. The answers are published all the same. Look at the failing questions in "
        f"{LATEST} first; if that is as good as your questions and papers get, lower {names} in rag_assets.toml."
    )


def _open_questions(run: EvaluatedRun, offenders: Offenders) -> str:
    n_judged = run.latest["n_judged"]
    listed = "; ".join(f"{row['question_id']} ({row['problem']})" for row in offenders)
    return f"{n_judged - len(offenders)} of {n_judged} judged questions are answered as expected. Open: {listed}"


def _not_judged(run: EvaluatedRun, offenders: Offenders) -> str:
    return (
        f"{len(offenders)} of {len(run.latest['results'])} questions are not judged, because they are about papers "
        f"that are not in the corpus. Put questions about your own papers into {run.latest['question_file']}."
    )


EVALUATION_PROMISES: list[Promise[EvaluatedRun]] = [
    Promise(
        "above_floors",
        "Every metric reaches its floor (evaluation.floors). The failing questions are listed in the evaluation.",
        lambda run: run.too_low,
        finding=_below_floors,
    ),
    Promise(
        "not_fallen",
        "No metric falls more than evaluation.floors.max_drop below the median of its last five accepted runs on the "
        "same questions. If the new level is right, delete data/output/eval/history.jsonl.",
        lambda run: run.fallen,
        finding=_figures,
    ),
    Promise(
        "questions_right",
        "Every judged question is answered as expected.",
        lambda run: run.latest["failures"],
        "warning",
        _open_questions,
    ),
    Promise(
        "questions_judged",
        "The labelled questions are about papers of the corpus; those that are not are left out of the figures.",
        lambda run: [row for row in run.latest["results"] if row["outcome"] == "not judged"],
        "warning",
        _not_judged,
    ),
]


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
