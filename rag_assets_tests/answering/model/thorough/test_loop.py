"""Parts, gaps and budgets of an answer that takes several steps."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.drafts import REFUSAL, DraftAnswer, DraftCitation, DraftClaim
from rag_assets.answering.model.planning import OtherWords, Plan, PlannedPart
from rag_assets.answering.model.thorough import ThoroughPipeline
from rag_assets.answering.trace import AnswerTrace, ClaimVerified, Event, Retrying
from rag_assets.core.domain import Context, Evidence, Usage
from rag_assets.core.settings import AnsweringSettings, ThoroughSettings
from rag_assets.questions import Question
from rag_assets_tests.answering.builders import (
    chunk,
    evidence,
    finished,
    pipeline_in,
)

FELL = chunk("smith2020", "Ferritin fell in all groups by 12% within a month.")
PAID = chunk("jones2021", "The trial was paid for by the national sports council of Norway.")
FALL, PAYER = "Did ferritin fall?", "Who funded the trial?"
QUESTION = Question(id="q", question="Did ferritin fall, and who funded the trial?")
ONE_REQUEST = Usage(n_requests=1, n_input_tokens=100, n_output_tokens=10, cost_usd=0.01)


class WordAnswerer:
    """Quotes the contexts that a list of words allows for a question: a model that knows what
    answers what."""

    identity = "words"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.says: dict[str, str] = {}
        """Claims in words of their own, by question."""
        self.allowed = {FALL: "Ferritin", PAYER: "paid", QUESTION.question: "Ferritin"}

    def read(self, context: Context) -> Context:
        return context.words()

    def draft(self, question: str, contexts: Sequence[Context]) -> DraftAnswer:
        self.asked.append(question)
        found = [one for one in contexts if self.allowed.get(question, question) in one.text]
        claims = tuple(
            DraftClaim(self.says.get(question, one.text), (DraftCitation(one.chunk_id, one.text),))
            for one in found
        )
        return DraftAnswer(claims, usage=ONE_REQUEST)


class ScriptedPlanner:
    """Plans what it is told to."""

    identity = "scripted"

    def __init__(self, parts: Sequence[str], words: Sequence[str] = ()) -> None:
        self._parts = parts
        self._words = words
        self.asked_for: list[tuple[str, tuple[Context, ...]]] = []

    def plan(self, question: str) -> Plan:
        return Plan(tuple(map(PlannedPart, self._parts)), ONE_REQUEST)

    def other_words(
        self, part: PlannedPart, read: Sequence[Context], _searched: Sequence[str], /
    ) -> OtherWords:
        self.asked_for.append((part.question, tuple(read)))
        return OtherWords(tuple(self._words), ONE_REQUEST)


CORPUS = {FALL: evidence(FELL), PAYER: evidence(), "sponsor": evidence(PAID), "nothing": evidence()}


def found(question: Question, _k: int) -> Evidence:
    return CORPUS.get(question.question, evidence())


def pipeline(
    folder: Path, planner: ScriptedPlanner, answerer: WordAnswerer | None = None, **limits: float
) -> ThoroughPipeline:
    quick = pipeline_in(folder, answerer or WordAnswerer(), AnsweringSettings(min_sources=1))
    return ThoroughPipeline(quick, planner, ThoroughSettings.model_validate(limits))


def answered(one: ThoroughPipeline) -> tuple[AnswerTrace, list[Event]]:
    events = list(one.answer(QUESTION, found))
    return finished(events), events


Ask = Callable[..., AnswerTrace]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """The answer by way of these parts, and of other words for those that stay open."""

    def ask_for(
        parts: Sequence[str], words: Sequence[str] = (), answerer: WordAnswerer | None = None
    ) -> AnswerTrace:
        return answered(pipeline(tmp_path, ScriptedPlanner(parts, words), answerer))[0]

    return ask_for


def test_a_part_that_nothing_answers_is_searched_in_other_words(tmp_path: Path) -> None:
    """The paper says "paid for" where the question says "funded": half of the answer would be
    missing."""
    planner = ScriptedPlanner([FALL, PAYER], ["nothing", "sponsor"])

    trace, events = answered(pipeline(tmp_path, planner))

    assert {claim.text for claim in trace.result.claims} == {FELL.text, PAID.text}
    assert trace.result.unanswered == ()
    assert [part for part, _ in planner.asked_for] == [PAYER], (
        "what is answered is not searched again"
    )
    assert {event.claim.text for event in events if isinstance(event, ClaimVerified)} == {
        FELL.text,
        PAID.text,
    }
    assert [(step.kind, step.words) for step in trace.steps] == [
        ("plan", (FALL, PAYER)),
        ("answer", ()),
        ("answer", ()),
        ("other words", ("nothing", "sponsor")),
        ("nothing new", ("nothing",)),
        ("answer", ("sponsor",)),
    ]


def test_a_part_that_stays_open_is_named(ask: Ask) -> None:
    """The reader would take half an answer for a whole one."""
    trace = ask([FALL, PAYER], ["nothing"])

    assert trace.result.unanswered == (PAYER,)
    assert PAYER in trace.result.answer
    assert [claim.text for claim in trace.result.claims] == [FELL.text]


def test_without_any_claim_it_is_the_fixed_refusal(ask: Ask) -> None:
    """More effort never loosens the bar."""
    trace = ask([PAYER], ["nothing"])

    assert (trace.result.answer, trace.result.refused, trace.result.claims) == (REFUSAL, True, ())


@pytest.mark.parametrize(("max_iterations", "n_asked"), [(0, 0), (1, 1), (2, 2)])
def test_gaps_are_searched_so_often_and_no_more(
    tmp_path: Path, max_iterations: int, n_asked: int
) -> None:
    """A loop without an end spends what there is."""
    planner = ScriptedPlanner([PAYER], ["nothing"])

    answered(pipeline(tmp_path, planner, max_iterations=max_iterations))

    assert len(planner.asked_for) == n_asked


def test_the_same_steps_give_the_same_answer_without_asking_the_answerer(ask: Ask) -> None:
    """Each night would pay for the same answer."""
    first, answerer = ask([FALL, PAYER], ["sponsor"]), WordAnswerer()

    second = ask([FALL, PAYER], ["sponsor"], answerer)

    assert answerer.asked == []
    assert second.result == first.result


def test_where_the_parts_bring_nothing_it_is_the_quick_answer(tmp_path: Path) -> None:
    """A plan that takes apart what belongs together would refuse what a quick answer says."""
    CORPUS[QUESTION.question] = evidence(FELL)
    one = pipeline(tmp_path, ScriptedPlanner(["Something?", "Another thing?"], ["nothing"]))

    thorough, events = answered(one)
    quick = finished(one.pipeline.answer(QUESTION, found))

    assert thorough.result.claims == quick.result.claims
    assert thorough.result.answer == quick.result.answer
    assert [event.claim.text for event in events if isinstance(event, ClaimVerified)] == [FELL.text]


@pytest.mark.parametrize("is_answered", [True, False])
def test_every_try_is_paid_for_in_what_the_answer_costs(ask: Ask, is_answered: bool) -> None:
    """A question that is refused at last has cost the most; the bill would be higher than what was
    told."""
    CORPUS[QUESTION.question] = evidence(FELL)
    answerer = WordAnswerer()
    if not is_answered:
        answerer.allowed[QUESTION.question] = "nothing that stands there"

    trace = ask(["Something?", "Another thing?"], ["nothing"], answerer)

    assert trace.result.refused != is_answered
    n_asked = 1 + len([step for step in trace.steps if step.kind == "other words"])
    assert trace.result.usage.n_requests == trace.spent.n_requests == n_asked + len(answerer.asked)
    assert answerer.asked[-1] == QUESTION.question


def test_a_sentence_that_answers_two_parts_is_said_once(ask: Ask) -> None:
    """A reader would find it twice."""
    again = "By how much?"
    CORPUS[again] = evidence(FELL)
    answerer = WordAnswerer()
    answerer.allowed[again] = "Ferritin"

    trace = ask([FALL, again], answerer=answerer)

    assert [claim.text for claim in trace.result.claims] == [FELL.text]


def test_the_same_words_of_other_sources_are_said_again(ask: Ask) -> None:
    """Two papers that say the same are two sources; dropped, the second would not be counted."""
    again, other = "How soon?", chunk("lee2019", FELL.text)
    CORPUS[again] = evidence(other)
    answerer = WordAnswerer()
    answerer.allowed[again] = "Ferritin"

    trace = ask([FALL, again], answerer=answerer)

    assert trace.result.sources_used == ("smith2020", "lee2019")


def test_a_retry_inside_a_part_takes_back_nothing(tmp_path: Path) -> None:
    """A page that follows the events would delete the claims of the parts before."""
    one = pipeline(tmp_path, ScriptedPlanner([FALL, PAYER], ["sponsor"]))
    one = replace(one, pipeline=replace(one.pipeline, settings=AnsweringSettings(min_sources=2)))

    _, events = answered(one)

    assert not [event for event in events if isinstance(event, Retrying)]


def test_what_was_read_in_vain_is_not_read_again(ask: Ask) -> None:
    """Each request that shows a model the same texts is paid for, and answered the same."""
    CORPUS["payer"] = CORPUS["again"] = evidence(FELL)
    answerer = WordAnswerer()

    trace = ask([FALL, PAYER], ["payer", "again"], answerer)

    assert [step.kind for step in trace.steps if step.words == ("again",)] == ["nothing new"]
    assert answerer.asked == [FALL, PAYER, PAYER], (
        "the second is over the one text that was found in other words"
    )


def test_the_order_of_the_parts_and_of_the_claims_in_each_is_kept(tmp_path: Path) -> None:
    """A model writes "They were measured again" behind what was measured; sorted, it tells of
    something else."""
    measured = chunk("lee2019", "Runners were weighed in the week before the race.")
    again = chunk(
        "lee2019", "By how much did ferritin fall: runners were weighed again within a month."
    )
    first = "How were runners weighed?"
    CORPUS[first] = evidence(measured, again)
    answerer = WordAnswerer()
    answerer.allowed[first] = "weighed"
    one = pipeline(tmp_path, ScriptedPlanner([first, FALL]), answerer)

    asked = Question(id="q", question="By how much did ferritin fall within a month?")
    trace = finished(one.answer(asked, found))

    assert [claim.text for claim in trace.result.claims] == [
        measured.text,
        again.text,
        FELL.text,
    ]
