"""Running untrusted work in processes that can be killed: each item has a time and a memory limit.

This side starts the workers, hands out items, watches the clock and replaces workers; `worker_process` is the other.
A worker is a plain subprocess with a pipe of its own: concurrent.futures cannot stop a single item; pebble can, but
its workers import the main program anew (1.7 s of CPU when that is Dagster's command), and one that hangs outlives a
killed parent.
"""

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

from rag_assets.parsing.worker_process import Answer, Failure
from rag_assets.settings import ParseLimits

Item = TypeVar("Item")
Result = TypeVar("Result")

_COMMAND = "from rag_assets.parsing.worker_process import serve; serve()"
_START_TIMEOUT_S = 120.0


def run_limited(
    work: Callable[[Item], Result], items: Sequence[Item], limits: ParseLimits, n_workers: int = 0
) -> Iterator[tuple[int, Result | Failure]]:
    """`work(item)` for every item, in worker processes: (index of the item, result), in the order they finish.

    `work` is a function of an importable module; items and results can be pickled. `n_workers` 0 is one per core; no
    more are started than there are items, and all are ended when the iteration ends or is abandoned. An exception
    raised by `work` becomes a Failure. Raises RuntimeError when a worker cannot be started at all.
    """
    todo: queue.SimpleQueue[tuple[int, Item]] = queue.SimpleQueue()
    for numbered in enumerate(items):
        todo.put(numbered)
    done: queue.SimpleQueue[tuple[int, Result | Failure] | Exception] = queue.SimpleQueue()
    workers = [Worker(limits) for _ in range(min(n_workers or _n_cores(), len(items)))]
    threads = [threading.Thread(target=_work_off, args=(worker, work, todo, done), daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        for _ in items:
            finished = done.get()
            if isinstance(finished, Exception):
                raise finished
            yield finished
    finally:
        for worker in workers:
            worker.close()
        for thread in threads:
            thread.join()


def _work_off(
    worker: "Worker",
    work: Callable[[Item], Result],
    todo: "queue.SimpleQueue[tuple[int, Item]]",
    done: "queue.SimpleQueue[tuple[int, Result | Failure] | Exception]",
) -> None:
    """The thread of one worker: hand it items until none is left or it is closed."""
    try:
        while True:
            index, item = todo.get_nowait()
            done.put((index, worker.run(work, item)))
    except (queue.Empty, _Closed):
        return
    except Exception as error:
        done.put(error)


class _Closed(Exception):
    """The worker was closed from outside; its results are not wanted any more."""


class Worker:
    """One worker process, started when it is first needed and replaced after an item that killed it."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def run(self, work: Callable[[Item], Result], item: Item) -> Result | Failure:
        """The result of `work(item)`, or its failure."""
        process = self._process or self._start()
        limit = _TimeLimit(process, self._limits.timeout_s)
        with limit:
            answer = _ask(process, pickle.dumps((work, item, self._limits)))
        if self._is_closed:
            raise _Closed
        result: Result | Failure
        if answer is not None:
            result = answer.value
        elif limit.has_fired:
            result = self._too_slow()
        else:
            result = _crashed(process)
        if limit.has_fired or (isinstance(result, Failure) and result.is_worker_lost):
            self._end()
        return result

    def close(self) -> None:
        """End the process now, whatever it is doing."""
        with self._lock:
            self._is_closed = True
        self._end()

    def _start(self) -> "subprocess.Popen[bytes]":
        search_path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        with self._lock:
            if self._is_closed:
                raise _Closed
            self._process = process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-P", "-c", _COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": search_path},
            )
        with _TimeLimit(process, _START_TIMEOUT_S):
            answer = _ask(process, b"")
        if self._is_closed:
            raise _Closed
        if answer is None:
            raise RuntimeError(f"A parse worker could not be started with {sys.executable}; its messages are above.")
        return process

    def _too_slow(self) -> Failure:
        return Failure(
            f"was stopped after {self._limits.timeout_s:g} s (parsing.limits.timeout_s). Raise the limit if the file "
            "is worth the wait, or mend it.",
            is_worker_lost=True,
        )

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()
            for pipe in _pipes(process):
                with contextlib.suppress(OSError):
                    pipe.close()


class _TimeLimit:
    """Kills a process when time is up, unless the block ends before."""

    def __init__(self, process: "subprocess.Popen[bytes]", seconds: float) -> None:
        self.has_fired = False
        self._process = process
        self._timer = threading.Timer(seconds, self._fire)

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *exc_info: object) -> None:
        self._timer.cancel()
        self._timer.join()

    def _fire(self) -> None:
        self.has_fired = True
        self._process.kill()


def _ask(process: "subprocess.Popen[bytes]", message: bytes) -> Answer | None:
    """The answer to a message; None when the process ends before it has answered."""
    stdin, stdout = _pipes(process)
    try:
        stdin.write(message)
        stdin.flush()
        answer = pickle.load(stdout)  # noqa: S301 - written by our own worker
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        process.kill()
        return None
    return answer if isinstance(answer, Answer) else None


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


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
