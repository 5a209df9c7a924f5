"""A real Dask cluster on this machine: a scheduler, and workers that have a folder each and nothing
else in common."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

_START_S = 60.0
_AS_TESTS = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "20 s",
}


@dataclass
class RealCluster:
    """The processes of a cluster; each may be killed."""

    folder: Path
    address: str = ""
    scheduler: "subprocess.Popen[bytes] | None" = None
    workers: "list[subprocess.Popen[bytes]]" = field(default_factory=list)

    def start_scheduler(self) -> None:
        """At the same address when it was started before, and killed since."""
        if self.scheduler:
            self.scheduler.wait()
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        at = [
            "--port",
            self.address.rpartition(":")[2] or "0",
            "--host",
            "127.0.0.1",
            "--scheduler-file",
            str(file),
        ]
        self.scheduler = self._started("scheduler", [*at, "--no-dashboard"], {})
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            try:
                self.address = json.loads(file.read_text("utf-8"))["address"]
            except (OSError, ValueError):
                time.sleep(0.1)
            else:
                return
        raise TimeoutError("the scheduler did not start")

    def start_worker(
        self, *more: str, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """A worker with one thread. more: options of `dask worker`."""
        at = [
            self.address,
            "--nthreads",
            "1",
            "--memory-limit",
            "0",
            "--no-dashboard",
            "--host",
            "127.0.0.1",
            *more,
        ]
        self.workers.append(self._started("worker", at, environment or {}))
        return self.workers[-1]

    def end(self) -> None:
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            process.terminate()
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _started(
        self, role: str, options: list[str], environment: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        own = self.folder / f"{role}{len(self.workers)}"
        own.mkdir(parents=True, exist_ok=True)
        paths = {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(own)}
        variables = {**os.environ, **paths, **_AS_TESTS, **environment}
        with (own / "messages.txt").open("ab") as messages:
            command = [sys.executable, "-m", "dask", role, *options]
            return subprocess.Popen(
                command,
                cwd=own,
                env=variables,
                stdout=messages,
                stderr=messages,
                start_new_session=True,
            )


@contextmanager
def real_cluster(folder: Path, n_workers: int) -> Iterator[RealCluster]:
    """A cluster whose workers are restarted when they are killed; ended when the context is
    left."""
    cluster = RealCluster(folder)
    try:
        cluster.start_scheduler()
        for _ in range(n_workers):
            cluster.start_worker()
        yield cluster
    finally:
        cluster.end()
