"""Commands that ask the published index: nothing is materialized."""

from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli import rendering
from rag_assets.cli.options import DataOption, JsonOption, SetOption, settings_of
from rag_assets.cli.reported import reported
from rag_assets.errors import InvalidQuestions


def _a_question(text: str | None) -> str | None:
    """Refuse what is no question as a wrong usage, before anything is opened."""
    if text is not None:
        from rag_assets.asking import asked

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
        from rag_assets.asking import ask as answer_of
        from rag_assets.cli.reports import titles_of

        settings = settings_of(data, set_)
        titles = titles_of(settings)  # first: a process that ends while pyarrow starts its threads may abort
        result = answer_of(settings, question)
        if json_:
            rendering.print_json(rendering.record_of(result))
        else:
            rendering.print_answer(result, titles)


def retrieve(
    question: Annotated[
        str | None, typer.Argument(help="The question; or give --questions.", callback=_a_question)
    ] = None,
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

        settings = settings_of(data, set_)
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
