"""Commands that materialize assets: everything, or one of the three steps with all that comes before it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.cli import rendering
from rag_assets.cli.options import DataOption, JsonOption, SetOption, overrides_of, settings_of
from rag_assets.cli.reported import reported
from rag_assets.domain import QAResult
from rag_assets.errors import InvalidSettings, data_option
from rag_assets.settings import Settings

if TYPE_CHECKING:  # runs import Dagster, which takes a second that --help does not need
    from rag_assets.runs.materialize import RunReport

UP_TO_CHUNKS = "+chunks"
UP_TO_INDEX = "+index_meta"
UP_TO_QA = "+qa"


def run(
    select: Annotated[
        str | None, typer.Option("--select", metavar="ASSETS", help="Assets in Dagster's selection syntax.")
    ] = None,
    show_answers: Annotated[bool, typer.Option("--show-answers", help="Print the answers when done.")] = False,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Materialize assets; without --select all of them. What did not change costs nothing.

    Example: rag-assets run --select "chunks+"
    """
    with reported():
        report = _materialize("run", select, data, set_, json_, with_answers=show_answers)
        if show_answers and not json_:
            settings = settings_of(data, set_)
            rendering.print_answers(_answers(report, settings))
            if report.is_success:
                rendering.print_places(settings)
        _end(report, data)


def chunk(data: DataOption = None, set_: SetOption = None, json_: JsonOption = False) -> None:
    """Step 1: parse the papers and cut them into chunks.

    Example: rag-assets chunk --set chunking.include_front=true
    """
    with reported():
        _end(_materialize("chunk", UP_TO_CHUNKS, data, set_, json_), data)


def index_build(data: DataOption = None, set_: SetOption = None, json_: JsonOption = False) -> None:
    """Step 2: embed the passages and build the vector and the BM25 index (and the chunks, if they are not current).

    Example: rag-assets index build
    """
    with reported():
        _end(_materialize("index build", UP_TO_INDEX, data, set_, json_), data)


def qa(
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="Question file; default: the setting questions.")
    ] = None,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Step 3: answer every question of the question file (and build what is missing before).

    Example: rag-assets qa --questions data/questions/mine.jsonl
    """
    with reported():
        values = [*(set_ or []), *([f"other_questions={questions}"] if questions else [])]
        settings = settings_of(data, values)
        report = _materialize("qa", UP_TO_QA, data, values, json_)
        if not json_:
            rendering.print_answers(_answers(report, settings))
        _end(report, data)


def _materialize(
    command: str,
    select: str | None,
    data: Path | None,
    values: list[str] | None,
    json_: bool,
    *,
    with_answers: bool = False,
) -> "RunReport":
    """Run and report; as JSON in one document, with the answers in it where they are wanted. Wrong settings are refused
    before, and a run that a signal ended ends the command.
    """
    settings = settings_of(data, values)
    from rag_assets.runs.materialize import materialize

    try:
        report = materialize(select, overrides_of(data, values), started_by=f"rag-assets {command}")
    except InvalidSettings as error:  # the settings have been read before, so it is the selection
        raise typer.BadParameter(str(error), param_hint="--select") from error
    if json_:
        answers = {"answers": [rendering.record_of(one) for one in _answers(report, settings)]} if with_answers else {}
        rendering.print_json({**rendering.record_of(report), **answers})
    else:
        rendering.print_run(report)
    if report.signal:
        rendering.print_ended(report)
        raise typer.Exit(128 + report.signal)
    return report


def _answers(report: "RunReport", settings: Settings) -> list[QAResult]:
    """The published answers, whatever became of their evaluation; none where `qa` was skipped."""
    from rag_assets.answering.records import read_results
    from rag_assets.question_sets import question_set

    return [] if report.notices else read_results(question_set(settings).answers)


def _end(report: "RunReport", data: Path | None) -> None:
    """Say why assets were skipped and what can be done all the same; exit with 1 if the run failed."""
    if report.notices:
        folder = data_option(data) if data else ""
        rendering.print_notices(report, f'You can ask now: rag-assets ask "YOUR QUESTION"{folder}')
    if not report.is_success:
        rendering.print_failure(report)
        raise typer.Exit(1)
