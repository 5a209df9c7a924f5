"""Each fault, through the real SDK, becomes the exception listed here: what the answerer maps to
its own errors."""

import pytest
from pydantic_ai import exceptions as pai

from rag_assets_testing.wire import (
    BadKey,
    ContextTooLong,
    CutOff,
    Drop,
    EmptyReply,
    Garbage,
    Overloaded,
    ProviderRefusal,
    QuotaExhausted,
    RateLimited,
    Reply,
    Slow,
    Status,
    Step,
    WireServer,
)
from rag_assets_tests.wire.sdk_models import ask

ANSWER = '{"claims": [], "missing": ["Ferritin fell."]}'
HALF_AN_ANSWER = ANSWER[:25]

Outcome = tuple[type[Exception], int | None, float | None]
"""Exception class, HTTP status, seconds to wait before the next try."""

FAULTS: dict[str, tuple[Step, dict[str, Outcome]]] = {
    "bad request": (Status(400), {"all": (pai.ModelRequestRejectedError, 400, None)}),
    "unauthenticated": (Status(401), {"all": (pai.ModelAuthenticationError, 401, None)}),
    "forbidden": (Status(403), {"all": (pai.ModelAuthenticationError, 403, None)}),
    "bad key": (
        BadKey(),
        {
            "google": (pai.ModelAuthenticationError, 400, None),
            "all": (pai.ModelAuthenticationError, 401, None),
        },
    ),
    "unknown model": (Status(404), {"all": (pai.ModelNotFoundError, 404, None)}),
    "body too large": (Status(413), {"all": (pai.ModelHTTPError, 413, None)}),
    "rate limit": (RateLimited(7.0), {"all": (pai.ModelRateLimitError, 429, 7.0)}),
    "rate limit without a wait": (RateLimited(None), {"all": (pai.ModelRateLimitError, 429, None)}),
    "bare 429": (Status(429), {"all": (pai.ModelRateLimitError, 429, None)}),
    "rate limit by header": (
        Status(429, headers={"retry-after": "3"}),
        {"all": (pai.ModelRateLimitError, 429, 3.0)},
    ),
    "quota": (
        QuotaExhausted(),
        {
            "google": (pai.ModelQuotaExceededError, 429, 30.0),
            "anthropic": (pai.ModelQuotaExceededError, 400, None),
            "openai": (pai.ModelQuotaExceededError, 429, None),
            "ollama": (pai.ModelRateLimitError, 429, None),
        },
    ),
    "context too long": (
        ContextTooLong(),
        {
            "ollama": (pai.ModelRequestRejectedError, 400, None),
            "all": (pai.ModelContextWindowExceededError, 400, None),
        },
    ),
    "server error": (Status(500), {"all": (pai.ModelServerError, 500, None)}),
    "proxy page": (Status(502), {"all": (pai.ModelServerError, 502, None)}),
    "unavailable": (Status(503), {"all": (pai.ModelUnavailableError, 503, None)}),
    "overloaded": (
        Overloaded(),
        {
            "anthropic": (pai.ModelOverloadedError, 529, None),
            "ollama": (pai.ModelUnavailableError, 503, None),
            "all": (pai.ModelOverloadedError, 503, None),
        },
    ),
    "no byte": (Drop(), {"all": (pai.ModelConnectionError, None, None)}),
    "cut by length": (CutOff(), {"all": (pai.ModelConnectionError, None, None)}),
    "cut by chunk": (CutOff(framing="chunked"), {"all": (pai.ModelConnectionError, None, None)}),
    "no JSON": (Garbage(), {"all": (pai.ModelAPIError, None, None)}),
    "a web page": (
        Garbage(b"<html>Sign in</html>", "text/html"),
        {
            "openai": (pai.UnexpectedModelBehavior, None, None),
            "ollama": (pai.UnexpectedModelBehavior, None, None),
            "all": (pai.ModelAPIError, None, None),
        },
    ),
    "other JSON": (
        Garbage(b'{"status": "maintenance"}'),
        # The anthropic SDK checks nothing, and pydantic-ai stumbles over the missing content.
        {"anthropic": (TypeError, None, None), "all": (pai.UnexpectedModelBehavior, None, None)},
    ),
    "empty": (
        EmptyReply(),
        # pydantic-ai takes the first of no choices.
        {"openai": (IndexError, None, None), "all": (pai.UnexpectedModelBehavior, None, None)},
    ),
    "refused prompt": (
        ProviderRefusal("prompt"),
        {
            "ollama": (pai.UnexpectedModelBehavior, None, None),
            "all": (pai.ContentFilterError, None, None),
        },
    ),
    "refused answer": (
        ProviderRefusal("answer"),
        {
            "ollama": (pai.UnexpectedModelBehavior, None, None),
            "all": (pai.ContentFilterError, None, None),
        },
    ),
    "output limit": (
        Reply(HALF_AN_ANSWER, finish="length"),
        {"all": (pai.OutputTokenLimitExceeded, None, None)},
    ),
    "filtered half-way": (
        Reply(HALF_AN_ANSWER, finish="filtered"),
        {"all": (pai.UnexpectedModelBehavior, None, None)},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_becomes_the_exception_that_the_answerer_has_to_expect(
    server: WireServer, fault: str
) -> None:
    """Retry, stop or refuse is decided by these classes: a fault that looks like another is handled
    like another."""
    step, outcomes = FAULTS[fault]
    row = server.protocol_name if server.protocol_name in outcomes else "all"
    wanted, status, retry_after_s = outcomes[row]
    server.answer_with(step, step)

    with pytest.raises(wanted) as raised:
        ask(server.protocol_name, "Did ferritin fall?")

    assert type(raised.value).__name__ == wanted.__name__, (
        "a private subclass bears its category's name"
    )
    assert getattr(raised.value, "status_code", None) == status
    assert getattr(raised.value, "retry_after", None) == retry_after_s


def test_a_reply_that_takes_too_long_is_a_time_out(server: WireServer) -> None:
    """A model that hangs must not stop the run."""
    server.answer_with(Slow(30.0))

    with pytest.raises(pai.ModelTimeoutError):
        ask(server.protocol_name, "Did ferritin fall?", timeout_s=0.4)


def test_a_bad_key_half_way_fails_only_from_there_on(server: WireServer) -> None:
    """A batch has to keep what was answered before its key was withdrawn."""
    server.answer_with(Reply(ANSWER), BadKey())

    first = ask(server.protocol_name, "one")
    with pytest.raises(pai.ModelAuthenticationError):
        ask(server.protocol_name, "two")

    assert first.output.missing == ["Ferritin fell."]
    assert [request.prompt for request in server.requests] == ["one", "two"]
