"""Both workforces, each with two processes: on this machine, and in a Dask cluster of two
workers."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from rag_assets.core.settings.operation import ExecutionSettings
from rag_assets.core.workforce.workforce import Workforce, open_workforce
from rag_assets_testing.dask_cluster import RealCluster, real_cluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCluster]:
    with real_cluster(tmp_path_factory.mktemp("cluster"), n_workers=2) as running:
        yield running


@pytest.fixture(scope="package", params=["here", "dask"])
def workforce(request: pytest.FixtureRequest) -> Iterator[Workforce]:
    cluster = request.getfixturevalue("cluster").address if request.param == "dask" else ""
    with closing(open_workforce(ExecutionSettings(workers=2, cluster=cluster))) as opened:
        yield opened
