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
"""

from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from pydantic import SecretStr
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from rag_assets.core.settings import Settings
from rag_assets.faces.listening import guards
from rag_assets.faces.server.dependencies import Shared
from rag_assets.faces.server.description import DescribedAPI
from rag_assets.faces.server.problems import PROBLEM_TYPE, install_problem_handlers
from rag_assets.faces.server.routes import (
    answers,
    conversations,
    corpus,
    papers,
    references,
    search,
    tables,
)

ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router for module in (corpus, search, answers, tables, papers, references, conversations)
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
    await to_thread(shared.changes.resume)
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
