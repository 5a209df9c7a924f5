"""Figures for operators, in the format of Prometheus: requests by route and status, and how long they took.

Off unless OTEL_METRICS_EXPORTER, the variable of OpenTelemetry, names prometheus. Clients need the server's token.
"""

import os
from time import perf_counter

from fastapi import FastAPI, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_assets.core.errors import MissingExtra

_VARIABLE = "OTEL_METRICS_EXPORTER"
_NO_ROUTE = "none"
"""Label of requests that no route answers: clients choose path and method, and each label takes memory."""


def add_metrics(app: FastAPI) -> None:
    """Count requests and show the figures at `/metrics`, if the environment asks for it. Raises MissingExtra."""
    if "prometheus" not in os.environ.get(_VARIABLE, "").split(","):
        return
    try:
        from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
    except ImportError:
        raise MissingExtra.named("telemetry", purpose=f"{_VARIABLE}=prometheus") from None
    figures = CollectorRegistry()
    app.add_middleware(_Measured, registry=figures)

    @app.get("/metrics", include_in_schema=False)
    def metrics() -> Response:
        return Response(generate_latest(figures), media_type=CONTENT_TYPE_LATEST)


class _Measured:
    """ASGI middleware: counts and times each request by its route, never by its path or content."""

    def __init__(self, app: ASGIApp, registry: object) -> None:
        from prometheus_client import Histogram

        self._app = app
        self._seconds = Histogram(
            "rag_assets_request_seconds",
            "Seconds from a request to the end of its reply.",
            ("method", "route", "status"),
            registry=registry,  # type: ignore[arg-type]
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", _NO_ROUTE)
            method = _NO_ROUTE if route == _NO_ROUTE else scope["method"]
            self._seconds.labels(method, route, status).observe(perf_counter() - started)
