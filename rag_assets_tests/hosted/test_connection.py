"""Limits, retries and the budget of a connection, seen from the server."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx2
import pytest
from anyio.from_thread import BlockingPortal

from rag_assets.core.domain import Usage
from rag_assets.core.errors import BudgetExhausted, ModelUnavailable
from rag_assets.core.settings import ModelAccessSettings
from rag_assets.hosted.access import Access
from rag_assets.hosted.budget import run_budget
from rag_assets.hosted.connection import Connection
from rag_assets.hosted.structured import StructuredModel
from rag_assets_testing.wire import RateLimited, Reply, Slow, Status
from rag_assets_tests.hosted.conftest import Open
from rag_assets_tests.hosted.models import HURRIED, Colour
from rag_assets_tests.virtual_time import run_in_virtual_time

GREEN = Reply('{"name": "green"}', n_input_tokens=100, n_output_tokens=10)


def ask_side_by_side(
    model: StructuredModel[Colour], n_questions: int
) -> list[Colour | BudgetExhausted | None]:
    def outcome(number: int) -> Colour | BudgetExhausted | None:
        try:
            return model.ask(f"Colour number {number}?").output
        except BudgetExhausted as error:
            return error

    with ThreadPoolExecutor(n_questions) as pool:
        return list(pool.map(outcome, range(n_questions)))


def spent(usage: Usage) -> Usage:
    return usage


def in_virtual_time(
    work: Callable[[Connection], Awaitable[None]], settings: ModelAccessSettings
) -> None:
    """Run `work` with a connection on a loop that skips every wait; its requests are coroutines,
    not HTTP."""

    async def connected() -> None:
        access = Access("openai", None, "http://127.0.0.1:9/v1")
        async with BlockingPortal() as portal, httpx2.AsyncClient() as client:
            await work(Connection(access, settings, run_budget(settings), portal, client))

    run_in_virtual_time(connected)


def test_no_more_requests_are_under_way_than_allowed(opened: Open) -> None:
    """Accounts are limited in requests at once, and a laptop with Ollama in memory."""
    server, model, _ = opened(max_concurrent=2)
    server.answer_by(lambda _request: Slow(0.05, GREEN))

    answers = ask_side_by_side(model, 8)

    assert answers == [Colour(name="green")] * 8
    assert server.most_in_flight == 2


def test_requests_are_spaced_as_the_rate_allows() -> None:
    """A burst at the start of every run is answered with 429 for the rest of the minute."""
    settings = HURRIED.model_copy(update={"max_concurrent": 8, "requests_per_minute": 600})
    sent_s: list[float] = []

    async def request() -> Usage:
        sent_s.append(anyio.current_time())
        return Usage(1, 100, 10, None)

    async def five_at_once(connection: Connection) -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(connection.guarded, request, spent)

    in_virtual_time(five_at_once, settings)

    assert sent_s == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4], abs=0.001), (
        "600 a minute is one in 0.1 s"
    )


def test_a_pause_the_provider_asks_for_holds_for_every_request() -> None:
    """The account is over its limit, not one question; the longest pause counts."""
    settings = HURRIED.model_copy(update={"max_wait_s": 5.0})
    sent: list[tuple[str, float]] = []
    refused_after_s = {"slow": 0.6, "fast": 0.0}

    def request(name: str) -> Callable[[], Awaitable[Usage]]:
        async def answer() -> Usage:
            sent.append((name, anyio.current_time()))
            if name in refused_after_s:
                await anyio.sleep(refused_after_s.pop(name))
                refusal = ModelUnavailable("HTTP 429")
                refusal.retry_after_s = 1.0
                raise refusal
            return Usage(1, 100, 10, None)

        return answer

    async def slow_fast_and_a_third(connection: Connection) -> None:
        async with anyio.create_task_group() as tasks:
            for name in ("slow", "fast"):
                tasks.start_soon(connection.guarded, request(name), spent)
            await anyio.sleep(0.2)  # the fast refusal has come back by now, the slow one has not
            tasks.start_soon(connection.guarded, request("third"), spent)

    in_virtual_time(slow_fast_and_a_third, settings)

    assert [name for name, _ in sent[:2]] == ["slow", "fast"]
    assert sorted(name for name, _ in sent[2:]) == ["fast", "slow", "third"]
    assert min(at_s for _, at_s in sent[2:]) == pytest.approx(1.6, abs=0.01), (
        "0.6 s until the later refusal, then 1 s"
    )


def test_a_pause_too_long_to_wait_for_holds_up_no_other_request(
    opened: Open,
) -> None:
    """A run that waits an hour blocks the data folder; it must say so and end."""
    server, model, _ = opened()
    server.answer_with(RateLimited(3600.0), GREEN)
    with pytest.raises(ModelUnavailable):
        model.ask("One?")

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(model.ask, "Two?").result(timeout=60).output == Colour(name="green")


def test_a_budget_of_requests_is_never_passed(opened: Open) -> None:
    """Also when many ask at once, and when requests fail."""
    server, model, budget = opened(budget_requests=3)
    server.answer_with(Status(500))
    server.answer_by(lambda _request: GREEN)

    outcomes = ask_side_by_side(model, 6)

    assert len(server.requests) == budget.spent.n_requests == 3
    assert outcomes.count(Colour(name="green")) == 2
    errors = [str(outcome) for outcome in outcomes if isinstance(outcome, BudgetExhausted)]
    assert len(errors) == 4
    assert set(errors) == {
        "The run has spent its budget: 3 of 3 requests (model_access.budget_requests). What is done is kept, and "
        "the next run goes on from there; raise the setting to do more in one run."
    }


@pytest.mark.parametrize("limit", [{"budget_tokens": 205}, {"budget_usd": 0.00009}])
def test_tokens_and_money_end_a_run_too(
    limit: dict[str, float], monkeypatch: pytest.MonkeyPatch, opened: Open
) -> None:
    """A night's run must not empty an account."""
    server, model, budget = opened(**limit)
    monkeypatch.setattr(
        "rag_assets.hosted.access.Access.server", ""
    )  # prices are known for the vendor's own only
    server.answer_by(lambda _request: GREEN)

    model.ask("One?")  # 100 tokens read and 10 written, 0.000045 dollars
    model.ask("Two?")
    with pytest.raises(BudgetExhausted):
        model.ask("Three?")

    assert len(server.requests) == 2
    assert budget.spent.cost_usd == pytest.approx(0.00009)
