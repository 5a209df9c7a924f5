"""Ends work that would go on for ever, such as a regular expression that backtracks.

The limit only guards against hanging: inputs are chosen so that linear work takes less than a
second and quadratic work minutes. CPU time of this process is counted, so that a busy machine
changes nothing.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

CPU_LIMIT_S = 20.0


class _LimitReached(BaseException):
    """Not an Exception, so that the code under test cannot take it for an error of its own."""


@contextmanager
def ends_in_time() -> Iterator[None]:
    """Fail the test if the work inside is still busy after `CPU_LIMIT_S` of CPU time."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    try:
        yield
    except _LimitReached:
        pytest.fail(
            f"not done after {CPU_LIMIT_S:.0f} s of CPU time: the work grows faster than its input"
        )
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(_signal: int, _frame: FrameType | None) -> None:
    raise _LimitReached
