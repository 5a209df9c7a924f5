"""Every provider through its real SDK: what is sent, what is understood, and what each fault
becomes."""

import json
import re

import httpx2
import pytest

from rag_assets.core.errors import (
    AccessDenied,
    ContextTooLong,
    ModelFault,
    ModelUnavailable,
    RequestRejected,
)
from rag_assets_testing.wire import (
    BadKey,
    CutOff,
    Drop,
    EmptyReply,
    Garbage,
    Overloaded,
    ProtocolName,
    ProviderRefusal,
    QuotaExhausted,
    RateLimited,
    Reply,
    Slow,
    Status,
    Step,
    WireServer,
    WireServerFailed,
)
from rag_assets_testing.wire import (
    ContextTooLong as LongPrompt,
)
from rag_assets_tests.hosted.conftest import Open
from rag_assets_tests.hosted.models import HURRIED, MODELS, Colour

every_provider = pytest.mark.parametrize("provider", list(MODELS))
GREEN = Reply('{"name": "green"}')
CUT = Reply('{"name": "gre', finish="length")


@every_provider
def test_a_structured_answer_is_asked_for_and_understood(
    provider: ProtocolName, opened: Open
) -> None:
    """One setting chooses the provider; nothing else may differ for the user."""
    server, model, budget = opened(provider)
    server.answer_with(Reply('{"name": "green"}', n_input_tokens=70, n_output_tokens=9))

    reply = model.ask("Which colour has grass?")

    [request] = server.requests
    assert (reply.output, reply.ended) == (Colour(name="green"), "text")
    assert (
        reply.usage.n_requests,
        reply.usage.n_input_tokens,
        reply.usage.n_output_tokens,
    ) == (1, 70, 9)
    assert (budget.spent.n_requests, budget.spent.n_input_tokens) == (1, 70)
    assert request.model == MODELS[provider]
    assert "Name a colour." in request.system
    assert "Which colour has grass?" in request.prompt
    assert request.schema is not None
    assert request.key == server.key
    assert re.search(r'"max\w*tokens": 50\b', json.dumps(request.body), re.IGNORECASE), (
        "written without end"
    )
    assert "tools" not in request.body, "a document must find no tool to call"


@pytest.mark.parametrize(
    ("provider", "model", "sent"),
    [
        ("ollama", "llama3.2", {0.0}),
        ("google", "gemini-2.5-flash", {0.0}),
        ("anthropic", "claude-haiku-4-5", {0.0}),
        ("openai", "gpt-4o", {0.0}),
        ("anthropic", "claude-sonnet-5-5", set()),
        ("openai", "gpt-5-mini", set()),
        ("openai", "o3", set()),
    ],
)
def test_a_temperature_of_0_is_sent_where_the_model_takes_it(
    provider: ProtocolName, model: str, sent: set[float], opened: Open
) -> None:
    """At Ollama's own, .8, the same sources give another answer each time; a reasoning model
    rejects the request."""
    server, asked, _ = opened(provider, model=model)
    server.answer_with(GREEN)

    asked.ask("Which colour has grass?")

    [request] = server.requests
    found = re.findall(r'"temperature": ([\d.]+)', json.dumps(request.body))
    assert {float(one) for one in found} == sent


@every_provider
def test_tokens_that_the_server_does_not_report_are_estimated(
    provider: ProtocolName, opened: Open
) -> None:
    """A server of one's own may report none, and a budget in tokens must end the run all the
    same."""
    server, model, budget = opened(provider)
    server.answer_with(
        Reply('{"name": "green"}', n_input_tokens=0, n_output_tokens=0),
        Reply('{"name": "green"}', n_input_tokens=0, n_output_tokens=700),
    )

    reply, thoughtful = (model.ask("Which colour has grass? " * 100) for _ in range(2))

    assert thoughtful.usage.n_output_tokens == 700
    assert 500 <= reply.usage.n_input_tokens < 700
    assert 1 <= reply.usage.n_output_tokens < 20
    assert budget.spent.n_input_tokens == 2 * reply.usage.n_input_tokens


def test_the_seconds_are_the_provider_s(opened: Open) -> None:
    """A slow model and a strict rate limit want different remedies."""
    server, model, _ = opened(max_concurrent=1, requests_per_minute=60)
    server.answer_with(Slow(0.1, Reply("Green.")), Slow(0.1, GREEN))

    reply = model.ask("Which colour has grass?")  # the second request waits a second for its turn

    assert 0.2 <= reply.seconds < 0.9


@every_provider
def test_a_reply_that_cannot_be_read_is_repaired_once_and_else_handed_on(
    provider: ProtocolName, opened: Open
) -> None:
    """Most malformed replies are mended when the model sees what was wrong; one that was paid for
    may still be readable to us. One that was declined would be declined again."""
    expected: list[tuple[list[Step], Colour | None, tuple[str, ...], str]] = [
        (
            [Reply("Green, I think."), GREEN],
            Colour(name="green"),
            ("Green, I think.", GREEN.text),
            "text",
        ),
        ([Reply("Green."), Reply("Green!")], None, ("Green.", "Green!"), "text"),
        ([CUT, GREEN], Colour(name="green"), (CUT.text, GREEN.text), "text"),
        ([CUT, CUT], None, (CUT.text, CUT.text), "cut"),
    ]
    if (
        provider != "openai"
    ):  # whose protocol has a list of choices: an empty one is a server in trouble
        expected.append(([EmptyReply(), EmptyReply()], None, ("", ""), "empty"))
    if provider != "ollama":  # which has no content filter
        ended = "withheld" if provider == "google" else "refused"  # which has a filter for it
        expected.append(([ProviderRefusal()], None, (), ended))
    server, model, _ = opened(provider)
    for steps, output, texts, ended in expected:
        n_before = len(server.requests)
        server.answer_with(*steps)

        reply = model.ask("Which colour has grass?")

        assert (reply.output, reply.ended) == (output, ended), steps
        assert not texts or reply.texts == texts, steps
        assert len(server.requests) - n_before == len(steps), steps


def test_a_key_that_a_server_echoes_stays_out_of_the_reply(opened: Open) -> None:
    """What a model writes is stored and shown."""
    server, model, _ = opened()
    server.answer_with(Reply(f"I was given {server.key}."), Reply(f'{{"name": "{server.key}"}}'))

    reply = model.ask("Which colour has grass?")

    assert reply.output == Colour(name="[key]")
    assert reply.texts == ("I was given [key].", '{"name": "[key]"}')


PASSING: dict[str, Step] = {
    "rate limit that says when": RateLimited(0.05),
    "rate limit that does not": RateLimited(None),
    "server error": Status(500),
    "bad gateway": Status(502, b"<html>Bad gateway</html>"),
    "overloaded": Overloaded(),
    "no byte": Drop(),
    "reply cut half-way": CutOff(),
    "chunked reply cut half-way": CutOff(framing="chunked"),
    "time-out": Slow(10.0),
    "no JSON": Garbage(),
}


@every_provider
def test_what_passes_is_waited_for(provider: ProtocolName, opened: Open) -> None:
    """A night's run must not end because a server was restarted."""
    server, model, budget = opened(provider, timeout_s=0.5)
    for nth, (name, fault) in enumerate(PASSING.items(), start=1):
        server.answer_with(fault, GREEN)

        reply = model.ask("Which colour has grass?")

        assert reply.output == Colour(name="green"), name
        assert len(server.requests) == 2 * nth, name
        assert budget.spent.n_requests == 2 * nth, "a request that failed was sent all the same"


@every_provider
def test_what_lasts_is_given_up(provider: ProtocolName, opened: Open) -> None:
    """Waiting without end looks like a hang, and coming back too early is answered with a longer
    ban."""
    server, model, _ = opened(provider)
    server.answer_with(*[Status(500)] * HURRIED.max_attempts)
    with pytest.raises(
        ModelUnavailable,
        match=rf"^{provider} does not answer for now \(HTTP 500\): .*again later",
    ):
        model.ask("Which colour has grass?")
    server.answer_with(RateLimited(3600))
    with pytest.raises(ModelUnavailable):
        model.ask("Which colour has grass?")

    assert len(server.requests) == HURRIED.max_attempts + 1


LASTING: dict[str, tuple[Step, type[ModelFault]]] = {
    "bad key": (BadKey(), AccessDenied),
    "used-up quota": (QuotaExhausted(), AccessDenied),
    "no such model": (Status(404), AccessDenied),
    "prompt too long": (LongPrompt(), ContextTooLong),
    "invalid request": (Status(400), RequestRejected),
}


@every_provider
def test_what_is_refused_is_not_tried_again(provider: ProtocolName, opened: Open) -> None:
    """Four more refusals cost time, and sometimes the account."""
    server, model, _ = opened(provider)
    for name, (step, error) in LASTING.items():
        if provider == "ollama" and name in {"bad key", "used-up quota"}:  # it has neither
            continue
        n_before = len(server.requests)
        server.answer_with(step)

        with pytest.raises(ModelFault) as raised:
            model.ask("Which colour has grass?")

        assert type(raised.value) is error, name
        assert len(server.requests) == n_before + 1, name
        assert server.key not in str(raised.value)
        assert raised.value.__cause__ is None, (
            "Dagster would store the original, with whatever it echoes"
        )


def test_a_request_that_no_test_scripted_fails_its_test() -> None:
    """An unexpected call costs money in real life; swallowed as a server error it would pass for a
    fault."""
    with (
        pytest.raises(WireServerFailed, match="no step is left for request 1"),
        WireServer("openai") as server,
    ):
        httpx2.post(f"{server.base_url}/chat/completions", json={"model": "m", "messages": []})
