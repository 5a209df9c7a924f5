"""Answers to a question file that is not the configured one. They get files of their own and are no asset."""

import time
from dataclasses import replace

from rag_assets.answering.models import require_models
from rag_assets.core.incremental import only_writer
from rag_assets.core.promises import CheckedPromise, nothing_withholds
from rag_assets.core.settings import Settings
from rag_assets.engine import open_engine
from rag_assets.hosted.connections import Connections
from rag_assets.pipeline.answer_files import answer_file
from rag_assets.pipeline.assets.previews import sample_of
from rag_assets.pipeline.assets.publishing import progress
from rag_assets.pipeline.runs.materialize import PATIENCE_S, AssetReport, CheckReport, RunReport
from rag_assets.questions import Question, load_questions
from rag_assets.questions.files import QuestionSet
from rag_assets.search.retrieval.queries import require_query_model


def demand_answerable(settings: Settings, asked: QuestionSet) -> list[Question]:
    """The questions of a file. Raises before any work what is wrong with the file, the models or their keys."""
    require_models(settings)
    require_query_model(settings)
    return load_questions(asked.file)


def answer_other_file(settings: Settings, asked: QuestionSet, questions: list[Question], run: RunReport) -> RunReport:
    """Publish the answers to `questions` beside the others, unless they break a blocking promise.

    run: the run that has brought the indexes up to date; it is returned with what became of the answers. Raises what
    the engine and the models raise, and BusyDataFolder.
    """
    began = time.monotonic()
    with (
        only_writer(settings.data_dir, patience_s=PATIENCE_S),
        Connections(settings.model_access) as models,
        open_engine(settings, models) as engine,
    ):
        file = answer_file(
            engine, settings, asked, questions, run_id=run.run_id, report=progress(asked.label, "questions")
        )
        is_published = nothing_withholds(file.checked)
        if is_published:
            file.publish(settings)
    facts = {"dagster/row_count": len(file.update.results), **file.update.plan.counts(), "counted": "questions"}
    made = [AssetReport(asked.label, facts, time.monotonic() - began)] if is_published else []
    broken = [_broken(asked.label, one) for one in file.checked if not one.is_kept]
    return replace(run, is_success=is_published, assets=(*run.assets, *made), broken=(*run.broken, *broken))


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
