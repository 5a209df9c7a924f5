"""One provider, opened: every request goes through here, so limits, retries and the budget hold for all of them.

Requests run on an event loop of the connection's own, in one thread; callers are ordinary functions in any thread.
The SDKs' own retries are switched off: there is one place that waits and counts.
"""

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import anyio
import httpx2
from aiolimiter import AsyncLimiter
from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic_ai.models import create_async_httpx2_client
from pydantic_ai.providers import Provider
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from rag_assets.domain import Usage
from rag_assets.errors import ModelUnavailable
from rag_assets.hosted.access import Access
from rag_assets.hosted.budget import RunBudget
from rag_assets.hosted.faults import Redirected, ReplyTooLarge, answered
from rag_assets.settings import ModelAccessSettings

logger = logging.getLogger(__name__)
MAX_REPLY_BYTES = 256 * 1024 * 1024
"""2,048 vectors of 3,072 numbers are about 140 MB where a server writes them out, an answer is a few kB; what is larger
is no reply."""
_CONNECT_TIMEOUT_S = 10.0
_EMBEDDINGS_PATH = "/embeddings"
"""Where OpenAI's protocol has them; Google's gives no numbers."""
_A_MINUTE_S = 60.0
_NO_KEY = "none-needed"
Result = TypeVar("Result")


@contextmanager
def open_connection(access: Access, settings: ModelAccessSettings, budget: RunBudget) -> Iterator["Connection"]:
    """A connection to the provider of `access`; closed at the end, with its thread and what is still under way."""
    with start_blocking_portal() as portal:
        client = portal.call(_client, settings.timeout_s)
        try:
            yield Connection(access, settings, budget, portal, client)
        finally:
            with suppress(RuntimeError):  # the portal is down already when the process is being ended
                portal.call(client.aclose)
                portal.call(portal.stop, True)


class Connection:
    """Sends requests to one provider, as fast as its limits and the run's budget allow."""

    def __init__(
        self,
        access: Access,
        settings: ModelAccessSettings,
        budget: RunBudget,
        portal: BlockingPortal,
        client: httpx2.AsyncClient,
    ) -> None:
        self.access = access
        self.provider = _provider(access, client)
        self._settings = settings
        self._budget = budget
        self._portal = portal
        limits = settings.limits_of(access.provider)
        self._slots = anyio.Semaphore(limits.max_concurrent)
        self._rate = AsyncLimiter(1, _A_MINUTE_S / limits.requests_per_minute)  # evenly, without a burst
        self._not_before = 0.0

    def run(self, make_request: Callable[[], Awaitable[Result]], spent: Callable[[Result], Usage]) -> Result:
        """Send one request, from any thread; see `guarded`."""
        return self.call(lambda: self.guarded(make_request, spent))

    def call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run `work` on the connection's event loop; the requests in it must go through `guarded`."""
        result: Result = self._portal.call(work)
        return result

    async def guarded(self, make_request: Callable[[], Awaitable[Result]], spent: Callable[[Result], Usage]) -> Result:
        """Send one request within the limits, again while the provider does not answer for now; charge the budget.

        Raises what `faults.answered` raises when it is given up, and BudgetExhausted before it is sent.
        """
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(ModelUnavailable),
            stop=self._gives_up,
            wait=self._wait_s,
            before_sleep=self._announced,
            sleep=anyio.sleep,
            reraise=True,
        )
        result: Result = await retrying(self._sent, make_request)
        self._budget.charge(spent(result))
        return result

    async def _sent(self, make_request: Callable[[], Awaitable[Result]]) -> Result:
        async with self._slots, self._rate:
            while (pause_s := self._not_before - anyio.current_time()) > 0:  # others may have lengthened it
                await anyio.sleep(pause_s)
            self._budget.admit()
            try:
                return await answered(make_request, self.access, timeout_s=self._settings.timeout_s)
            except ModelUnavailable as fault:
                if fault.retry_after_s is not None:  # it is the provider that is asked for a pause, not one request
                    self._not_before = anyio.current_time() + min(fault.retry_after_s, self._settings.max_wait_s)
                raise

    def _gives_up(self, state: RetryCallState) -> bool:
        asked = _retry_after_s(state)
        return state.attempt_number >= self._settings.max_attempts or (
            asked is not None and asked > self._settings.max_wait_s
        )

    def _wait_s(self, state: RetryCallState) -> float:
        """What the provider asks for; else exponential with full jitter, so that many do not come back at once."""
        asked = _retry_after_s(state)
        jitter_s: float = wait_random_exponential(max=self._settings.max_wait_s)(state)
        return asked if asked is not None else jitter_s

    def _announced(self, state: RetryCallState) -> None:
        wait_s = state.next_action.sleep if state.next_action else 0.0
        logger.warning(
            "%s (attempt %d of %d); trying again in %.1f s.",
            _what(state),
            state.attempt_number,
            self._settings.max_attempts,
            wait_s,
        )


def _what(state: RetryCallState) -> str:
    """What happened, without the full stop; not every fault keeps its remedy apart."""
    error = state.outcome.exception() if state.outcome else None
    return (error.what if isinstance(error, ModelUnavailable) else "") or str(error).rstrip(".")


def _retry_after_s(state: RetryCallState) -> float | None:
    error = state.outcome.exception() if state.outcome else None
    return error.retry_after_s if isinstance(error, ModelUnavailable) else None


async def _client(timeout_s: float) -> httpx2.AsyncClient:
    client = create_async_httpx2_client(timeout=httpx2.Timeout(timeout_s, connect=_CONNECT_TIMEOUT_S))
    client.headers["Accept-Encoding"] = "identity"  # what comes compressed all the same is unfolded in `_bounded`
    client.event_hooks["response"] += [_not_redirected, _bounded, _in_order]
    return client


async def _not_redirected(response: httpx2.Response) -> None:
    """No redirect is followed: the key and the question are for the address in the settings."""
    if response.has_redirect_location:
        target = response.url.join(response.headers["Location"])
        raise Redirected(f"{target.scheme}://{target.netloc.decode()}{target.path}")  # the query may hold a token


async def _bounded(response: httpx2.Response) -> None:
    """The body of `response` is decoded by another one, and counted here, so that a small reply cannot unfold to
    fill the memory: the SDKs read what they are given at once."""
    as_sent = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    response.headers.pop("Content-Encoding", None)
    response.stream = _BoundedStream(as_sent)


async def _in_order(response: httpx2.Response) -> None:
    """Vectors carry the number of their text, which pydantic-ai does not read: it takes them as they come.

    A server that numbers them in another way than from 0 to n is believed to keep their order.
    """
    if not (response.is_success and response.url.path.endswith(_EMBEDDINGS_PATH)):
        return
    try:
        numbers = [row["index"] for row in json.loads(await response.aread())["data"]]
        is_mixed_up = numbers != sorted(numbers) == list(range(len(numbers)))
    except (ValueError, TypeError, KeyError):
        return  # no vectors at all, which the SDK will find
    if is_mixed_up:
        raise ModelUnavailable("The server answered with vectors in another order than that of their texts.")


class _BoundedStream(httpx2.AsyncByteStream):
    """A reply that ends with an error when it is larger than any reply can be."""

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


def _provider(access: Access, client: httpx2.AsyncClient) -> Provider[Any]:
    """pydantic-ai's provider object. SDKs are imported here, each only when it is used."""
    key = access.key.get_secret_value() if access.key else _NO_KEY
    base_url = access.base_url
    match access.provider:
        case "google":
            from pydantic_ai.providers.google import GoogleProvider

            logging.getLogger("google_genai._api_client").addFilter(_is_not_of_two_keys)
            return GoogleProvider(api_key=key, base_url=base_url, http_client=client)
        case "anthropic":
            from pydantic_ai.providers.anthropic import AnthropicProvider

            return _without_own_retries(AnthropicProvider(api_key=key, base_url=base_url, http_client=client))
        case "ollama":
            from pydantic_ai.providers.ollama import OllamaProvider

            return _without_own_retries(OllamaProvider(api_key=key, base_url=base_url, http_client=client))
        case _ if access.server:  # without what only OpenAI's own service understands
            from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

            return _without_own_retries(
                OpenAICompatibleProvider("openai-compatible", api_key=key, base_url=base_url, http_client=client)
            )
        case _:
            from pydantic_ai.providers.openai import OpenAIProvider

            return _without_own_retries(OpenAIProvider(api_key=key, base_url=base_url, http_client=client))


def _is_not_of_two_keys(record: logging.LogRecord) -> bool:
    """Where both variables are set, Google's SDK says which one it takes, and does not know that it was handed one."""
    return "Both GOOGLE_API_KEY and GEMINI_API_KEY" not in record.getMessage()


def _without_own_retries(provider: Provider[Any]) -> Provider[Any]:
    """Without the SDK's own retries, of which this module would know nothing; Google's has none."""
    provider.client.max_retries = 0
    return provider
