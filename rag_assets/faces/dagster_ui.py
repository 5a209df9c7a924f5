"""The Dagster UI of one data folder, behind the guards of the other servers.

Dagster's server takes orders from links (`GET /graphql?query=mutation...`) and from forms, which
every page may send. Here an order is a POST of JSON, which browsers send for pages of other sites
only if the server agrees: it does not.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from socket import socket
from threading import Event

import uvicorn
from filelock import FileLock, Timeout
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Scope

import rag_assets
from rag_assets.core.errors import UIUnavailable
from rag_assets.core.settings import DATA_DIR_VARIABLE, ServerSettings, Settings
from rag_assets.faces.listening import (
    address_of,
    guarded,
    guards,
    listening_socket,
    server_config,
    signals_left_to_uvicorn,
)
from rag_assets.faces.server.middleware import Checked
from rag_assets.faces.server.problems import ProblemError
from rag_assets.pipeline.runs.locks import (
    HOME_VARIABLE,
    dagster_home,
    end_dead_runs,
    opened_instance,
)

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Besides those that Dagster sends with its page."""
_SHUTDOWN_S = 2
_READY = b"."
_SERVER = (
    "import sys; sys.path.append(sys.argv[1]); from rag_assets.faces.dagster_ui import main; main()"
)
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Keeps Python from putting the working folder on its path: a file in it could be imported in place
of a library."""


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve the UI of `settings.data_dir` at `settings.server` until SIGINT, SIGTERM or SIGHUP;
    then return.

    Sensor, schedule and the runs started in the UI write the same data folder and the same history
    as the command line. A run that is under way when the UI ends goes on to its own end, so all of
    Dagster is in a session of its own, which a Ctrl-C in the terminal does not reach.

    announce: called with the address once the page is there. Raises ServerUnavailable when the port
    is taken, UIUnavailable when the UI of this folder runs already or Dagster ends by itself,
    ReadOnlyFolder when the history cannot be written.
    """
    limits = settings.server
    with listening_socket(limits) as listening:
        home = dagster_home(settings.paths)
        try:
            lock = FileLock(home / "ui.lock", timeout=0).acquire()
        except Timeout as error:
            raise UIUnavailable(
                f"The UI of {settings.data_dir} is running already. Use it, or end it with Ctrl-C where it was started."
            ) from error
        # makes the tables of a new history, which two processes at once would spoil
        with opened_instance(home) as instance:
            end_dead_runs(instance)
        servers: list[subprocess.Popen[bytes]] = []
        signals: list[int] = []

        def end(number: int, _frame: object) -> None:
            if (
                not signals and servers
            ):  # a second one would keep Dagster from ending its own processes
                servers[0].send_signal(signal.SIGTERM)
            signals.append(number)

        # before the process starts: it inherits that a shell lets jobs in the background ignore
        # Ctrl-C, but no handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, end)
        reading, writing = os.pipe()
        with lock, _started(settings, home, listening, writing) as server:
            servers.append(server)
            if signals:
                server.send_signal(signal.SIGTERM)
            os.close(writing)
            if os.read(reading, 1) == _READY:
                announce(address_of(limits, listening.getsockname()[1]))
            code = server.wait()
    if not signals:
        raise UIUnavailable(f"Dagster ended by itself (exit code {code}); its messages are above.")


def _started(
    settings: Settings, home: Path, listening: socket, ready: int
) -> "subprocess.Popen[bytes]":
    given = {
        "home": str(home),
        "listening": listening.fileno(),
        "ready": ready,
        "server": settings.server.model_dump(),
    }
    folders = {HOME_VARIABLE: str(home), DATA_DIR_VARIABLE: str(settings.data_dir)}
    return subprocess.Popen(  # noqa: S603 - our own interpreter and module
        [
            sys.executable,
            "-c",
            _SERVER,
            str(Path(rag_assets.__file__).parents[1]),
            json.dumps(given),
        ],
        env={**os.environ, **_SAFE_PATH, **folders},
        pass_fds=[listening.fileno(), ready],
        start_new_session=True,
    )


def main() -> None:
    """The process of the server. Its second argument is the JSON that `_started` gives it."""
    from rag_assets.pipeline.runs.ui import dagster_ui

    given = json.loads(sys.argv[2])
    limits = ServerSettings(**given["server"])
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # while Dagster starts; then the web server has its own
    ended = Event()
    with suppress(KeyboardInterrupt), dagster_ui(Path(given["home"]), ended.set) as app:
        server = _UIServer(ui_config(app, limits))
        starter = os.getppid()
        server.is_ended = lambda: ended.is_set() or os.getppid() != starter
        os.write(given["ready"], _READY)
        with signals_left_to_uvicorn():
            server.run([socket(fileno=given["listening"])])
    sys.exit(ended.is_set())


def ui_config(app: ASGIApp, limits: ServerSettings) -> uvicorn.Config:
    """How Dagster's web application is served."""
    layers = [
        Middleware(Checked, check=_orders_are_json),
        *guards(limits, None, paths=("/",), headers=_HEADERS),
    ]
    return server_config(guarded(app, layers), shutdown_s=_SHUTDOWN_S, websockets="auto")


class _UIServer(uvicorn.Server):
    """Ends with the daemon, without which no run would begin, and with the command that started
    it, which cannot end it when it is killed."""

    is_ended: Callable[[], bool]

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self.is_ended()


async def _orders_are_json(scope: Scope) -> None:
    """For `Checked`: refuses what pages of other sites can send without asking the server first."""
    if scope["type"] == "http" and not _is_safe(scope):
        raise ProblemError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "not-json",
            "Orders are sent as JSON",
            "Send a POST with the header Content-Type: application/json.",
        )


def _is_safe(scope: Scope) -> bool:
    if scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return not (scope["path"] == "/graphql" and scope["query_string"])
    return (
        Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        == "application/json"
    )
