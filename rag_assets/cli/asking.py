"""Commands that ask the published index: nothing is materialized."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli import rendering
from rag_assets.cli.options import DataOption, JsonOption, SetOption, settings_of
from rag_assets.cli.reported import reported
from rag_assets.errors import InvalidQuestions


def _a_question(text: str | None) -> str | None:
    """Refuse a text that cannot be a question as a wrong usage, before anything is opened."""
    if text is not None:
        from rag_assets.questions import asked

        try:
            asked(text)
        except InvalidQuestions as error:
            raise typer.BadParameter(str(error)) from error
    return text


def ask(
    question: Annotated[str, typer.Argument(help="The question.", callback=_a_question)],
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Answer one question from the index as it is; the published answers stay.

    Example: rag-assets ask "Why are hyphens kept inside words?"
    """
    with reported():
        from rag_assets.cli.reports import titles_of
        from rag_assets.engine import open_engine
        from rag_assets.errors import GuardrailBroken

        settings = settings_of(data, set_)
        titles = titles_of(settings)  # first: a process that ends while pyarrow starts its threads may abort
        with open_engine(settings) as engine:
            trace = engine.trace(question)
        if trace.broken:
            raise GuardrailBroken(f"The answer breaks {', '.join(trace.broken)} and is not shown. Please report it.")
        if json_:
            rendering.print_json(rendering.record_of(trace.result))
        else:
            rendering.print_answer(trace.result, titles)


def retrieve(
    question: Annotated[
        str | None, typer.Argument(help="The question; or give --questions.", callback=_a_question)
    ] = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Chunks to return; answering.k if not given.")] = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="JSON Lines with id, question, paper_ids.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where the hits of --questions go.")] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Pack so many tokens of context from all that is found.")
    ] = None,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Find the chunks for one question, or for a file of them, and what an answerer would read; nothing is answered.

    Example: rag-assets retrieve "What is k in reciprocal rank fusion?" -k 3

    Example: rag-assets retrieve --questions FILE.jsonl -k 10 --budget 6000 --out HITS.jsonl
    """
    if (question is None) == (questions is None):
        raise typer.BadParameter("Give either a question or --questions FILE.")
    if (questions is None) != (out is None):
        raise typer.BadParameter("--questions and --out go together.")
    with reported():
        from rag_assets.engine import open_engine
        from rag_assets.questions import asked
        from rag_assets.retrieval.batch import evidence_row, retrieve_batch

        with open_engine(settings_of(data, set_)) as engine:
            find = partial(engine.evidence, k=k, budget_tokens=budget)
            if questions is not None and out is not None:
                retrieve_batch(questions, out, find, rendering.counting("questions"))
            elif question is not None:
                row = evidence_row(asked(question), find(question))
                (rendering.print_json if json_ else rendering.print_hits)(row)
