"""The commands of rag-assets, in the order of its help.

A command parses, calls one function and renders. Data goes to stdout, progress and errors to stderr; exit code 1 is
an error of ours, 2 a wrong usage.
"""

import typer

from rag_assets.cli.asking import ask, retrieve
from rag_assets.cli.folder import clear, index_stats, status, ui
from rag_assets.cli.steps import chunk, index_build, qa, run

_HELP = """Turn papers into chunks, indexes and page-cited answers, with the runs and history of the Dagster UI.

Answers are sentences of the papers, or written by a model if one is named, in the environment or in .env:
RAG_ASSETS_ANSWER_MODEL=google:gemini-2.5-flash (or anthropic:, openai:, ollama:) and its key, here GEMINI_API_KEY.

Settings come from rag_assets.toml, RAG_ASSETS_<GROUP>__<FIELD> and --set. Exit code 1 is an error of the pipeline, 2 a
wrong usage.
"""
app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=_HELP)
for _command in (run, chunk, qa, retrieve, ask, status, ui, clear):
    app.command()(_command)

_index = typer.Typer(no_args_is_help=True, help="Build the two indexes, or look at them.")
_index.command("build")(index_build)
_index.command("stats")(index_stats)
app.add_typer(_index, name="index")
