"""Replies that last: streams of events that end with their client, and the body of one where no stream is asked for."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from fastapi import Request
from fastapi.sse import EventSourceResponse
from starlette.types import Send

from rag_assets.server.workers import Events

Item = TypeVar("Item")
_LOOK_EVERY_S = 0.5
_HEADERS = {"X-Accel-Buffering": "no"}
"""Keeps proxies such as nginx from collecting events before they pass them on."""


class EventStream(EventSourceResponse):
    """A stream of events; what makes them is closed as soon as the client has left."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers=_HEADERS)
        self._events = events

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._events):
            await super().stream_response(send)


async def until_left(events: Events[Item], request: Request) -> AsyncGenerator[Item, None]:
    """The items, until the client has left: then the work is stopped, and the generator ends."""
    async with aclosing(events.every(_LOOK_EVERY_S)) as items:
        async for item in items:
            if await request.is_disconnected():
                return
            if item is not None:
                yield item
