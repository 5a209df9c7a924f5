"""A pause after a fault, for models that an answer can do without."""

import math
import time
from collections.abc import Callable

from rag_assets.errors import BudgetExhausted, QuestionBudgetExhausted, RagAssetsError, RequestRejected

PAUSE_S = 300.0
"""How long a model that failed is not asked: an engine may be open for days, and each try may wait for time-outs."""


class FaultPause:
    """After a fault that is not one question's own, no request is made for a while; once the budget is spent, none."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._fault: RagAssetsError | None = None
        self._until_s = 0.0

    def check(self) -> None:
        """Raises the fault that began the pause, while it lasts."""
        if self._fault is not None and self._clock() < self._until_s:
            raise self._fault.with_traceback(None)

    def begins(self, fault: RagAssetsError) -> bool:
        """Note a fault; False when it is the one that `check` raised, so that it is told only once."""
        if fault is self._fault:
            return False
        if not isinstance(fault, (RequestRejected, QuestionBudgetExhausted)):
            pause_s = math.inf if isinstance(fault, BudgetExhausted) else PAUSE_S
            self._fault, self._until_s = fault, self._clock() + pause_s
        return True
