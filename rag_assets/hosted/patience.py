"""How long a run that sends many requests goes on after some of them failed."""

from threading import Lock

from rag_assets.errors import AccessDenied, BudgetExhausted, ModelUnavailable, RagAssetsError

_MOST_FAILURES_IN_A_ROW = 3
"""So many requests that a provider does not answer, and the others are not tried."""


class Patience:
    """What the threads of one run share: whether to go on. Safe to use from several threads."""

    def __init__(self) -> None:
        self.stopped_by: RagAssetsError | None = None
        """Why nothing more is asked; None while the run goes on."""
        self.first_fault: RagAssetsError | None = None
        self._lock = Lock()
        self._n_failures_in_a_row = 0

    def stop(self) -> None:
        """Begin nothing more."""
        self.stopped_by = self.stopped_by or RagAssetsError("The run was ended.")

    def answered(self) -> None:
        with self._lock:
            self._n_failures_in_a_row = 0

    def failed(self, fault: RagAssetsError) -> None:
        """Count a fault; a spent budget, refused access or a provider that is down ends the asking."""
        with self._lock:
            self.first_fault = self.first_fault or fault
            self._n_failures_in_a_row += isinstance(fault, ModelUnavailable)  # what is rejected may be this one only
            is_last = self._n_failures_in_a_row >= _MOST_FAILURES_IN_A_ROW
            if is_last or isinstance(fault, (AccessDenied, BudgetExhausted)):
                self.stopped_by = self.stopped_by or fault
