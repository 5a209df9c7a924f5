"""What a thorough answer may spend: at a limit nothing more is sent, and what was verified is the
answer."""

from pathlib import Path

import pytest

from rag_assets.core.errors import QuestionBudgetExhausted
from rag_assets_testing.wire import Step
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_tests.answering.model.thorough.scripted import (
    FALL,
    FELL,
    N_REQUESTS,
    PAID,
    PAYER,
    ScriptedModel,
    answered,
    said,
    thorough,
)


@pytest.mark.parametrize("n_requests", range(2, N_REQUESTS + 1))
def test_no_request_is_sent_beyond_the_limit_and_what_was_verified_is_kept(
    tmp_path: Path, n_requests: int
) -> None:
    """One question would spend what a hundred may, or lose what was paid for; and "nothing was
    found" would be said of what nobody looked for."""
    with thorough(tmp_path, ScriptedModel(), max_requests=n_requests) as (pipeline, server):
        trace = answered(pipeline)

        assert len(server.requests) == n_requests
    is_whole = n_requests == N_REQUESTS
    assert said(trace) == {FELL.text, PAID.text} if is_whole else {FELL.text}
    assert is_whole or trace.result.unanswered == (
        f"Not asked to the end: “{PAYER}” The question has spent its budget: {n_requests} of "
        f"{n_requests} requests (answering.thorough.max_requests).",
    )
    assert (trace.steps[-1].kind == "stop") != is_whole
    assert trace.spent.n_requests == n_requests


def test_where_the_budget_leaves_nothing_to_say_the_question_is_left(tmp_path: Path) -> None:
    """A refusal would say that the papers hold no answer, which nobody looked for."""
    with thorough(tmp_path, ScriptedModel(), max_requests=1) as (pipeline, server):
        with pytest.raises(
            QuestionBudgetExhausted, match=r"1 of 1 requests \(answering.thorough.max_requests\)"
        ):
            answered(pipeline)

        assert len(server.requests) == 1


class Clock:
    """Stands still until it is put forward."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(("slow", "n_asked"), [("plan", 1), (FALL, 2), (PAYER, 3), ("gap", 4)])
def test_after_its_time_a_question_begins_nothing(tmp_path: Path, slow: str, n_asked: int) -> None:
    """A reader waits, and other questions wait behind this one."""
    clock, model = Clock(), ScriptedModel()

    def slowed(request: WireRequest) -> Step:
        step = model(request)
        clock.now_s += 1000 if model.asked[-1] == slow else 0
        return step

    with thorough(tmp_path, slowed, clock=clock, max_seconds=120) as (pipeline, server):
        if slow == "plan":
            with pytest.raises(QuestionBudgetExhausted, match="120 seconds have passed"):
                answered(pipeline)
        else:
            assert said(answered(pipeline)) == {FELL.text}

        assert len(server.requests) == n_asked


def test_a_slow_model_is_not_cut_off_unless_that_is_asked_for(tmp_path: Path) -> None:
    """A model on a laptop takes minutes for each part: no question of several parts would be
    answered whole."""
    clock, model = Clock(), ScriptedModel()

    def slowed(request: WireRequest) -> Step:
        clock.now_s += 1000
        return model(request)

    with thorough(tmp_path, slowed, clock=clock) as (pipeline, server):
        trace = answered(pipeline)

        assert len(server.requests) == N_REQUESTS
    assert said(trace) == {FELL.text, PAID.text}


def test_replies_that_are_kept_cost_nothing(tmp_path: Path) -> None:
    """An answer that a limit cut short could never be finished."""
    with thorough(tmp_path, ScriptedModel(), max_requests=3) as (pipeline, server):
        assert said(answered(pipeline)) == {FELL.text}
        assert said(answered(pipeline)) == {FELL.text, PAID.text}

        assert len(server.requests) == N_REQUESTS
