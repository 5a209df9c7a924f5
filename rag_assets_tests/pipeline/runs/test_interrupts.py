"""What a first and a second Ctrl-C do to a command."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rag_assets.pipeline.runs.materialize import interruptible

DEADLINE_S = 60.0
STUCK = """
import hashlib, time
from rag_assets.pipeline.runs.materialize import interruptible
with interruptible() as interruption:
    try:
        print("ready", flush=True)
        while True:
            time.sleep(0.05)
    except KeyboardInterrupt:
        print("tidying up", flush=True)
        hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # minutes inside a library
"""


@contextmanager
def python(code: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_second_signal_ends_a_process_that_is_stuck(number: signal.Signals, code: int) -> None:
    """Tidying up can hang in a library, and then only kill -9 would help."""
    with python(STUCK) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.readline() == "tidying up\n"

        process.send_signal(number)

        assert process.wait(DEADLINE_S) == code
        assert (
            process.stderr.read().strip()
            == "Ending, and keeping what is done. Once more ends it at once."
        )


def test_a_block_that_is_not_ended_leaves_signals_as_they_were() -> None:
    """Whoever calls a command from Python keeps their own handlers."""
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))

    with interruptible() as interruption:
        within = signal.getsignal(signal.SIGTERM)

    assert within is signal.default_int_handler
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert interruption.numbers == []
