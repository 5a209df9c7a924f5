"""rag-assets: the pipeline from the command line, with the settings, runs and history of the Dagster UI.

A command parses, calls one function and renders. Data goes to stdout, progress and errors to stderr; exit code 1 is
an error of ours, 2 a wrong usage.
"""

import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.logging import RichHandler

from rag_assets import rendering
from rag_assets.errors import InvalidSettings, RagAssetsError
from rag_assets.incremental import only_writer
from rag_assets.settings import Settings, load_settings

_HELP = """Turn papers into chunks, indexes and page-cited answers, with the runs and history of the Dagster UI.

Answers are sentences of the papers, or written by a model if one is named, in the environment or in .env:
RAG_ASSETS_ANSWER_MODEL=google:gemini-2.5-flash (or anthropic:, openai:, ollama:) and its key, here GEMINI_API_KEY.

Settings come from rag_assets.toml, RAG_ASSETS_<GROUP>__<FIELD> and --set. Exit code 1 is an error of the pipeline, 2 a
wrong usage.
"""
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=_HELP)
index_app = typer.Typer(no_args_is_help=True, help="Build the two indexes, or look at them.")
app.add_typer(index_app, name="index")

DataOption = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The data folder; default: RAG_ASSETS_DATA_DIR, else ./data."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting for this run, e.g. chunking.max_tokens=1100 or answering.model=ollama:llama3.2; repeatable.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print records as JSON.")]
UP_TO_CHUNKS = "+chunks"
UP_TO_INDEX = "+index_meta"
UP_TO_QA = "+qa"


@app.command()
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
        settings = _materialize(select, data, set_, json_)
        if show_answers:
            from rag_assets.answering.records import read_results

            rendering.print_answers(read_results(settings.paths.qa))
            rendering.print_places(settings)


@app.command()
def chunk(data: DataOption = None, set_: SetOption = None, json_: JsonOption = False) -> None:
    """Step 1: parse the papers and cut them into chunks.

    Example: rag-assets chunk --set chunking.include_front=true
    """
    with reported():
        _materialize(UP_TO_CHUNKS, data, set_, json_)


@index_app.command("build")
def index_build(data: DataOption = None, set_: SetOption = None, json_: JsonOption = False) -> None:
    """Step 2: embed the passages and build the vector and the BM25 index (and the chunks, if they are not current).

    Example: rag-assets index build
    """
    with reported():
        _materialize(UP_TO_INDEX, data, set_, json_)


@index_app.command("stats")
def index_stats(data: DataOption = None, json_: JsonOption = False) -> None:
    """Show what the indexes hold and what they were made with.

    Example: rag-assets index stats --json
    """
    with reported():
        from rag_assets.reports import index_facts

        facts = index_facts(_settings(data, None))
        if json_:
            rendering.print_json(facts)
        else:
            rendering.print_facts(facts, title="Index")


@app.command()
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
        settings = _materialize(UP_TO_QA, data, values, json_)
        if not json_:
            from rag_assets.answering.records import read_results

            rendering.print_answers(read_results(settings.paths.qa))


@app.command()
def retrieve(
    question: Annotated[str | None, typer.Argument(help="The question; or give --questions.")] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="Chunks to return.")] = 6,
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="JSON Lines with id, question, paper_ids.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where the hits of --questions go.")] = None,
    budget: Annotated[int | None, typer.Option("--budget", min=1, help="Tokens of packed context.")] = None,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Find the chunks for one question, or for a file of them; nothing is answered.

    Example: rag-assets retrieve "What is k in reciprocal rank fusion?" -k 3

    Example: rag-assets retrieve --questions FILE.jsonl -k 10 --budget 6000 --out HITS.jsonl
    """
    if (question is None) == (questions is None):
        raise typer.BadParameter("Give either a question or --questions FILE.")
    if (questions is None) != (out is None):
        raise typer.BadParameter("--questions and --out go together.")
    with reported():
        from rag_assets.asking import asked
        from rag_assets.hosted.connections import Connections
        from rag_assets.retrieval.batch import hits_of, retrieve_batch
        from rag_assets.retrieval.opening import open_searcher

        settings = _settings(data, set_)
        tokens = budget or settings.retrieval.budget_tokens
        with Connections(settings.model_access) as models, open_searcher(settings, models) as searcher:
            if questions is not None and out is not None:
                retrieve_batch(
                    questions, out, searcher, k=k, budget_tokens=tokens, report=rendering.counting("questions")
                )
            elif question is not None:
                record = hits_of(asked(question), searcher, k=k, budget_tokens=tokens)
                show = rendering.print_json if json_ else rendering.print_hits
                show(record)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Answer one question from the index as it is; the published answers stay.

    Example: rag-assets ask "Why are hyphens kept inside words?"
    """
    with reported():
        from rag_assets.asking import ask as answer_of

        result = answer_of(_settings(data, set_), question)
        if json_:
            rendering.print_json(rendering.record_of(result))
        else:
            rendering.print_answer(result)


@app.command()
def status(data: DataOption = None, json_: JsonOption = False) -> None:
    """Show what is there: papers, quarantined files with their reasons, chunks, indexes, answers, last evaluation.

    Example: rag-assets status
    """
    with reported():
        from rag_assets.reports import quarantined_files, status_facts

        settings = _settings(data, None)
        facts, files = status_facts(settings), quarantined_files(settings)
        if json_:
            rendering.print_json({**facts, "quarantined": files})
        else:
            rendering.print_facts(facts, title=f"Data folder {settings.data_dir}")
            rendering.print_table(files, title="Quarantined files")


@app.command()
def clear(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    data: DataOption = None,
) -> None:
    """Delete everything that was made: cache, indexes, answers. Papers, questions and logs stay.

    What models behind an API said is in the cache: answers and vectors will be asked for, and paid for, again.

    Example: rag-assets clear --yes
    """
    with reported():
        paths = _settings(data, None).paths
        folders = [folder for folder in (paths.cache, paths.chroma.parent, paths.qa.parent) if folder.exists()]
        if folders and not yes:
            typer.confirm(f"Delete {', '.join(str(folder) for folder in folders)}?", abort=True, err=True)
        with only_writer(paths.data, patience_s=0):
            for folder in folders:
                shutil.rmtree(folder)
        rendering.err().print(f"Deleted {len(folders)} folders.")


@contextmanager
def reported() -> Iterator[None]:
    """Our errors become one message and exit code 1; meanwhile, progress of the domain packages goes to stderr."""
    handler = RichHandler(console=rendering.err(), show_path=False, show_level=False, log_time_format="%H:%M:%S")
    logger = logging.getLogger("rag_assets")
    before = (logger.handlers, logger.propagate, logger.level)
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    try:
        yield
    except RagAssetsError as error:
        rendering.err().print(f"Error: {error}", style="red", soft_wrap=True)
        raise typer.Exit(1) from error
    finally:
        logger.handlers, logger.propagate = before[:2]
        logger.setLevel(before[2])


def _settings(data: Path | None, values: list[str] | None) -> Settings:
    return load_settings(_overrides(data, values))


def _overrides(data: Path | None, values: list[str] | None) -> dict[str, Any]:
    """`--data` and `--set group.field=value` as the nested mapping a launchpad would give."""
    overrides: dict[str, Any] = {"data_dir": str(data)} if data else {}
    for item in values or []:
        name, equals, value = item.partition("=")
        if not equals:
            raise InvalidSettings(f'--set {item}: write it as key=value, for example "chunking.max_tokens=1100".')
        *groups, field = name.strip().split(".")
        target = overrides
        for group in groups:
            target = target.setdefault(group, {})
            if not isinstance(target, dict):
                raise InvalidSettings(f'--set {item}: "{group}" already has a value; set either it or its fields.')
        target[field] = value
    return overrides


def _materialize(select: str | None, data: Path | None, values: list[str] | None, json_: bool) -> Settings:
    """Run, report, and exit with 1 if the run failed; the settings it ran with. Wrong ones are refused before it."""
    settings = _settings(data, values)
    from rag_assets.runs import materialize

    report = materialize(select, _overrides(data, values))
    if json_:
        rendering.print_json(rendering.record_of(report))
    else:
        rendering.print_run(report)
    if not report.is_success:
        raise typer.Exit(1)
    return settings
