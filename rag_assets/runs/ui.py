"""The Dagster UI of one data folder: its webserver and its daemon, started together and ended together."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

import rag_assets
from rag_assets.errors import UIUnavailable
from rag_assets.runs.history import HOME_VARIABLE, dagster_home, opened_instance
from rag_assets.settings import DATA_DIR_VARIABLE, Settings

_CODE = ("--module-name", "rag_assets.definitions", "--working-directory", str(Path(rag_assets.__file__).parents[1]))
"""Dagster puts a folder on Python's path: that of the package here, else the working folder."""
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Keeps Python from doing the same, in these processes and those they start: a file that lies in the working folder
could otherwise stand for a library."""
_LOOK_EVERY_S = 0.2
_PATIENCE_S = 15.0


def serve(settings: Settings, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve the UI of `settings.data_dir` at an address until SIGINT, SIGTERM or SIGHUP; then return.

    Sensor, schedule and the runs started in the UI write the same data folder and the same history as the command line.
    A run that is under way when the UI ends goes on to its own end.

    announce: called with the address. Raises UIUnavailable when the port is taken, the UI of this folder runs already
    or one of its two processes ends, and ReadOnlyFolder when the history cannot be written.
    """
    _demand_free(host, port)
    home = dagster_home(settings.paths)
    lock = FileLock(home / "ui.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise UIUnavailable(
            f"The UI of {settings.data_dir} is running already. Use it, or end it with Ctrl-C where it was started."
        ) from error
    opened_instance(home).dispose()  # makes the tables of a new history, which two processes at once would spoil
    environment = {
        **os.environ,
        **_SAFE_PATH,
        HOME_VARIABLE: str(home),
        DATA_DIR_VARIABLE: str(settings.data_dir),
    }
    commands = {
        "webserver": ["-m", "dagster_webserver", *_CODE, "--host", host, "--port", str(port)],
        "daemon": ["-m", "dagster._daemon", "run", *_CODE, "--log-level", "warning"],
    }
    with lock, _ended_by_signals(), _running(commands, environment) as processes:
        announce(f"http://{host}:{port}")
        _watch(processes)


def _demand_free(host: str, port: int) -> None:
    other = port + 1 if 1024 <= port < 65535 else 3001
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UIUnavailable(
                f"Port {port} is taken by another program, or needs more rights ({error.strerror}). End that program "
                f"or choose another port: --port {other} (make ui PORT={other})."
            ) from error


class _Ended(BaseException):
    """A signal asks for the end; no Exception, so that nothing on the way takes it for a fault."""


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Leave the block quietly at the first signal that asks for the end."""

    def end(_number: int, _frame: object) -> None:
        raise _Ended

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except _Ended:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _running(
    commands: Mapping[str, list[str]], environment: Mapping[str, str]
) -> Iterator[dict[str, "subprocess.Popen[bytes]"]]:
    """The processes of these Python commands by name, all ended with the block.

    Each is the leader of a session, so that a Ctrl-C in the terminal reaches only us, and they are ended in order.
    """
    processes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, arguments in commands.items():
            processes[name] = subprocess.Popen(  # noqa: S603 - our own interpreter and modules
                [sys.executable, *arguments], env=dict(environment), start_new_session=True
            )
        yield processes
    finally:
        for process in processes.values():
            process.send_signal(signal.SIGINT)
        for process in processes.values():
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _watch(processes: Mapping[str, "subprocess.Popen[bytes]"]) -> None:
    while True:
        for name, process in processes.items():
            if process.poll() is not None:
                raise UIUnavailable(
                    f"The {name} of the UI ended by itself (exit code {process.returncode}); its messages are above."
                )
        time.sleep(_LOOK_EVERY_S)
