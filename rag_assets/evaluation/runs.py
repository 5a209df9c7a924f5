"""Evaluation runs: the engine answers the questions of a file, and each case is written to the file
of the run as soon as it is finished.

The first line of that file is the header; every other line is a case. A run that was killed
continues after its last whole line. A run can be replayed without any model: the drafts in it are
verified again.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rag_assets.answering.drafts import Background, DraftAnswer
from rag_assets.core.domain import Context
from rag_assets.core.errors import (
    InvalidQuestions,
    MissingInput,
    QuestionBudgetExhausted,
    RequestRejected,
    StaleIndex,
)
from rag_assets.core.incremental import fingerprint, sealed, unsealed, write_atomically
from rag_assets.core.settings import Settings
from rag_assets.engine import Engine
from rag_assets.evaluation.cases import Case, Judge, K, SourceFiles, case_of
from rag_assets.evaluation.metrics import METRICS_VERSION, problem_of, values_of
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
