"""The process of a worker: it reads an item, works within limits and answers, until the parent
closes the pipe.

`processes` is the other side.
"""

import contextlib
import ctypes
import logging
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from rag_assets.core.errors import RagAssetsError

logger = logging.getLogger(__name__)

_ORPHAN_CHECK_S = 1.0
_BYTES_PER_MB = 1_000_000
_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h: the signal a process gets when the thread that started it ends."""


class Limits(Protocol):
    """What one item may take: `ParseLimits`, which a worker does not import until it is sent work,
    so that it starts fast."""

    @property
    def timeout_s(self) -> float: ...

    @property
    def max_memory_mb(self) -> int: ...


@dataclass(frozen=True)
class Failure:
    """An item without a result."""

    reason: str
    """Why, as a phrase that can follow "x.xml: "."""
    is_worker_lost: bool
    """The item passed a limit or crashed, so its worker is replaced."""
    raised: RagAssetsError | OSError | None = field(default=None, compare=False)
    """What the work raised, if no item can be blamed for it in itself: the stages decide."""


@dataclass(frozen=True)
class Answer:
    """What a worker sends back: None once it has started, then the result or Failure of each
    item."""

    value: Any


def serve() -> None:
    """Answer the items that come on standard input until it is closed.

    Standard output is redirected first, so that a library that prints does not garble the answers.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _die_with_parent()
    logging.basicConfig(format="%(asctime)s %(message)s")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a worker ends
    _send(answers, None)
    while True:
        try:
            work, item, limits = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own parent
        except EOFError:
            return
        _send(answers, result_of(work, item, limits))


def _send(answers: IO[bytes], value: object) -> None:
    answers.write(pickle.dumps(Answer(value)))
    answers.flush()


def result_of(work: Callable[[Any], Any], item: Any, limits: Limits | None) -> Any:
    """The result of `work(item)`, or a Failure, within its limits; at that of processor time, this
    process ends."""
    try:
        with contextlib.ExitStack() as limited:
            if limits:
                limited.enter_context(_cpu_limit(limits.timeout_s))
                limited.enter_context(_memory_limit(limits.max_memory_mb))
            return work(item)
    except MemoryError:
        most = f"{limits.max_memory_mb} MB of" if limits else "there is"
        return Failure(
            f"needed more than {most} memory (parsing.limits.max_memory_mb). Raise the limit or split the file.",
            is_worker_lost=True,
        )
    except RecursionError:
        return Failure(
            "is nested deeper than can be followed. Flatten or remove it.", is_worker_lost=False
        )
    except RagAssetsError as error:
        return Failure(str(error), is_worker_lost=False, raised=error)
    except Exception as error:
        logger.exception("work failed in an unforeseen way")
        return Failure(
            f"could not be read, for a reason that was not foreseen ({type(error).__name__}: {error}). "
            "Please report it with the file.",
            is_worker_lost=False,
            raised=error if isinstance(error, OSError) else None,
        )


@contextlib.contextmanager
def _cpu_limit(seconds: float) -> Iterator[None]:
    """Let the system end this process with SIGPROF when it has computed for so long, whatever else
    the machine does.

    Windows has no such timer: there only the parent's clock ends a worker.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@contextlib.contextmanager
def _memory_limit(max_added_mb: int) -> Iterator[None]:
    """Limit how much the address space may grow, where the system supports it (Linux)."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(statm.read_text("ascii").split()[0]) * resource.getpagesize()
    wanted = used + max_added_mb * _BYTES_PER_MB
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _die_with_parent() -> None:
    """End this process when the pipeline is killed: by a signal of the system on Linux, by a thread
    elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_S)
    os._exit(1)
