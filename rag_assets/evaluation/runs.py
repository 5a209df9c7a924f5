"""Evaluation runs: the engine answers the questions of a file, and each case is written to the file
of the run as soon as it is finished.

The first line of that file is the header; every other line is a case. A run that was killed
continues after its last whole line. A run can be replayed without any model: the drafts in it are
verified again.

Two runs of the same questions over the same corpus are compared question by question. For intervals
and tests, questions are drawn at random in groups: questions about the same document are not
independent, so such a group is drawn as a whole. Sources: Efron and Tibshirani 1993, "An
Introduction to the Bootstrap", chapter 13 (percentile intervals); Smucker, Allan and Carterette
2007, "A Comparison of Statistical Significance Tests for Information Retrieval Evaluation"
(randomisation test over paired differences).
"""

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.drafts import Background, DraftAnswer
from rag_assets.core.domain import Context
from rag_assets.core.errors import (
    InvalidQuestions,
    InvalidSettings,
    MissingInput,
    QuestionBudgetExhausted,
    RequestRejected,
    StaleIndex,
)
from rag_assets.core.incremental import fingerprint, sealed, unsealed, write_atomically
from rag_assets.core.settings import Settings
from rag_assets.engine import Engine
from rag_assets.evaluation.cases import Case, Judge, K, SourceFiles, case_of
from rag_assets.evaluation.metrics import (
    METRICS,
    METRICS_VERSION,
    RIGHT,
    Metric,
    problem_of,
    values_of,
)
from rag_assets.questions import Question

logger = logging.getLogger(__name__)
_CASE = TypeAdapter(Case)
_VERSION = 1


@dataclass(frozen=True)
class RunHeader:
    """The corpus, questions and settings of a run. Runs with the same corpus and questions can be
    compared."""

    name: str
    corpus: str
    """Version of the corpus; it changes with every publication."""
    questions: str
    """Fingerprint of the questions and their labels."""
    n_questions: int
    method: str
    """Fingerprint of the settings, models and code that answer, and of the judge."""
    settings: Mapping[str, Any]
    """The groups `retrieval`, `answering` and `evaluation` of the settings, to be shown."""
    metrics_version: int = METRICS_VERSION
    version: int = _VERSION

    @property
    def key(self) -> str:
        """A hash (eight hex digits) of all fields but the name."""
        return fingerprint(asdict(replace(self, name="")))[:8]


@dataclass(frozen=True)
class EvaluationRun:
    """A run as it is in its file."""

    header: RunHeader
    cases: Mapping[str, Case]
    """Id of a question -> its case, in the order in which they were finished."""

    @property
    def is_complete(self) -> bool:
        return len(self.cases) == self.header.n_questions

    def values(self) -> dict[str, dict[str, float | None]]:
        """Id of a question -> its metrics, and `right`: 1 if nothing is wrong with the answer, else
        0; None without a label."""
        return {
            key: {
                **values_of(case),
                "right": float(not problem_of(case)) if case.question.is_labelled else None,
            }
            for key, case in self.cases.items()
        }


def header_of(
    name: str, questions: Sequence[Question], engine: Engine, settings: Settings
) -> RunHeader:
    """The header of a run of these questions. name: any name that a reader recognises."""
    groups = ("retrieval", "answering", "evaluation")
    shown = {group: getattr(settings, group).model_dump(mode="json") for group in groups}
    method = fingerprint(engine.method_version(), settings.evaluation.judge, K)
    questions_hash = fingerprint([question.model_dump(mode="json") for question in questions])
    return RunHeader(name, engine.corpus_version(), questions_hash, len(questions), method, shown)


def read_run(path: Path) -> EvaluationRun:
    """Read the file of a run; damaged lines are left out, such as one that a kill cut off. Raises
    MissingInput, and InvalidQuestions for a file that is no run."""
    if not path.is_file():
        raise MissingInput(f"There is no run {path}. Make one: rag-assets eval run")
    lines = [unsealed(line) for line in path.read_bytes().split(b"\n") if line.strip()]
    try:
        header = TypeAdapter(RunHeader).validate_python(lines[0] if lines else None)
        cases = [_CASE.validate_python(line["case"], strict=False) for line in lines[1:] if line]
    except (ValidationError, KeyError) as error:
        raise InvalidQuestions(
            f"{path} is no run of an evaluation, or one of another version."
        ) from error
    return EvaluationRun(header, {case.question.id: case for case in cases})


Report = Callable[[int, int], None]
"""Function that is called with the number of questions that are done, and of all."""


def run_questions(
    path: Path,
    header: RunHeader,
    questions: Sequence[Question],
    engine: Engine,
    settings: Settings,
    *,
    judge: Judge | None,
    report: Report,
) -> EvaluationRun:
    """Ask the questions that have no case in the file `path` yet; each case is written to the disk
    at once. A question that a model rejects gets no case; the others are still asked. If all are
    rejected, the last error is raised.

    Raises StaleIndex if the file contains a run of another corpus, other questions or other
    settings; and the errors of the engine.
    """
    done: dict[str, Case] = {}
    if path.exists():
        known = read_run(path)
        if replace(known.header, name=header.name) != header:
            raise StaleIndex(
                f"{path} holds a run of another corpus, other questions or other settings. Name another file, or "
                "delete it to begin again."
            )
        done = dict(known.cases)
    write_atomically(
        path, b"".join([_line(asdict(header)), *(_line(_row(case)) for case in done.values())])
    )
    remaining = [question for question in questions if question.id not in done]
    rejected: Exception | None = None
    with (
        path.open("ab") as file,
        SourceFiles(settings) as files,
        ThreadPoolExecutor(engine.n_at_once) as pool,
    ):
        futures = [pool.submit(_new_case, engine, files, question, judge) for question in remaining]
        try:
            for future in as_completed(futures):
                try:
                    case = future.result()
                except (RequestRejected, QuestionBudgetExhausted) as fault:
                    rejected = fault
                    logger.warning(
                        "A question has no case; it is asked again when the run is gone on with: %s",
                        fault,
                    )
                    continue
                file.write(_line(_row(case)))
                file.flush()
                os.fsync(file.fileno())
                done[case.question.id] = case
                report(len(done), len(questions))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    if rejected and not done:
        raise rejected
    return EvaluationRun(header, done)


def _new_case(engine: Engine, files: SourceFiles, question: Question, judge: Judge | None) -> Case:
    """Ask a question and measure its answer."""
    trace = engine.trace(question)
    seconds = None if trace.n_cached else sum(trace.seconds.values())
    return case_of(
        engine,
        files,
        question,
        trace.result,
        judge=judge,
        seconds=seconds,
        draft=trace.final.draft,
    )


def _row(case: Case) -> dict[str, Any]:
    return {"case": _CASE.dump_python(case, mode="json")}


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(sealed(content), ensure_ascii=False).encode() + b"\n"


class RecordedAnswerer:
    """An answerer that returns the drafts of a run, so that today's code verifies them again without
    a model."""

    def __init__(self, run: EvaluationRun) -> None:
        self._drafts = {
            case.result.question: case.draft for case in run.cases.values() if case.draft
        }
        self._models = sorted({case.result.model for case in run.cases.values()})

    @property
    def identity(self) -> str:
        drafts = fingerprint({question: asdict(draft) for question, draft in self._drafts.items()})
        return f"recorded {', '.join(self._models)} {drafts[:8]}"

    def read(self, context: Context) -> Context:
        return context.words()

    def within(self, background: Background) -> "RecordedAnswerer":  # noqa: ARG002 - the draft is written already
        return self

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:  # noqa: ARG002 - as above
        """The draft of the run. Raises RequestRejected for a question without a draft."""
        if (draft := self._drafts.get(question)) is None:
            raise RequestRejected(f"The run that is replayed has no draft for {question!r}.")
        return draft


N_DRAWS = 5000
SEED = 12
_Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float
    n: int
    """Number of questions."""


@dataclass(frozen=True)
class PairedDifference(Estimate):
    """The mean of the differences between two runs."""

    p: float
    """P-value of a randomisation test: the share of random exchanges of the two runs in some groups
    that give at least this difference."""
    n_better: int
    n_worse: int


def estimate(values: Sequence[float], groups: Sequence[str]) -> Estimate:
    """The mean of the values with its bootstrap interval. Both arguments have one entry per
    question, and at least one."""
    sums, counts = _by_group(np.asarray(values, np.float64), groups)
    low, high = _interval(sums, counts)
    return Estimate(float(sums.sum() / counts.sum()), low, high, len(values))


def difference(
    new: Sequence[float], old: Sequence[float], groups: Sequence[str]
) -> PairedDifference:
    """The differences new - old. All arguments have one entry per question, in the same order."""
    deltas = np.asarray(new, np.float64) - np.asarray(old, np.float64)
    sums, counts = _by_group(deltas, groups)
    low, high = _interval(sums, counts)
    random = np.random.default_rng(SEED)
    signs = random.choice([-1.0, 1.0], (N_DRAWS, len(sums)))  # -1: the runs are exchanged
    is_as_large = np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9
    p = float((1 + is_as_large.sum()) / (1 + N_DRAWS))
    return PairedDifference(
        float(deltas.mean()),
        low,
        high,
        len(deltas),
        p,
        int((deltas > 0).sum()),
        int((deltas < 0).sum()),
    )


def _by_group(values: _Numbers, groups: Sequence[str]) -> tuple[_Numbers, _Numbers]:
    """The sum of the values and the number of questions, for each group."""
    _, number = np.unique(np.asarray(groups), return_inverse=True)
    return np.bincount(number, values).astype(np.float64), np.bincount(number).astype(np.float64)


def _interval(sums: _Numbers, counts: _Numbers) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean: groups are drawn with replacement, 5,000 times."""
    random = np.random.default_rng(SEED)
    drawn = random.integers(0, len(sums), (N_DRAWS, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


_N_SHOWN = 8
SHOWN = (RIGHT, *METRICS)
"""The metrics by which runs are shown and compared: whether the answer is right, then all
others."""


@dataclass(frozen=True)
class MetricSummary:
    """The mean of one metric in a run, with its 95 % bootstrap interval."""

    metric: Metric
    estimate: Estimate
    """Estimated from the questions that have a value of the metric."""


@dataclass(frozen=True)
class Compared:
    """One metric in two runs, by the questions that have a value in both."""

    metric: Metric
    before: float
    now: float
    change: PairedDifference
    """now - before."""


def summaries(run: EvaluationRun) -> list[MetricSummary]:
    """Every metric for which at least one question has a value."""
    values = run.values()
    found = []
    for metric in SHOWN:
        known = {
            key: value for key, row in values.items() if (value := row[metric.name]) is not None
        }
        if known:
            groups = _groups([run.cases[key] for key in known])
            found.append(MetricSummary(metric, estimate([*known.values()], groups)))
    return found


def unmeasured(found: Sequence[MetricSummary]) -> str:
    """A line with the metrics that are not in `found`."""
    known = {summary.metric.name for summary in found}
    missing = ", ".join(metric.name for metric in METRICS if metric.name not in known) or "none"
    return f"Not measured here: {missing}. docs/evaluation.md says what each metric needs."


def compared(before: EvaluationRun, now: EvaluationRun) -> list[Compared]:
    """Every metric that both runs measured. Raises InvalidSettings unless corpus and questions are
    the same and both runs are complete."""
    for what in ("corpus", "questions", "metrics_version"):
        if getattr(before.header, what) != getattr(now.header, what):
            raise InvalidSettings(
                f"{before.header.name} and {now.header.name} cannot be compared: their {what.replace('_', ' ')} "
                "differ, so a difference would say nothing about the settings."
            )
    for run in (before, now):
        if not run.is_complete:
            raise InvalidSettings(
                f"{run.header.name} has {len(run.cases)} of {run.header.n_questions} questions. Go on with it first."
            )
    old, new = before.values(), now.values()
    found = []
    for metric in SHOWN:
        keys = [key for key in old if None not in (old[key][metric.name], new[key][metric.name])]
        if not keys:
            continue
        old_values, new_values = (
            [float(rows[key][metric.name] or 0) for key in keys] for rows in (old, new)
        )
        change = difference(new_values, old_values, _groups([now.cases[key] for key in keys]))
        found.append(Compared(metric, fmean(old_values), fmean(new_values), change))
    return found


def changed_settings(before: EvaluationRun, now: EvaluationRun) -> list[tuple[str, str, str]]:
    """Name, old and new value of every setting that differs. If none does but the method, that is
    returned as "code or models"."""
    old, new = (dict(_flat(run.header.settings)) for run in (before, now))
    found = [
        (name, old.get(name, ""), new.get(name, ""))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]
    methods = before.header.method[:_N_SHOWN], now.header.method[:_N_SHOWN]
    return found or ([("code or models", *methods)] if methods[0] != methods[1] else [])


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name ("retrieval.reranker") and value of each setting in nested mappings."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)


def _groups(cases: Sequence[Case]) -> list[str]:
    """The group of each question: questions about one and the same paper are a group, any other
    question is a group by itself. If that gives only one group, each question is one."""
    groups = []
    for case in cases:
        papers = {paper.paper_id for paper in case.question.expected}
        groups.append(papers.pop() if len(papers) == 1 else f"question {case.question.id}")
    return groups if len(set(groups)) > 1 else [case.question.id for case in cases]
