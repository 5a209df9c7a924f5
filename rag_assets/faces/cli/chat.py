"""The conversation on the command line: each question is read after those before it, and kept with
its answer."""

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict
from itertools import takewhile
from typing import Annotated

import typer

from rag_assets.faces.cli import rendering
from rag_assets.faces.cli.asking import AskingOptions, taking_options
from rag_assets.faces.cli.options import ThoroughOption, reported

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
    with reported(), ExitStack() as opened:
        from rag_assets.core.errors import InvalidQuestions, ModelFault, data_option
        from rag_assets.corpus.records.published import titles_of
        from rag_assets.engine import open_engine
        from rag_assets.faces.answered import Answered
        from rag_assets.faces.cli.printed_answers import print_turn
        from rag_assets.faces.dialogue import Dialogue
        from rag_assets.questions import asked, said
        from rag_assets.questions.conversations import Conversations

        settings = options.settings("thorough" if thorough else None)
        titles = titles_of(settings.paths)  # first, as in `ask`
        where = options.filter(titles)
        conversations = opened.enter_context(Conversations(settings.paths.conversations))
        engine = opened.enter_context(open_engine(settings))
        engine.chunks(())  # a folder without an index is told before the first question
        dialogue = opened.enter_context(closing(Dialogue(settings, conversations, engine)))
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
        if n_failed and not is_typed:
            raise typer.Exit(1)


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
