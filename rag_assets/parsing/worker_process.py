"""The process of a parse worker: it reads an item, works within limits and answers, until the parent closes the pipe.

`workers` is the other side.
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
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from rag_assets.core.errors import RagAssetsError
from rag_assets.core.settings import ParseLimits

logger = logging.getLogger(__name__)

_ORPHAN_CHECK_S = 1.0
_BYTES_PER_MB = 1_000_000
_PR_SET_PDEATHSIG = 1
"""From linux/prctl.h: the signal a process gets when the thread that started it ends."""


@dataclass(frozen=True)
class Failure:
    """An item without a result."""

    reason: str
    """Why, as a phrase that can follow "x.xml: "."""
    is_worker_lost: bool
    """The item passed a limit or crashed, so its worker is replaced."""


@dataclass(frozen=True)
class Answer:
    """What a worker sends back: None once it has started, then the result or Failure of each item."""

    value: Any


def serve() -> None:
    """Answer the items that come on standard input until it is closed.

    Standard output is redirected first, so that a library that prints does not garble the answers.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when a worker ends
    _send(answers, None)
    while True:
        try:
            work, item, limits = pickle.load(sys.stdin.buffer)  # noqa: S301 - written by our own parent
        except EOFError:
            return
        _send(answers, _result(work, item, limits))


def _send(answers: IO[bytes], value: object) -> None:
    answers.write(pickle.dumps(Answer(value)))
    answers.flush()


def _result(work: Callable[[Any], Any], item: Any, limits: ParseLimits) -> Any:
    try:
        with _memory_limit(limits.max_memory_mb):
            return work(item)
    except MemoryError:
        return Failure(
            f"needed more than {limits.max_memory_mb} MB of memory (parsing.limits.max_memory_mb). Raise the limit or "
            "split the file.",
            is_worker_lost=True,
        )
    except RecursionError:
        return Failure("is nested deeper than can be followed. Flatten or remove it.", is_worker_lost=False)
    except RagAssetsError as error:
        return Failure(str(error), is_worker_lost=False)
    except Exception as error:
        logger.exception("parsing failed in an unforeseen way")
        return Failure(
            f"could not be parsed, for a reason the parser did not foresee ({type(error).__name__}: {error}). "
            "Please report it with the file.",
            is_worker_lost=False,
        )


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
    """End this process when the pipeline is killed: by a signal of the system on Linux, by a thread elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    else:
        threading.Thread(target=_watch_parent, args=(os.getppid(),), daemon=True).start()


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_S)
    os._exit(1)
