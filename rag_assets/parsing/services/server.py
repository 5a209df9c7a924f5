"""One server that reads PDFs: bounded requests to its address, and to no other.

No redirect is followed, and no proxy or password of the environment is used: a PDF goes where the settings say.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2

from rag_assets.core.errors import InvalidSettings, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.hosted.access import is_address

logger = logging.getLogger(__name__)
_CONNECT_TIMEOUT_S = 10.0
_BYTES_PER_MB = 1_000_000
_SHOWN_CHARS = 200
_FULL = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.TOO_MANY_REQUESTS)
_WAIT_S = 5.0
"""Between two attempts at a full server; GROBID's manual suggests 5 to 10 s, and its Python client waits 5."""


class Unanswered(Exception):
    """The server is full, slow or gone, which says nothing about the PDF."""


class Server:
    """Sends requests to one address."""

    def __init__(self, client: httpx2.AsyncClient, max_reply_mb: float) -> None:
        self._client = client
        self._max_reply_mb = max_reply_mb

    async def patiently(self, method: str, path: str, **parts: Any) -> bytes:
        """The body of the reply, as `get`; the request is sent again while the server is full or restarts.

        The caller bounds the time.
        """
        while True:
            try:
                return await self._body(method, path, **parts)
            except _NotNow as fault:
                logger.info("%s: %s; trying again in %g s", self._client.base_url, fault, _WAIT_S)
            await anyio.sleep(_WAIT_S)

    async def get(self, path: str) -> bytes:
        """The body of the reply to one request. Raises Unanswered, and UnreadableDocument for a reply that is an error
        or too large; both with a phrase that can follow "a.pdf was not read by GROBID: "."""
        return await self._body("GET", path)

    async def _body(self, method: str, path: str, **parts: Any) -> bytes:
        try:
            async with self._client.stream(method, path, **parts) as reply:
                if reply.status_code in _FULL:
                    raise _NotNow(f"it is full or not ready (HTTP {reply.status_code})")
                body = await self._bounded(reply)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise _NotNow("it cannot be reached") from error
        except httpx2.HTTPError as error:
            raise Unanswered("the connection broke before it had answered") from error
        if reply.status_code == HTTPStatus.OK:
            return body
        if reply.has_redirect_location:
            raise Unanswered("it redirects to another address, which is not followed")
        said = " ".join(body[: 4 * _SHOWN_CHARS].decode("utf-8", "replace").split())[:_SHOWN_CHARS]
        raise UnreadableDocument(f"it answered with HTTP {reply.status_code}" + (f" ({said})" if said else ""))

    async def _bounded(self, reply: httpx2.Response) -> bytes:
        body = bytearray()
        async for part in reply.aiter_bytes():
            body += part
            if len(body) > self._max_reply_mb * _BYTES_PER_MB:
                raise UnreadableDocument(
                    f"its reply has more than the {self._max_reply_mb:g} MB of parsing.limits.max_file_mb"
                )
        return bytes(body)


class _NotNow(Unanswered):
    """Worth another attempt: nothing was begun."""


@asynccontextmanager
async def connected(setting: str, address: str, settings: ParsingSettings) -> AsyncIterator[Server]:
    """The server at the address that `setting` holds. Raises InvalidSettings for one that is invalid or holds a
    password."""
    if not is_address(address) or "@" in urlsplit(address).netloc:
        raise InvalidSettings(
            f"{setting} is not an address. Write it as http://host:port or https://host, with a path if the server "
            "needs one, and without a password."
        )
    timeout = httpx2.Timeout(None, connect=_CONNECT_TIMEOUT_S)  # the caller bounds the whole
    limits = httpx2.Limits(max_connections=settings.services.max_concurrent)
    headers = {"Accept-Encoding": "identity"}  # a small compressed reply could fill the memory at once
    async with httpx2.AsyncClient(
        base_url=address, timeout=timeout, limits=limits, trust_env=False, headers=headers
    ) as client:
        yield Server(client, settings.limits.max_file_mb)
