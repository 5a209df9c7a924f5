"""Threads that do the blocking work of requests, first come first served, and replies that stream
their results.

The engine's generators and searches block. Each runs to its end on one thread; events cross over to
the event loop as they happen, so a client that reads slowly holds up no thread. Whoever leaves is
taken out of the queue, or stops the work at its next event.
"""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, closing
from contextvars import copy_context
from enum import Enum, auto
from http import HTTPStatus
from threading import Event, Lock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from fastapi import Request, Response
from fastapi.sse import EventSourceResponse, format_sse_event
from starlette.types import Send

from rag_assets.core.errors import RagAssetsError
from rag_assets.faces.server.problems import ProblemError, problem_of, request_id, unexpected

logger = logging.getLogger(__name__)
HEARTBEAT = format_sse_event(comment="still working")
HEARTBEAT_S = 10.0
"""A stream says so often that it is alive while nothing else happens."""

Result = TypeVar("Result")
_RETRY_AFTER_S = 30
_LOOK_EVERY_S = 0.5
_HEADERS = {"X-Accel-Buffering": "no"}
"""Keeps proxies such as nginx from collecting events before they pass them on."""


class _End(Enum):
    """Why no more items come."""

    DONE = auto()
    STOPPED = auto()


class Workers:
    """`n_threads` at work, and up to `max_waiting` waiting for them, first come, first served."""

    def __init__(self, n_threads: int, max_waiting: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix=name)
        self._max_inside = n_threads + max_waiting
        self._counting = Lock()
        self._n_inside = 0
        self._streams: WeakSet[Events[Any]] = WeakSet()

    @property
    def n_inside(self) -> int:
        """Pieces of work that are under way or wait."""
        return self._n_inside

    async def result(self, work: Callable[[], Result]) -> Result:
        """What `work` returns. Raises what it raises, and ProblemError (429) when too many wait
        already."""
        return await asyncio.wrap_future(self._submitted(work))

    def events(self, work: Callable[[], Iterator[Result]]) -> "Events[Result]":
        """The items of a generator, made on a thread. Raises ProblemError (429) when too many wait
        already."""
        stream = Events(work, self._submitted)
        self._streams.add(stream)
        return stream

    def close(self) -> None:
        """Take no more work and end all streams with a problem; work under way ends at its next
        item.

        Called in the event loop; does not wait.
        """
        for stream in self._streams:
            stream.stop()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _submitted(self, work: Callable[[], Result]) -> "Future[Result]":
        with self._counting:
            if self._n_inside >= self._max_inside:
                raise ProblemError(
                    HTTPStatus.TOO_MANY_REQUESTS,
                    "too-many-waiting",
                    "Too many questions wait already",
                    f"Ask again in {_RETRY_AFTER_S} seconds.",
                    {"Retry-After": str(_RETRY_AFTER_S)},
                )
            self._n_inside += 1
        future = self._pool.submit(copy_context().run, work)
        future.add_done_callback(self._left)
        return future

    def _left(self, _future: object) -> None:
        with self._counting:
            self._n_inside -= 1


class Events(Generic[Result]):
    """Items that a thread makes. Iterate them once, with `every`."""

    def __init__(
        self,
        work: Callable[[], Iterator[Result]],
        submit: Callable[[Callable[[], None]], "Future[None]"],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[Result | _End] = asyncio.Queue()
        self._is_left = Event()
        self._work = work
        self._done = asyncio.wrap_future(submit(self._run))
        self._done.add_done_callback(self._ended)

    async def every(self, seconds: float) -> AsyncGenerator[Result | None, None]:
        """The items as they come, and None whenever none came for `seconds`.

        Raises what the work raises, and ProblemError (503) when the server is stopped meanwhile.
        When the caller closes this generator, the work ends at its next item.
        """
        try:
            while True:
                try:
                    item = await asyncio.wait_for(self._items.get(), seconds)
                except TimeoutError:
                    yield None
                    continue
                if isinstance(item, _End):
                    break
                yield item
            if item is _End.STOPPED:
                raise ProblemError(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    "stopping",
                    "The server is being stopped",
                    "Ask when it is back.",
                )
            await self._done
        finally:
            self._is_left.set()
            self._done.cancel()

    def stop(self) -> None:
        """Let the items end with a problem."""
        self._items.put_nowait(_End.STOPPED)

    def _run(self) -> None:
        with closing(_as_generator(self._work())) as items:
            for item in items:
                self._loop.call_soon_threadsafe(self._items.put_nowait, item)
                if self._is_left.is_set():
                    return

    def _ended(self, done: "asyncio.Future[None]") -> None:
        self._items.put_nowait(_End.DONE)
        if not done.cancelled():
            # looked at, so that asyncio does not report an error that nobody waits for any more
            done.exception()


def _as_generator(items: Iterator[Result]) -> Generator[Result, None, None]:
    return (yield from items)


class EventStream(EventSourceResponse):
    """A stream of events; what makes them is closed as soon as the client has left."""

    def __init__(self, events: AsyncGenerator[bytes, None]) -> None:
        super().__init__(events, headers=_HEADERS)
        self._events = events

    async def stream_response(self, send: Send) -> None:
        async with aclosing(self._events):
            await super().stream_response(send)


Named = tuple[str, dict[str, Any]]
"""Name and data of an event."""


def event_stream(description: str) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route that replies with JSON, or with events of this description."""
    schema = {"type": "string", "description": description}
    return {200: {"content": {"text/event-stream": {"schema": schema}}}}


async def replied(events: Events[Named], request: Request) -> Response:
    """The events as they come if the request accepts a stream, else the data of the last one as
    JSON in the form of `qa.jsonl`; nothing where the client has left, who does not read it."""
    if "text/event-stream" in request.headers.get("accept", "").lower():
        return EventStream(_streamed(events))
    last: Named | None = None
    async with aclosing(events.every(_LOOK_EVERY_S)) as items:
        async for item in items:
            if await request.is_disconnected():
                return Response()
            last = item or last
    return Response(_json(last[1]) if last else "", media_type="application/json")


async def _streamed(events: Events[Named]) -> AsyncGenerator[bytes, None]:
    """The events, heartbeats between them, and a problem at the end if the work failed."""
    try:
        async with aclosing(events.every(HEARTBEAT_S)) as items:
            async for item in items:
                yield HEARTBEAT if item is None else _sse(*item)
        return
    except ProblemError as error:
        problem = error
    except RagAssetsError as error:
        problem = problem_of(error)
    except (
        Exception
    ) as error:  # the reply has begun, so this is the only place where its client can be told
        logger.exception("Request %s failed", request_id.get())
        problem = unexpected(error)
    yield _sse("error", {"problem": problem.problem.model_dump()})


def _sse(name: str, data: Mapping[str, Any]) -> bytes:
    """An event of a stream. JSON holds no line break, so text of papers cannot forge another
    event."""
    return format_sse_event(event=name, data_str=_json(data))


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
