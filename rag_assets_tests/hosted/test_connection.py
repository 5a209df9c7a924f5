"""Limits, retries and the budget of a connection, seen from the server."""

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from rag_assets.errors import BudgetExhausted, RequestRejected
from rag_assets.hosted import connection
from rag_assets.settings import ModelAccessSettings, ProviderLimits
from rag_assets_tests.hosted.models import HURRIED, Colour, opened
from rag_assets_tests.wire import Garbage, RateLimited, Reply, Slow, Status, WireServer

GREEN = Reply('{"name": "green"}', n_input_tokens=100, n_output_tokens=10)


def ask_side_by_side(model: object, n_questions: int) -> list[object]:
    def outcome(number: int) -> object:
        try:
            return model.ask(f"Colour number {number}?").output  # type: ignore[attr-defined]
        except BudgetExhausted as error:
            return error

    with ThreadPoolExecutor(n_questions) as pool:
        return list(pool.map(outcome, range(n_questions)))


def test_no_more_requests_are_under_way_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accounts are limited in requests at once, and a laptop with Ollama in memory."""
    settings = HURRIED.model_copy(update={"openai": ProviderLimits(max_concurrent=2, requests_per_minute=60_000)})
    with WireServer("openai") as server, opened(server, monkeypatch, settings) as (model, _):
        server.answer_by(lambda _request: Slow(0.05, GREEN))

        answers = ask_side_by_side(model, 8)

        assert answers == [Colour(name="green")] * 8
        assert server.most_in_flight == 2


def test_requests_are_spaced_as_the_rate_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A burst at the start of every run is answered with 429 for the rest of the minute."""
    settings = HURRIED.model_copy(update={"openai": ProviderLimits(max_concurrent=8, requests_per_minute=600)})
    arrivals: list[float] = []
    with WireServer("openai") as server, opened(server, monkeypatch, settings) as (model, _):
        server.answer_by(lambda _request: arrivals.append(time.monotonic()) or GREEN)

        ask_side_by_side(model, 5)

    assert min(later - earlier for earlier, later in pairwise(sorted(arrivals))) > 0.05, "600 a minute is one in 0.1 s"


def test_a_pause_the_provider_asks_for_holds_for_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the account that is over its limit, not one question."""
    settings = HURRIED.model_copy(update={"max_wait_s": 5.0})
    arrivals: list[float] = []

    with WireServer("openai") as server, opened(server, monkeypatch, settings) as (model, _):

        def model_that_wants_a_pause(_request: object) -> RateLimited | Reply:
            arrivals.append(time.monotonic())
            return RateLimited(1.0) if len(arrivals) == 1 else GREEN

        server.answer_by(model_that_wants_a_pause)
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(model.ask, "One?")
            while not arrivals:
                time.sleep(0.01)
            time.sleep(0.2)  # the refusal has come back by now
            second = pool.submit(model.ask, "Two?")
            assert first.result().output == second.result().output == Colour(name="green")

    assert len(arrivals) == 3
    assert min(arrivals[1:]) - arrivals[0] > 0.8


def test_a_budget_of_requests_is_never_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when many ask at once, and when requests fail."""
    settings = HURRIED.model_copy(update={"budget_requests": 3})
    with WireServer("openai") as server, opened(server, monkeypatch, settings) as (model, budget):
        server.answer_with(Status(500))
        server.answer_by(lambda _request: GREEN)

        outcomes = ask_side_by_side(model, 6)

        assert len(server.requests) == budget.spent.n_requests == 3
        assert outcomes.count(Colour(name="green")) == 2
        errors = [str(outcome) for outcome in outcomes if isinstance(outcome, BudgetExhausted)]
        assert len(errors) == 4
        assert set(errors) == {
            "The run has spent its budget: 3 requests (model_access.budget_requests). What is done is kept, and the "
            "next run goes on from there; raise the setting to do more in one run."
        }


@pytest.mark.parametrize("limit", [{"budget_tokens": 200}, {"budget_usd": 0.00009}])
def test_tokens_and_money_end_a_run_too(limit: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A night's run must not empty an account."""
    settings = ModelAccessSettings(**{**HURRIED.model_dump(), **limit})
    with WireServer("openai") as server, opened(server, monkeypatch, settings) as (model, budget):
        monkeypatch.setattr("rag_assets.hosted.access.Access.server", "")  # prices are known for the vendor's own only
        server.answer_by(lambda _request: GREEN)

        model.ask("One?")  # 110 tokens, 0.000045 dollars
        model.ask("Two?")
        with pytest.raises(BudgetExhausted):
            model.ask("Three?")

        assert len(server.requests) == 2
        assert budget.spent.cost_usd == pytest.approx(0.00009)


def test_a_reply_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile or broken server must not fill the memory."""
    monkeypatch.setattr(connection, "MAX_REPLY_BYTES", 100_000)
    with WireServer("openai") as server, opened(server, monkeypatch) as (model, _):
        server.answer_with(Garbage(b"x" * 1_000_000))

        with pytest.raises(RequestRejected, match="a reply of more than 100000 bytes"):
            model.ask("One?")
