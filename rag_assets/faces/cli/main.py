"""The commands of rag-assets, in the order of its help.

A command parses, calls one function and renders. Data goes to stdout, progress and errors to
stderr; exit code 1 is an error of ours, 2 a wrong usage.
"""

import atexit
import gc
from typing import Annotated

import typer

from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.asking import ask, chat, retrieve
from rag_assets.faces.cli.evaluating import (
    eval_compare,
    eval_run,
    judge_test,
    questions_suggest,
)
from rag_assets.faces.cli.folder import clear, index_stats, papers, status, verify
from rag_assets.faces.cli.options import SettingsCommand
from rag_assets.faces.cli.reporting import cite, report, table
from rag_assets.faces.cli.serving import mcp, serve, ui
from rag_assets.faces.cli.steps import chunk, index_build, qa, run

_HELP = """Turn papers into chunks, indexes and page-cited answers, with the runs and history of the Dagster UI.

Answers are sentences of the papers, or written by a model if one is named, in the environment or in .env:
RAG_ASSETS_ANSWER_MODEL=google:gemini-2.5-flash (or anthropic:, openai:, ollama:) and its key, here GEMINI_API_KEY.

Settings come from rag_assets.toml, RAG_ASSETS_<GROUP>__<FIELD> and --set. Exit code 1 is an error of the pipeline, 2 a
wrong usage.
"""
app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)


_OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""More than Python's 700: imports and tables make hundreds of thousands of objects that stay, and
looking through them for garbage again and again costs time."""


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        rendering.print_line(f"rag-assets {version('rag_assets')}")
        raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """What holds for every command; without one there is nothing to do."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # all that is left at the end is freed with the process: .1 s of a question
    atexit.register(gc.freeze)


for _command in (
    run,
    chunk,
    qa,
    retrieve,
    ask,
    chat,
    report,
    table,
    cite,
    papers,
    status,
    verify,
    serve,
    mcp,
    ui,
    clear,
):
    app.command(cls=SettingsCommand)(_command)

_index = typer.Typer(no_args_is_help=True, help="Build the two indexes, or look at them.")
_index.command("build", cls=SettingsCommand)(index_build)
_index.command("stats")(index_stats)
app.add_typer(_index, name="index")

_eval = typer.Typer(
    no_args_is_help=True, help="Measure answers to a question file; compare two runs."
)
_eval.command("run", cls=SettingsCommand)(eval_run)
_eval.command("compare")(eval_compare)
app.add_typer(_eval, name="eval")

_judge = typer.Typer(no_args_is_help=True, help="The judge of claims.")
_judge.callback()(lambda: None)
_judge.command("test", cls=SettingsCommand)(judge_test)
app.add_typer(_judge, name="judge")

_questions = typer.Typer(no_args_is_help=True, help="Question files.")
_questions.callback()(lambda: None)
_questions.command("suggest", cls=SettingsCommand)(questions_suggest)
app.add_typer(_questions, name="questions")
