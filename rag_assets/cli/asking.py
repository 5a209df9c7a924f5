"""Commands that ask the published index: nothing is materialized."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from rag_assets.cli import rendering
from rag_assets.cli.options import (
    DataOption,
    DepthOption,
    HybridWeightOption,
    JsonOption,
    ModelOption,
    PaperOption,
    RerankOption,
    SetOption,
    ThoroughOption,
    WhereOption,
    filter_of,
    settings_of,
)
from rag_assets.cli.reported import reported
from rag_assets.errors import InvalidQuestions
from rag_assets.settings import Settings


def _a_question(text: str | None) -> str | None:
    """Refuse a text that cannot be a question as a wrong usage, before anything is opened."""
    if text is not None:
        from rag_assets.questions import asked

        try:
            asked(text)
        except InvalidQuestions as error:
            raise typer.BadParameter(str(error)) from error
    return text


def _settings(data: Path | None, values: list[str] | None, flags: Mapping[str, object | None]) -> Settings:
    """The settings of a question. flags: value by the setting it is short for; a flag wins over `--set`."""
    given = [f"{setting}={value}" for setting, value in flags.items() if value is not None]
    return settings_of(data, [*(values or []), *given])


def ask(
    question: Annotated[str, typer.Argument(help="The question.", callback=_a_question)],
    k: DepthOption = None,
    paper: PaperOption = None,
    where: WhereOption = None,
    model: ModelOption = None,
    rerank: RerankOption = None,
    hybrid_weight: HybridWeightOption = None,
    thorough: ThoroughOption = False,
    data: DataOption = None,
    set_: SetOption = None,
    json_: JsonOption = False,
) -> None:
    """Answer one question from the index as it is; the published answers stay.

    Example: rag-assets ask "Why are hyphens kept inside words?"

    Example: rag-assets ask "What was measured?" --paper smith2020 --where "section:results,discussion" -k 10

    Example: rag-assets ask "What was measured?" --model ollama:llama3.2 --hybrid-weight 0.6

    Example: rag-assets ask "How large were the samples, and who paid for the studies?" --thorough
    """
    with reported():
        from rag_assets.cli.reports import titles_of
        from rag_assets.engine import open_engine
        from rag_assets.errors import GuardrailBroken

        flags = {
            "answering.k": k,
            "answering.model": model,
            "answering.effort": "thorough" if thorough else None,
            "retrieval.reranker": rerank,
            "retrieval.dense_weight": hybrid_weight,
        }
        settings = _settings(data, set_, flags)
        titles = titles_of(settings)  # first: a process that ends while pyarrow starts its threads may abort
        with open_engine(settings) as engine:
            trace = engine.trace(question, filter_of(paper, where))
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
    k: DepthOption = None,
    paper: PaperOption = None,
    where: WhereOption = None,
    model: ModelOption = None,
    rerank: RerankOption = None,
    hybrid_weight: HybridWeightOption = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", metavar="FILE", help="JSON Lines with id, question, paper_ids, where.")
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

    Example: rag-assets retrieve "What was measured?" --where "section:methods page:3-7 -source:text" --rerank none

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

        flags = {
            "answering.k": k,
            "answering.model": model,
            "retrieval.reranker": rerank,
            "retrieval.dense_weight": hybrid_weight,
        }
        with open_engine(_settings(data, set_, flags)) as engine:
            find = partial(engine.evidence, where=filter_of(paper, where), budget_tokens=budget)
            if questions is not None and out is not None:
                retrieve_batch(questions, out, find, rendering.counting("questions"))
            elif question is not None:
                row = evidence_row(asked(question), find(question))
                (rendering.print_json if json_ else rendering.print_hits)(row)
