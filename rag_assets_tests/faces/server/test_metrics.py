"""What operators see, if they ask for it: figures of requests, spans of searches."""

import re

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_assets_testing.world import World
from rag_assets_tests.faces.server.live import served

QUESTION = "How much did ferritin fall?"
TOKEN = "a-token-of-a-test-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def test_requests_are_counted_by_route_when_the_environment_asks_for_it(
    built: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A label for each path that anybody sends would fill the memory of the server and of Prometheus."""
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "prometheus")
    with served(built.paths.data, TOKEN) as live:
        live.client.post("/api/search", json={"question": QUESTION}, headers=BEARER).raise_for_status()
        live.client.get("/no/such/path", headers=BEARER)
        live.client.request("MADE-UP", "/another/path", headers=BEARER)

        refused = live.client.get("/metrics")
        figures = live.client.get("/metrics", headers=BEARER).text

    assert refused.status_code == 401
    assert re.search(
        r'rag_assets_request_seconds_count\{method="POST",route="/api/search",status="200"\} 1\.0', figures
    )
    assert not re.search("path|MADE-UP|ferritin", figures)


def test_nothing_is_counted_unless_asked_for(built: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default needs no operator."""
    monkeypatch.delenv("OTEL_METRICS_EXPORTER", raising=False)
    with served(built.paths.data) as live:
        assert live.client.get("/metrics").status_code == 404


def test_a_search_is_a_span_that_tells_nothing_of_the_question(built: World) -> None:
    """Spans go to another server, which may not see what is asked."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)  # for good: what was shut down would warn in each test that comes after

    with served(built.paths.data) as live:
        live.client.post("/api/search", json={"question": QUESTION}).raise_for_status()

    (span,) = [span for span in spans.get_finished_spans() if span.name == "rag_assets.search"]
    assert "ferritin" not in str(span.to_json())
