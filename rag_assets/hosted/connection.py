"""An open connection to one provider. Every request goes through it, so that limits, retries and
the budget apply to all requests.

Each connection has one thread with an event loop; callers are ordinary functions in any thread. The
SDKs' own retries are switched off (ADR 0019): they would not be counted in the budget, and if a
provider asks for a pause, all requests of the account must wait, not only one. The HTTP client
follows no redirects and limits the size of replies.

Errors of pydantic-ai and of the SDKs are translated into our own. The text of a provider's error
may repeat the key or the prompt. So a refused key is reported without that text, any other error
with a short, redacted part of it. The original is not kept as cause or context, since Dagster would
store it.
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
_TEMPORARY = (
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
"""Words in the errors of servers that do not accept structured output."""


class ReplyTooLarge(Exception):
    """A reply has more bytes than the limit."""


class Redirected(Exception):
    """A server redirects to another address, which the message contains: scheme, host, port and
    path."""


async def answered(
    make_request: Callable[[], Awaitable[Result]], access: Access, *, timeout_s: float
) -> Result:
    """The result of a request, which may take `timeout_s` seconds.

    Raises ModelUnavailable (with `retry_after_s` if the provider gave it), RequestRejected,
    ContextTooLong or AccessDenied. Any other exception becomes ModelUnavailable, which is retried:
    SDKs raise arbitrary errors on malformed replies (`choices: []` is an IndexError in pydantic-ai
    2.68). UserError (pydantic-ai is used wrongly) and ContentFilterError are raised unchanged.
    """
    try:
        with anyio.fail_after(timeout_s):
            return await make_request()
    except (RagAssetsError, theirs.UserError, theirs.ContentFilterError):
        raise
    except Exception as error:
        # SDKs wrap errors of our client as a broken connection: look for the original
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, (ReplyTooLarge, Redirected)):
            cause = cause.__cause__
        fault = _fault(cause or error, access)
    raise fault  # outside the `except` block, so that the original does not become its context


def _fault(error: Exception, access: Access) -> ModelFault:
    """Our error for an exception of pydantic-ai, an SDK or our client."""
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
    if is_final and not isinstance(error, _TEMPORARY):
        knows_no_schema = access.server and _SCHEMA_REFUSED.search(_message_in(error))
        rejected = SchemaRefused if knows_no_schema else RequestRejected
        return rejected(f"{name} rejects the request{_status(error)}: {_detail(error, access)}")
    remedy = "Run again later"
    if check := PROVIDERS[name].when_down or ("Check {variable}" if access.server else ""):
        remedy = f"{check.format(variable=_variable(access))}, or run again later"
    problem = f"{name} does not answer for now{_status(error)}: {_detail(error, access)}"
    fault = ModelUnavailable(f"{problem}. {remedy}; what is done is kept.")
    fault.what = problem
    fault.retry_after_s = getattr(error, "retry_after", None)
    return fault


def _variable(access: Access) -> str:
    return PROVIDERS[access.provider].base_url_variable


def _code(error: Exception) -> int:
    return error.status_code if isinstance(error, theirs.ModelHTTPError) else 0


def _status(error: Exception) -> str:
    return f" (HTTP {code})" if (code := _code(error)) else ""


def _detail(error: Exception, access: Access) -> str:
    """The provider's text on one line, redacted and shortened, without control characters and final
    full stop."""
    printable = "".join(char for char in _message_in(error) if char.isprintable() or char.isspace())
    text = " ".join(access.redacted(printable or type(error).__name__).split()).rstrip(".")
    return text if len(text) <= MAX_DETAIL_CHARS else text[: MAX_DETAIL_CHARS - 1] + "…"


def _message_in(error: Exception) -> str:
    """The message in the body of an HTTP error, in any form that providers use; otherwise the text
    of the exception."""
    message: object = error.body if isinstance(error, theirs.ModelHTTPError) else None
    for name in ("error", "message", "detail"):
        message = message.get(name, message) if isinstance(message, dict) else message
    if isinstance(message, list):  # from FastAPI, whose errors repeat the request
        message = "; ".join(
            f"{item.get('loc')}: {item.get('msg')}" for item in message if isinstance(item, dict)
        )
    return message if isinstance(message, str) else str(error)


MAX_REPLY_BYTES = 256 * 1024 * 1024
"""As JSON, 2,048 vectors of 3,072 numbers take about 140 MB, an answer a few kB."""
_CONNECT_TIMEOUT_S = 10.0
_EMBEDDINGS_PATH = "/embeddings"
"""End of the path of requests for embeddings in OpenAI's protocol. Google's protocol does not
number the vectors."""


async def open_client(timeout_s: float) -> httpx2.AsyncClient:
    """An HTTP client that refuses redirects, oversized replies, and vectors in a wrong order."""
    client = create_async_httpx2_client(
        timeout=httpx2.Timeout(timeout_s, connect=_CONNECT_TIMEOUT_S)
    )
    # a server may compress replies nevertheless; `_bounded` decodes these
    client.headers["Accept-Encoding"] = "identity"
    client.event_hooks["response"] += [_not_redirected, _bounded, _in_order]
    return client


async def _not_redirected(response: httpx2.Response) -> None:
    """Raise Redirected for a redirect: the key and the question are for the address in the settings
    only."""
    if response.has_redirect_location:
        target = response.url.join(response.headers["Location"])
        # without the query, which may contain a token
        raise Redirected(f"{target.scheme}://{target.netloc.decode()}{target.path}")


async def _bounded(response: httpx2.Response) -> None:
    """Make the reply's body one that is decoded in parts and counted. SDKs read a body at once, so
    a small compressed reply could fill the memory."""
    as_sent = httpx2.Response(
        response.status_code, headers=response.headers, stream=response.stream
    )
    response.headers.pop("Content-Encoding", None)
    response.stream = _BoundedStream(as_sent)


async def _in_order(response: httpx2.Response) -> None:
    """Raise ModelUnavailable if vectors are in another order than their texts: pydantic-ai ignores
    the number (`index`) of each vector.

    If the vectors are not numbered from 0 to n-1, the server is trusted to keep the order.
    """
    if not (response.is_success and response.url.path.endswith(_EMBEDDINGS_PATH)):
        return
    try:
        numbers = [row["index"] for row in json.loads(await response.aread())["data"]]
        in_order = list(range(len(numbers)))
        is_mixed_up = numbers != in_order and sorted(numbers) == in_order
    except (ValueError, TypeError, KeyError):
        return  # the reply has no vectors; the SDK raises an error for that
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
    """A connection to the provider of `access`. When the `with` block ends, its thread ends and
    running requests are cancelled."""
    with start_blocking_portal() as portal:
        client = portal.call(open_client, settings.timeout_s)
        try:
            yield Connection(access, settings, budget, portal, client)
        finally:
            # the portal may have stopped already if the process is ending
            with suppress(RuntimeError):
                portal.call(client.aclose)
                portal.call(portal.stop, True)


class Connection:
    """Sends requests to one provider, within its rate limits and the budgets."""

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
        """Time of the event loop's clock at which the next request may begin."""

    @cached_property
    def sdk_provider(self) -> "SdkProvider[Any]":
        """pydantic-ai's provider object with this connection's HTTP client, without the SDK's own
        retries."""
        logging.getLogger("google_genai._api_client").addFilter(_is_not_about_two_keys)
        sdk, key = self.access.sdk, self.access.key
        provider: SdkProvider[Any] = resolve_name(sdk.provider)(
            *sdk.provider_arguments,
            api_key=key.get_secret_value() if key else _NO_KEY,
            base_url=self.access.base_url,
            http_client=self._client,
        )
        if hasattr(provider.client, "max_retries"):
            provider.client.max_retries = 0
        return provider

    def run(
        self, make_request: Callable[[], Awaitable[Result]], spent: Callable[[Result], Usage]
    ) -> Result:
        """Send one request, from any thread; see `guarded`. spent: the usage in a result."""
        return self.call(lambda: self.guarded(make_request, spent))

    def call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` on the connection's event loop. Requests in it must use `guarded`.

        Raises QuestionBudgetExhausted when the time of the question is over.
        """
        result: Result = self._portal.call(_within_question_time, work)
        return result

    @_tracer.start_as_current_span(
        "rag_assets.model_request", record_exception=False, set_status_on_exception=False
    )
    async def guarded(
        self, make_request: Callable[[], Awaitable[Result]], spent: Callable[[Result], Usage]
    ) -> Result:
        """Send one request within the limits, repeat it while the provider is unavailable, and
        charge the budgets.

        The wait before a repetition is what the provider asks for, otherwise a random part of 1, 2,
        4, ... seconds. Raises the errors of `answered` after `max_attempts`, or at once if the wait
        would be longer than `max_wait_s`; BudgetExhausted before anything is sent. spent: the usage
        in a result.
        """
        max_attempts, max_wait_s = self._settings.max_attempts, self._settings.max_wait_s
        n_attempts = 0
        while True:
            n_attempts += 1
            try:
                result = await self._send(make_request)
            except ModelUnavailable as fault:
                # 2 ** 30 seconds is more than any `max_wait_s`
                jitter_s = random.uniform(0, min(max_wait_s, 2.0 ** min(n_attempts - 1, 30)))  # noqa: S311
                wait_s = jitter_s if fault.retry_after_s is None else fault.retry_after_s
                if n_attempts >= max_attempts or wait_s > max_wait_s:
                    raise
                problem = fault.what or str(fault).rstrip(".")
                logger.warning(
                    "%s (attempt %d of %d); trying again in %.1f s.",
                    problem,
                    n_attempts,
                    max_attempts,
                    wait_s,
                )
            else:
                for budget in self._budgets():
                    budget.charge(spent(result))
                return result
            await anyio.sleep(wait_s)

    async def _send(self, make_request: Callable[[], Awaitable[Result]]) -> Result:
        """Send a request when the limits allow it. If the provider asks for a pause, later requests
        wait too."""
        async with self._slots:
            await self._wait_for_turn()
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

    async def _wait_for_turn(self) -> None:
        """Wait until the next request may begin: requests are evenly spaced, and begin after any
        pause that the provider asked for."""
        # in a loop, since another request may have lengthened the pause meanwhile
        while (wait_s := self._next_at_s - anyio.current_time()) > 0:
            await anyio.sleep(wait_s)
        self._next_at_s = anyio.current_time() + self._interval_s


async def _within_question_time(work: Callable[[], Awaitable[Result]]) -> Result:
    """Run the work, and cancel it when the time of its question is over."""
    if (budget := budget_in_force()) is None:
        return await work()
    with anyio.move_on_after(budget.seconds_left):
        return await work()
    raise budget.out_of_time()  # reached only if the work was cancelled


def _is_not_about_two_keys(record: logging.LogRecord) -> bool:
    """A filter that drops the Google SDK's warning about two API-key variables: the key is passed
    explicitly."""
    return "Both GOOGLE_API_KEY and GEMINI_API_KEY" not in record.getMessage()
