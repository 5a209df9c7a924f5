"""What serves the Dagster UI of one data folder: Dagster's web application, its code server and its
daemon.

Dagster's own command for all three, `dagster dev`, lets in every page that is open in a browser. So
the application is made here, and served behind the guards of `faces.listening`. Dagster has no
public name for what makes it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

import dagster as dg
from dagster._cli.proxy_server_manager import ProxyServerManager
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import ModuleTarget, WorkspaceFileTarget
from dagster_webserver.app import create_app_from_workspace_process_context

import rag_assets

_DEFINITIONS = ModuleTarget(
    "rag_assets.definitions", None, str(Path(rag_assets.__file__).parents[1]), "rag_assets"
)
"""Dagster puts the working directory on Python's path, so that is the folder of the package, not
that of the user."""
_LOG_LEVEL = "warning"
_DAEMON = """
import os, signal, sys, threading, time

def end_with(starter):
    while os.getppid() == starter:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=end_with, args=(int(sys.argv.pop(1)),), daemon=True).start()
from dagster._daemon.cli import main
main()
"""
"""Dagster's daemon, which ends with the process that started it: after a kill of that process, it
would start each night's run a second time, beside the daemon of the next UI."""
_POLL_MS = 2000
_PATIENCE_S = 60


@contextmanager
def dagster_ui(home: Path, ended: Callable[[], None]) -> Iterator[Any]:
    """Dagster's web application (ASGI) over the history in `home`; meanwhile its daemon runs sensor
    and schedule.

    ended: called from a thread when the daemon ends by itself.
    """
    with (
        dg.DagsterInstance.from_config(str(home)) as instance,
        ProxyServerManager(instance, _DEFINITIONS, _LOG_LEVEL) as code_servers,
        TemporaryDirectory() as folder,
    ):
        workspace = Path(folder) / "workspace.yaml"
        servers = list(code_servers.get_code_server_specs())
        workspace.write_text(json.dumps({"load_from": servers}), "utf-8")  # YAML reads JSON
        target = WorkspaceFileTarget([str(workspace)])
        with (
            _daemon(workspace, ended),
            WorkspaceProcessContext(instance, target, dg.__version__) as context,
        ):
            yield create_app_from_workspace_process_context(context, live_data_poll_rate=_POLL_MS)


@contextmanager
def _daemon(workspace: Path, ended: Callable[[], None]) -> Iterator[None]:
    """The daemon as a process, for as long as the block takes."""
    options = ["run", "--log-level", _LOG_LEVEL, "--workspace", str(workspace)]
    command = [sys.executable, "-c", _DAEMON, str(os.getpid()), *options]
    is_over = Event()

    def watch() -> None:
        daemon.wait()
        if not is_over.is_set():
            ended()

    with subprocess.Popen(command) as daemon:  # noqa: S603 - our own interpreter and module
        watching = Thread(target=watch, daemon=True)
        watching.start()
        try:
            yield
        finally:
            is_over.set()
            daemon.terminate()
            watching.join(_PATIENCE_S)
            daemon.kill()
