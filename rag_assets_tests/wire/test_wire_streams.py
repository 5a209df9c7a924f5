"""Claude's answers as a stream, which pydantic-ai asks for by itself where no output limit is set."""

from collections.abc import Iterator

import pytest
from pydantic_ai import exceptions as pai

from rag_assets_testing.wire import CutOff, ProviderRefusal, RateLimited, Reply, Step, WireServer, use_wire_environment
from rag_assets_tests.wire.sdk_models import ask

ANSWER = '{"claims": [], "missing": ["Ferritin fell."]}'


@pytest.fixture
def claude(monkeypatch: pytest.MonkeyPatch) -> Iterator[WireServer]:
    """Anthropic's server, with the environment pointing at it."""
    with WireServer("anthropic") as wire:
        use_wire_environment(monkeypatch, wire)
        yield wire


def test_a_streamed_answer_is_read_with_its_usage(claude: WireServer) -> None:
    """The same answer by either road, or a forgotten output limit changes what is published."""
    claude.answer_with(Reply(ANSWER, n_input_tokens=123, n_output_tokens=45))

    result = ask("anthropic", "Did ferritin fall?", max_tokens=None)

    assert claude.requests[0].body["stream"] is True
    assert result.output.missing == ["Ferritin fell."]
    assert (result.usage.input_tokens, result.usage.output_tokens) == (123, 45)


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        (CutOff(after_bytes=700, of=Reply(ANSWER)), pai.ModelConnectionError),
        (CutOff(after_bytes=700, of=Reply(ANSWER), framing="chunked"), pai.ModelConnectionError),
        (RateLimited(7.0), pai.ModelRateLimitError),
        (ProviderRefusal(), pai.ContentFilterError),
    ],
)
def test_a_fault_in_a_stream_is_the_fault_it_is_elsewhere(
    claude: WireServer, step: Step, wanted: type[Exception]
) -> None:
    """Half an answer taken for a whole one would be published with its last claims missing."""
    claude.answer_with(step)

    with pytest.raises(wanted):
        ask("anthropic", "Did ferritin fall?", max_tokens=None)
