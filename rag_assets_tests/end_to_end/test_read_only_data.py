"""A data folder that may only be read: questions are answered, and what would write says so before
it begins.

The folder is mounted read-only for one process, because rights mean nothing to a test that runs as
root.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag_assets_testing.world import World
from rag_assets_tests.faces.cli.processes import environment

MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
QUESTION = "How much did ferritin fall in runners within a month?"
COMMANDS_OF_ONE_PROCESS = """
import json, sys
from typer.testing import CliRunner
from rag_assets.faces.cli import app
from rag_assets.search.indexing import chroma
chroma.EXACT_UP_TO_BYTES = int(sys.argv[2])
done = [CliRunner().invoke(app, arguments) for arguments in json.loads(sys.argv[1])]
print(json.dumps([(one.exit_code, one.stdout, one.stderr) for one in done]))
"""


def read_only(data: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A command in a mount namespace of its own, in which nothing below `data` can be written."""
    command = [
        "unshare",
        "--map-root-user",
        "--mount",
        "sh",
        "-c",
        MOUNTED,
        "sh",
        str(data),
        *arguments,
    ]
    return subprocess.run(
        command, env=environment(data), capture_output=True, text=True, check=False
    )


def outcomes(
    data: Path, *commands: Sequence[str], exact_up_to_bytes: int = 10**9
) -> list[tuple[int, str, str]]:
    """Exit code, stdout and stderr of each command, all of them in one process: starting it is most
    of its time."""
    done = read_only(
        data,
        sys.executable,
        "-c",
        COMMANDS_OF_ONE_PROCESS,
        json.dumps(commands),
        str(exact_up_to_bytes),
    )
    assert done.returncode == 0, done.stderr
    return [tuple(outcome) for outcome in json.loads(done.stdout.splitlines()[-1])]


@pytest.fixture
def data(built: World, tmp_path: Path) -> Path:
    copy = built.copy_to(tmp_path).paths.data
    if not shutil.which("unshare") or read_only(copy, "test", "!", "-w", str(copy)).returncode:
        pytest.skip("this system lets no test mount a folder read-only")
    return copy


@pytest.mark.parametrize("exact_up_to_bytes", [10**9, 0], ids=["exact vectors", "chroma"])
def test_questions_are_answered_from_both_indexes(data: Path, exact_up_to_bytes: int) -> None:
    """A shared corpus on a read-only disk is the plain way to give it to a group; both engines
    insist on writing."""
    answered, found, *looked_at = outcomes(
        data,
        ["ask", QUESTION],
        ["retrieve", QUESTION, "-k", "1"],
        ["status"],
        ["index", "stats"],
        exact_up_to_bytes=exact_up_to_bytes,
    )

    assert (answered[0], "12%" in answered[1]) == (0, True), answered
    assert (found[0], "ferritin" in found[1]) == (0, True), found
    assert answered[2] + found[2] == "", "an index was left out, or something could not be kept"
    assert [code for code, _, _ in looked_at] == [0, 0]


def test_what_would_write_says_so_in_one_sentence(data: Path) -> None:
    """Found out after an hour of embedding, or in a traceback of a database, it is found out too
    late."""
    commands = (["run"], ["chunk"], ["qa"], ["clear", "--yes"], ["ui"])

    for command, (code, said, error) in zip(commands, outcomes(data, *commands), strict=True):
        assert (code, said) == (1, ""), command
        assert error.startswith(f"Error: {data}"), command
        assert "cannot be written. Nothing was changed." in error, command
        assert error.count("\n") == 1, command
