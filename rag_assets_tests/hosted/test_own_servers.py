"""Servers of one's own: what differs from the vendors' services, though the protocol has the same
name."""

import logging

import pytest

from rag_assets_testing.wire import ProtocolName, Reply, Status, Step, WireRequest
from rag_assets_tests.hosted.conftest import Open
from rag_assets_tests.hosted.models import Colour

GREEN = Reply('{"name": "green"}')
NO_SCHEMAS = {
    "an older vLLM": (400, {"error": {"message": "response_format json_schema not supported"}}),
    "llama-cpp-python": (
        422,
        {"detail": [{"loc": ["body", "response_format", "type"], "msg": "unexpected value"}]},
    ),
    "a gateway": (400, {"message": "This model does not support structured outputs."}),
    "another gateway": (400, {"error": "JSON schema is not supported; guided decoding is off"}),
}


@pytest.mark.parametrize(
    ("provider", "model", "field"),
    [
        ("google", "gemini-2.5-flash", "maxOutputTokens"),
        ("anthropic", "claude-sonnet-5-5", "max_tokens"),
        ("openai", "llama-3.1-8b-instruct", "max_tokens"),
        ("openai", "gpt-5-mini", "max_completion_tokens"),
        ("ollama", "llama3.2", "max_tokens"),
        ("ollama", "gpt-oss:20b", "max_tokens"),
    ],
)
def test_the_limit_of_an_answer_goes_by_the_name_the_server_reads(
    provider: ProtocolName, model: str, field: str, opened: Open
) -> None:
    """Servers ignore fields they do not know: a model that repeats itself would then write until
    the time-out."""
    server, asked, _ = opened(provider, model=model)
    server.answer_with(GREEN)
    asked.ask("Which colour has grass?")

    [request] = server.requests

    sent = request.body["generationConfig"] if provider == "google" else request.body
    assert {name: value for name, value in sent.items() if "max" in name} == {field: 50}


def test_openai_s_own_service_is_sent_the_newer_name(
    monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    """The older one is deprecated there, and refused by reasoning models."""
    monkeypatch.setattr("rag_assets.hosted.access.Access.server", "")
    server, asked, _ = opened(model="gpt-4o")
    server.answer_with(GREEN)
    asked.ask("Which colour has grass?")

    assert server.requests[0].body["max_completion_tokens"] == 50


@pytest.mark.parametrize("wording", NO_SCHEMAS)
def test_a_server_that_knows_no_schemas_is_given_them_in_the_prompt(
    wording: str, opened: Open
) -> None:
    """Any server that speaks OpenAI's protocol is to answer, and finding out may cost one request,
    not one each."""
    code, body = NO_SCHEMAS[wording]

    def old_server(request: WireRequest) -> Step:
        return (
            Status(code, body)
            if "response_format" in request.body
            else Reply('```json\n{"name": "green"}\n```')
        )

    server, asked, budget = opened(model="llama-3.1-8b")
    server.answer_by(old_server)

    replies = [asked.ask(f"Colour number {number}?") for number in (1, 2)]
    requests = server.requests

    assert [reply.output for reply in replies] == [Colour(name="green")] * 2
    assert [request.schema is not None for request in requests] == [True, False, False]
    assert '"properties"' not in requests[0].system
    assert all('"properties"' in request.system for request in requests[1:])
    assert budget.spent.n_requests == 3


def test_an_ollama_that_reads_a_part_of_the_prompt_is_told_of_once(
    caplog: pytest.LogCaptureFixture, opened: Open
) -> None:
    """Its default context is smaller than our prompts, and an answer does not show that sources
    were cut off."""
    sources = "ferritin " * 5000
    server, asked, _ = opened("ollama")
    server.answer_by(lambda _request: Reply('{"name": "green"}', n_input_tokens=4096))

    with caplog.at_level(logging.WARNING):
        replies = [asked.ask(f"Which colour has grass? {sources}") for _ in range(2)]

    assert [reply.output for reply in replies] == [Colour(name="green")] * 2
    [message] = caplog.messages
    assert message.startswith(
        "ollama:llama3.2 read 4096 tokens of a prompt of 5007 words or more: Ollama leaves out"
    )
    assert "larger OLLAMA_CONTEXT_LENGTH" in message
    assert "lower retrieval.budget_tokens" in message
