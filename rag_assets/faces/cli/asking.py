"""Commands that ask the published index, a question or a conversation: nothing is materialized."""

import inspect
import re
import shlex
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass
from functools import partial, wraps
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_assets.core.domain import Filter
from rag_assets.core.errors import InvalidQuestions
from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.options import (
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
    demand_papers,
    reported,
    settings_of,
)

if TYPE_CHECKING:
    from rag_assets.core.settings import Settings


@dataclass(frozen=True)
class AskingOptions:
    """The options of every command that asks; `taking_options` makes command line options of the
    fields."""

    k: DepthOption = None
    paper: PaperOption = None
    where: WhereOption = None
    model: ModelOption = None
    rerank: RerankOption = None
    hybrid_weight: HybridWeightOption = None
    data: DataOption = None
    set_: SetOption = None
    json_: JsonOption = False

    def settings(self, effort: str | None = None) -> "Settings":
        options = {
            "-k": ("answering.k", self.k),
            "--model": ("answering.model", self.model),
            "--rerank": ("retrieval.reranker", self.rerank),
            "--hybrid-weight": ("retrieval.dense_weight", self.hybrid_weight),
            "--thorough": ("answering.effort", effort),
        }
        return settings_of(self.data, self.set_, options)

    def filter(self, titles: Collection[str]) -> Filter | None:
        """titles: the ids of all papers. Raises BadParameter for the id of a paper that is not
        there."""
        filter_ = Filter.given(self.paper or None, self.where)
        demand_papers(
            (filter_.papers if filter_ else None) or (),
            titles,
            option="--paper" if self.paper else "--where",
        )
        return filter_


def taking_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer reads it: the fields of `AskingOptions` stand in the place of its
    parameter `options`."""
    fields = inspect.signature(AskingOptions).parameters
    own = inspect.signature(command).parameters

    @wraps(command)
    def spread(**given: Any) -> None:
        command(options=AskingOptions(**{name: given.pop(name) for name in fields}), **given)

    spread.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in (*fields.values(), *own.values())
            if parameter.name != "options"
        ]
    )
    return spread


def _a_question(text: str | None) -> str | None:
    """Refuse a text that cannot be a question as a wrong usage, before anything is opened."""
    if text is not None:
        from rag_assets.questions import asked

        try:
            asked(text)
        except InvalidQuestions as error:
            raise typer.BadParameter(str(error)) from error
    return text


@taking_options
def ask(
    question: Annotated[str, typer.Argument(help="The question.", callback=_a_question)],
    options: AskingOptions,
    thorough: ThoroughOption = False,
    again: Annotated[
        bool, typer.Option("--again", help="Ask the model anew, also where its reply is kept.")
    ] = False,
) -> None:
    """Answer one question from the index as it is; the published answers stay.

    Example: rag-assets ask "Why are hyphens kept inside words?"

    Example: rag-assets ask "What was measured?" --paper smith2020 --where
    "section:results,discussion" -k 10

    Example: rag-assets ask "What was measured?" --model ollama:llama3.2 --hybrid-weight 0.6

    Example: rag-assets ask "How large were the samples, and who paid for the studies?" --thorough
    """
    with reported():
        from rag_assets.answering.drafts import AnswerOptions
        from rag_assets.corpus.records.published import titles_of
        from rag_assets.engine import open_engine
        from rag_assets.faces.cli.printed_answers import print_answer
        from rag_assets.questions import asked

        settings = options.settings("thorough" if thorough else None)
        titles = titles_of(
            settings.paths
        )  # first: a process that ends while pyarrow starts its threads may abort
        with open_engine(settings) as engine:
            where = options.filter(titles)
            result = engine.trace(question, where, AnswerOptions(again=again)).result
            offered = engine.offered(asked(question).model_copy(update={"where": where}))
        if options.json_:
            rendering.print_json(asdict(result))
        else:
            print_answer(engine.style.shown([result]), titles)
        if offered:
            narrower = str(where & offered.where if where else offered.where)
            command = shlex.join(["rag-assets", "ask", offered.question, "--where", narrower])
            rendering.err().print(
                f"To ask only papers that your words name: {command}", soft_wrap=True
            )


@taking_options
def retrieve(
    options: AskingOptions,
    question: Annotated[
        str | None, typer.Argument(help="The question; or give --questions.", callback=_a_question)
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions", metavar="FILE", help="JSON Lines with id, question, paper_ids, where."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the hits of --questions go.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget", min=1, help="Pack so many tokens of context from all that is found."
        ),
    ] = None,
) -> None:
    """Find the chunks for one question, or for a file of them, and what an answerer would read;
    nothing is answered.

    Example: rag-assets retrieve "What is k in reciprocal rank fusion?" -k 3

    Example: rag-assets retrieve "What was measured?" --where "section:methods page:3-7
    -source:text" --rerank none

    Example: rag-assets retrieve --questions FILE.jsonl -k 10 --budget 6000 --out HITS.jsonl
    """
    if (question is None) == (questions is None):
        raise typer.BadParameter("Give either a question or --questions FILE.")
    if (questions is None) != (out is None):
        raise typer.BadParameter("--questions and --out go together.")
    with reported():
        from rag_assets.corpus.records.published import titles_of
        from rag_assets.engine import open_engine
        from rag_assets.questions import asked
        from rag_assets.search.retrieval.batch import evidence_row, retrieve_batch

        settings = options.settings()
        titles = titles_of(settings.paths)  # first, as in `ask`
        where = options.filter(titles)
        with open_engine(settings) as engine:
            find = partial(engine.evidence, where=where, budget_tokens=budget)
            if questions is not None and out is not None:
                retrieve_batch(questions, out, find, rendering.counting("questions"))
            elif question is not None:
                row = evidence_row(asked(question), find(question))
                rendering.print_json(row) if options.json_ else rendering.print_hits(row, titles)


_NAME = re.compile(r"[\w-][\w.-]{0,63}")


def _a_name(text: str | None) -> str | None:
    """Refuse what cannot be the id of a conversation, before anything is opened."""
    if text is not None and not _NAME.fullmatch(text):
        raise typer.BadParameter(
            "A name has up to 64 letters, digits, dots, hyphens and underscores, and no blanks."
        )
    return text


@taking_options
def chat(
    options: AskingOptions,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            callback=_a_name,
            help="Go on with the conversation of this name, or begin it; an id of the page's address (#c=) works, too.",
        ),
    ] = None,
    thorough: ThoroughOption = False,
) -> None:
    """Ask question after question: a follow-up is read after the questions before it, and answers
    are kept.

    /quit, Ctrl-D and Ctrl-C end it; an empty line asks nothing.

    Through a pipe, each line is a question; exit code 1 if one was not answered. With --json, an
    answer is one line.

    Example: rag-assets chat

    Example: rag-assets chat thesis --paper smith2020

    Example: rag-assets chat --json < questions.txt
    """
    with reported():
        n_failed = _conversed(options, name, "thorough" if thorough else None)
        if n_failed and not sys.stdin.isatty():
            raise typer.Exit(1)


def _conversed(options: AskingOptions, name: str | None, effort: str | None) -> int:
    """Answer each line of stdin in a conversation. Returns how many were not answered."""
    from rag_assets.core.errors import InvalidQuestions, ModelFault, data_option
    from rag_assets.corpus.records.published import titles_of
    from rag_assets.engine import open_engine
    from rag_assets.faces.cli.printed_answers import print_turn
    from rag_assets.faces.dialogue import Answered, Dialogue
    from rag_assets.questions import asked, said
    from rag_assets.questions.conversations import Conversations

    settings = options.settings(effort)
    titles = titles_of(settings.paths)  # first, as in `ask`
    where = options.filter(titles)
    with ExitStack() as opened:
        conversations = opened.enter_context(Conversations(settings.paths.conversations))
        engine = opened.enter_context(open_engine(settings))
        engine.chunks(())  # a folder without an index is told before the first question
        dialogue = opened.enter_context(closing(Dialogue(settings, conversations)))
        conversation_id = conversations.start(name) if name else None
        n_failed, is_typed = 0, sys.stdin.isatty()
        sys.stdin.reconfigure(errors="surrogateescape")  # type: ignore[union-attr] # a line that is no text is refused
        lines = filter(None, map(str.strip, _typed() if is_typed else sys.stdin))
        for line in takewhile(lambda line: line != "/quit", lines):
            try:
                question = said(line) if conversation_id else asked(line)
                reading = dialogue.read(
                    question.model_copy(update={"where": where}), conversation_id
                )
                answered = Answered.of(list(engine.answer(reading.question)), titles)
            except (InvalidQuestions, ModelFault) as error:
                n_failed += 1
                rendering.print_error(error)
                continue
            kept = dialogue.keep(reading, answered, conversation_id)
            conversation_id = kept.conversation_id or conversation_id
            if options.json_:
                rendering.print_json(asdict(answered.result), indent=None)
                continue
            if not is_typed:
                rendering.print_heading(line)
            print_turn(line, reading.asked, engine.style.shown([answered.result]), titles)
        if conversation_id and is_typed:
            rendering.err().print(
                f"To go on: rag-assets chat {conversation_id}{data_option(settings.paths.data)}"
            )
    return n_failed


def _typed() -> Iterator[str]:
    """Lines with the keys of a shell, until Ctrl-D."""
    with suppress(ImportError):  # Windows has none
        import readline  # noqa: F401 - `input` edits its line with it

    rendering.err().print(
        "Ask, and follow up: “Why?”, “And in that paper?”. /quit or Ctrl-D ends it."
    )
    with suppress(EOFError):
        while True:
            yield input("\n> ")
