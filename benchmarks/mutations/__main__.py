"""Puts small faults into a copy of the package, one at a time, and says which of them the tests
see.

    python -m benchmarks.mutations [NAME ...]

Each fault is a patch in this folder; `tests.tsv` names the tests that have to fail because of it.
The project is copied into a temporary folder, the tests must pass there, and then run again with
each patch. Exit code 1 if a fault lives.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.mutations.table import PROJECT, Mutation, read_mutations

COPIED = ("rag_assets", "rag_assets_tests", "rag_assets_testing", "benchmarks", "data")
KILLED, ALIVE, NO_RESULT = "killed", "alive", "no result"
_PASSED, _FAILED = 0, 1
"""Exit codes of pytest; the others say that no test ran to its end."""
_RESULTS: dict[int | None, str] = {_PASSED: ALIVE, _FAILED: KILLED}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="Without any, all mutations.")
    parser.add_argument(
        "--timeout-s", type=float, default=300.0, help="Of the tests of one mutation."
    )
    options = parser.parse_args()
    mutations = [one for one in read_mutations() if not options.names or one.name in options.names]
    if unknown := set(options.names) - {one.name for one in mutations}:
        parser.error(f"no such mutation: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        return _run(mutations, _copied_to(Path(folder)), options.timeout_s)


def _copied_to(folder: Path) -> Path:
    for name in COPIED:
        shutil.copytree(PROJECT / name, folder / name)
    shutil.copy(PROJECT / "pyproject.toml", folder)
    return folder


def _run(mutations: Sequence[Mutation], project: Path, timeout_s: float) -> int:
    every = list(dict.fromkeys(test for one in mutations for test in one.tests))
    if _exit_code(project, every, timeout_s * len(mutations)) != _PASSED:
        print("The tests fail, or take too long, without any mutation.")
        return 1
    found: Counter[tuple[str, str]] = Counter()
    for one in mutations:
        started = time.monotonic()
        one.put_into(project)
        code = _exit_code(project, one.tests, timeout_s)
        one.take_out_of(project)
        result = _RESULTS.get(code, NO_RESULT)
        found[one.room, result] += 1
        print(
            f"{result:9}  {one.name:40}  {time.monotonic() - started:5.0f} s  {one.fault}",
            flush=True,
        )
    for room in sorted({room for room, _ in found}):
        print(
            f"{room}: {found[room, KILLED]} killed, {found[room, ALIVE]} alive, {found[room, NO_RESULT]} no result"
        )
    return int(any(result != KILLED for _, result in found))


def _exit_code(project: Path, tests: Sequence[str], timeout_s: float) -> int | None:
    """Of pytest; None where it took longer."""
    # without bytecode a file that changes twice in a second is never taken for the same
    environment = {**os.environ, "PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", *tests]
    running = subprocess.Popen(
        command,
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        said, _ = running.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        return None
    if running.returncode not in (_PASSED, _FAILED):
        print(said.decode(errors="replace"))
    return running.returncode


if __name__ == "__main__":
    sys.exit(main())
