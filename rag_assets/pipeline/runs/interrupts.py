"""Ending a command by Ctrl-C or SIGTERM: the first signal lets it tidy up, the second ends the
process at once.

Python's signal handlers run only between two steps of the main thread, and Dagster installs its own
while an asset is made. They handle the first signal, which raises KeyboardInterrupt or Dagster's
own exception. A separate thread counts the signals and ends the process at the second one, even
while the main thread is inside a library.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOP = b"\0"
_EXIT_OF_SIGNAL = 128


@dataclass
class Interruption:
    """Whether the user has asked for the end of a command."""

    numbers: list[int] = field(default_factory=list)
    """The signals that came, in order."""

    @property
    def number(self) -> int:
        """The first of them; Ctrl-C while it has raised KeyboardInterrupt and is not counted
        yet."""
        return self.numbers[0] if self.numbers else signal.SIGINT

    @property
    def exit_code(self) -> int:
        """The exit code that shells use: 130 after Ctrl-C, 143 after SIGTERM."""
        return _EXIT_OF_SIGNAL + self.number


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Within the block SIGINT and SIGTERM raise KeyboardInterrupt, and a second one ends the
    process at once.

    Outside the main thread, where signals do not arrive, nothing is changed.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = {number: signal.signal(number, signal.default_int_handler) for number in _SIGNALS}
    watcher = threading.Thread(target=_watch, args=(reading, interruption), daemon=True)
    watcher.start()
    former_wakeup = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    try:
        yield interruption
    finally:
        signal.set_wakeup_fd(former_wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.write(writing, _STOP)
        watcher.join()
        os.close(reading)
        os.close(writing)


def _watch(reading: int, interruption: Interruption) -> None:
    """Count the signals that arrive in the pipe, until the block ends."""
    while (received := os.read(reading, 1)) != _STOP:
        if received[0] not in _SIGNALS:
            continue
        interruption.numbers.append(received[0])
        if len(interruption.numbers) == 1:
            sys.stderr.write("\nEnding, and keeping what is done. Once more ends it at once.\n")
            sys.stderr.flush()
        else:
            os._exit(interruption.exit_code)
