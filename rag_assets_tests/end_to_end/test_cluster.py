"""The same run in a Dask cluster of real processes: equal bytes, whatever is killed on the way."""

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets_testing.dask_cluster import RealCluster, real_cluster
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_killed_runs import (
    DEADLINE_S,
    SMALL_BATCH,
    TOKENIZER,
    assert_same_end,
    end,
    n_vectors,
    started,
    undisturbed,
    unmake_everything,
    wait_until,
)
from rag_assets_tests.kept_entries import contents

__all__ = ["undisturbed"]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RealCluster]:
    with real_cluster(tmp_path / "cluster", n_workers=2) as running:
        yield running


def test_a_cluster_makes_the_bytes_that_one_machine_makes(
    undisturbed: World, tmp_path: Path, cluster: RealCluster
) -> None:
    """Whoever moves a folder to a cluster and back would pay for every vector and answer twice."""
    world = undisturbed.copy_to(tmp_path / "world")
    unmake_everything(world)

    outcome = world.run(chunking=TOKENIZER, execution={"cluster": cluster.address})
    here = world.run(chunking=TOKENIZER)

    assert outcome.is_success, outcome.failures or outcome.broken
    assert_same_end(world, undisturbed)
    assert all(counts[:3] == (0, 0, 0) for counts in here.counts.values()), (
        "where work ran is part of no fingerprint"
    )
    assert not list((cluster.folder / "worker0").rglob("*.parquet")), (
        "a worker needs no data folder"
    )


@pytest.mark.whole
@pytest.mark.parametrize("killed", ["one worker", "both machines", "the scheduler", "the driver"])
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_killed_the_next_run_ends_in_the_same_bytes(
    undisturbed: World, tmp_path: Path, cluster: RealCluster, killed: str, seed: int
) -> None:
    """Machines go away in the middle of the night, and nobody is there to tidy up."""
    world = undisturbed.copy_to(tmp_path / "world")
    unmake_everything(world)
    n_done = random.Random(seed).randrange(1, n_done_by_now(undisturbed))
    in_cluster = ["--set", f"execution.cluster={cluster.address}"]
    run = started(world, tmp_path / "killed.log", *in_cluster, batch=SMALL_BATCH)
    try:
        wait_until(lambda: n_done_by_now(world) >= n_done, [run])
        kill(killed, cluster, run)
        run.wait(DEADLINE_S)
    finally:
        end([run])
    if killed == "the scheduler":
        cluster.start_scheduler()
        cluster.start_worker()
    assert (run.returncode == 0) == (killed in ("one worker", "both machines")), (
        tmp_path / "killed.log"
    ).read_text()

    outcome = world.run(chunking=TOKENIZER, execution={"cluster": cluster.address})

    assert outcome.is_success, outcome.failures or outcome.broken
    assert_same_end(world, undisturbed)


def kill(what: str, cluster: RealCluster, run: "subprocess.Popen[bytes]") -> None:
    if what == "the driver":
        os.killpg(run.pid, signal.SIGKILL)
    elif what == "the scheduler":
        assert cluster.scheduler is not None
        os.killpg(cluster.scheduler.pid, signal.SIGKILL)
    elif what == "one worker":
        children = (
            Path(f"/proc/{cluster.workers[0].pid}/task/{cluster.workers[0].pid}/children")
            .read_text()
            .split()
        )
        os.kill(int(children[-1]), signal.SIGKILL)  # its nanny starts another one
    else:
        for worker in list(cluster.workers):
            os.killpg(worker.pid, signal.SIGKILL)
        cluster.start_worker()
        cluster.start_worker()


def n_done_by_now(world: World) -> int:
    """Documents and vectors that are kept."""
    return len(contents(world.paths.kept, "documents")) + n_vectors(world)
