"""Work that must not take the pipeline down with it."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rag_assets.core.settings import ParseLimits
from rag_assets.parsing.worker_process import Failure
from rag_assets.parsing.workers import run_limited
from rag_assets_tests.parsing.worker_jobs import hang_after_the_first, imported_modules, misbehave, wait_for

LIMITS = ParseLimits(timeout_s=2, max_memory_mb=400)
PARENT = """
import sys
from pathlib import Path
from rag_assets.parsing.workers import run_limited
from rag_assets.core.settings import ParseLimits
from rag_assets_tests.parsing.worker_jobs import hang_and_tell_pid
list(run_limited(hang_and_tell_pid, [Path(sys.argv[1])] * 2, ParseLimits(timeout_s=60), n_workers=2))
"""


def results(work: Callable[[Any], Any], items: Sequence[Any], n_workers: int = 2) -> list[Any]:
    found = dict(run_limited(work, items, LIMITS, n_workers))
    return [found[index] for index in range(len(items))]


def test_a_deadly_file_costs_only_itself() -> None:
    """One fuzzed PDF that segfaults the parser must not lose the other 9,999 papers of a night."""
    deadly = ["segfault", "be killed", "hang holding the interpreter", "eat memory"]

    found = results(misbehave, ["ok 1", deadly[0], "ok 2", deadly[1], deadly[2], "ok 3", deadly[3], "ok 4", "print"])

    assert [result for result in found if isinstance(result, str)] == ["OK 1", "OK 2", "OK 3", "OK 4", "PRINT"]
    reasons = [result.reason for result in found if isinstance(result, Failure)]
    assert "SIGSEGV" in reasons[0]
    assert "SIGKILL" in reasons[1]
    assert reasons[2].startswith("was stopped after 2 s (parsing.limits.timeout_s)")
    assert reasons[3].startswith("needed more than 400 MB of memory (parsing.limits.max_memory_mb)")
    assert all(result.is_worker_lost for result in found if isinstance(result, Failure))


def test_a_refused_file_comes_back_with_its_reason_and_the_worker_lives_on() -> None:
    """The reason is all a user has to mend the file with; a bug in a parser must name itself too."""
    refused, bug, fine = results(misbehave, ["refuse", "hit a bug", "ok"], n_workers=1)

    assert refused == Failure("x.pdf is a picture of a cat. Remove it.", is_worker_lost=False)
    assert "KeyError: 'div'" in bug.reason
    assert not bug.is_worker_lost
    assert fine == "OK"


def test_a_result_is_there_as_soon_as_its_item_is_done(tmp_path: Path) -> None:
    """What has finished must be kept at once, or a killed run repeats it."""
    finished = run_limited(wait_for, [tmp_path / "looked at", None], ParseLimits(), 2)

    first = next(finished)
    (tmp_path / "looked at").touch()  # the other one waits for this
    rest = list(finished)

    assert first == (1, "there at once")
    assert rest == [(0, "there in the end")]


def test_workers_load_neither_tables_nor_the_orchestrator() -> None:
    """Every worker pays its imports again: Dagster alone would cost it more than most files."""
    (modules,) = results(imported_modules, [0])

    heavy = {"pyarrow", "pandas", "dagster", "chromadb", "numpy", "lxml", "pytest"}
    assert heavy.isdisjoint(modules)


def test_a_killed_pipeline_leaves_no_worker_behind(tmp_path: Path) -> None:
    """An orphan that hangs keeps a core and its memory until it is found."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], env=environment)
    try:
        pids = until(lambda: [int(path.stem) for path in tmp_path.glob("*.pid")], lambda found: len(found) == 2)
    finally:
        parent.kill()
        parent.wait()

    alive = until(lambda: [pid for pid in pids if is_running(pid)], lambda found: not found)

    assert len(pids) == 2
    assert alive == []


def test_an_abandoned_iteration_ends_its_workers(tmp_path: Path) -> None:
    """A run that is cancelled must not wait for the rest of the corpus."""
    finished = run_limited(hang_after_the_first, [None, tmp_path], ParseLimits(), 2)

    next(finished)
    (pid,) = until(lambda: [int(path.stem) for path in tmp_path.glob("*.pid")], lambda found: len(found) == 1)
    finished.close()  # type: ignore[attr-defined]

    assert not is_running(pid)


def until(look: Callable[[], list[int]], is_enough: Callable[[list[int]], bool]) -> list[int]:
    """What `look` sees once it is enough, or after a minute."""
    deadline = time.monotonic() + 60
    while not is_enough(found := look()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("ascii")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
