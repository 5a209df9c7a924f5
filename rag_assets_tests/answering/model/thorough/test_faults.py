"""What a fault of the model does to a thorough answer, at each of its steps."""

import json
from pathlib import Path

import pytest

from rag_assets.answering.drafts import UNVERIFIED
from rag_assets.answering.wording import not_asked_note
from rag_assets.core.errors import QuestionBudgetExhausted
from rag_assets_testing.wire import (
    Reply,
    Slow,
    Status,
    Step,
)
from rag_assets_tests.answering.model.thorough.scripted import (
    FALL,
    FELL,
    PAID,
    PAYER,
    ScriptedModel,
    answered,
    said,
    thorough,
)
from rag_assets_tests.hosted.models import HURRIED

REJECTED = (Status(400),)
STEPS = ("plan", FALL, PAYER, "gap")
ONE_ATTEMPT = HURRIED.model_copy(update={"max_attempts": 1})
CUT = Reply('{"parts": [{"question": "Did fer', finish="length")
WRONG = Reply('{"colour": "red"}')


def test_the_time_of_the_question_ends_a_request_under_way(tmp_path: Path) -> None:
    """One slow request would take as long as all steps may together."""
    with thorough(tmp_path / "before", ScriptedModel()) as (pipeline, _server):
        answered(pipeline)  # loads the SDK, which takes its time
    model = ScriptedModel()
    model.does_instead("plan", Slow(60, WRONG))

    with (
        thorough(tmp_path, model, access=ONE_ATTEMPT, max_seconds=3) as (pipeline, server),
        pytest.raises(QuestionBudgetExhausted, match=r"3 seconds have passed"),
    ):
        answered(pipeline)

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ((WRONG, WRONG), "cannot be read as an answer. It wrote: "),
        ((CUT, CUT), "was cut by the output limit, also after it was asked to be brief."),
        (REJECTED, "The model refused the request."),
    ],
    ids=["schema", "cut", "rejected"],
)
@pytest.mark.parametrize("step", STEPS)
def test_a_reply_that_cannot_be_used_costs_its_step_only(
    tmp_path: Path, fault: tuple[Step, ...], why: str, step: str
) -> None:
    """A small model that writes no JSON, or a server that refuses a request, would leave the whole
    question open."""
    model = ScriptedModel()
    model.does_instead(step, *fault)

    with thorough(tmp_path, model) as (pipeline, _server):
        trace = answered(pipeline)

    claims = {FALL: FELL.text, PAYER: PAID.text}
    still_open = step if step in claims else None
    assert said(trace) == {text for part, text in claims.items() if part != still_open}
    assert len(trace.result.unanswered) == bool(still_open)
    for note in trace.result.unanswered:
        assert note.startswith(not_asked_note(step, " ").rstrip())
        assert why in note


def test_a_part_whose_reply_could_not_be_verified_is_told_as_such(tmp_path: Path) -> None:
    """ "No sentence was found for it" would say of the papers what is true of the model."""
    model = ScriptedModel(words=())
    said_twice = {"text": "The trial of iron cost 99 dollars.", "cites": ["1.1"], "replaces": 1}
    model.does_instead(PAYER, *[Reply(json.dumps({"claims": [said_twice]}))] * 9)

    with thorough(tmp_path, model) as (pipeline, _server):
        trace = answered(pipeline)

    assert said(trace) == {FELL.text}
    assert trace.result.unanswered == (f"{UNVERIFIED}{PAYER}",)
    assert f"{UNVERIFIED}{PAYER}" in trace.result.answer
