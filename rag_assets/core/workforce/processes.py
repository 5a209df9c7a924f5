"""Work in processes of this machine that can be killed: each item has a time and a memory limit.

This side starts the workers, hands out items and replaces workers; `worker_process` is the other. A
worker's own processor time is limited, so that a busy machine stops no file; the clock only ends
one that waits for something. A worker is a plain subprocess with a pipe of its own:
concurrent.futures cannot stop a single item; pebble can, but its workers import the main program
anew (1.7 s of CPU when that is Dagster's command), and one that hangs outlives a killed parent.
"""

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

from rag_assets.core.incremental import make_folder
from rag_assets.core.workforce.worker_process import Answer, Failure, Limits

Item = TypeVar("Item")
Result = TypeVar("Result")

_COMMAND = "from rag_assets.core.workforce.worker_process import serve; serve()"
_START_TIMEOUT_S = 120.0
_WAITING_PER_WORKER = 2
"""Items that are under way or ready for a worker: more would only take memory."""
_CLOCK_PER_CPU = 10
"""Times of its processor time that an item may take by the clock."""
_ENDED_BY_CPU_LIMIT = -getattr(signal, "SIGPROF", 1000)
"""Exit code of a process that its processor time ended; no exit code where there is no such
signal."""


class LocalProcesses:
    """The Workforce of this machine; its processes live until it is closed, and serve one stage
    after the other.

    log: the file that gets the messages of the processes; None for this process's own output.
    """

    def __init__(self, n_workers: int, log: Path | None = None) -> None:
        self._n_workers, self._log = n_workers, log
        self._pool: WorkerPool | None = None

    def map(
        self, work: Callable[[Item], Result], items: Iterable[Item], limits: Limits | None
    ) -> Generator[tuple[Item, Result | Failure]]:
        """See `Workforce`. Closing the iteration ends the processes of the items that are under
        way."""
        pool = self._pool = self._pool or WorkerPool(self._n_workers, self._log)
        left = iter(items)
        running: dict[Future[Result | Failure], Item] = {}
        try:
            while True:
                for item in islice(left, _WAITING_PER_WORKER * self._n_workers - len(running)):
                    running[pool.submit(work, item, limits)] = item
                if not running:
                    return
                for finished in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(finished), finished.result()
        finally:
            if running:
                self.close()

    def models_folder(self, own: Path) -> Path:
        """See `Workforce`."""
        return own

    def close(self) -> None:
        """See `Workforce`; the next `map` starts other processes."""
        if self._pool:
            self._pool.close()
            self._pool = None


class WorkerPool:
    """Worker processes, each started when it is first needed; may be used by several threads. To be
    closed."""

    def __init__(self, n_workers: int, log: Path | None = None) -> None:
        self._workers = [KillableWorker(log) for _ in range(n_workers)]
        self._idle: queue.LifoQueue[KillableWorker] = (
            queue.LifoQueue()
        )  # the last one is likely to be started already
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(
            n_workers
        )  # live as long as the pool: a worker ends with its first thread

    def submit(
        self, work: Callable[[Item], Result], item: Item, limits: Limits | None
    ) -> Future[Result | Failure]:
        """`work(item)` in a worker, when one is free; the arguments as for `Workforce.map`."""
        return self._threads.submit(self._run, message_of(work, item, limits), limits)

    def close(self) -> None:
        """End the workers now, whatever they are doing."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(cancel_futures=True)

    def _run(self, message: bytes, limits: Limits | None) -> Any:
        worker = self._idle.get()
        try:
            return worker.run(message, limits)
        finally:
            self._idle.put(worker)


def message_of(work: Callable[[Item], Result], item: Item, limits: Limits | None) -> bytes:
    """What a worker process is sent to do `work(item)`."""
    return pickle.dumps((work, item, limits))


class _Closed(Exception):
    """The worker was closed from outside; its results are not wanted any more."""


class KillableWorker:
    """One worker process, started when it is first needed and replaced after an item that killed
    it.

    On Linux it ends with the thread that started it.
    """

    def __init__(self, log: Path | None = None) -> None:
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def run(self, message: bytes, limits: Limits | None) -> Any:
        """What the work of `message_of` returned, or its Failure. limits: those of the message."""
        process = self._process or self._start()
        clock_s = _CLOCK_PER_CPU * limits.timeout_s if limits else threading.TIMEOUT_MAX
        deadline_s = time.monotonic() + clock_s
        answer = _ask(process, message, clock_s)
        is_late = time.monotonic() >= deadline_s
        if self._is_closed:
            raise _Closed
        if answer is not None:
            result = answer.value
        elif is_late:
            result = _stopped(
                f"{clock_s:g} s by the clock, {_CLOCK_PER_CPU} times parsing.limits.timeout_s"
            )
        elif limits and process.wait() == _ENDED_BY_CPU_LIMIT:
            result = _stopped(
                f"{limits.timeout_s:g} s of processor time (parsing.limits.timeout_s)"
            )
        else:
            result = _crashed(process)
        if is_late or (isinstance(result, Failure) and result.is_worker_lost):
            self._end()
        return result

    def close(self) -> None:
        """End the process now, whatever it is doing."""
        with self._lock:
            self._is_closed = True
        self._end()

    def _start(self) -> "subprocess.Popen[bytes]":
        search_path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        with self._lock, _opened(self._log) as messages:
            if self._is_closed:
                raise _Closed
            self._process = process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=messages,
                env={**os.environ, "PYTHONPATH": search_path},
            )
        answer = _ask(process, b"", _START_TIMEOUT_S)
        if self._is_closed:
            raise _Closed
        if answer is None:
            raise RuntimeError(
                f"A worker could not be started with {sys.executable}; its messages are "
                f"{f'in {self._log}' if self._log else 'above'}."
            )
        return process

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()
            for pipe in _pipes(process):
                with contextlib.suppress(OSError):
                    pipe.close()


def _opened(log: Path | None) -> contextlib.AbstractContextManager[IO[bytes] | None]:
    if log is None:
        return contextlib.nullcontext()
    make_folder(log.parent)
    return log.open("ab")


def _ask(process: "subprocess.Popen[bytes]", message: bytes, timeout_s: float) -> Answer | None:
    """The answer to a message; None when the process ends before it has answered, or is killed
    because time is up."""
    stdin, stdout = _pipes(process)
    timer = threading.Timer(timeout_s, process.kill)
    timer.start()
    try:
        stdin.write(message)
        stdin.flush()
        answer = pickle.load(stdout)  # noqa: S301 - written by our own worker
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        process.kill()
        return None
    finally:
        timer.cancel()
        timer.join()
    return answer if isinstance(answer, Answer) else None


def _stopped(when: str) -> Failure:
    return Failure(
        f"was stopped after {when}. Raise the limit if the file is worth the wait, or mend it.",
        is_worker_lost=True,
    )


def _crashed(process: "subprocess.Popen[bytes]") -> Failure:
    return Failure(
        f"crashed the worker that read it ({_ending(process.wait())}). Mend or remove the file; the other files are "
        "not affected.",
        is_worker_lost=True,
    )


def _ending(returncode: int) -> str:
    if returncode >= 0:
        return f"exit code {returncode}"
    name = signal.Signals(-returncode).name
    return f"{name}, perhaps for want of memory" if name == "SIGKILL" else name


def _pipes(process: "subprocess.Popen[bytes]") -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ValueError("a worker is always started with pipes")
    return process.stdin, process.stdout
