"""What one run, and the steps of one question, may spend on models; held where requests are sent."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock

from rag_assets.domain import Usage, summed
from rag_assets.errors import BudgetExhausted, QuestionBudgetExhausted
from rag_assets.settings import ModelAccessSettings, ThoroughSettings


class _Budget:
    """Counts what is sent and answered. Safe to use from several threads.

    A request counts when it is sent, failed ones too; its tokens and its price count when it is answered.
    """

    def __init__(
        self, settings: str, *, n_requests: int | None, n_tokens: int | None, usd: float | None = None
    ) -> None:
        """settings: what the names of the settings that hold the limits begin with. None: no limit."""
        self._settings = settings
        self._limits = n_requests, n_tokens, usd
        self._lock = Lock()
        self._n_requests = 0
        self._answered = Usage()

    @property
    def spent(self) -> Usage:
        """Requests sent (failed ones included), tokens and cost so far; the cost is None once a price was not known."""
        with self._lock:
            return replace(self._answered, n_requests=self._n_requests)

    def admit(self) -> None:
        """Count one request that is about to be sent; raises as `check` instead."""
        with self._lock:
            self.check()
            self._n_requests += 1

    def charge(self, usage: Usage) -> None:
        """Count the tokens and the cost of an answered request."""
        with self._lock:
            self._answered = summed([self._answered, usage])

    def check(self) -> None:
        """Raises what `exhausted` makes when a limit is reached. Money counts where prices are known."""
        answered = self._answered
        n_tokens = answered.n_input_tokens + answered.n_output_tokens
        spent = ("requests", self._n_requests), ("tokens", n_tokens), ("usd", answered.cost_usd or 0.0)
        for (what, amount), limit in zip(spent, self._limits, strict=True):
            if limit is not None and amount >= limit:
                raise self.exhausted(f"{round(amount, 4)} of {limit} {what}", what)

    def exhausted(self, reached: str, limit: str) -> BudgetExhausted | QuestionBudgetExhausted:
        """The error for a limit that is reached, named as the end of its setting."""
        raise NotImplementedError


class QuestionBudget(_Budget):
    """Counts what is sent while it is in force, and refuses the request that would follow when a limit is reached."""

    def __init__(self, limits: ThoroughSettings, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(
            "answering.thorough.max_", n_requests=limits.max_requests, n_tokens=limits.max_tokens, usd=limits.max_usd
        )
        self._clock = clock
        self._max_seconds = math.inf if limits.max_seconds is None else limits.max_seconds
        self._ends_at_s = clock() + self._max_seconds

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
        super().check()
        if not self.seconds_left:
            raise self.out_of_time()

    def out_of_time(self) -> QuestionBudgetExhausted:
        return self.exhausted(f"{self._max_seconds:g} seconds have passed", "seconds")

    def exhausted(self, reached: str, limit: str) -> QuestionBudgetExhausted:
        return QuestionBudgetExhausted(f"The question has spent its budget: {reached} ({self._settings}{limit}).")


_IN_FORCE: ContextVar[QuestionBudget | None] = ContextVar("question_budget", default=None)


def budget_in_force() -> QuestionBudget | None:
    """The budget of the question that the current context works on; None where it has none of its own."""
    return _IN_FORCE.get()


class RunBudget(_Budget):
    """Shared by every connection of a run. What is sent for a question with a budget of its own counts there too."""

    def __init__(self, limits: ModelAccessSettings) -> None:
        super().__init__(
            "model_access.budget_",
            n_requests=limits.budget_requests,
            n_tokens=limits.budget_tokens,
            usd=limits.budget_usd,
        )

    def since(self, earlier: Usage) -> Usage:
        """The spending after `earlier`, an older value of `spent`."""
        now = self.spent
        cost = None if now.cost_usd is None or earlier.cost_usd is None else now.cost_usd - earlier.cost_usd
        return Usage(
            now.n_requests - earlier.n_requests,
            now.n_input_tokens - earlier.n_input_tokens,
            now.n_output_tokens - earlier.n_output_tokens,
            cost,
        )

    def admit(self) -> None:
        if (question := budget_in_force()) is not None:
            question.admit()
        super().admit()

    def charge(self, usage: Usage) -> None:
        if (question := budget_in_force()) is not None:
            question.charge(usage)
        super().charge(usage)

    def exhausted(self, reached: str, limit: str) -> BudgetExhausted:
        return BudgetExhausted(
            f"The run has spent its budget: {reached} ({self._settings}{limit}). What is done is kept, and the next "
            "run goes on from there; raise the setting to do more in one run."
        )
