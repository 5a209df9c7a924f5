"""When to stop asking a model that fails, and how to ask it many things side by side."""

import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from rag_assets.core.errors import AccessDenied, BudgetExhausted, ModelFault, QuestionBudgetExhausted, RequestRejected

Asked = TypeVar("Asked")
Reply = TypeVar("Reply")
Fault = ModelFault | BudgetExhausted
PAUSE_S = 300.0
"""Pause after an optional model failed: an engine may be open for days, and each request may wait for time-outs."""
_MOST_FAILURES_IN_A_ROW = 3
"""Stop after this many consecutive unanswered requests."""


class FaultPause:
    """Stops requests for a while after faults that concern more than one, and for good once the budget is spent.

    Safe to use from several threads.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, *, pause_s: float = PAUSE_S, n_in_a_row: int = 1
    ) -> None:
        """n_in_a_row: number of consecutive faults that begin the pause; refused access and a spent budget begin it at
        once."""
        self._clock = clock
        self._pause_s = pause_s
        self._n_in_a_row = n_in_a_row
        self._lock = Lock()
        self._fault: Exception | None = None
        self._until_s = -math.inf
        self._n_faults = 0

    def check(self) -> None:
        """Raises the fault that began the pause, while it lasts."""
        if self._fault is not None and self._clock() < self._until_s:
            raise self._fault.with_traceback(None)

    def answered(self) -> None:
        """Note a reply."""
        with self._lock:
            self._n_faults = 0

    def failed(self, fault: Exception) -> bool:
        """Note a fault; False if it is the one that `check` raised, so that it is reported only once."""
        with self._lock:
            if fault is self._fault:
                return False
            if isinstance(fault, (RequestRejected, QuestionBudgetExhausted)):  # others may be answered
                return True
            self._n_faults += 1
            is_final = isinstance(fault, (AccessDenied, BudgetExhausted))
            if (is_final or self._n_faults >= self._n_in_a_row) and self._clock() >= self._until_s:
                pause_s = math.inf if isinstance(fault, BudgetExhausted) else self._pause_s
                self._fault, self._until_s = fault, self._clock() + pause_s
            return True


def ask_each(
    things: Iterable[tuple[str, Asked]],
    ask: Callable[[Asked], Reply],
    n_at_once: int,
    report: Callable[[int], None],
) -> tuple[dict[str, Reply], dict[str, Fault]]:
    """Replies by key, and faults by key for the things without a reply.

    things: pairs of key and thing. report: called with the number of replies after each one. If one thing fails, it is
    skipped. If the budget is spent, access is denied or the provider is down, all remaining things are skipped.
    """
    pause, lock = FaultPause(pause_s=math.inf, n_in_a_row=_MOST_FAILURES_IN_A_ROW), Lock()
    replies: dict[str, Reply] = {}
    left: dict[str, Fault] = {}

    def asked(key: str, thing: Asked) -> None:
        try:
            pause.check()
            reply = ask(thing)
        except (ModelFault, BudgetExhausted) as fault:
            pause.failed(fault)
            left[key] = fault
            return
        pause.answered()
        with lock:
            replies[key] = reply
            report(len(replies))

    pool = ThreadPoolExecutor(n_at_once)
    try:
        list(pool.map(lambda one: asked(*one), things))
    except BaseException:  # a bug, or the run is interrupted: do not wait for requests under way
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    return replies, left
