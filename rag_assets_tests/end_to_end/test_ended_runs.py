"""Runs that are ended on purpose, by Ctrl-C or SIGTERM: they say what is done, and the next run
goes on from there.

The runs are real processes and leaders of a process group: Ctrl-C in a terminal reaches the whole
group.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_killed_runs import SMALL_BATCH, n_vectors, unmake_everything
from rag_assets_tests.faces.cli.processes import DEADLINE_S, environment, wait_until

CODE = f"""
from rag_assets.search.embedding import missing_vectors

missing_vectors.EMBEDDING_BATCH = {SMALL_BATCH}
from rag_assets.faces.cli import app

app(prog_name="rag-assets")
"""
ENDING = "Ending, and keeping what is done. Once more ends it at once."


def ended(
    world: World, root: Path, *arguments: str, by: signal.Signals, when: Callable[[str], bool]
) -> tuple[int, str, list[int]]:
    """Exit code, stderr and process group of a command that is ended `when` something is true of
    its stderr so far."""
    variables = environment(world.paths.data, {"DAGSTER_HOME": str(root / "home")})
    log = root / "stderr"
    with log.open("wb") as messages:
        run = subprocess.Popen(
            [sys.executable, "-c", CODE, *arguments],
            env=variables,
            stdout=messages,
            stderr=messages,
            start_new_session=True,
        )
    try:
        wait_until(
            lambda: run.poll() is not None or when(log.read_text()), "the run to be under way"
        )
        os.killpg(run.pid, by)
        code = run.wait(DEADLINE_S)
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
    return code, log.read_text(), members(run.pid)


def members(group: int) -> list[int]:
    """Processes of a group that are still there."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


def statuses(root: Path) -> list[dg.DagsterRunStatus]:
    with dg.DagsterInstance.from_config(str(root / "home")) as instance:
        return [run.status for run in instance.get_runs()]


@pytest.mark.whole
def test_a_run_ended_while_embedding_says_what_is_done_and_goes_on_later(
    built: World, tmp_path: Path
) -> None:
    """Two tracebacks and a failed run: that looks as if something had broken, and nobody knows what
    is lost.

    SIGTERM goes to the whole group here, SIGINT in the tests below.
    """
    world = built.copy_to(tmp_path)
    unmake_everything(world)

    code, said, left_over = ended(
        world,
        tmp_path,
        "index",
        "build",
        by=signal.SIGTERM,
        when=lambda _: n_vectors(world) >= 2 * SMALL_BATCH,
    )
    n_kept = n_vectors(world)
    outcome = world.run()

    assert code == 143, said
    assert "Traceback" not in said
    assert "Error" not in said
    assert ENDING in said
    assert "Ended before embeddings was finished. Done: parsed_index, " in said
    assert statuses(tmp_path) == [dg.DagsterRunStatus.CANCELED]
    assert left_over == [], "workers outlive the run"
    assert outcome.is_success
    facts = outcome.facts["embeddings"]
    assert 0 < facts["n_added"] <= facts["dagster/row_count"] - n_kept
