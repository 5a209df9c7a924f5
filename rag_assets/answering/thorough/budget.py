"""What one thorough answer may cost before no further step is begun."""

from dataclasses import dataclass, field
from time import monotonic

from rag_assets.domain import Usage, summed
from rag_assets.settings import ThoroughSettings


@dataclass
class StepBudget:
    """Counts what the steps of one answer have cost. Replies that were cached cost nothing."""

    settings: ThoroughSettings
    spent: Usage = field(default_factory=Usage)
    began: float = field(default_factory=monotonic)

    def spend(self, usage: Usage) -> None:
        self.spent = summed([self.spent, usage])

    def exhausted_by(self) -> str:
        """Which limit forbids a further step, in words; empty while none does. Money counts where prices are known."""
        limits, spent = self.settings, self.spent
        if spent.n_requests >= limits.max_requests:
            return f"{limits.max_requests} requests were made"
        if spent.n_input_tokens + spent.n_output_tokens >= limits.max_tokens:
            return f"{limits.max_tokens} tokens were used"
        if limits.max_usd is not None and (spent.cost_usd or 0.0) >= limits.max_usd:
            return f"{limits.max_usd:g} USD were spent"
        if monotonic() - self.began >= limits.max_seconds:
            return f"{limits.max_seconds:g} seconds have passed"
        return ""
