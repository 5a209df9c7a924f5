"""An open connection to one provider. Every request goes through it, so limits, retries and the
budget hold for all.

Each connection has one thread with an event loop; callers are ordinary functions in any thread. The
retries of the SDKs are switched off (ADR 0019): they would not count against the budget, and a
pause that a provider asks for holds for the account, not for one request. The HTTP client follows
no redirects and reads bounded replies.

Errors of pydantic-ai and the SDKs below it become ours. The text of a provider's error may echo the
key or the prompt: a refused key is reported without that text, any other error with a short,
redacted part of it. The original is not kept as cause or context, which Dagster would store.
"""

import json
import logging
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from opentelemetry import trace
from pydantic_ai import exceptions as theirs
from pydantic_ai.models import create_async_httpx2_client

from rag_assets.core.domain import Usage
from rag_assets.core.errors import (
    AccessDenied,
    ContextTooLong,
    ModelFault,
    ModelUnavailable,
    RagAssetsError,
    RequestRejected,
    SchemaRefused,
)
from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import PROVIDERS, Access
from rag_assets.hosted.budget import Budget, budget_in_force

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider as SdkProvider

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
        # an SDK wraps an error of the transport as a broken connection
        below: BaseException | None = error
        while below is not None and not isinstance(below, (ReplyTooLarge, Redirected)):
            below = below.__cause__
        fault = _fault(below or error, access)
    raise fault  # outside the handler, which would make the original its context


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
    check = PROVIDERS[name].when_down or ("Check {variable}" if access.server else "")
    again = f"{check.format(variable=_variable(access))}, or run again later"
    remedy = again if check else "Run again later"
    what = f"{name} does not answer for now{_status(error)}: {_detail(error, access)}"
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


MAX_REPLY_BYTES = 256 * 1024 * 1024
"""2,048 vectors of 3,072 numbers take about 140 MB as JSON, an answer a few kB."""
_CONNECT_TIMEOUT_S = 10.0
_EMBEDDINGS_PATH = "/embeddings"
"""In OpenAI's protocol; Google's does not number its vectors."""


async def open_client(timeout_s: float) -> httpx2.AsyncClient:
    client = create_async_httpx2_client(
        timeout=httpx2.Timeout(timeout_s, connect=_CONNECT_TIMEOUT_S)
    )
    # replies that are compressed all the same are decoded in `_bounded`
    client.headers["Accept-Encoding"] = "identity"
    client.event_hooks["response"] += [_not_redirected, _bounded, _in_order]
    return client


async def _not_redirected(response: httpx2.Response) -> None:
    """Refuses redirects: the key and the question are for the address in the settings."""
    if response.has_redirect_location:
        target = response.url.join(response.headers["Location"])
        raise Redirected(
            f"{target.scheme}://{target.netloc.decode()}{target.path}"
        )  # the query may hold a token


async def _bounded(response: httpx2.Response) -> None:
    """Decodes the body in parts and counts them, because SDKs read a body at once: a small
    compressed reply could otherwise fill the memory."""
    as_sent = httpx2.Response(
        response.status_code, headers=response.headers, stream=response.stream
    )
    response.headers.pop("Content-Encoding", None)
    response.stream = _BoundedStream(as_sent)


async def _in_order(response: httpx2.Response) -> None:
    """Refuses vectors in another order than their texts: pydantic-ai ignores the number that each
    vector has.

    A server that does not number them from 0 to n-1 is trusted to keep the order.
    """
    if not (response.is_success and response.url.path.endswith(_EMBEDDINGS_PATH)):
        return
    try:
        numbers = [row["index"] for row in json.loads(await response.aread())["data"]]
        is_mixed_up = numbers != sorted(numbers) == list(range(len(numbers)))
    except (ValueError, TypeError, KeyError):
        return  # no vectors at all, which the SDK will find
    if is_mixed_up:
        raise ModelUnavailable(
            "The server answered with vectors in another order than that of their texts."
        )


class _BoundedStream(httpx2.AsyncByteStream):
    """A body that raises ReplyTooLarge after MAX_REPLY_BYTES."""

    def __init__(self, as_sent: httpx2.Response) -> None:
        self._as_sent = as_sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        n_bytes = 0
        async for part in self._as_sent.aiter_bytes():  # decoded in parts of 1 MiB at most
            n_bytes += len(part)
            if n_bytes > MAX_REPLY_BYTES:
                raise ReplyTooLarge(f"a reply of more than {MAX_REPLY_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self._as_sent.aclose()


logger = logging.getLogger(__name__)
_tracer = trace.get_tracer("rag_assets")
_MINUTE_S = 60.0
_NO_KEY = "none-needed"


@contextmanager
def open_connection(
    access: Access, settings: ModelAccessSettings, budget: Budget
) -> Iterator["Connection"]:
    """A connection to the provider of `access`; closing it ends its thread and the requests under
    way."""
    with start_blocking_portal() as portal:
        client = portal.call(open_client, settings.timeout_s)
        try:
            yield Connection(access, settings, budget, portal, client)
        finally:
            with suppress(
                RuntimeError
            ):  # the portal is down already when the process is being ended
                portal.call(client.aclose)
                portal.call(portal.stop, True)


class Connection:
    """Sends requests to one provider, as fast as its limits and the run's budget allow."""

    def __init__(
        self,
        access: Access,
        settings: ModelAccessSettings,
        budget: Budget,
        portal: BlockingPortal,
        client: httpx2.AsyncClient,
    ) -> None:
        self.access = access
        self._client = client
        self._settings = settings
        self._budget = budget
        self._portal = portal
        limits = settings.limits_of(access.provider)
        self._slots = anyio.Semaphore(limits.max_concurrent)
        self._interval_s = _MINUTE_S / limits.requests_per_minute
        self._next_at_s = 0.0
        """Time of the event loop before which no request begins."""

    @cached_property
    def sdk_provider(self) -> "SdkProvider[Any]":
        """pydantic-ai's provider object over this connection, with the SDK's own retries switched
        off."""
        logging.getLogger("google_genai._api_client").addFilter(_is_not_about_two_keys)
        sdk, key = self.access.sdk, self.access.key
        opened: SdkProvider[Any] = resolve_name(sdk.provider)(
            *sdk.provider_arguments,
            api_key=key.get_secret_value() if key else _NO_KEY,
            base_url=self.access.base_url,
            http_client=self._client,
        )
        if hasattr(opened.client, "max_retries"):
            opened.client.max_retries = 0
        return opened

    def run(
        self, make_request: Callable[[], Awaitable[Result]], spent: Callable[[Result], Usage]
    ) -> Result:
        """Send one request, from any thread; see `guarded`."""
        return self.call(lambda: self.guarded(make_request, spent))

    def call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` on the connection's event loop; the requests in it must go through `guarded`.

        Raises QuestionBudgetExhausted when the time of the question is over.
        """
        result: Result = self._portal.call(_in_time, work)
        return result

    @_tracer.start_as_current_span(
        "rag_assets.model_request", record_exception=False, set_status_on_exception=False
    )
    async def guarded(
        self, make_request: Callable[[], Awaitable[Result]], spent: Callable[[Result], Usage]
    ) -> Result:
        """Send one request within the limits, again while the provider is unavailable; charge the
        budget.

        Waits as long as the provider asks for, else exponentially longer with full jitter. Raises
        what `faults.answered` raises after `max_attempts`, or at once if the provider asks for a
        wait of more than `max_wait_s`; BudgetExhausted before anything is sent.
        """
        max_attempts, max_wait_s = self._settings.max_attempts, self._settings.max_wait_s
        n_attempts = 0
        while True:
            n_attempts += 1
            try:
                result = await self._sent(make_request)
            except ModelUnavailable as fault:
                jitter_s = random.uniform(0, min(max_wait_s, 2.0 ** min(n_attempts - 1, 30)))  # noqa: S311
                wait_s = jitter_s if fault.retry_after_s is None else fault.retry_after_s
                if n_attempts >= max_attempts or wait_s > max_wait_s:
                    raise
                what = fault.what or str(fault).rstrip(".")
                logger.warning(
                    "%s (attempt %d of %d); trying again in %.1f s.",
                    what,
                    n_attempts,
                    max_attempts,
                    wait_s,
                )
            else:
                for budget in self._budgets():
                    budget.charge(spent(result))
                return result
            await anyio.sleep(wait_s)

    async def _sent(self, make_request: Callable[[], Awaitable[Result]]) -> Result:
        async with self._slots:
            await self._turn()
            for budget in self._budgets():
                budget.admit()
            try:
                return await answered(make_request, self.access, timeout_s=self._settings.timeout_s)
            except ModelUnavailable as fault:
                if fault.retry_after_s is not None:
                    pause_s = min(fault.retry_after_s, self._settings.max_wait_s)
                    self._next_at_s = max(self._next_at_s, anyio.current_time() + pause_s)
                raise

    def _budgets(self) -> list[Budget]:
        """The budget of the question, if it has one, and the budget of the run."""
        return [budget for budget in (budget_in_force(), self._budget) if budget]

    async def _turn(self) -> None:
        """Wait until the next request may begin: evenly spaced, and after any pause that the
        provider asked for."""
        # others may have lengthened it meanwhile
        while (wait_s := self._next_at_s - anyio.current_time()) > 0:
            await anyio.sleep(wait_s)
        self._next_at_s = anyio.current_time() + self._interval_s


async def _in_time(work: Callable[[], Awaitable[Result]]) -> Result:
    """Cancels the work when the time of its question is over."""
    if (budget := budget_in_force()) is None:
        return await work()
    with anyio.move_on_after(budget.seconds_left):
        return await work()
    raise budget.out_of_time()


def _is_not_about_two_keys(record: logging.LogRecord) -> bool:
    """Silences the Google SDK's warning about two API-key variables; the key is passed
    explicitly."""
    return "Both GOOGLE_API_KEY and GEMINI_API_KEY" not in record.getMessage()
