"""Replies that last: streams of events that end with their client, and the body of one where no stream is asked for."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TypeVar

from fastapi import Request
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Send

from rag_assets.core.errors import RagAssetsError
from rag_assets.faces.server.problems import ProblemError, problem_of, request_id, unexpected
from rag_assets.faces.server.workers import Events

logger = logging.getLogger(__name__)
HEARTBEAT = format_sse_event(comment="still working")

Item = TypeVar("Item")
_LOOK_EVERY_S = 0.5
HEARTBEAT_S = 10.0
"""A stream says so often that it is alive while nothing else happens."""
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


async def streamed(
    events: Events[Item],
    render: Callable[[Item], bytes],
    render_problem: Callable[[ProblemError], bytes],
) -> AsyncGenerator[bytes, None]:
    """The items as they come, heartbeats between them, and a problem at the end if the work failed."""
    try:
        async with aclosing(events.every(HEARTBEAT_S)) as items:
            async for item in items:
                yield HEARTBEAT if item is None else render(item)
    except ProblemError as error:
        yield render_problem(error)
    except RagAssetsError as error:
        yield render_problem(problem_of(error))
    except Exception:  # the reply has begun, so this is the only place where its client can be told
        logger.exception("Request %s failed", request_id.get())
        yield render_problem(unexpected())


async def until_left(events: Events[Item], request: Request) -> AsyncGenerator[Item, None]:
    """The items, until the client has left: then the work is stopped, and the generator ends."""
    async with aclosing(events.every(_LOOK_EVERY_S)) as items:
        async for item in items:
            if await request.is_disconnected():
                return
            if item is not None:
                yield item
