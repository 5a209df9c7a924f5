"""A conversation on the command line, through a pipe and on a terminal."""

import json
import os
import pty
import select
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rag_assets.faces.cli import app
from rag_assets.questions.conversations import Conversations
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.cli.processes import COMMAND, environment

FERRITIN = QUESTIONS[0]["question"]
FOLLOW_UP = "What was compared in that paper?"


def chat(world: World, typed: str, *arguments: str) -> Result:
    data = ["--data", str(world.paths.data), "--set", "chunking.tokenizer=wordpiece"]
    return CliRunner().invoke(app, ["chat", *arguments, *data], input=typed)


def asked_in(world: World, name: str) -> list[tuple[str, tuple[str, ...]]]:
    """The questions of a conversation, with the papers they were restricted to by what was said
    before."""
    with Conversations(world.paths.conversations) as kept:
        return [(turn.question, turn.asked.paper_ids) for turn in kept.last_turns(name, 10)]


def test_a_conversation_goes_on_under_its_name(world: World) -> None:
    """A follow-up that forgets what was said is another question, and so is one that is asked on
    the next day."""
    first = chat(world, f"{FERRITIN}\n\n{FOLLOW_UP}\n/quit\nnever asked\n", "runs")
    again = chat(world, "And in that paper?\n", "runs")

    assert (first.exit_code, again.exit_code) == (0, 0), first.stderr + again.stderr
    assert "Ferritin in athletes, p. 2 [ferritin]" in first.stdout, "as `ask` shows it"
    assert '"that paper" is read as ferritin' in " ".join(first.stdout.split())
    assert '"that paper" is read as ferritin' in " ".join(again.stdout.split())
    assert asked_in(world, "runs") == [
        (FERRITIN, ()),
        (FOLLOW_UP, ("ferritin",)),
        ("And in that paper?", ("ferritin",)),
    ]


def test_one_bad_line_of_a_pipe_ends_nothing_and_is_told(world: World) -> None:
    """A file of a hundred questions is not begun anew for one of them."""
    result = chat(world, f"\x07\n{FERRITIN}\n", "--json")

    (answer,) = map(json.loads, result.stdout.splitlines())
    assert "12%" in answer["answer"]
    assert "no text" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize("name", ["a b", "..", "a/x", "x" * 65, ""])
def test_a_name_that_no_address_can_hold_is_refused(name: str, tmp_path: Path) -> None:
    """The page opens a conversation by its name in the address."""
    result = CliRunner().invoke(app, ["chat", name, "--data", str(tmp_path)])

    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(("key", "code"), [(b"\x04", 0), (b"\x03", 130)], ids=["Ctrl-D", "Ctrl-C"])
def test_on_a_terminal_an_empty_line_asks_nothing_and_a_key_ends_it(
    world: World, key: bytes, code: int
) -> None:
    """Whoever presses Enter once too often, or wants to leave, must meet neither an error nor a
    traceback."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "chat"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(world.paths.data),
        start_new_session=True,
        preexec_fn=lambda: os.close(
            os.open(os.ttyname(0), os.O_RDWR)
        ),  # its keys send signals to this process
    ) as process:
        try:
            shown = seen(ours, b"\n> ")
            os.write(ours, b"\n")
            shown += seen(ours, b"\n> ")
            for _ in range(12):
                os.write(ours, key)  # one that comes while the prompt is being drawn is lost
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=5)
                    break
            assert process.returncode == code
        finally:
            process.kill()
            os.close(ours)
            os.close(theirs)
    assert b"Traceback" not in shown


def seen(terminal: int, wanted: bytes) -> bytes:
    """What a terminal shows until it shows this."""
    shown = b""
    while wanted not in shown.replace(b"\r", b""):
        assert select.select([terminal], [], [], 60)[0], shown
        shown += os.read(terminal, 10_000)
    return shown
