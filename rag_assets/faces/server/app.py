"""The application: its routes, the checks around them, its description, and the page for asking
(`static/`).

A module of `routes` is added by importing it here and naming its `router` in `ROUTERS`. Its
functions take what they share from `dependencies` and raise our own errors or `ProblemError`;
blocking work goes through `shared.searching` or `shared.answering`, or is a plain `def` where it
takes milliseconds.

Text of papers, models and uploads reaches the page as JSON only. Should any of it be taken for
markup, the policy still forbids inline scripts and styles, other origins, forms that leave,
framing, and (`require-trusted-types-for`) every function of the browser that turns text into
markup.

The server as a process is bound to its address before anything else, and ended by one Ctrl-C.
"""

import asyncio
import logging
import os
import socket
import sys
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import is_dataclass
from importlib.metadata import version
from pathlib import Path
from time import monotonic, sleep
from typing import Any, get_args, get_type_hints

import uvicorn
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import BaseModel, SecretStr
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from rag_assets.core.settings import Settings
from rag_assets.core.tables import field_docs
from rag_assets.faces.listening import (
    address_of,
    guards,
    listening_socket,
    required_token,
    server_config,
    signals_left_to_uvicorn,
)
from rag_assets.faces.server.dependencies import Shared
from rag_assets.faces.server.problems import PROBLEM_TYPE, Problem, install_problem_handlers
from rag_assets.faces.server.routes import (
    answers,
    conversations,
    corpus,
    papers,
    search,
    tables,
)


class DescribedAPI(FastAPI):
    """An application whose description has the schema of problems, the token, and the texts below
    the fields of dataclasses.

    pydantic could read those texts, too (`use_attribute_docstrings`), but does it while the first
    request waits, and may fail then (see `field_docs`).
    """

    def __init__(self, routers: Sequence[APIRouter], **described: Any) -> None:
        """routers: the first whose route matches a request answers it. described: what `FastAPI`
        takes."""
        super().__init__(**described)
        self._routers = routers
        for router in routers:
            self.include_router(router)

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            schema = super().openapi()
            parts = schema.setdefault("components", {})
            schemas = parts.setdefault("schemas", {})
            for route in (route for router in self._routers for route in router.routes):
                for kind in (
                    _dataclasses_in(route.response_model) if isinstance(route, APIRoute) else ()
                ):
                    fields = schemas.get(kind.__name__, {}).get("properties", {})
                    for name, text in field_docs(kind).items():
                        fields.get(name, {}).setdefault("description", text)
            schemas["Problem"] = Problem.model_json_schema()
            parts["securitySchemes"] = {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "Where the server asks for one.",
                }
            }
            schema["security"] = [{}, {"token": []}]
        return super().openapi()


def _dataclasses_in(kind: Any) -> Iterator[type]:
    """The dataclasses that a value of this type may hold, at any depth."""
    for part in get_args(kind):
        yield from _dataclasses_in(part)
    if isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, BaseModel)):
        if is_dataclass(kind):
            yield kind
        for part in get_type_hints(kind).values():
            yield from _dataclasses_in(part)


ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router for module in (corpus, search, answers, tables, papers, conversations)
)
"""All routes; the first that matches a request answers it."""

FILES = Path(__file__).parent / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
"""Content-Security-Policy (W3C CSP level 3, Trusted Types). blob: is for page images that were
fetched with a token."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    # asked again each time and answered 304, so that an upgrade is seen at once
    "Cache-Control": "no-cache",
}
"""Headers of the page, besides those of `middleware`."""
_PROBLEM = {"content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "description": "The request cannot be answered; the detail says what to change.",
        **_PROBLEM,
    },
    "5XX": {
        "description": "The server, or a model it uses, failed; the detail says what to do.",
        **_PROBLEM,
    },
}
"""Errors that every route may answer."""


def create_app(settings: Settings, token: SecretStr | None = None) -> FastAPI:
    """The API over the data folder of `settings`. Nothing is opened before the first question.

    token: what clients must show; None where only this machine can reach the server (see
    `listening.required_token`).
    """
    app = DescribedAPI(
        ROUTERS,
        title="rag_assets",
        version=version("rag_assets"),
        description="Ask a corpus of scientific papers: every claim of an answer has quotes that stand in the papers.",
        lifespan=_lifespan,
        responses=ERRORS,
        openapi_url="/api/openapi.json",
        docs_url=None,  # these pages load their scripts from another server
        redoc_url=None,
    )
    app.state.shared = Shared.of(settings)
    install_problem_handlers(app)
    add_page(app)
    for layer in guards(settings.server, token):
        app.add_middleware(layer.cls, *layer.args, **layer.kwargs)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    shared: Shared = app.state.shared
    await to_thread(shared.resume)
    try:
        yield
    finally:
        shared.close()


class PageFiles(StaticFiles):
    """Files below a folder, each with the headers above."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(HEADERS)
        if path.endswith(
            ".js"
        ):  # some systems call it text/plain, which a browser told not to sniff refuses to run
            response.headers["Content-Type"] = "text/javascript; charset=utf-8"
        return response


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` and its files below `/static`; neither needs a token, they hold nothing
    of the corpus."""
    files = PageFiles(directory=FILES)
    app.mount("/static", files, name="static")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return await files.get_response(
            "index.html", {"type": "http", "method": "GET", "headers": []}
        )


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
