"""Commands that evaluate: `rag-assets eval`. They ask the index as it is."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import (
    DataOption,
    JsonOption,
    ModelOption,
    SetOption,
    reported,
    settings_of,
)

if TYPE_CHECKING:
    from rag_assets.core.settings import Settings
    from rag_assets.evaluation.runs import Compared, EvaluationRun, MetricSummary
    from rag_assets.questions import Question

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The file of a run.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="FILE", help="The file of the run.")
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        metavar="RUN",
        help="Verify the drafts of that run anew; no model that writes is asked.",
    ),
]
QuestionsOption = Annotated[
    Path | None,
    typer.Option(
        "--questions", metavar="FILE", help="Question file; default: the setting questions."
    ),
]


def eval_run(
    questions: QuestionsOption = None,
    out: OutOption = None,
    replay: ReplayOption = None,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Ask every question of a file and measure the answers; a run that was ended goes on where it
    was.

    Example: rag-assets eval run --questions mine.jsonl --set retrieval.reranker=none -o plain.jsonl
    """
    with reported():
        from rag_assets.questions import load_questions

        settings = settings_of(data, set_)
        file = questions or settings.question_file
        run, path = _run(settings, load_questions(file), file.stem, out, replay)
        _print_run(run, path, json_=json_)


def eval_compare(before: RunArgument, now: RunArgument, json_: JsonOption = False) -> None:
    """Compare two runs of the same questions over the same corpus: differences, intervals,
    p-values.

    Example: rag-assets eval compare plain.jsonl reranked.jsonl
    """
    with reported():
        from rag_assets.evaluation.runs import changed_settings, compared, read_run

        runs = read_run(before), read_run(now)
        rows, changed = (
            [_compared_row(metric) for metric in compared(*runs)],
            changed_settings(*runs),
        )
        if json_:
            rendering.print_json({"changed": changed, "metrics": rows})
            return
        rendering.print_columns(_columns(rows), title=f"{before} → {now}")
        for name, old, new in changed:
            rendering.print_line(f"{name}: {old} → {new}")


def judge_test(
    n: Annotated[int, typer.Option("-n", min=1, help="Most claims of answers.")] = 20,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Test the judge of claims on your own answers: false siblings of their claims are made and
    judged.

    Example: rag-assets judge test -n 50 --set answering.judge.model=anthropic:claude-sonnet-5-5
    """
    with reported():
        from rag_assets.answering.records import read_results
        from rag_assets.engine import Engine
        from rag_assets.evaluation.judge import judge_test as tested
        from rag_assets.hosted.connections import Connections

        settings = settings_of(data, set_)
        results = read_results(settings.paths.qa)
        cited = {chunk for result in results for chunk in result.quoted_chunk_ids}
        with (
            Connections(settings.model_access) as connections,
            Engine(settings, connections) as engine,
        ):
            found = tested(settings, connections, results, engine.chunks(cited), n)
        rows = [asdict(one) for one in found.kinds]
        if json_:
            usage = asdict(found.usage)
            rendering.print_json({"judge": found.judge, "kinds": rows, "usage": usage})
            return
        heading = ("kind", "false", "leaked", "claims", "lost")
        table = [heading, *(tuple(row.values()) for row in rows)]
        rendering.print_columns(table, title=found.judge)
        rendering.print_line(
            f"{found.usage.n_requests} requests, {found.usage.n_input_tokens} tokens in, "
            f"{found.usage.n_output_tokens} out, cost in US$: {found.usage.cost_usd}"
        )


def questions_suggest(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Where the questions go; must not exist."),
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="Most questions.")] = 20,
    model: ModelOption = None,
    data: DataOption = None,
    set_: SetOption = None,
) -> None:
    """Draft a question file from the papers, for you to edit: by a model, or, roughly, from
    definitions and headings.

    Example: rag-assets questions suggest -o mine.jsonl -n 30 --model google:gemini-2.5-flash
    """
    with reported():
        from rag_assets.core.incremental import write_atomically
        from rag_assets.evaluation.examples import suggested
        from rag_assets.hosted.connections import Connections

        if out.exists():
            raise typer.BadParameter(f"{out} exists, and may have been edited. Name another file.")
        settings = settings_of(data, set_, {"--model": ("answering.model", model)})
        with Connections(settings.model_access) as connections:
            questions = suggested(settings, n, connections)
        lines = [question.model_dump_json(exclude_defaults=True) + "\n" for question in questions]
        write_atomically(out, "".join(lines).encode())
        rendering.print_line(
            f"{out}: {len(questions)} drafts. Read and correct each, and add some that no paper answers."
        )


def _run(
    settings: "Settings",
    questions: "list[Question]",
    name: str,
    out: Path | None,
    replay: Path | None,
) -> "tuple[EvaluationRun, Path]":
    from rag_assets.engine import Engine
    from rag_assets.evaluation.judge import open_judge
    from rag_assets.evaluation.runs import RecordedAnswerer, header_of, read_run, run_questions
    from rag_assets.hosted.connections import Connections

    answerer = None
    if replay:
        answerer = RecordedAnswerer(read_run(replay))
        keyless = settings.answering.model_copy(update={"model": "extractive"})
        settings = settings.model_copy(update={"answering": keyless})
    with (
        Connections(settings.model_access) as connections,
        Engine(settings, connections, answerer) as engine,
    ):
        header = header_of(out.stem if out else name, questions, engine, settings)
        path = out or settings.paths.evaluation / "runs" / f"{name}-{header.key}.jsonl"
        judge = open_judge(settings, connections, engine.question_vector)
        counting = rendering.counting("questions")
        return run_questions(
            path, header, questions, engine, settings, judge=judge, report=counting
        ), path


def _print_run(run: "EvaluationRun", path: Path, *, json_: bool) -> None:
    from rag_assets.evaluation.runs import summaries, unmeasured

    measured = summaries(run)
    rows = [_summary_row(metric) for metric in measured]
    if json_:
        rendering.print_json({"run": str(path), "metrics": rows})
    else:
        rendering.print_columns(_columns(rows), title=str(path))
        rendering.print_line(unmeasured(measured))


def _summary_row(summary: "MetricSummary") -> dict[str, Any]:
    interval = summary.estimate
    facts = {
        "mean": round(interval.mean, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "questions": interval.n,
    }
    return {"metric": summary.metric.name, **facts}


def _compared_row(one: "Compared") -> dict[str, Any]:
    change = one.change
    measured = {
        "before": one.before,
        "now": one.now,
        "change": change.mean,
        "low": change.low,
        "high": change.high,
    }
    rounded = {name: round(value, 4) for name, value in {**measured, "p": change.p}.items()}
    return {"metric": one.metric.name, **rounded, "questions": change.n}


def _columns(rows: list[dict[str, Any]]) -> list[list[Any]]:
    return [list(rows[0]), *(list(row.values()) for row in rows)] if rows else []
