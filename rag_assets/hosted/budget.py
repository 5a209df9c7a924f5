"""What requests cost, and what one run and one question may spend on models.

Prices come from the list in genai-prices; none is fetched. A price is known only for a provider's
own models at its own address; Ollama costs nothing.
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

    A request counts when it is sent, even if it fails; its tokens and its price count when it is
    answered. Safe to use from several threads.
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
        """limits: requests, tokens and US dollars; None for no limit. message: of the error, with
        places for the limit that was reached and the last part of its setting's name."""
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
        """Requests sent (failed ones included), tokens and cost so far; the cost is None once a
        price was unknown."""
        with self._lock:
            return replace(self._answered, n_requests=self._n_requests)

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._ends_at_s - self._clock())

    def since(self, earlier: Usage) -> Usage:
        """The spending after `earlier`, an older value of `spent`."""
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
        """Count one request that is about to be sent. Raises as `check`."""
        with self._lock:
            self.check()
            self._n_requests += 1

    def charge(self, usage: Usage) -> None:
        """Count the tokens and the cost of an answered request."""
        with self._lock:
            self._answered = summed([self._answered, usage])

    def check(self) -> None:
        """Raises BudgetExhausted or QuestionBudgetExhausted when a limit is reached; unknown prices
        count as 0."""
        answered = self._answered
        n_tokens = answered.n_input_tokens + answered.n_output_tokens
        spent = (
            ("requests", self._n_requests),
            ("tokens", n_tokens),
            ("usd", answered.cost_usd or 0.0),
        )
        for (what, amount), limit in zip(spent, self._limits, strict=True):
            if limit is not None and amount >= limit:
                raise self._error(
                    self._message.format(f"{round(amount, 4)} of {limit} {what}", what)
                )
        if not self.seconds_left:
            raise self.out_of_time()

    def out_of_time(self) -> BudgetExhausted | QuestionBudgetExhausted:
        return self._error(
            self._message.format(f"{self._max_seconds:g} seconds have passed", "seconds")
        )

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Counts the requests of this context; a connection takes the context over to the thread
        that sends them."""
        token = _IN_FORCE.set(self)
        try:
            yield
        finally:
            _IN_FORCE.reset(token)


_IN_FORCE: ContextVar[Budget | None] = ContextVar("question_budget", default=None)


def budget_in_force() -> Budget | None:
    """The budget of the question that the current context works on; None if it has no budget of its
    own."""
    return _IN_FORCE.get()


def question_budget(
    settings: ThoroughSettings, clock: Callable[[], float] = time.monotonic
) -> Budget:
    message = "The question has spent its budget: {} (answering.thorough.max_{})."
    limits = settings.max_requests, None, None
    return Budget(
        QuestionBudgetExhausted, message, limits=limits, seconds=settings.max_seconds, clock=clock
    )


def unlimited() -> Budget:
    """Counts what a question costs that has no limits of its own."""
    return Budget(QuestionBudgetExhausted, "", limits=(None, None, None))


def run_budget(settings: ModelAccessSettings) -> Budget:
    """The budget that all connections of a run share."""
    message = (
        "The run has spent its budget: {} (model_access.budget_{}). What is done is kept, and the next run goes on "
        "from there; raise the setting to do more in one run."
    )
    limits = settings.budget_requests, settings.budget_tokens, settings.budget_usd
    return Budget(BudgetExhausted, message, limits=limits)


def usage_of(model: ModelName, access: Access, used: "RequestUsage") -> Usage:
    """The usage of one answered request; its cost is None if the price is unknown."""
    return Usage(1, used.input_tokens, used.output_tokens, _cost_usd(model, access, used))


def require_model(model: ModelName, settings: ModelAccessSettings) -> None:
    """Check, before any work is done, that a model can be asked within the budget.

    Raises MissingKey, InvalidSettings as `require_access` and `require_price`.
    """
    access = require_access(model.provider)
    if settings.budget_usd is not None:
        require_price(model, access)


def require_price(model: ModelName, access: Access) -> None:
    """Raises InvalidSettings if the price of `model` is unknown: a budget in money could not be
    kept."""
    from pydantic_ai.usage import RequestUsage

    if _cost_usd(model, access, RequestUsage(input_tokens=1, output_tokens=1)) is None:
        raise InvalidSettings(
            f"model_access.budget_usd is set, but the price of {model} is not known here. Set "
            "model_access.budget_tokens or budget_requests instead."
        )


def _cost_usd(model: ModelName, access: Access, used: "RequestUsage") -> float | None:
    if PROVIDERS[model.provider].is_free:
        return 0.0
    if access.server:
        return None
    from genai_prices import calc_price

    try:
        return float(calc_price(used, model.name, provider_id=model.provider).total_price)
    except (LookupError, ValueError):
        # not on the list; or counts that contradict each other, as some servers send
        return None
