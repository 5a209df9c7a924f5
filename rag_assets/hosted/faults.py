"""Errors of pydantic-ai and the SDKs beneath it become ours, here and nowhere else.

What a provider writes into an error may echo the key or the prompt: a refused key is reported without its words, of
any other error a short, redacted stretch is kept, and no original hangs on as cause or context: Dagster stores both.
"""

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from pydantic_ai import exceptions as theirs

from rag_assets.errors import (
    AccessDenied,
    ContextTooLong,
    ModelFault,
    ModelUnavailable,
    RagAssetsError,
    RequestRejected,
    SchemaRefused,
)
from rag_assets.hosted.access import PROVIDERS, Access

MAX_DETAIL_CHARS = 300
Result = TypeVar("Result")
_FOR_NOW = (
    theirs.ModelRateLimitError,
    theirs.ModelUnavailableError,
    theirs.ModelServerError,
    theirs.ModelConnectionError,
    theirs.ModelRequestTimeout,
)
_OLLAMA_TOO_LONG = "exceeds the context length"
_SERVER_ERROR = 500
_CHECK_NAME = "Check the name of the model in the settings"
_NOT_FOUND = {
    "google": f"{_CHECK_NAME}, and GOOGLE_GEMINI_BASE_URL if it is set.",
    "anthropic": f"{_CHECK_NAME}, and ANTHROPIC_BASE_URL if it is set.",
    "openai": f"{_CHECK_NAME}, and OPENAI_BASE_URL if it is set: most addresses end in /v1.",
    "ollama": f"Fetch the model with `ollama pull`. {_CHECK_NAME}, and OLLAMA_BASE_URL if it is set.",
}


_SCHEMA_REFUSED = re.compile(r"response.format|json.?schema|structured.output|guided.decoding|grammar", re.IGNORECASE)
"""How servers name what they do not know when they refuse a request for it."""


class ReplyTooLarge(Exception):
    """A reply has more bytes than any reply could have."""


class Redirected(Exception):
    """A server sends its visitors to another address, named by the message: scheme, host, port and path."""


async def answered(make_request: Callable[[], Awaitable[Result]], access: Access, *, timeout_s: float) -> Result:
    """What the request of `access` comes back with, in `timeout_s` at most.

    Raises ModelUnavailable (with `retry_after_s`, where the provider said it), RequestRejected, ContextTooLong or
    AccessDenied. An exception of no known kind counts as a reply that is none: SDKs stumble over such replies in many
    ways (`choices: []` is an IndexError in pydantic-ai 2.68). Wrong use of pydantic-ai stays what it is.
    """
    try:
        with anyio.fail_after(timeout_s):
            return await make_request()
    except (RagAssetsError, theirs.UserError, theirs.ContentFilterError):
        raise
    except Exception as error:
        fault = _fault(_unwrapped(error), access)
    raise fault  # outside the handler: the original would hang on as its context


def _unwrapped(error: Exception) -> Exception:
    """What was found of a reply below the SDKs, which some of them take for a broken connection."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, (ReplyTooLarge, Redirected)):
            return below
        below = below.__cause__
    return error


def _fault(error: Exception, access: Access) -> ModelFault:
    name = access.provider
    if isinstance(error, theirs.ModelContextWindowExceededError) or _OLLAMA_TOO_LONG in str(error):
        return ContextTooLong(
            f"{name}: the question with its sources is longer than the model reads. Lower retrieval.budget_tokens."
        )
    if isinstance(error, theirs.ModelAuthenticationError):
        variables = " or ".join(PROVIDERS[name].key_variables)
        return AccessDenied(f"{name} refuses the key{_status(error)}. Check {variables}.")
    if isinstance(error, theirs.ModelQuotaExceededError):
        return AccessDenied(
            f"{name}: the quota or the credit of the account is used up{_status(error)}. Raise it there, or run again "
            "when it is renewed; what is done is kept."
        )
    if isinstance(error, theirs.ModelNotFoundError):
        return AccessDenied(
            f"{name} knows no such model or address{_status(error)}: {_detail(error, access)}. {_NOT_FOUND[name]}"
        )
    if isinstance(error, Redirected):
        return AccessDenied(f"{name} redirects to {_detail(error, access)}. Let {_variable(access)} lead there.")
    is_final = isinstance(error, (theirs.ModelRequestRejectedError, ReplyTooLarge)) or 0 < _code(error) < _SERVER_ERROR
    if is_final and not isinstance(error, _FOR_NOW):
        knows_no_schema = access.server and _SCHEMA_REFUSED.search(_said(error))
        rejected = SchemaRefused if knows_no_schema else RequestRejected
        return rejected(f"{name} rejects the request{_status(error)}: {_detail(error, access)}")
    return _unavailable(error, access)


def _unavailable(error: Exception, access: Access) -> ModelUnavailable:
    remedy = "Run again later"
    if access.provider == "ollama":
        remedy = f"Check that Ollama runs (ollama serve) where {_variable(access)} says, or run again later"
    elif access.server:
        remedy = f"Check {_variable(access)}, or run again later"
    what = f"{access.provider} does not answer for now{_status(error)}: {_detail(error, access)}"
    fault = ModelUnavailable(f"{what}. {remedy}; what is done is kept.")
    fault.what = what
    fault.retry_after_s = getattr(error, "retry_after", None)
    return fault


def _variable(access: Access) -> str:
    return PROVIDERS[access.provider].base_url_variable


def _code(error: Exception) -> int:
    return error.status_code if isinstance(error, theirs.ModelHTTPError) else 0


def _status(error: Exception) -> str:
    return f" (HTTP {code})" if (code := _code(error)) else ""


def _detail(error: Exception, access: Access) -> str:
    """What the provider says, without the full stop, and without what would steer a terminal."""
    said = "".join(char for char in _said(error) if char.isprintable() or char.isspace())
    text = " ".join(access.redacted(said or type(error).__name__).split()).rstrip(".")
    return text if len(text) <= MAX_DETAIL_CHARS else text[: MAX_DETAIL_CHARS - 1] + "…"


def _said(error: Exception) -> str:
    """The message of an error body in any of the shapes that providers use, else all there is."""
    said: object = error.body if isinstance(error, theirs.ModelHTTPError) else None
    for name in ("error", "message", "detail"):
        said = said.get(name, said) if isinstance(said, dict) else said
    if isinstance(said, list):  # FastAPI's: what is wrong, with the request beside it, which is nobody's news
        said = "; ".join(f"{one.get('loc')}: {one.get('msg')}" for one in said if isinstance(one, dict))
    return said if isinstance(said, str) else str(error)
