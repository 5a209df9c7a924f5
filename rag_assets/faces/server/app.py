"""The application: which routes there are, and the checks around all of them.

A module of `routes` is added by importing it here and naming its `router` in `ROUTERS`. Its functions take what they
share from `dependencies` and raise our own errors or `ProblemError`; blocking work goes through `shared.searching` or
`shared.answering`, or is a plain `def` where it takes milliseconds.
"""

from asyncio import to_thread
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from pydantic import SecretStr
from starlette.middleware.cors import CORSMiddleware

from rag_assets.core.settings import Settings
from rag_assets.faces.server.access import AccessCheck
from rag_assets.faces.server.bodies import BodyLimits
from rag_assets.faces.server.dependencies import Shared
from rag_assets.faces.server.openapi import ERRORS, DescribedAPI
from rag_assets.faces.server.page import add_page
from rag_assets.faces.server.problems import install_problem_handlers
from rag_assets.faces.server.request_log import REQUEST_ID_HEADER, RequestLog
from rag_assets.faces.server.routes import (
    answers,
    chat_completions,
    conversations,
    feedback,
    health,
    pages,
    papers,
    runs,
    search,
    uploads,
    verify,
)

ROUTERS: tuple[APIRouter, ...] = (
    health.router,
    search.router,
    answers.router,
    papers.router,
    pages.router,
    verify.router,
    feedback.router,
    chat_completions.router,
    uploads.router,
    runs.router,
    conversations.router,
)
"""All routes; the first that matches a request answers it."""


def create_app(settings: Settings, token: SecretStr | None = None) -> FastAPI:
    """The API over the data folder of `settings`. Nothing is opened before the first question.

    token: what clients must show; None where only this machine can reach the server (see `listening.required_token`).
    """
    app = DescribedAPI(
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
    for router in ROUTERS:
        app.include_router(router)
    add_page(app)
    # added from the inside out
    app.add_middleware(BodyLimits, settings=settings.server)
    app.add_middleware(AccessCheck, settings=settings.server, token=token)
    if settings.server.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.server.cors_origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=[REQUEST_ID_HEADER, "Retry-After"],
        )
    app.add_middleware(RequestLog)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    shared: Shared = app.state.shared
    await to_thread(shared.changes.resume)
    try:
        yield
    finally:
        shared.close()
