"""The HTTP client of a connection: no redirects, bounded replies, vectors in the order of their texts."""

import json
from collections.abc import AsyncIterator

import httpx2
from pydantic_ai.models import create_async_httpx2_client

from rag_assets.core.errors import ModelUnavailable
from rag_assets.hosted.faults import Redirected, ReplyTooLarge

MAX_REPLY_BYTES = 256 * 1024 * 1024
"""2,048 vectors of 3,072 numbers take about 140 MB as JSON, an answer a few kB."""
_CONNECT_TIMEOUT_S = 10.0
_EMBEDDINGS_PATH = "/embeddings"
"""In OpenAI's protocol; Google's does not number its vectors."""


async def open_client(timeout_s: float) -> httpx2.AsyncClient:
    client = create_async_httpx2_client(timeout=httpx2.Timeout(timeout_s, connect=_CONNECT_TIMEOUT_S))
    client.headers["Accept-Encoding"] = "identity"  # replies that are compressed all the same are decoded in `_bounded`
    client.event_hooks["response"] += [_not_redirected, _bounded, _in_order]
    return client


async def _not_redirected(response: httpx2.Response) -> None:
    """Refuses redirects: the key and the question are for the address in the settings."""
    if response.has_redirect_location:
        target = response.url.join(response.headers["Location"])
        raise Redirected(f"{target.scheme}://{target.netloc.decode()}{target.path}")  # the query may hold a token


async def _bounded(response: httpx2.Response) -> None:
    """Decodes the body in parts and counts them, because SDKs read a body at once: a small compressed reply could
    otherwise fill the memory."""
    as_sent = httpx2.Response(response.status_code, headers=response.headers, stream=response.stream)
    response.headers.pop("Content-Encoding", None)
    response.stream = _BoundedStream(as_sent)


async def _in_order(response: httpx2.Response) -> None:
    """Refuses vectors in another order than their texts: pydantic-ai ignores the number that each vector has.

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
        raise ModelUnavailable("The server answered with vectors in another order than that of their texts.")


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
