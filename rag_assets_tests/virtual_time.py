"""An event loop whose clock is moved, not waited for: tests of pauses and rates are exact and take
no time."""

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

Result = TypeVar("Result")


_TURN_S = 1e-6
"""What one turn of the loop takes: with a clock that stands still, a wait that was cut short by
rounding never ends."""


class _SkippingSelector(selectors.SelectSelector):
    """Instead of waiting for the next timer, moves the clock on to it."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now_s += max(timeout or 0.0, _TURN_S)
        return super().select(0)


class _VirtualLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return self._skipping.now_s


def run_in_virtual_time(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run `work` on a loop that starts at 0 s and skips every wait; nothing in it may wait for
    another thread."""
    return anyio.run(work, backend_options={"loop_factory": _VirtualLoop})
