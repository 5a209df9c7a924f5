"""Work for the worker tests: well-behaved, slow, greedy and deadly. Importable, because workers
import it."""

import ctypes
import os
import re
import time
from pathlib import Path

from rag_assets.core.errors import MissingModel, UnreadableDocument


def misbehave(how: str) -> str:
    """Do what `how` names; "ok ..." comes back upper-case."""
    if how == "hang holding the interpreter":
        re.match(r"(a+)+$", "a" * 60 + "b")
    if how == "segfault":
        ctypes.string_at(0)
    if how == "be killed":
        os.kill(os.getpid(), 9)
    if how == "eat memory":
        return str(len(bytearray(2**31)))
    if how == "refuse":
        raise UnreadableDocument("x.pdf is a picture of a cat. Remove it.")
    if how == "miss a model":
        raise MissingModel("The vocabulary is not there.")
    if how == "hit a bug":
        raise KeyError("div")
    if how == "take the machine along":
        os.kill(os.getppid(), 9)
        time.sleep(60)
    if how == "print":
        os.write(1, b"noise of a C library\n" * 10_000)
    return how.upper()


def wait_for(path: Path | None) -> str:
    """Wait until the file is there, a minute at most; not at all for None."""
    if path is None:
        return "there at once"
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return "there in the end" if path.exists() else "never there"


def hang_and_tell_pid(folder: Path) -> None:
    """Write this process's id into `folder`, then never come back."""
    (folder / f"{os.getpid()}.pid").touch()
    re.match(r"(a+)+$", "a" * 60 + "b")


def imported_modules(_: int) -> list[str]:
    import sys

    return sorted(sys.modules)


def misbehave_each(how: list[str]) -> list[str]:
    return [misbehave(one) for one in how]


def hit_a_bug(_: object) -> None:
    raise KeyError("div")
