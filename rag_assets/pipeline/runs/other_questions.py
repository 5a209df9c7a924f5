"""Answers to a question file that is not the configured one: files and a run of their own, and no
asset."""

import time
from dataclasses import replace
from uuid import uuid4

import dagster as dg

from rag_assets.answering.opening import require_models
from rag_assets.core.promises import CheckedPromise, nothing_withholds
from rag_assets.core.settings import Settings
from rag_assets.engine import open_engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.assets.previews import sample_of
from rag_assets.pipeline.assets.publishing import progress
from rag_assets.pipeline.assets.qa import AnsweredFile, answer_file
from rag_assets.pipeline.runs.materialize import (
    AssetReport,
    CheckReport,
    RunReport,
    errors_of,
    executed,
)
from rag_assets.questions import load_questions
from rag_assets.questions.files import QuestionSet
from rag_assets.search.retrieval.queries import require_query_model


def demand_answerable(settings: Settings, asked: QuestionSet) -> None:
    """Raise what is wrong with the file, the models or their keys."""
    require_models(settings)
    require_query_model(settings)
    load_questions(asked.file)


def answer_other_file(
    settings: Settings,
    asked: QuestionSet,
    run: RunReport,
    *,
    started_by: str,
) -> RunReport:
    """Publish the answers to the file's questions beside the others, unless they break a blocking promise;
    in Dagster's history that is a run, which fails with them.

    run: the run that has brought the indexes up to date; it is returned with what became of the
    answers. Raises BusyDataFolder.
    """
    began = time.monotonic()
    answered: list[AnsweredFile] = []

    @dg.op(name="answers")
    def answer(context: dg.OpExecutionContext) -> None:
        with Connections(settings.model_access) as models, open_engine(settings, models) as engine:
            report = progress(asked.label, "questions")
            questions = load_questions(asked.file)
            file = answer_file(
                engine, settings, asked, questions, run_id=context.run_id, report=report
            )
            answered.append(file)
            if withheld := [check.promise.name for check in file.checked if check.withholds]:
                raise dg.Failure(
                    f"The answers to {asked.label} are not published: {', '.join(withheld)}."
                )
            file.publish(settings)

    job = dg.GraphDefinition(name="answer_questions", node_defs=[answer]).to_job(
        tags={"question_file": asked.label}
    )
    result, signal = executed(job, settings, run_id=str(uuid4()), started_by=started_by)
    report = replace(
        run,
        is_success=result is not None and result.success,
        errors=() if result is None else tuple(errors_of(result, settings.data_dir)),
        signal=signal,
        left=() if signal is None else (asked.label,),
    )
    return _with_answers(report, answered[0], time.monotonic() - began) if answered else report


def _with_answers(report: RunReport, file: AnsweredFile, seconds: float) -> RunReport:
    update, label = file.update, file.asked.label
    facts = {
        "dagster/row_count": len(update.results),
        **update.plan.counts(),
        "counted": "questions",
    }
    made = [AssetReport(label, facts, seconds)] if nothing_withholds(file.checked) else []
    broken = [_broken(label, check) for check in file.checked if not check.is_kept]
    return replace(report, assets=(*report.assets, *made), broken=(*report.broken, *broken))


def _broken(file: str, checked: CheckedPromise) -> CheckReport:
    return CheckReport(
        asset=file,
        check=checked.promise.name,
        promise=checked.promise.sentence,
        is_blocking=checked.promise.severity == "blocking",
        n_offenders=len(checked.offenders),
        offenders=tuple(sample_of(checked.offenders)),
        finding=checked.finding,
    )
