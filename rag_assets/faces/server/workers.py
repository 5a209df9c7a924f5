"""Threads that do the blocking work of requests: so many at once, in the order in which they came.

The engine's generators and searches block. Each runs to its end on one thread; events cross over to the event loop as
they happen, so a client that reads slowly holds up no thread. Whoever leaves is taken out of the queue, or stops the
work at its next event.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from contextvars import copy_context
from enum import Enum, auto
from http import HTTPStatus
from threading import Event, Lock
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from rag_assets.faces.server.problems import ProblemError

Result = TypeVar("Result")
_RETRY_AFTER_S = 30


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
        """What `work` returns. Raises what it raises, and ProblemError (429) when too many wait already."""
        return await asyncio.wrap_future(self._submitted(work))

    def events(self, work: Callable[[], Iterator[Result]]) -> "Events[Result]":
        """The items of a generator, made on a thread. Raises ProblemError (429) when too many wait already."""
        stream = Events(work, self._submitted)
        self._streams.add(stream)
        return stream

    def close(self) -> None:
        """Take no more work and end all streams with a problem; work under way ends at its next item.

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
        self, work: Callable[[], Iterator[Result]], submit: Callable[[Callable[[], None]], "Future[None]"]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: asyncio.Queue[Result | _End] = asyncio.Queue()
        self._is_left = Event()
        self._work = work
        self._done = asyncio.wrap_future(submit(self._run))
        self._done.add_done_callback(self._ended)

    async def every(self, seconds: float) -> AsyncGenerator[Result | None, None]:
        """The items as they come, and None whenever none came for `seconds`.

        Raises what the work raises, and ProblemError (503) when the server is stopped meanwhile. When the caller
        closes this generator, the work ends at its next item.
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
                    HTTPStatus.SERVICE_UNAVAILABLE, "stopping", "The server is being stopped", "Ask when it is back."
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
            done.exception()  # looked at, so that asyncio does not report an error that nobody waits for any more


def _as_generator(items: Iterator[Result]) -> Generator[Result, None, None]:
    return (yield from items)
