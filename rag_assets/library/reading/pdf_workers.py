"""Work on single PDF pages in processes that can be killed, kept ready between two requests.

Starting a process takes half a second, drawing a page a tenth of that.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParseLimits, Settings
from rag_assets.parsing.worker_process import Failure
from rag_assets.parsing.workers import WorkerPool

Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")
PAGE_TIMEOUT_S, _PAGE_MEMORY_MB = 20.0, 1024
"""Most that one page may take to be drawn or searched; then its worker is killed."""
_FAILURES_KEPT = 1000
_FAILURE_HOLDS_S = 600.0
"""A page may pass the time limit because the machine was busy."""


@dataclass(frozen=True, slots=True)
class PdfFile:
    """The PDF of a paper, as it was when it was looked up."""

    path: Path
    name: str
    """From the papers folder, for messages."""
    sha256: str
    max_pages: int


class PdfWorkers:
    """Runs functions of an importable module on items that can be pickled; may be used by several threads.

    What crashed a worker, or passed its limits, is not tried again for some minutes.
    """

    def __init__(self, settings: Settings) -> None:
        page = {"timeout_s": PAGE_TIMEOUT_S, "max_memory_mb": _PAGE_MEMORY_MB}
        self._limits = ParseLimits(**settings.parsing.limits.model_dump() | page)
        self._pool = WorkerPool(self._limits, settings.reading.max_workers)
        self._lock = threading.Lock()
        self._failures: OrderedDict[Hashable, tuple[float, str]] = OrderedDict()

    def run(self, work: Callable[[Item], Result], item: Item, pdf: PdfFile) -> Result:
        """`work(item)` in a worker, when one is free. pdf: what the item is about, for messages.

        Raises UnreadableDocument for a file or page that cannot be used, DocumentLimit (one of its kinds) where a limit
        of time or memory was passed or the worker crashed.
        """
        if reason := self._known_failure(item):
            raise DocumentLimit(reason)
        done = self._pool.submit(work, item).result()
        if not isinstance(done, Failure):
            return done
        if not done.is_worker_lost:
            raise UnreadableDocument(f"{pdf.name} {done.reason}")
        reason = (
            f"{pdf.name} has a page that cannot be read: it took longer than {self._limits.timeout_s:g} s, needed more "
            f"than {self._limits.max_memory_mb} MB, or ended the program that reads it. Export the file again."
        )
        self._remember(item, reason)
        raise DocumentLimit(reason)

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        self._pool.close()

    def _known_failure(self, item: Hashable) -> str:
        until, reason = self._failures.get(item, (0.0, ""))
        return reason if time.monotonic() < until else ""

    def _remember(self, item: Hashable, reason: str) -> None:
        with self._lock:
            self._failures[item] = time.monotonic() + _FAILURE_HOLDS_S, reason
            if len(self._failures) > _FAILURES_KEPT:
                self._failures.popitem(last=False)
