"""Commands that materialize assets: everything, or one of the three steps with all that comes
before it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_assets.core.errors import InvalidSelection, data_option
from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import (
    AllowRemovalOption,
    DataOption,
    JsonOption,
    SetOption,
    overrides_of,
    reported,
    settings_of,
)

if TYPE_CHECKING:  # runs import Dagster, which takes a second that --help does not need
    from rag_assets.core.domain import QAResult
    from rag_assets.core.settings import Settings
    from rag_assets.pipeline.runs.materialize import RunReport
    from rag_assets.questions.files import QuestionSet

UP_TO_CHUNKS = "+chunk_stats"
UP_TO_INDEX = f"+examples or {UP_TO_CHUNKS}"
UP_TO_QA = f"+qa or {UP_TO_CHUNKS}"


def run(
    select: Annotated[
        str | None,
        typer.Option("--select", metavar="ASSETS", help="Assets in Dagster's selection syntax."),
    ] = None,
    show_answers: Annotated[
        bool, typer.Option("--show-answers", help="Print the answers when done.")
    ] = False,
    data: DataOption = None,
    set_: SetOption = None,
    allow_removal: AllowRemovalOption = False,
    json_: JsonOption = False,
) -> None:
    """Materialize assets; without --select all of them. What did not change costs nothing.

    Example: rag-assets run --select "chunks+"
    """
    with reported():
        from rag_assets.questions.files import configured_set

        values = _with_removal(set_, allow_removal)
        settings = settings_of(data, set_)
        report = _materialize("run", select, data, values, json_, with_answers=show_answers)
        if show_answers and not json_:
            _print_answers(settings, report, configured_set(settings))
            if report.is_success:
                rendering.print_places(settings)
        _end(report, data)


def _table_file(out: Path | None) -> Path | None:
    if out is not None and out.suffix not in (".parquet", ".jsonl"):
        raise typer.BadParameter(f"Chunks are written as .parquet or .jsonl, not as {out.name}.")
    return out


def chunk(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the chunks there, too: .parquet or .jsonl.",
            callback=_table_file,
        ),
    ] = None,
    data: DataOption = None,
    set_: SetOption = None,
    allow_removal: AllowRemovalOption = False,
    json_: JsonOption = False,
) -> None:
    """Step 1: parse the papers and cut them into chunks; print how many and how large they are.

    Example: rag-assets chunk --set chunking.include_front=true -o chunks.jsonl
    """
    with reported():
        values = _with_removal(set_, allow_removal)
        report = _materialize("chunk", UP_TO_CHUNKS, data, values, json_)
        if report.is_success:
            from rag_assets.faces.cli.folder_facts import chunk_facts

            settings = settings_of(data, set_)
            if not json_:
                rendering.print_facts(chunk_facts(settings), title="\nChunks")
            if out is not None:
                _write_table(settings.paths.chunks, out)
        _end(report, data)


def index_build(
    data: DataOption = None,
    set_: SetOption = None,
    allow_removal: AllowRemovalOption = False,
    json_: JsonOption = False,
) -> None:
    """Step 2: embed the passages and build the vector and the BM25 index (and the chunks, if they
    are not current).

    Example: rag-assets index build
    """
    with reported():
        _end(
            _materialize(
                "index build", UP_TO_INDEX, data, _with_removal(set_, allow_removal), json_
            ),
            data,
        )


def qa(
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", metavar="FILE", help="Question file; default: the setting questions."
        ),
    ] = None,
    data: DataOption = None,
    set_: SetOption = None,
    allow_removal: AllowRemovalOption = False,
    json_: JsonOption = False,
) -> None:
    """Step 3: answer every question of the question file (and build what is missing before).

    Example: rag-assets qa --questions data/questions/mine.jsonl
    """
    with reported():
        from rag_assets.questions.files import configured_set, question_set

        settings = settings_of(data, set_)
        configured = configured_set(settings)
        asked = question_set(settings, questions) if questions else configured
        other = None if asked == configured else asked
        values = _with_removal(set_, allow_removal)
        report = _materialize(
            "qa", UP_TO_INDEX if other else UP_TO_QA, data, values, json_, other=other
        )
        if not json_:
            _print_answers(settings, report, asked)
        _end(report, data)


def _write_table(table: Path, out: Path) -> None:
    import pyarrow.parquet as pq

    from rag_assets.core.table_files import required_table

    rows = required_table(table)
    if out.suffix == ".parquet":
        pq.write_table(rows, out)
    else:
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows.to_pylist())
        out.write_text("".join(lines), "utf-8")


def _with_removal(values: list[str] | None, is_allowed: bool) -> list[str]:
    return [*(values or []), *(["execution.allow_removal=true"] if is_allowed else [])]


def _materialize(
    command: str,
    select: str | None,
    data: Path | None,
    values: list[str] | None,
    json_: bool,
    *,
    with_answers: bool = False,
    other: "QuestionSet | None" = None,
) -> "RunReport":
    """Run and report; as JSON in one document, with the answers in it where they are wanted. Wrong
    settings are refused before, and a run that a signal ended ends the command.

    other: a question file to answer after the run, which is looked at before.
    """
    settings = settings_of(data, values)
    from rag_assets.pipeline.runs.materialize import materialize
    from rag_assets.pipeline.runs.other_questions import answer_other_file, demand_answerable
    from rag_assets.questions.files import configured_set

    started_by = f"rag-assets {command}"
    try:
        report = materialize(
            select,
            overrides_of(data, values),
            started_by=started_by,
            demand=lambda: demand_answerable(settings, other) if other else None,
        )
    except InvalidSelection as error:
        raise typer.BadParameter(str(error), param_hint="--select") from error
    if other and report.is_success:
        report = answer_other_file(settings, other, report, started_by=started_by)
    if json_:
        answers = _answers(report, configured_set(settings)) if with_answers else None
        shown = {} if answers is None else {"answers": [asdict(answer) for answer in answers]}
        rendering.print_json({**asdict(report), **shown})
    else:
        rendering.print_run(report)
    if report.signal:
        rendering.print_ended(report)
        raise typer.Exit(128 + report.signal)
    return report


def _answers(report: "RunReport", asked: "QuestionSet") -> "list[QAResult]":
    """The published answers, whatever became of their evaluation; none where `qa` was skipped."""
    from rag_assets.answering.records import read_results

    return [] if report.notices else read_results(asked.answers)


def _print_answers(settings: "Settings", report: "RunReport", asked: "QuestionSet") -> None:
    from rag_assets.answering.wording import CitationStyle
    from rag_assets.corpus.records.published import titles_of
    from rag_assets.faces.cli.printed_answers import print_answers

    print_answers(CitationStyle(settings).shown(_answers(report, asked)), titles_of(settings.paths))


def _end(report: "RunReport", data: Path | None) -> None:
    """Say why assets were skipped and what can be done all the same; exit with 1 if the run
    failed."""
    if report.notices:
        folder = data_option(data) if data else ""
        rendering.print_notices(report, f'You can ask now: rag-assets ask "YOUR QUESTION"{folder}')
    if not report.is_success:
        rendering.print_failure(report)
        raise typer.Exit(1)
