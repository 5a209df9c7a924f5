"""What requests cost, and how much a run or a question may spend on models.

Prices come from the list in the package genai-prices; none is downloaded. A price is known only for
a provider's own models at its own address. Ollama costs nothing.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from rag_assets.core.domain import Usage, summed
from rag_assets.core.errors import BudgetExhausted, InvalidSettings, QuestionBudgetExhausted
from rag_assets.core.settings import ModelAccessSettings, ThoroughSettings
from rag_assets.hosted.access import PROVIDERS, Access, ModelName, require_access

if TYPE_CHECKING:
    from pydantic_ai.usage import RequestUsage


class Budget:
    """Counts requests, tokens and cost, and refuses further requests when a limit is reached.

    A request is counted when it is sent, even if it fails. Its tokens and its price are counted
    when it is answered. Safe to use from several threads.
    """

    def __init__(
        self,
        error: type[BudgetExhausted | QuestionBudgetExhausted],
        message: str,
        *,
        limits: tuple[int | None, int | None, float | None],
        seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """limits: of requests, tokens and US dollars; None for no limit. seconds: limit of time
        from now on. message: text of the error; its first {} is filled with the limit that was
        reached, its second {} with the last part of the setting's name."""
        self._error, self._message = error, message
        self._limits = limits
        self._max_seconds = math.inf if seconds is None else seconds
        self._clock = clock
        self._ends_at_s = clock() + self._max_seconds
        self._lock = Lock()
        self._n_requests = 0
        self._answered = Usage()

    @property
    def spent(self) -> Usage:
        """Requests sent (including failed ones), tokens and cost so far. The cost is None if a
        price was unknown."""
        with self._lock:
            return replace(self._answered, n_requests=self._n_requests)

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit; infinite without one."""
        return max(0.0, self._ends_at_s - self._clock())

    def since(self, earlier: Usage) -> Usage:
        """What was spent after `earlier`, an earlier value of `spent`."""
        now = self.spent
        cost = (
            None
            if now.cost_usd is None or earlier.cost_usd is None
            else now.cost_usd - earlier.cost_usd
        )
        return Usage(
            now.n_requests - earlier.n_requests,
            now.n_input_tokens - earlier.n_input_tokens,
            now.n_output_tokens - earlier.n_output_tokens,
            cost,
        )

    def admit(self) -> None:
        """Count a request that is about to be sent. Raises like `check`."""
        with self._lock:
            self.check()
            self._n_requests += 1

    def charge(self, usage: Usage) -> None:
        """Count the tokens and the cost of an answered request."""
        with self._lock:
            self._answered = summed([self._answered, usage])

    def check(self) -> None:
        """Raises BudgetExhausted or QuestionBudgetExhausted if a limit is reached. Unknown prices
        count as 0."""
        answered = self._answered
        n_tokens = answered.n_input_tokens + answered.n_output_tokens
        spent = (
            ("requests", self._n_requests),
            ("tokens", n_tokens),
            ("usd", answered.cost_usd or 0.0),
        )
        for (unit, amount), limit in zip(spent, self._limits, strict=True):
            if limit is not None and amount >= limit:
                raise self._error(
                    self._message.format(f"{round(amount, 4)} of {limit} {unit}", unit)
                )
        if not self.seconds_left:
            raise self.out_of_time()

    def out_of_time(self) -> BudgetExhausted | QuestionBudgetExhausted:
        """The error for a time limit that was reached."""
        return self._error(
            self._message.format(f"{self._max_seconds:g} seconds have passed", "seconds")
        )

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Count the requests of this context (a `with` block) in this budget. A connection sends
        requests in another thread, with the same context."""
        token = _IN_FORCE.set(self)
        try:
            yield
        finally:
            _IN_FORCE.reset(token)


_IN_FORCE: ContextVar[Budget | None] = ContextVar("question_budget", default=None)


def budget_in_force() -> Budget | None:
    """The budget of the question in the current context; None if there is none."""
    return _IN_FORCE.get()


def question_budget(
    settings: ThoroughSettings, clock: Callable[[], float] = time.monotonic
) -> Budget:
    """The budget of one question with the limits of the settings."""
    message = "The question has spent its budget: {} (answering.thorough.max_{})."
    limits = settings.max_requests, None, None
    return Budget(
        QuestionBudgetExhausted, message, limits=limits, seconds=settings.max_seconds, clock=clock
    )


def unlimited() -> Budget:
    """A budget without limits, to count what a question costs."""
    return Budget(QuestionBudgetExhausted, "", limits=(None, None, None))


def run_budget(settings: ModelAccessSettings) -> Budget:
    """The budget that all connections of a run share."""
    message = (
        "The run has spent its budget: {} (model_access.budget_{}). What is done is kept, and the next run goes on "
        "from there; raise the setting to do more in one run."
    )
    limits = settings.budget_requests, settings.budget_tokens, settings.budget_usd
    return Budget(BudgetExhausted, message, limits=limits)


def usage_of(model: ModelName, access: Access, request_usage: "RequestUsage") -> Usage:
    """The tokens and the cost of one answered request. The cost is None if the price is unknown."""
    return Usage(
        1,
        request_usage.input_tokens,
        request_usage.output_tokens,
        _cost_usd(model, access, request_usage),
    )


def require_model(model: ModelName, settings: ModelAccessSettings) -> None:
    """Check, before any work is done, that a model can be asked within the budget.

    Raises MissingKey or InvalidSettings like `require_access` and `require_price`.
    """
    access = require_access(model.provider)
    if settings.budget_usd is not None:
        require_price(model, access)


def require_price(model: ModelName, access: Access) -> None:
    """Raises InvalidSettings if the price of `model` is unknown, since a budget in money cannot be
    kept then."""
    from pydantic_ai.usage import RequestUsage

    if _cost_usd(model, access, RequestUsage(input_tokens=1, output_tokens=1)) is None:
        raise InvalidSettings(
            f"model_access.budget_usd is set, but the price of {model} is not known here. Set "
            "model_access.budget_tokens or budget_requests instead."
        )


def _cost_usd(model: ModelName, access: Access, request_usage: "RequestUsage") -> float | None:
    """The cost of a request in US dollars; None if the price is unknown."""
    if PROVIDERS[model.provider].is_free:
        return 0.0
    if access.server:
        return None
    from genai_prices import calc_price

    try:
        return float(calc_price(request_usage, model.name, provider_id=model.provider).total_price)
    except (LookupError, ValueError):
        # the model is not in the list, or the server sent counts that contradict each other
        return None
