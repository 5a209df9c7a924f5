"""The Dagster UI of one data folder: `dagster dev` as a process, which serves the UI and runs sensor and schedule."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock, Timeout

import rag_assets
from rag_assets.core.errors import UIUnavailable
from rag_assets.core.settings import DATA_DIR_VARIABLE, Settings
from rag_assets.pipeline.runs.history import HOME_VARIABLE, dagster_home, opened_instance

_ADVICE = "Function `dev_command` is superseded"
"""Dagster's advice to install another program, `dg`."""
_DAGSTER_DEV = (sys.executable, "-W", f"ignore:{_ADVICE}", "-m", "dagster", "dev", "--log-level", "warning")
_CODE = (
    "--module-name",
    "rag_assets.definitions",
    "--working-directory",
    str(Path(rag_assets.__file__).parents[1]),
)
"""Dagster puts the working directory on Python's path, so that is the folder of the package, not that of the user."""
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Keeps Python from putting the working folder on its path: a file in it could be imported in place of a library."""


def serve(settings: Settings, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve the UI of `settings.data_dir` at an address until SIGINT, SIGTERM or SIGHUP; then return.

    Sensor, schedule and the runs started in the UI write the same data folder and the same history as the command line.
    A run that is under way when the UI ends goes on to its own end.

    announce: called with the address. Raises UIUnavailable when the port is taken, the UI of this folder runs already
    or Dagster ends by itself, and ReadOnlyFolder when the history cannot be written.
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
    folders = {HOME_VARIABLE: str(home), DATA_DIR_VARIABLE: str(settings.data_dir)}
    with (
        lock,
        subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*_DAGSTER_DEV, *_CODE, "--host", host, "--port", str(port)],
            env={**os.environ, **_SAFE_PATH, **folders},
            start_new_session=True,  # so that a Ctrl-C in the terminal reaches it once, through us
        ) as dagster_dev,
    ):
        signals: list[int] = []

        def end(number: int, _frame: object) -> None:
            if not signals:  # a second one would keep Dagster from ending its own processes
                dagster_dev.send_signal(signal.SIGINT)
            signals.append(number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        announce(f"http://{host}:{port}")
        code = dagster_dev.wait()
    if not signals:
        raise UIUnavailable(f"Dagster ended by itself (exit code {code}); its messages are above.")


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
