"""Translates the errors of pydantic-ai and the SDKs below it to ours.

The text of a provider's error may echo the key or the prompt. A refused key is reported without
that text, any other error with a short, redacted part of it. The original is not kept as cause or
context, which Dagster would store.
"""

import re
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from pydantic_ai import exceptions as theirs

from rag_assets.core.errors import (
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
_SCHEMA_REFUSED = re.compile(
    r"response.format|json.?schema|structured.output|guided.decoding|grammar", re.IGNORECASE
)
"""Names of structured output in the errors of servers that refuse it."""


class ReplyTooLarge(Exception):
    """A reply has more bytes than the limit."""


class Redirected(Exception):
    """A server redirects to the address in the message: scheme, host, port and path."""


async def answered(
    make_request: Callable[[], Awaitable[Result]], access: Access, *, timeout_s: float
) -> Result:
    """The result of a request, which may take `timeout_s`.

    Raises ModelUnavailable (with `retry_after_s` where the provider said it), RequestRejected,
    ContextTooLong or AccessDenied. Any other exception counts as ModelUnavailable, which is
    retried: SDKs raise arbitrary errors on malformed replies (`choices: []` is an IndexError in
    pydantic-ai 2.68). UserError (pydantic-ai used wrongly) and ContentFilterError are raised as
    they are.
    """
    try:
        with anyio.fail_after(timeout_s):
            return await make_request()
    except (RagAssetsError, theirs.UserError, theirs.ContentFilterError):
        raise
    except Exception as error:
        fault = _fault(_unwrapped(error), access)
    raise fault  # outside the handler, which would make the original its context


def _unwrapped(error: Exception) -> Exception:
    """The error of `transport` that an SDK wrapped as a broken connection, if there is one."""
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
            f"{name} knows no such model or address{_status(error)}: {_detail(error, access)}. "
            + PROVIDERS[name].when_not_found.format(variable=_variable(access))
        )
    if isinstance(error, Redirected):
        return AccessDenied(
            f"{name} redirects to {_detail(error, access)}. Let {_variable(access)} lead there."
        )
    is_final = (
        isinstance(error, (theirs.ModelRequestRejectedError, ReplyTooLarge))
        or 0 < _code(error) < _SERVER_ERROR
    )
    if is_final and not isinstance(error, _FOR_NOW):
        knows_no_schema = access.server and _SCHEMA_REFUSED.search(_said(error))
        rejected = SchemaRefused if knows_no_schema else RequestRejected
        return rejected(f"{name} rejects the request{_status(error)}: {_detail(error, access)}")
    return _unavailable(error, access)


def _unavailable(error: Exception, access: Access) -> ModelUnavailable:
    check = PROVIDERS[access.provider].when_down or ("Check {variable}" if access.server else "")
    remedy = (
        f"{check.format(variable=_variable(access))}, or run again later"
        if check
        else "Run again later"
    )
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
    """The provider's text on one line, redacted, without a full stop and control characters."""
    said = "".join(char for char in _said(error) if char.isprintable() or char.isspace())
    text = " ".join(access.redacted(said or type(error).__name__).split()).rstrip(".")
    return text if len(text) <= MAX_DETAIL_CHARS else text[: MAX_DETAIL_CHARS - 1] + "…"


def _said(error: Exception) -> str:
    """The message of an error body in any of the shapes that providers use, else the text of the
    exception."""
    said: object = error.body if isinstance(error, theirs.ModelHTTPError) else None
    for name in ("error", "message", "detail"):
        said = said.get(name, said) if isinstance(said, dict) else said
    if isinstance(said, list):  # from FastAPI, whose errors repeat the request
        said = "; ".join(
            f"{one.get('loc')}: {one.get('msg')}" for one in said if isinstance(one, dict)
        )
    return said if isinstance(said, str) else str(error)
