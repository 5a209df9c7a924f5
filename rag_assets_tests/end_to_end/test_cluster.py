"""The same run in a Dask cluster of real processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets_testing.dask_cluster import RealCluster, real_cluster
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_killed_runs import (
    TOKENIZER,
    assert_same_end,
    undisturbed,
    unmake_everything,
)

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
