"""What operators see, if they ask for it."""

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_assets_testing.world import World
from rag_assets_tests.faces.server.live import served

QUESTION = "How much did ferritin fall?"


def test_a_search_is_a_span_that_tells_nothing_of_the_question(built: World) -> None:
    """Spans go to another server, which may not see what is asked."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(
        provider
    )  # for good: what was shut down would warn in each test that comes after

    with served(built.paths.data) as live:
        live.client.post("/api/search", json={"question": QUESTION}).raise_for_status()

    (span,) = [span for span in spans.get_finished_spans() if span.name == "rag_assets.search"]
    assert "ferritin" not in str(span.to_json())
