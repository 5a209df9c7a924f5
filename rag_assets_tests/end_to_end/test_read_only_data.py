"""A data folder that may only be read: questions are answered, and what would write says so before it begins.

The folder is mounted read-only for one process, because rights mean nothing to a test that runs as root.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from rag_assets_testing.world import World
from rag_assets_tests.cli.processes import COMMAND, environment

MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
QUESTION = "How much did ferritin fall in runners within a month?"


def read_only(data: Path, *arguments: str, more: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """A command in a mount namespace of its own, in which nothing below `data` can be written."""
    command = ["unshare", "--map-root-user", "--mount", "sh", "-c", MOUNTED, "sh", str(data), *arguments]
    return subprocess.run(command, env=environment(data, more), capture_output=True, text=True, check=False)


@pytest.fixture
def data(built: World, tmp_path: Path) -> Path:
    copy = built.copy_to(tmp_path).paths.data
    if not shutil.which("unshare") or read_only(copy, "test", "!", "-w", str(copy)).returncode:
        pytest.skip("this system lets no test mount a folder read-only")
    return copy


@pytest.mark.parametrize("exact_search_mb", ["500", "0"], ids=["exact vectors", "chroma"])
def test_questions_are_answered_from_both_indexes(data: Path, exact_search_mb: str) -> None:
    """A shared corpus on a read-only disk is the plain way to give it to a group; both engines insist on writing."""
    more = {"RAG_ASSETS_RETRIEVAL__EXACT_SEARCH_MB": exact_search_mb}

    answered = read_only(data, *COMMAND, "ask", QUESTION, more=more)
    found = read_only(data, *COMMAND, "retrieve", QUESTION, "-k", "1", more=more)

    assert answered.returncode == 0, answered.stderr
    assert "12%" in answered.stdout
    assert found.returncode == 0, found.stderr
    assert "ferritin" in found.stdout
    assert answered.stderr + found.stderr == "", "an index was left out, or something could not be kept"


def test_a_look_is_taken_without_writing(data: Path) -> None:
    """Whoever cannot write a corpus still wants to know what is in it."""
    assert read_only(data, *COMMAND, "status").returncode == 0
    assert read_only(data, *COMMAND, "index", "stats").returncode == 0


@pytest.mark.parametrize("arguments", [["run"], ["chunk"], ["qa"], ["clear", "--yes"], ["ui"]], ids=" ".join)
def test_what_would_write_says_so_in_one_sentence(data: Path, arguments: list[str]) -> None:
    """Found out after an hour of embedding, or in a traceback of a database, it is found out too late."""
    done = read_only(data, *COMMAND, *arguments)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {data}")
    assert "cannot be written. Nothing was changed." in done.stderr
    assert done.stderr.count("\n") == 1
