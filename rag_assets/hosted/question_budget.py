"""What the steps of one question may spend on models, held where requests are sent."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rag_assets.domain import Usage, summed
from rag_assets.errors import QuestionBudgetExhausted
from rag_assets.settings import ThoroughSettings


class QuestionBudget:
    """Counts what is sent while it is in force, and refuses the request that would follow when a limit is reached.

    A request counts when it is sent, failed ones too; its tokens and its price count when it is answered. The steps of
    a question follow each other, so nothing here is locked.
    """

    def __init__(self, limits: ThoroughSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._max_seconds = math.inf if limits.max_seconds is None else limits.max_seconds
        self._ends_at_s = clock() + self._max_seconds
        self._n_requests = 0
        self._answered = Usage()

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Requests that this thread makes count, whatever thread sends them: a connection takes over the context."""
        token = _IN_FORCE.set(self)
        try:
            yield
        finally:
            _IN_FORCE.reset(token)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._ends_at_s - self._clock())

    def check(self) -> None:
        """Raises QuestionBudgetExhausted when a limit is reached. Money counts where prices are known."""
        limits, n_tokens = self._limits, self._answered.n_input_tokens + self._answered.n_output_tokens
        if self._n_requests >= limits.max_requests:
            raise self._exhausted(f"{limits.max_requests} requests were made", "max_requests")
        if n_tokens >= limits.max_tokens:
            raise self._exhausted(f"{n_tokens} of {limits.max_tokens} tokens were used", "max_tokens")
        if limits.max_usd is not None and (self._answered.cost_usd or 0.0) >= limits.max_usd:
            raise self._exhausted(f"{limits.max_usd:g} US dollars were spent", "max_usd")
        if not self.seconds_left:
            raise self.out_of_time()

    def admit(self) -> None:
        """Count one request that is about to be sent; raises as `check` instead."""
        self.check()
        self._n_requests += 1

    def charge(self, usage: Usage) -> None:
        """Count the tokens and the cost of an answered request."""
        self._answered = summed([self._answered, usage])

    def out_of_time(self) -> QuestionBudgetExhausted:
        return self._exhausted(f"{self._max_seconds:g} seconds have passed", "max_seconds")

    def _exhausted(self, reached: str, setting: str) -> QuestionBudgetExhausted:
        return QuestionBudgetExhausted(f"The question has spent its budget: {reached} (answering.thorough.{setting}).")


_IN_FORCE: ContextVar[QuestionBudget | None] = ContextVar("question_budget", default=None)


def budget_in_force() -> QuestionBudget | None:
    """The budget of the question that the current context works on; None where it has none of its own."""
    return _IN_FORCE.get()
