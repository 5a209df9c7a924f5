"""Bringing answers up to date when some questions cannot be answered this time."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from threading import Event

import pytest

from rag_assets.answering.drafts import UNVERIFIED, DraftAnswer
from rag_assets.answering.records import AnswerUpdate, answered
from rag_assets.answering.trace import AnswerTrace, Attempt
from rag_assets.answering.verify.verification import Scoring, VerifiedClaims
from rag_assets.core.domain import Claim, Filter, QAResult
from rag_assets.core.errors import (
    AccessDenied,
    BudgetExhausted,
    ModelFault,
    ModelUnavailable,
    RagAssetsError,
    RequestRejected,
)
from rag_assets.questions import Question
from rag_assets_testing.citations import answer_of, cited

QUESTIONS = [Question(id=f"q{number}", question=f"Question {number}?") for number in range(10)]
CLAIM = Claim("It fell.", (cited("Ferritin fell in all groups"),))


def result_of(question: Question) -> QAResult:
    return answer_of(
        CLAIM, question_id=question.id, question=question.question, fingerprint=question.id
    )


def attempts_of(question: Question) -> AnswerTrace:
    attempt = Attempt(6, (), question.id, DraftAnswer(), False, VerifiedClaims((CLAIM,)))
    return AnswerTrace(result_of(question), (attempt,), attempt, Scoring(()))


class Answering:
    """Answers, but for the faults of some questions; knows which questions reached it."""

    def __init__(self, faults: dict[str, Exception]) -> None:
        self.faults = faults
        self.asked: list[str] = []

    def __call__(self, question: Question) -> AnswerTrace:
        self.asked.append(question.id)
        if question.id in self.faults:
            raise self.faults[question.id]
        return attempts_of(question)


def update(
    answer: Callable[[Question], AnswerTrace],
    published: list[QAResult] | None = None,
    questions: list[Question] = QUESTIONS,
    *,
    holds: bool = True,
    n_at_once: int = 1,
) -> AnswerUpdate:
    return answered(
        questions,
        published or [],
        answer,
        still_holds=lambda _row: holds,
        n_at_once=n_at_once,
        report=lambda _done, _total: None,
    )


def left(done: AnswerUpdate) -> list[str]:
    return [item.question.id for item in done.left]


@pytest.mark.parametrize("n_at_once", [1, 4])
def test_questions_that_are_rejected_hold_up_nobody(n_at_once: int) -> None:
    """They come first again every night: counted as failures of the provider, they would block all
    others for good."""
    answering = Answering({f"q{number}": RequestRejected("no") for number in range(5)})

    done = update(answering, n_at_once=n_at_once)

    assert left(done) == ["q0", "q1", "q2", "q3", "q4"]
    assert [row.question_id for row in done.results] == ["q5", "q6", "q7", "q8", "q9"]


def test_an_answer_that_could_not_be_verified_is_left_for_the_next_run() -> None:
    """It would be published as if it said something about the papers."""

    def unverified(question: Question) -> AnswerTrace:
        trace = attempts_of(question)
        result = replace(trace.result, answer=f"{UNVERIFIED}nothing.", claims=(), withheld=True)
        return replace(trace, result=result) if question.id == "q3" else trace

    done = update(unverified)

    assert [(item.question.id, item.reason) for item in done.left] == [
        ("q3", f"{UNVERIFIED}nothing.")
    ]
    assert "q3" not in [row.question_id for row in done.results]
    assert len(done.traces) == 10, "its requests were paid for"


def test_a_provider_that_is_down_is_not_asked_for_every_question() -> None:
    """Five attempts each with a minute between them, for a thousand questions, is a week."""
    answering = Answering({f"q{number}": ModelUnavailable("down") for number in range(2, 10)})

    done = update(answering)

    assert answering.asked == ["q0", "q1", "q2", "q3", "q4"]
    assert left(done) == [f"q{number}" for number in range(2, 10)]


def test_single_failures_between_answers_stop_nothing() -> None:
    """A busy provider fails now and then."""
    done = update(Answering({f"q{number}": ModelUnavailable("busy") for number in (0, 2, 3, 5, 6)}))

    assert len(done.results) == 5


@pytest.mark.parametrize("fault", [AccessDenied("key"), BudgetExhausted("spent")])
def test_what_ends_every_question_is_met_once(fault: RagAssetsError) -> None:
    """A refused key is refused for the next question, too."""
    answering = Answering({"q3": fault})

    done = update(answering)

    assert answering.asked == ["q0", "q1", "q2", "q3"]
    assert {item.reason for item in done.left} == {str(fault)}


@pytest.mark.parametrize(
    "faults",
    [
        {"q0": AccessDenied("not answered")},
        {f"q{number}": RequestRejected("not answered") for number in range(10)},
        {"q0": RequestRejected("this one"), "q1": AccessDenied("not answered")},
    ],
    ids=["the key", "every question", "one question, then the key"],
)
def test_a_run_in_which_nothing_was_answered_is_an_error(faults: dict[str, Exception]) -> None:
    """Published as a success it would empty the answers of yesterday."""
    with pytest.raises(ModelFault, match="not answered"):
        update(Answering(faults))


def earlier_row_cases() -> Iterator[tuple[str, QAResult, Question, bool]]:
    asked = QUESTIONS[0]
    row = result_of(asked)
    yield "as it was", row, asked, True
    yield "another question under the id", replace(row, question="Another?"), asked, False
    yield "a refusal", replace(row, refused=True, claims=(), sources_used=()), asked, False
    yield (
        "other papers are asked about",
        row,
        asked.model_copy(update={"paper_ids": ["jones2021"]}),
        False,
    )
    yield (
        "other passages are asked about",
        row,
        asked.model_copy(update={"where": Filter.parse("page:1")}),
        False,
    )
    yield "the same papers", row, asked.model_copy(update={"paper_ids": ["smith2020"]}), True


@pytest.mark.parametrize(
    ("case", "row", "question", "kept"),
    list(earlier_row_cases()),
    ids=lambda value: str(value)[:30],
)
def test_a_left_question_keeps_an_answer_that_is_still_one(
    case: str, row: QAResult, question: Question, kept: bool
) -> None:
    """Yesterday's answer is better than none, and an outdated one is worse."""
    done = update(Answering({"q0": RequestRejected("no")}), [row], [question, QUESTIONS[1]])

    assert [item.question_id for item in done.results] == (["q0", "q1"] if kept else ["q1"]), case


def test_an_earlier_answer_that_breaks_a_guardrail_today_is_not_kept() -> None:
    """It would withhold all the others with it."""
    done = update(Answering({"q0": RequestRejected("no")}), [result_of(QUESTIONS[0])], holds=False)

    assert "q0" not in {row.question_id for row in done.results}


def test_a_bug_ends_the_run_at_once() -> None:
    """Every further question would be paid for, and nothing of it published; a model may take
    minutes to reply."""
    asked: list[str] = []
    answered: list[str] = []
    may_reply = Event()
    threads_before = set(threading.enumerate())

    def answer(question: Question) -> AnswerTrace:
        asked.append(question.id)
        if question.id == "q0":
            raise ZeroDivisionError
        may_reply.wait(timeout=60)
        answered.append(question.id)
        return attempts_of(question)

    with pytest.raises(ZeroDivisionError):
        update(answer, n_at_once=2)
    answered_when_it_ended = list(answered)
    may_reply.set()
    for thread in set(threading.enumerate()) - threads_before:
        thread.join(timeout=60)

    assert answered_when_it_ended == [], "what is under way is not waited for"
    assert len(asked) <= 3
