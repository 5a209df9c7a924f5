"""What one run may spend on models, and what it has spent."""

from dataclasses import replace
from threading import Lock

from rag_assets.domain import Usage, summed
from rag_assets.errors import BudgetExhausted
from rag_assets.hosted.question_budget import budget_in_force
from rag_assets.settings import ModelAccessSettings


class RunBudget:
    """Counts requests, tokens and money of one run; refuses the request that would follow when a limit is reached.

    Shared by every connection of a run; safe to use from several threads. What is sent for a question with a budget of
    its own counts there too.
    """

    def __init__(self, settings: ModelAccessSettings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._n_requests = 0
        self._answered = Usage()

    @property
    def spent(self) -> Usage:
        """Requests sent (failed ones included), tokens and cost so far; the cost is None once a price was not known."""
        with self._lock:
            return replace(self._answered, n_requests=self._n_requests)

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
        """Count one request that is about to be sent. Raises BudgetExhausted instead when a limit is reached, or
        QuestionBudgetExhausted."""
        if (question := budget_in_force()) is not None:
            question.admit()
        with self._lock:
            if reached := self._reached():
                raise BudgetExhausted(
                    f"The run has spent its budget: {reached}. What is done is kept, and the next run goes on from "
                    "there; raise the setting to do more in one run."
                )
            self._n_requests += 1

    def charge(self, usage: Usage) -> None:
        """Count the tokens and the cost of an answered request."""
        if (question := budget_in_force()) is not None:
            question.charge(usage)
        with self._lock:
            self._answered = summed([self._answered, usage])

    def _reached(self) -> str:
        limits = self._settings
        n_tokens = self._answered.n_input_tokens + self._answered.n_output_tokens
        if limits.budget_requests is not None and self._n_requests >= limits.budget_requests:
            return f"{self._n_requests} requests (model_access.budget_requests)"
        if limits.budget_tokens is not None and n_tokens >= limits.budget_tokens:
            return f"{n_tokens} of {limits.budget_tokens} tokens (model_access.budget_tokens)"
        cost = self._answered.cost_usd
        if limits.budget_usd is not None and cost is not None and cost >= limits.budget_usd:
            return f"{cost:.4f} of {limits.budget_usd} US dollars (model_access.budget_usd)"
        return ""
