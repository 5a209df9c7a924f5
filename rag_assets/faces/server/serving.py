"""The server as a process: bound to its address before anything else, ended by one Ctrl-C."""

import asyncio
import logging
import os
import socket
import sys
from collections.abc import Callable
from time import monotonic, sleep

import uvicorn
from fastapi import FastAPI

from rag_assets.core.settings import Settings
from rag_assets.faces.listening import (
    address_of,
    listening_socket,
    required_token,
    server_config,
    signals_left_to_uvicorn,
)
from rag_assets.faces.server.app import create_app
from rag_assets.faces.server.dependencies import Shared

SHUTDOWN_S = 5
"""Seconds that answers under way may take after Ctrl-C."""
_AFTER_STOP_S = 2


def serve(settings: Settings, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; answers under way then have `SHUTDOWN_S` to end. A second one
    ends at once.

    announce: called with the address once it listens. Raises InvalidSettings for a missing or weak
    token, ServerUnavailable when the address is taken.
    """
    limits = settings.server
    app = create_app(settings, required_token(limits))
    listening = listening_socket(limits)
    shared: Shared = app.state.shared
    with listening, signals_left_to_uvicorn():
        announce(address_of(limits, listening.getsockname()[1]))
        Server(app).run([listening])
    _end(shared)


class Server(uvicorn.Server):
    """Gives answers some time when it is stopped, then ends them with a problem instead of cutting
    them off."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(server_config(app, shutdown_s=SHUTDOWN_S + _AFTER_STOP_S))
        self._shared: Shared = app.state.shared

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        timer = asyncio.get_running_loop().call_later(SHUTDOWN_S, self._shared.stop)
        await super().shutdown(sockets)
        timer.cancel()


def _end(shared: Shared) -> None:
    """Leave answers behind that do not end: Python would wait for their threads, as long as a model
    takes."""
    deadline = monotonic() + _AFTER_STOP_S
    while shared.n_working and monotonic() < deadline:
        sleep(0.05)
    if shared.n_working:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
