"""Commands that materialize assets: everything, or one of the three steps with all that comes before it."""

from pathlib import Path
from typing import Annotated

import typer

from rag_assets import rendering
from rag_assets.cli.options import DataOption, JsonOption, SetOption, overrides_of, settings_of
from rag_assets.cli.reported import reported
from rag_assets.settings import Settings

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
        settings = _materialize("run", select, data, set_, json_)
        if show_answers:
            from rag_assets.answering.records import read_results

            rendering.print_answers(read_results(settings.paths.qa))
            rendering.print_places(settings)


def chunk(data: DataOption = None, set_: SetOption = None, json_: JsonOption = False) -> None:
    """Step 1: parse the papers and cut them into chunks.

    Example: rag-assets chunk --set chunking.include_front=true
    """
    with reported():
        _materialize("chunk", UP_TO_CHUNKS, data, set_, json_)


def index_build(data: DataOption = None, set_: SetOption = None, json_: JsonOption = False) -> None:
    """Step 2: embed the passages and build the vector and the BM25 index (and the chunks, if they are not current).

    Example: rag-assets index build
    """
    with reported():
        _materialize("index build", UP_TO_INDEX, data, set_, json_)


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
        values = [*(set_ or []), *([f"questions={questions}"] if questions else [])]
        settings = _materialize("qa", UP_TO_QA, data, values, json_)
        if not json_:
            from rag_assets.answering.records import read_results

            rendering.print_answers(read_results(settings.paths.qa))


def _materialize(
    command: str, select: str | None, data: Path | None, values: list[str] | None, json_: bool
) -> Settings:
    """Run, report, and exit with 1 if the run failed; the settings it ran with. Wrong ones are refused before it."""
    settings = settings_of(data, values)
    from rag_assets.runs import materialize

    report = materialize(select, overrides_of(data, values), started_by=f"rag-assets {command}")
    if json_:
        rendering.print_json(rendering.record_of(report))
    else:
        rendering.print_run(report)
    if not report.is_success:
        raise typer.Exit(1)
    return settings
