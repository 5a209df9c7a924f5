"""The threads behind requests: order, bounds, and what happens to the work of those who leave."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from threading import Event, get_ident

import pytest

from rag_assets.faces.server.problems import ProblemError
from rag_assets.faces.server.workers import Workers

PATIENCE_S = 30.0


def with_workers(
    n_threads: int, max_waiting: int, use: Callable[[Workers], Awaitable[None]]
) -> None:
    async def run() -> None:
        workers = Workers(n_threads, max_waiting, "test")
        try:
            await asyncio.wait_for(use(workers), PATIENCE_S)
        finally:
            workers.close()

    asyncio.run(run())


async def until(happened: Callable[[], bool]) -> None:
    while not happened():
        await asyncio.sleep(0.005)


def test_work_is_done_in_the_order_it_came() -> None:
    """A queue that lets latecomers in first leaves somebody waiting for good while others ask
    on."""
    done: list[int] = []
    gate = Event()

    async def use(workers: Workers) -> None:
        first = asyncio.create_task(workers.result(gate.wait))
        await until(lambda: workers.n_inside == 1)
        others = [
            asyncio.create_task(workers.result(lambda n=n: done.append(n))) for n in range(20)
        ]  # type: ignore[misc]
        await until(lambda: workers.n_inside == 21)
        gate.set()
        await asyncio.gather(first, *others)

    with_workers(1, 100, use)

    assert done == list(range(20))


def test_what_is_too_much_is_refused_and_told_when_to_come_again() -> None:
    """Without a bound, a flood of questions takes all memory and everybody waits without end."""
    gate = Event()

    async def use(workers: Workers) -> None:
        inside = [asyncio.create_task(workers.result(gate.wait)) for _ in range(3)]
        await until(lambda: workers.n_inside == 3)
        with pytest.raises(ProblemError) as refused:
            await workers.result(gate.wait)
        gate.set()
        await asyncio.gather(*inside)
        await workers.result(gate.wait)  # there is room again

        assert refused.value.status_code == 429
        assert refused.value.headers == {"Retry-After": "30"}

    with_workers(1, 2, use)


def test_who_leaves_stops_the_work_at_its_next_item() -> None:
    """A closed browser tab must not go on spending a model's tokens, or hold up those who wait."""
    made: list[int] = []
    closed, go_on = Event(), Event()

    def work() -> Iterator[int]:
        try:
            for number in range(1000):
                made.append(number)
                yield number
                go_on.wait(PATIENCE_S)
        finally:
            closed.set()

    async def use(workers: Workers) -> None:
        async with aclosing(workers.events(work).every(PATIENCE_S)) as items:
            async for _ in items:
                break
        go_on.set()
        await until(lambda: workers.n_inside == 0)

    with_workers(1, 0, use)

    assert closed.is_set()
    assert made in ([0], [0, 1])


def test_who_leaves_while_waiting_costs_nothing() -> None:
    """Work that is begun for nobody delays those who are still there."""
    gate, begun = Event(), Event()

    def work() -> Iterator[int]:
        begun.set()
        yield 1

    async def use(workers: Workers) -> None:
        first = asyncio.create_task(workers.result(gate.wait))
        await until(lambda: workers.n_inside == 1)
        async with aclosing(workers.events(work).every(0.01)) as items:
            async for item in items:
                assert item is None
                break
        await until(lambda: workers.n_inside == 1)
        gate.set()
        await first

    with_workers(1, 5, use)

    assert not begun.is_set()


def test_a_slow_reader_holds_no_thread() -> None:
    """One phone on a bad line must not take a thread from the others for minutes."""

    async def use(workers: Workers) -> None:
        slow = workers.events(lambda: iter(range(50)))
        await until(lambda: workers.n_inside == 0)  # nothing of it was read yet
        assert [item async for item in slow.every(PATIENCE_S)] == list(range(50))

    with_workers(1, 0, use)


def test_an_error_of_the_work_reaches_its_caller() -> None:
    """An error that stays in a thread leaves a client waiting for ever."""

    def work() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    async def use(workers: Workers) -> None:
        with pytest.raises(ValueError, match="broken"):
            _ = [item async for item in workers.events(work).every(PATIENCE_S)]

    with_workers(1, 0, use)


def test_streams_end_with_a_problem_when_the_server_stops() -> None:
    """A stream that is only cut off looks like a broken network, and clients ask again at once."""
    gate = Event()

    async def use(workers: Workers) -> None:
        running, waiting = (
            workers.events(lambda: iter([gate.wait()])),
            workers.events(lambda: iter([gate.wait()])),
        )
        workers.close()
        for stream in (running, waiting):
            with pytest.raises(ProblemError) as ended:
                _ = [item async for item in stream.every(PATIENCE_S)]
            assert ended.value.problem.title == "The server is being stopped"
        gate.set()

    with_workers(1, 5, use)


def test_work_never_runs_in_the_event_loop() -> None:
    """One search in the event loop would stop every other request for its time."""

    async def use(workers: Workers) -> None:
        assert await workers.result(get_ident) != get_ident()

    with_workers(1, 0, use)
