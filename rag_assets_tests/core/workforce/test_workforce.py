"""What holds of work wherever it is done: here and in a Dask cluster."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from distributed import KilledWorker

import rag_assets
from rag_assets.core.errors import ClusterUnavailable, MissingModel, WorkLost
from rag_assets.core.settings import ParseLimits
from rag_assets.core.workforce.cluster import DaskCluster
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets.core.workforce.worker_process import Failure
from rag_assets.core.workforce.workforce import Workforce, demanded, within
from rag_assets.search.embedding.missing_vectors import by_paper_if_lost
from rag_assets_testing.dask_cluster import RealCluster, real_cluster
from rag_assets_tests.core.workforce.worker_jobs import (
    hit_a_bug,
    imported_modules,
    misbehave,
    misbehave_each,
    wait_for,
)
from rag_assets_tests.faces.cli.processes import wait_until

LIMITS = ParseLimits(timeout_s=2, max_memory_mb=400)
PARENT = """
import sys
from pathlib import Path
from rag_assets.core.settings import ParseLimits
from rag_assets.core.workforce.processes import LocalProcesses
from rag_assets_tests.core.workforce.worker_jobs import hang_and_tell_pid
list(LocalProcesses(2).map(hang_and_tell_pid, [Path(sys.argv[1])] * 2, ParseLimits(timeout_s=60)))
"""


def results(workforce: Workforce, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    found = list(workforce.map(work, items, LIMITS))
    return [result for _, result in sorted(found, key=lambda pair: items.index(pair[0]))]


def test_a_deadly_file_costs_only_itself(workforce: Workforce) -> None:
    """One fuzzed PDF that segfaults the parser must not lose the other 9,999 papers of a night, nor
    a machine."""
    deadly = ["segfault", "be killed", "hang holding the interpreter", "eat memory"]
    items = ["ok 1", deadly[0], "ok 2", deadly[1], deadly[2], "ok 3", deadly[3], "ok 4", "print"]

    found = results(workforce, misbehave, items)

    assert [result for result in found if isinstance(result, str)] == [
        "OK 1",
        "OK 2",
        "OK 3",
        "OK 4",
        "PRINT",
    ]
    assert [result.reason for result in found if isinstance(result, Failure)] == [
        "crashed the worker that read it (SIGSEGV). Mend or remove the file; the other files are not affected.",
        "crashed the worker that read it (SIGKILL, perhaps for want of memory). Mend or remove the file; the other "
        "files are not affected.",
        "was stopped after 2 s of processor time (parsing.limits.timeout_s). Raise the limit if the file is worth the "
        "wait, or mend it.",
        "needed more than 400 MB of memory (parsing.limits.max_memory_mb). Raise the limit or split the file.",
    ]
    assert all(result.is_worker_lost for result in found if isinstance(result, Failure))


def test_a_paper_whose_vectors_are_lost_costs_no_other_paper_its_own(workforce: Workforce) -> None:
    """Passages of several papers are embedded together; one of them would end a run of ten thousand
    papers."""
    paper_of = {"ok 1": "a", "ok 2": "a", "ok 3": "b", "be killed": "b", "ok 4": "c"}
    batches = [["ok 1"], ["ok 2", "ok 3", "be killed", "ok 4"]]

    made = [*by_paper_if_lost(within(LIMITS, workforce), misbehave_each, paper_of, batches)]

    lost = [batch for batch, result in made if isinstance(result, Failure)]
    assert lost == [["ok 3", "be killed"]]
    assert sorted(batch for batch, _ in made) == [
        ["ok 1"],
        ["ok 2"],
        ["ok 3", "be killed"],
        ["ok 4"],
    ]


def test_a_machine_that_loses_everything_ends_the_run(workforce: Workforce) -> None:
    """To start thousands of processes in vain takes hours, and would blame papers that nothing is
    wrong with."""
    texts = [f"refuse {number}" for number in range(100)]
    tried = []

    def batches() -> Iterator[list[str]]:
        for text in texts:
            tried.append(text)
            yield [text]

    with pytest.raises(WorkLost):
        list(
            by_paper_if_lost(
                within(LIMITS, workforce), hit_a_bug, {text: text for text in texts}, batches()
            )
        )

    assert len(tried) < len(texts)


def test_a_worker_is_stopped_by_its_own_time_and_not_by_a_busy_machine(
    workforce: Workforce,
) -> None:
    """By the clock alone, big reports were stopped on a busy machine; one that waits for ever must
    end all the same."""
    found = dict(workforce.map(time.sleep, [0.6, 60.0], ParseLimits(timeout_s=0.4)))

    assert found[0.6] is None
    assert isinstance(found[60.0], Failure)
    assert "by the clock" in found[60.0].reason


def test_what_no_paper_causes_comes_back_as_it_was_raised(workforce: Workforce) -> None:
    """A model that is missing on the workers would quarantine every paper."""
    (missing,) = results(workforce, misbehave, ["miss a model"])

    with pytest.raises(MissingModel, match=r"The vocabulary is not there\."):
        demanded(missing)


def test_workers_load_neither_tables_nor_the_orchestrator(workforce: Workforce) -> None:
    """Every worker pays its imports again: Dagster alone would cost it more than most files."""
    (modules,) = results(workforce, imported_modules, [0])

    heavy = {"pyarrow", "pandas", "dagster", "chromadb", "numpy", "lxml", "pytest", "distributed"}
    assert heavy.isdisjoint(modules)


def test_items_are_taken_as_workers_become_free(workforce: Workforce) -> None:
    """Papers are read from disk there: all at once would fill the memory of the driver and of the
    scheduler."""
    taken: list[int] = []

    def items() -> Iterator[str]:
        for number in range(200):
            taken.append(number)
            yield f"ok {number}"

    with closing(workforce.map(misbehave, items(), LIMITS)) as found:
        next(found)
        n_taken = len(taken)

    assert n_taken < 100


def test_a_result_is_there_as_soon_as_its_item_is_done(tmp_path: Path) -> None:
    """What has finished must be kept at once, or a killed run repeats it."""
    with closing(LocalProcesses(2)) as processes:
        finished = processes.map(wait_for, [tmp_path / "looked at", None], ParseLimits())

        first = next(finished)
        (tmp_path / "looked at").touch()  # the other one waits for this
        rest = list(finished)

    assert first == (None, "there at once")
    assert rest == [(tmp_path / "looked at", "there in the end")]


def test_the_trace_of_an_unforeseen_error_is_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A user reads which file failed and why; a page of code frightens, but a report needs it."""
    log = tmp_path / "logs" / "workers.log"
    with closing(LocalProcesses(1, log)) as processes:
        [(_, failure)] = processes.map(misbehave, ["hit a bug"], LIMITS)

    assert "(KeyError: 'div'). Please report it with the file." in failure.reason
    assert capfd.readouterr() == ("", "")
    assert "Traceback (most recent call last)" in log.read_text("utf-8")


def test_a_killed_pipeline_leaves_no_worker_behind(tmp_path: Path) -> None:
    """An orphan that hangs keeps a core and its memory until it is found."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)])
    try:
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2, "both workers")
    finally:
        parent.kill()
        parent.wait()

    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    wait_until(lambda: not any(map(is_running, pids)), "the end of both")


def test_a_scheduler_that_is_not_there_is_told() -> None:
    """The setting may be of yesterday's cluster."""
    with (
        closing(DaskCluster("tcp://127.0.0.1:9", patience_s=1)) as unreachable,
        pytest.raises(
            ClusterUnavailable,
            match=r"^tcp://127\.0\.0\.1:9 \(execution\.cluster\) does not answer",
        ),
    ):
        list(unreachable.map(misbehave, ["ok"], LIMITS))


class LosingClient:
    """A client of a cluster that loses every task with a deadly item, as Dask tells it."""

    def __init__(self, _address: str, **_options: object) -> None:
        self._tasks = 0

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def submit(self, _work: object, messages: list[bytes], *_: object, pure: bool) -> object:
        self._tasks += 1
        future: Any = Future()
        future.key = f"task {self._tasks}{pure}"
        if any(b"take the machine along" in message for message in messages):
            future.set_exception(KilledWorker(future.key, "worker", 3))
        else:
            future.set_result(["done"] * len(messages))
        return future

    def cancel(self, futures: list[object]) -> None:
        assert futures == []

    def close(self) -> None:
        pass


def test_the_neighbours_of_a_paper_that_costs_machine_after_machine_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They were only sent in the same task, and would be quarantined with it."""
    monkeypatch.setattr("distributed.Client", LosingClient)
    items = ["ok 1", "take the machine along", "ok 2", "ok 3"]
    with closing(DaskCluster("tcp://127.0.0.1:9")) as workforce:
        found = dict(workforce.map(misbehave, items, LIMITS))

    lost = found.pop("take the machine along")
    assert lost.is_worker_lost
    assert found == dict.fromkeys(["ok 1", "ok 2", "ok 3"], "done")


@pytest.mark.whole
def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    """Its papers would be cut by other rules, under fingerprints that say they were not."""
    code = tmp_path / "code" / "rag_assets"
    shutil.copytree(
        Path(rag_assets.__file__).parent, code, ignore=shutil.ignore_patterns("__pycache__")
    )
    (code / "core" / "another.py").write_text("# another version\n", "utf-8")
    cluster = RealCluster(tmp_path)
    try:
        cluster.start_scheduler()
        cluster.start_worker(
            environment={"PYTHONPATH": os.pathsep.join([str(code.parent), *sys.path])}
        )
        with (
            closing(DaskCluster(cluster.address)) as workforce,
            pytest.raises(
                ClusterUnavailable, match=r"^A worker of the cluster is of another version: "
            ),
        ):
            list(workforce.map(misbehave, ["ok"], LIMITS))
    finally:
        cluster.end()


@pytest.mark.whole
def test_a_cluster_without_workers_or_scheduler_ends_the_run_with_a_sentence(
    tmp_path: Path,
) -> None:
    """A run that waits for ever holds the data folder all night."""
    with real_cluster(tmp_path, n_workers=0) as cluster:
        with (
            closing(DaskCluster(cluster.address, patience_s=1)) as workforce,
            pytest.raises(
                ClusterUnavailable, match=r"has no worker\. Start some with: dask worker tcp://"
            ),
        ):
            list(workforce.map(misbehave, ["ok"], LIMITS))
        cluster.start_worker()
        with closing(DaskCluster(cluster.address)) as workforce:
            found = workforce.map(wait_for, [None, *[tmp_path / "never"] * 20], ParseLimits())
            next(found)
            assert cluster.scheduler is not None
            cluster.scheduler.kill()

            with pytest.raises(ClusterUnavailable, match=r"was lost\. What is finished is kept"):
                list(found)


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text("ascii")
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
