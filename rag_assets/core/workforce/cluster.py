"""Work on the machines of a Dask cluster, in the same killable processes as here, inside Dask's
tasks.

So a paper that crashes, hangs or eats memory never costs the cluster a worker, and fails with the
same sentence as on one machine. What a worker runs is in `tasks`.
"""

import contextlib
import hashlib
import platform
import queue
import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rag_assets.core.errors import ClusterUnavailable, MissingExtra
from rag_assets.core.workforce.processes import KillableWorker, message_of
from rag_assets.core.workforce.worker_process import Failure, Limits

if TYPE_CHECKING:
    from distributed import Client, Future


_PACKAGE = "rag_assets"
_NAME = re.compile(r"[\w.-]+")
"""Name at the start of a requirement."""
_own = threading.local()
"""The process of each thread of a Dask worker: it serves one task after the other."""


def run_batch(
    messages: Sequence[bytes], limits: Limits | None, versions: Mapping[str, str]
) -> list[Any] | str:
    """What became of each item, see `message_of`; or how this machine differs, when it has other
    versions.

    versions: `installed_versions` of the sender.
    """
    here = installed_versions()
    differing = sorted(
        name for name in versions.keys() | here.keys() if versions.get(name) != here.get(name)
    )
    if differing:
        name = differing[0]
        return f"{platform.node()} has {name} {here.get(name, 'not')}, this run has {versions.get(name, 'none')}"
    if not hasattr(_own, "worker"):
        _own.worker = KillableWorker()
    return [_own.worker.run(message, limits) for message in messages]


@cache
def installed_versions() -> dict[str, str]:
    """Whatever changes a result: Python, the packages this one needs, by name, and the code of this
    one."""
    needed = [
        requirement
        for requirement in metadata.requires(_PACKAGE) or ()
        if "extra ==" not in requirement
    ]
    names = sorted({name[0] for requirement in needed if (name := _NAME.match(requirement))})
    code = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(root.rglob("*.py")):
        code.update(str(path.relative_to(root)).encode() + path.read_bytes())
    versions = {name: metadata.version(name) for name in names}
    python = ".".join(platform.python_version_tuple()[:2])
    return {
        _PACKAGE: f"{metadata.version(_PACKAGE)} ({code.hexdigest()[:12]})",
        "python": python,
    } | versions


Item = TypeVar("Item")
Result = TypeVar("Result")

ITEMS_PER_TASK = 8
"""Measured: 78 ms a paper in a process of this machine; through Dask 99 ms one by one, 88 ms in
eights."""
_MOST_BYTES_PER_TASK = 16_000_000
_TASKS_PER_THREAD = 2
"""Under way or waiting at a worker; what is sent passes through the memory of the scheduler."""
_CONNECT_TIMEOUT_S = 30
_PATROL_S = 5.0
_PATIENCE_S = 60.0
"""How long a cluster may be without workers, or its scheduler out of reach."""
_MODELS = Path("~/.cache/rag_assets/models")
_SETTING = "execution.cluster"


@dataclass(frozen=True)
class _Task:
    """Items that one task works on, and the message for each."""

    items: list[Any]
    messages: list[bytes]
    is_alone: bool = False
    """Nothing else is sent while it runs."""

    def one_by_one(self) -> "Iterator[_Task]":
        return (
            _Task([item], [message], is_alone=True)
            for item, message in zip(self.items, self.messages, strict=True)
        )


class DaskCluster:
    """The Workforce of a cluster; the connection is opened by the first item and kept."""

    def __init__(self, address: str, *, patience_s: float = _PATIENCE_S) -> None:
        """Raises MissingExtra without the extra. patience_s: how long the cluster may have no
        worker, or not answer."""
        try:
            import distributed  # noqa: F401
        except ImportError:
            raise MissingExtra.named("dask", purpose=_SETTING) from None
        self._address = address
        self._patience_s = patience_s
        self._client: Client | None = None

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], limits: Limits | None
    ) -> Generator[tuple[Item, Result | Failure]]:
        """See `Workforce`. Raises ClusterUnavailable, also for a worker of another version."""
        waiting = _tasks(work, items, limits)
        first = next(waiting, None)
        if first is None:
            return
        client = self._client = self._client or self._connected()
        running = _Running(client, limits, self._patience_s, self._address)
        waiting = chain([first], waiting)
        suspects: list[_Task] = []
        try:
            while True:
                while running.has_room() and (task := next(waiting, None)):
                    running.submit(task)
                if not running:
                    if not suspects:
                        return
                    running.submit(
                        suspects.pop()
                    )  # alone: Dask blames all that was sent to a worker for its end
                task, results = running.next_finished()
                if results is None and not task.is_alone:
                    suspects += task.one_by_one()
                    continue
                yield from zip(task.items, results or [_lost()], strict=True)
        finally:
            running.give_up()

    def models_folder(self, own: Path) -> Path:  # noqa: ARG002 - it is this machine's
        """See `Workforce`: a folder of each machine's own, which need not be there before."""
        return _MODELS

    def close(self) -> None:
        """See `Workforce`; ends the connection."""
        if self._client:
            self._client.close()
            self._client = None

    def _connected(self) -> "Client":
        import dask
        from distributed import Client

        from rag_assets.core.settings import tell_origin

        tell_origin(_SETTING, self._address)
        timeout_s = min(_CONNECT_TIMEOUT_S, self._patience_s)
        dask.config.set(
            {"distributed.admin.large-graph-warning-threshold": "1GB"}
        )  # papers are sent with their tasks
        try:
            return Client(self._address, timeout=timeout_s, name="rag_assets", set_as_default=False)
        except (OSError, TimeoutError) as error:
            raise ClusterUnavailable(
                f"{self._address} ({_SETTING}) does not answer as a Dask scheduler ({error}). Start it with: dask "
                "scheduler; or leave the setting empty to work on this machine."
            ) from error


class _Running:
    """Tasks that were sent and not yet answered."""

    def __init__(
        self, client: "Client", limits: Limits | None, patience_s: float, address: str
    ) -> None:
        self._client, self._limits, self._patience_s, self._address = (
            client,
            limits,
            patience_s,
            address,
        )
        self._tasks: dict[str, tuple[_Task, Future]] = {}
        self._finished: queue.SimpleQueue[Future] = queue.SimpleQueue()

    def __len__(self) -> int:
        return len(self._tasks)

    def has_room(self) -> bool:
        n_threads = sum(self._nthreads().values()) or 1
        return len(self._tasks) < _TASKS_PER_THREAD * n_threads

    def submit(self, task: _Task) -> None:
        future = self._client.submit(
            run_batch, task.messages, self._limits, installed_versions(), pure=False
        )
        self._tasks[future.key] = task, future
        future.add_done_callback(self._finished.put)

    def next_finished(self) -> tuple[_Task, list[Any] | None]:
        """A task that is done, with the result of each of its items; None if it was lost with one
        worker after the other. Raises ClusterUnavailable."""
        while True:
            future = self._await_one()
            task, _ = self._tasks[future.key]
            if (results := self._results(future)) is not _PENDING:
                del self._tasks[future.key]
                return task, results

    def give_up(self) -> None:
        """Tell the cluster that the rest is not wanted any more."""
        with contextlib.suppress(Exception):  # it may be out of reach, and nothing depends on it
            self._client.cancel([future for _, future in self._tasks.values()])
        self._tasks.clear()

    def _await_one(self) -> "Future":
        waited_s = 0.0
        while True:
            try:
                return self._finished.get(timeout=_PATROL_S)
            except queue.Empty:
                waited_s = 0.0 if self._nthreads() else waited_s + _PATROL_S
            if waited_s >= self._patience_s:
                raise ClusterUnavailable(
                    f"{self._address} ({_SETTING}) has no worker. Start some with: dask worker {self._address} "
                    "What is finished is kept; run again."
                )

    def _nthreads(self) -> dict[str, int]:
        try:
            n_threads: dict[str, int] = self._client.nthreads()
        except Exception as error:  # whatever Dask makes of a connection that is gone
            raise self._gone() from error
        return n_threads

    def _results(self, future: "Future") -> Any:
        from distributed import KilledWorker

        if future.cancelled():
            raise self._gone()
        try:
            answer = future.result(timeout=_PATROL_S)
        except TimeoutError:  # its worker is gone with the result, and the task is under way again
            self._finished.put(future)
            self._nthreads()
            return _PENDING
        except KilledWorker:
            return None
        except (
            Exception
        ) as error:  # Dask has its own for every step that can fail; our own work raises none
            raise ClusterUnavailable(
                f"The cluster at {self._address} ({_SETTING}) failed with {type(error).__name__}: {error}. What is "
                "finished is kept; look at the messages of its workers, then run again."
            ) from error
        if isinstance(answer, str):
            raise ClusterUnavailable(
                f"A worker of the cluster is of another version: {answer}. Its results could differ. Install the same "
                "on all machines, from one image or one lock file, and restart the workers."
            )
        return answer

    def _gone(self) -> ClusterUnavailable:
        return ClusterUnavailable(
            f"The connection to {self._address} ({_SETTING}) was lost. What is finished is kept; run again when the "
            "scheduler is back."
        )


_PENDING = object()


def _tasks(
    work: Callable[[Item], Result], items: Iterable[Item], limits: Limits | None
) -> Iterator[_Task]:
    """Batches of items, small enough to travel."""
    batch, n_bytes = _Task([], []), 0
    for item in items:
        message = message_of(work, item, limits)
        batch.items.append(item)
        batch.messages.append(message)
        n_bytes += len(message)
        if len(batch.items) == ITEMS_PER_TASK or n_bytes >= _MOST_BYTES_PER_TASK:
            yield batch
            batch, n_bytes = _Task([], []), 0
    if batch.items:
        yield batch


def _lost() -> Failure:
    return Failure(
        "was lost with each machine of the cluster that worked on it. Look at the messages of its workers; it is tried "
        "again when the file changes, or a limit.",
        is_worker_lost=True,
    )
