"""Every error of the library has its place among ours."""

import inspect

import anyio
import pytest
from pydantic import SecretStr
from pydantic_ai import exceptions as theirs

from rag_assets.core.errors import (
    AccessDenied,
    ContextTooLong,
    ModelFault,
    ModelUnavailable,
    RequestRejected,
)
from rag_assets.hosted.access import PROVIDERS, Access
from rag_assets.hosted.connection import ReplyTooLarge, answered

ACCESS = Access("openai", SecretStr("sk-very-secret"), "https://api.example.org/v1")
EXPECTED: dict[type[theirs.ModelAPIError], type[ModelFault]] = {
    theirs.ModelRateLimitError: ModelUnavailable,
    theirs.ModelUnavailableError: ModelUnavailable,
    theirs.ModelOverloadedError: ModelUnavailable,
    theirs.ModelServerError: ModelUnavailable,
    theirs.ModelConnectionError: ModelUnavailable,
    theirs.ModelTimeoutError: ModelUnavailable,
    theirs.ModelQuotaExceededError: AccessDenied,
    theirs.ModelAuthenticationError: AccessDenied,
    theirs.ModelNotFoundError: AccessDenied,
    theirs.ModelContextWindowExceededError: ContextTooLong,
    theirs.ModelRequestRejectedError: RequestRejected,
}
MADE_OTHERWISE = {theirs.ModelAPIError, theirs.ModelHTTPError, theirs.ModelRequestTimeout}
"""The two bases, tested by status below; the deadline is not set here, the connection has its
own."""


def request_that_fails_with(error: Exception, access: Access = ACCESS) -> None:
    async def request() -> None:
        raise error

    anyio.run(lambda: answered(request, access, timeout_s=5.0))


def _not_found(body: dict[str, object]) -> Exception:
    return theirs.ModelHTTPError.for_category(
        theirs.ModelNotFoundError, status_code=404, model_name="a-model", body=body
    )


def fault_of(error: Exception, access: Access = ACCESS) -> ModelFault:
    with pytest.raises(ModelFault) as raised:
        request_that_fails_with(error, access)
    return raised.value


def test_no_category_of_the_library_is_left_undecided() -> None:
    """A new category would be retried, or not, by chance."""
    public = {
        error
        for name, error in inspect.getmembers(theirs, inspect.isclass)
        if issubclass(error, theirs.ModelAPIError) and not name.startswith("_")
    }

    assert public - MADE_OTHERWISE == set(EXPECTED)


@pytest.mark.parametrize("theirs_", EXPECTED, ids=lambda error: error.__name__)
def test_each_category_becomes_one_of_ours(theirs_: type[theirs.ModelAPIError]) -> None:
    """What is retried and what ends the run follows from it."""
    assert type(fault_of(theirs_("gpt-5-mini", "no"))) is EXPECTED[theirs_]


@pytest.mark.parametrize(
    ("status", "ours"), [(418, RequestRejected), (500, ModelUnavailable), (599, ModelUnavailable)]
)
def test_a_status_without_a_category_goes_by_its_hundreds(
    status: int, ours: type[ModelFault]
) -> None:
    """Proxies answer with statuses no provider documents."""
    assert type(fault_of(theirs.ModelHTTPError(status, "gpt-5-mini", None))) is ours


@pytest.mark.parametrize(
    "error", [IndexError("list index out of range"), ValueError("x"), TimeoutError()]
)
def test_what_an_sdk_stumbles_over_is_a_reply_that_is_none(error: Exception) -> None:
    """A server can send anything; none of it may crash a night's run."""
    assert type(fault_of(error)) is ModelUnavailable


def test_a_reply_that_is_too_large_is_not_asked_for_again() -> None:
    """It would be as large the next time."""
    assert type(fault_of(ReplyTooLarge("a reply of more than 5 bytes"))) is RequestRejected


def test_wrong_use_of_the_library_stays_a_crash() -> None:
    """A bug of ours is not a fault of the provider."""
    with pytest.raises(theirs.UserError):
        request_that_fails_with(theirs.UserError("no such option"))


def test_a_refused_key_is_reported_without_the_provider_s_words() -> None:
    """OpenAI repeats parts of a key, masked in the middle."""
    body = {"message": "Incorrect API key provided: sk-ve******cret"}

    fault = fault_of(
        theirs.ModelHTTPError.for_category(
            theirs.ModelAuthenticationError, status_code=401, model_name="gpt-5-mini", body=body
        )
    )

    assert str(fault) == "openai refuses the key (HTTP 401). Check OPENAI_API_KEY."


@pytest.mark.parametrize(
    ("provider", "base_url", "error", "message"),
    [
        (
            "ollama",
            PROVIDERS["ollama"].base_url,
            theirs.ModelConnectionError("llama3.2", "Connection error."),
            "ollama does not answer for now: Connection error. Check that Ollama runs (ollama serve) where "
            "OLLAMA_BASE_URL says, or run again later; what is done is kept.",
        ),
        (
            "openai",
            "http://localhost:8000",
            theirs.ModelConnectionError("gpt-5-mini", "Connection error."),
            "openai does not answer for now: Connection error. Check OPENAI_BASE_URL, or run again later; what is done "
            "is kept.",
        ),
        (
            "openai",
            PROVIDERS["openai"].base_url,
            theirs.ModelServerError("gpt-5-mini", "Connection error."),
            "openai does not answer for now: Connection error. Run again later; what is done is kept.",
        ),
        (
            "ollama",
            PROVIDERS["ollama"].base_url,
            _not_found({"error": {"message": 'model "llama3.2" not found, try pulling it first'}}),
            'ollama knows no such model or address (HTTP 404): model "llama3.2" not found, try pulling it first. Fetch '
            "the model with `ollama pull`. Check the name of the model in the settings, and OLLAMA_BASE_URL if it is "
            "set.",
        ),
        (
            "openai",
            "http://localhost:8000",
            _not_found({"detail": "Not Found"}),
            "openai knows no such model or address (HTTP 404): Not Found. Check the name of the model in the settings, "
            "and OPENAI_BASE_URL if it is set: most addresses end in /v1.",
        ),
    ],
)
def test_a_fault_says_what_to_do(
    provider: str, base_url: str, error: Exception, message: str
) -> None:
    """A server that is not started, a model that is not fetched, a path that is missing: the common
    beginnings."""
    assert str(fault_of(error, Access(provider, None, base_url))) == message
