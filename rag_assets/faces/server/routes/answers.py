"""POST /api/answers: an answer, claim by claim as a stream of events, or whole as JSON.

Claims are written as `qa.jsonl` writes them, to the byte; those of the event `done` in the style
that the settings name. Titles are added to the citations of a `claim` event only.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field, StrictBool

from rag_assets.answering.drafts import AnswerOptions
from rag_assets.answering.wording import CitationStyle, notes_of
from rag_assets.core.domain import Claim, Evidence, QAResult
from rag_assets.core.settings import Effort
from rag_assets.engine import (
    ClaimDropped,
    ClaimVerified,
    Event,
    Finished,
    PartBegun,
    Planned,
    Retrieved,
    Retrying,
)
from rag_assets.faces.dialogue import Answered, KeptPlace, ReadQuestion, context_rows, dropped_rows
from rag_assets.faces.server.dependencies import AskRequest, SharedDep, counts_as_question
from rag_assets.faces.server.workers import Named, event_stream, replied
from rag_assets.questions import asked, said


class AnswerEvents:
    """Turns the events of one answer into JSON objects by name."""

    def __init__(
        self, reading: ReadQuestion, titles: Mapping[str, str], style: CitationStyle
    ) -> None:
        """titles: by paper id. style: of the whole answer; claims on the way are as they are
        stored."""
        self._style = style
        self._reading = reading
        self._titles = titles
        self._n_claims = 0

    def rendered(self, event: Event) -> tuple[str, dict[str, Any]]:
        """Name and data of an event."""
        match event:
            case Planned(parts):
                return "plan", {"parts": parts}
            case PartBegun(number, n_parts, part, other_words):
                return "part", {
                    "number": number,
                    "n_parts": n_parts,
                    "question": part,
                    "other_words": other_words,
                }
            case Retrieved(evidence):
                return "contexts", self._contexts(evidence)
            case ClaimVerified(claim):
                self._n_claims += 1
                return "claim", {"number": self._n_claims, **self._claim(claim)}
            case ClaimDropped(reason, claim, why):
                return "dropped", {"reason": reason, "message": why, "claim": claim}
            case Retrying(k, n_objections):
                self._n_claims = 0
                return "retrying", {"k": k, "n_objections": n_objections}
            case Finished(trace):
                steps = [
                    {
                        "kind": step.kind,
                        "about": step.about,
                        "words": step.words,
                        "n_claims": step.n_claims,
                    }
                    for step in trace.steps
                ]
                return "done", {
                    "answer": self._style.shown_row(asdict(trace.result)),
                    "dropped": dropped_rows(trace),
                    "notes": notes_of(trace.result),
                    "steps": steps,
                }

    def _contexts(self, evidence: Evidence) -> dict[str, Any]:
        return {
            "question": self._reading.question.question,
            "rewritten": self._reading.asked.is_rewritten,
            "reason": self._reading.asked.reason,
            "paper_ids": list(self._reading.asked.paper_ids),
            "contexts": context_rows(evidence, self._titles),
        }

    def _claim(self, claim: Claim) -> dict[str, Any]:
        row = asdict(claim)
        for citation in row["citations"]:
            citation["title"] = self._titles.get(citation["paper_id"], "")
        return row


router = APIRouter(prefix="/api", tags=["ask"])


class AnswerRequest(AskRequest):
    conversation_id: str | None = Field(
        None,
        max_length=64,
        description="The question follows up on this conversation, and the answer is kept in it; empty: a new one.",
    )
    effort: Effort | None = Field(
        None,
        description="thorough: each part of the question by itself, and parts that nothing answers again in other "
        "words, within answering.thorough; None: as the server is set.",
    )
    keep: StrictBool = Field(True, description="False: the answer is kept in no conversation.")


class LeftOutStatement(BaseModel):
    """A statement that is not shown, or citations of those that are."""

    reason: str
    message: str = Field(description="Why, in words.")
    claim: str = Field(description="The statement; empty for citations.")
    n: int


class StepTaken(BaseModel):
    """One step of a thorough answer."""

    kind: str = Field(description="plan, answer, other words, nothing new or stop.")
    about: str = Field(
        description="The part of the question; of a stop, the limit that was reached."
    )
    words: list[str] = Field(
        description="The parts that were planned, or what was searched for in other words."
    )
    n_claims: int = Field(description="Claims that were verified.")


class Offered(BaseModel):
    """A filter in the question's words, by author or year; it was not applied."""

    question: str = Field(description="The question without those words.")
    where: str = Field(description="The filter, to be sent with it.")


@dataclass(frozen=True, slots=True)
class ShownAnswer(QAResult):
    """A row as in qa.jsonl, and the list below it."""

    references: tuple[str, ...] = ()
    """Empty where papers are cited by authors and year."""


class AnswerReply(BaseModel):
    """The data of the event `done`, and the reply when no stream is asked for."""

    answer: ShownAnswer = Field(
        description="A row as in qa.jsonl, its papers cited as answering.citation_style says."
    )
    dropped: list[LeftOutStatement]
    notes: list[str] = Field(description="What a reader must know besides the claims.")
    offered: Offered | None
    steps: list[StepTaken] = Field(
        description="Of a thorough answer, in order; empty for a quick one."
    )
    conversation_id: str | None = Field(
        description="Where the answer is kept; None where it is not."
    )
    turn: int | None = Field(description="Its number there, from 1.")
    seconds: float


_EVENTS = (
    "plan (of a thorough answer: the parts it looks for), part (one of them is searched, in its words or others), "
    "contexts (what was found), claim (verified; numbered from 1), dropped (a claim that did not hold, and why), "
    "retrying (claims go back to the model, or more is read; claims that follow replace those before), done (as the "
    "JSON reply) or error (a problem). "
    "Lines that begin with a colon say that work goes on."
)


@router.post(
    "/answers",
    dependencies=[counts_as_question],
    response_model=AnswerReply,
    responses=event_stream(_EVENTS),
)
async def answer(body: AnswerRequest, request: Request, shared: SharedDep) -> Response:
    """Answer a question from the papers, with verified citations only; as events with Accept:
    text/event-stream."""
    question = body.as_question(asked if body.conversation_id is None else said)

    options = AnswerOptions(effort=body.effort)

    def rendered() -> Iterator[Named]:
        started = perf_counter()
        reading = shared.dialogue.read(question, body.conversation_id)
        titles = shared.reader.titles()
        events, seen = AnswerEvents(reading, titles, shared.engine.style), []
        for event in shared.engine.answer(reading.question, options=options):
            name, data = events.rendered(event)
            seen.append(event)
            if isinstance(event, Finished):
                answered = Answered.of(seen, titles)
                place = (
                    shared.dialogue.keep(reading, answered, body.conversation_id)
                    if body.keep
                    else KeptPlace()
                )
                offered = shared.engine.offered(reading.question)
                data |= {
                    "offered": {"question": offered.question, "where": str(offered.where)}
                    if offered
                    else None
                }
                data |= {**asdict(place), "seconds": round(perf_counter() - started, 3)}
            yield name, data

    return await replied(shared.answering.events(rendered), request)
