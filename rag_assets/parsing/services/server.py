"""One server that reads PDFs: bounded requests to its address, and to no other.

No redirect is followed, and no proxy or password of the environment is used: a PDF goes where the settings say.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2

from rag_assets.core.errors import InvalidSettings, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.hosted.access import is_address

_CONNECT_TIMEOUT_S = 10.0
_BYTES_PER_MB = 1_000_000
_SHOWN_BYTES = 200
_WAIT_S = 5.0
"""Between two attempts at a full server; GROBID's manual suggests 5 to 10 s, and its Python client waits 5."""


class Unanswered(Exception):
    """The server is full, slow or gone, which says nothing about the PDF."""


class _NotNow(Unanswered):
    """Worth another attempt: nothing was begun."""


class Server:
    """Sends requests to one address; the caller bounds their time. Raises Unanswered, and UnreadableDocument for an
    error or a reply that is too large, with a phrase that can follow "a.pdf was not read by GROBID: "."""

    def __init__(self, client: httpx2.AsyncClient, max_reply_mb: float) -> None:
        self._client, self._max_reply_mb = client, max_reply_mb

    async def patiently(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply; the request is sent again while the server is full or restarts."""
        while True:
            with suppress(_NotNow):
                return await self.once(method, path, **parts)
            await anyio.sleep(_WAIT_S)

    async def once(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply."""
        body, most = bytearray(), self._max_reply_mb
        try:
            async with self._client.stream(method, path, **parts) as reply:
                if reply.status_code in (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS):
                    raise _NotNow(f"it is full or not ready (HTTP {reply.status_code})")
                async for part in reply.aiter_bytes():
                    body += part
                    if len(body) > most * _BYTES_PER_MB:
                        raise UnreadableDocument(f"its reply has more than {most:g} MB (parsing.limits.max_file_mb)")
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _NotNow("it cannot be reached") from error
        except httpx2.HTTPError as error:
            raise Unanswered("the connection broke before it had answered") from error
        if reply.status_code == HTTPStatus.OK:
            return bytes(body)
        said = "".join(f" {word}" for word in body[:_SHOWN_BYTES].decode("utf-8", "replace").split())
        raise UnreadableDocument(f"it answered with HTTP {reply.status_code}{said and ':'}{said}")


@asynccontextmanager
async def connected(setting: str, address: str, settings: ParsingSettings) -> AsyncIterator[Server]:
    """The server at the address that `setting` holds. Raises InvalidSettings unless it is one without a password."""
    if not is_address(address) or "@" in urlsplit(address).netloc:
        raise InvalidSettings(
            f"{setting} is not an address. Write it as http://host:port or https://host, without a password."
        )
    async with httpx2.AsyncClient(
        base_url=address,
        timeout=httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        headers={"Accept-Encoding": "identity"},  # a small compressed reply could fill the memory at once
        trust_env=False,
    ) as client:
        yield Server(client, settings.limits.max_file_mb)
