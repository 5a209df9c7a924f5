"""POST /v1/chat/completions and GET /v1/models: the protocol of OpenAI, so that existing chat programs can ask.

The last message of the user is the question, read after those before it. Instructions of a system message are ignored:
an answer is what the papers say, verified. It is Markdown with its place behind each claim; the whole row of qa.jsonl
is beside it as `rag_assets`, a key that clients may ignore. Source: https://platform.openai.com/docs/api-reference/chat
"""

import re
import secrets
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.sse import format_sse_event
from pydantic import BaseModel, Field, StrictBool

from rag_assets.answering.citing import CitationStyle, Shown
from rag_assets.answering.wording import NEAR_A_REFUSAL, NEAR_AN_ANSWER, nearest_heading, place_of, told_beside
from rag_assets.core.domain import Citation, Claim, QAResult
from rag_assets.engine import Event, Finished
from rag_assets.faces.server.dependencies import Asked, SharedDep, counts_as_question
from rag_assets.faces.server.events import as_json
from rag_assets.faces.server.problems import ProblemError, invalid_request, not_found
from rag_assets.faces.server.workers import HEARTBEAT, EventStream, streamed, until_left
from rag_assets.questions import asked, said
from rag_assets.questions.conversations import Turn, standalone

router = APIRouter(prefix="/v1", tags=["chat"])
_END = format_sse_event(data_str="[DONE]")
MODEL = "rag-assets"
MAX_MESSAGES = 200
_MAX_EARLIER = 20
"""How many of the earlier messages are read."""
_MAX_READ = 100_000
"""Characters of an earlier answer that are looked through for places."""
_REFERENCES = "References"
_ROUND_BRACKETS = str.maketrans("", "", "()")
_PLACES = re.compile(r"\(([^()]{1,2000})\)")
_MARKUP = re.compile(r"[\\`*_\[\]<>!|~#&]")
"""Characters that Markdown or HTML gives a meaning: text of papers must not become a link, an image or a script."""


class TextPart(BaseModel):
    type: str
    text: str = ""


class Message(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class StreamOptions(BaseModel):
    include_usage: StrictBool | None = None


class ChatRequest(BaseModel):
    """What is used of a request; other keys (temperature, tools, ...) are accepted and have no effect."""

    model: str = Field(MODEL, max_length=200)
    messages: list[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: StrictBool | None = False
    stream_options: StreamOptions | None = None


class ChatUsage(BaseModel):
    """Tokens of models behind an API; zero for keyless answers."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ReplyMessage(BaseModel):
    role: Literal["assistant"]
    content: str


class Choice(BaseModel):
    index: int
    message: ReplyMessage
    finish_reason: Literal["stop"]


class ChatReply(BaseModel):
    id: str
    object: Literal["chat.completion"]
    created: int = Field(description="Seconds since 1970.")
    model: str
    choices: list[Choice]
    usage: ChatUsage
    rag_assets: QAResult = Field(description="The answer as a row of qa.jsonl.")


class Model(BaseModel):
    id: str
    object: Literal["model"]
    created: int
    owned_by: str


class Models(BaseModel):
    object: Literal["list"]
    data: list[Model]


def turns_of(messages: Sequence[Message], papers: Container[str]) -> list[Turn]:
    """The questions among earlier messages with their answers, oldest first; follow-ups as rules read them.

    papers: ids of the published ones. What an answer cites is read from the places in its text, "(smith2020,
    Smith 2020, p. 3)": "who wrote it?" asks of that paper.
    """
    turns: list[Turn] = []
    for message, reply in pairwise(messages[-_MAX_EARLIER:]):
        if message.role == "user" and reply.role == "assistant" and message.text.strip():
            places = (place for cited in _PLACES.findall(_answered_in(reply.text)) for place in cited.split("; "))
            cited = dict.fromkeys(re.sub(r"\\(.)", r"\1", place.split(", ")[0]) for place in places)
            answer = {"answer": reply.text, "sources_used": [paper for paper in cited if paper in papers]}
            turns.append(Turn(message.text, standalone(message.text, turns), answer))
    return turns


def _answered_in(reply: str) -> str:
    """The answer itself, without the sentences that only came near it and the list of references."""
    read = reply[:_MAX_READ]
    for heading in (NEAR_AN_ANSWER, NEAR_A_REFUSAL, f"\n\n{_REFERENCES}\n"):
        read = read.partition(heading)[0]
    return read


@dataclass(frozen=True)
class Completion:
    """One reply: `whole`, or `chunks` of a stream."""

    style: CitationStyle
    created: int = field(default_factory=lambda: int(time.time()))
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")

    def whole(self, result: QAResult) -> dict[str, Any]:
        """The data of a `ChatReply`."""
        message = {"role": "assistant", "content": "\n\n".join(_paragraphs(self.style.shown([result])))}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return self._of("chat.completion", [choice]) | {"usage": _usage(result), "rag_assets": asdict(result)}

    def chunks(self, result: QAResult) -> Iterator[dict[str, Any]]:
        """The text paragraph by paragraph, then the end."""
        yield self._delta({"role": "assistant", "content": ""})
        for number, text in enumerate(_paragraphs(self.style.shown([result]))):
            yield self._delta({"content": f"\n\n{text}" if number else text})
        yield self._delta({}, "stop") | {"rag_assets": asdict(result)}

    def usage_chunk(self, result: QAResult) -> dict[str, Any]:
        """What comes behind the chunks, for those who ask for it."""
        return self._of("chat.completion.chunk", []) | {"usage": _usage(result)}

    def _delta(self, delta: dict[str, str], finish_reason: str | None = None) -> dict[str, Any]:
        return self._of("chat.completion.chunk", [{"index": 0, "delta": delta, "finish_reason": finish_reason}])

    def _of(self, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": MODEL, "choices": choices}


def _paragraphs(shown: Shown) -> list[str]:
    (result,) = shown.results
    said = [_cited(claim) for claim in result.claims] or [result.answer]
    nearest = [f"{nearest_heading(result)}\n" + "".join(f"\n- {_cited(one)}" for one in result.nearest)]
    told = [*(_escaped(note) for note in told_beside(result)), *(nearest if result.nearest else ())]
    listed = [f"{_REFERENCES}\n" + "".join(f"\n- {_escaped(entry)}" for entry in shown.references)]
    return [*said, *told, *(listed if shown.references else ())]


def _cited(claim: Claim) -> str:
    places = dict.fromkeys(_escaped(place_of(_with_id(citation))) for citation in claim.citations)
    return f"{_escaped(claim.text)} ({'; '.join(places)})"


def _with_id(citation: Citation) -> Citation:
    """The citation with the id of its paper before its name, "smith2020, Smith 2020": this text is all that a client
    sends back, and `turns_of` reads the papers from it."""
    name = citation.cited_as.translate(_ROUND_BRACKETS)
    is_named = bool(name) and name != citation.paper_id
    return replace(citation, cited_as=f"{citation.paper_id}, {name}") if is_named else citation


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


def _usage(result: QAResult) -> dict[str, int]:
    read, written = result.usage.n_input_tokens, result.usage.n_output_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


@router.get("/models")
def models() -> Models:
    """The one model: the corpus, with what answers from it."""
    return Models(object="list", data=[Model(id=MODEL, object="model", created=0, owned_by="rag_assets")])


@router.post(
    "/chat/completions",
    dependencies=[counts_as_question],
    response_model=ChatReply,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def complete(body: ChatRequest, request: Request, shared: SharedDep) -> Response:
    """Answer the last message of the user from the papers.

    The text of a stream comes when all of it is verified: until then more may be read and claims be replaced, and this
    protocol takes nothing back.
    """
    if body.model != MODEL:
        raise not_found("model", f"Ask {MODEL}.")
    question = Asked(question=_question_of(body)).as_question(said if len(body.messages) > 1 else asked)
    completion = Completion(shared.engine.style)

    def answered() -> Iterator[Event]:
        reading = shared.dialogue.read_after(question, turns_of(body.messages[:-1], shared.facts.now().titles))
        yield from shared.engine.answer(reading.question)

    events = shared.answering.events(answered)
    if not body.stream:
        async with aclosing(until_left(events, request)) as items:
            results = [event.trace.result async for event in items if isinstance(event, Finished)]
        return Response(as_json(completion.whole(results[0])) if results else "", media_type="application/json")

    def rendered(event: Event) -> bytes:
        if not isinstance(event, Finished):
            return HEARTBEAT
        result = event.trace.result
        chunks = [*completion.chunks(result)]
        if body.stream_options and body.stream_options.include_usage:
            chunks.append(completion.usage_chunk(result))
        return b"".join(format_sse_event(data_str=as_json(chunk)) for chunk in chunks) + _END

    return EventStream(streamed(events, rendered, _failed))


def _question_of(body: ChatRequest) -> str:
    last = body.messages[-1]
    if last.role != "user" or not last.text.strip():
        raise invalid_request("The last message must be a user's, with text in it: it is the question.")
    return last.text


def _failed(error: ProblemError) -> bytes:
    """An error within a stream, in the form that OpenAI sends."""
    problem = error.problem
    said = {"message": f"{problem.title}. {problem.detail}", "type": problem.type, "code": problem.status}
    return format_sse_event(data_str=as_json({"error": said})) + _END
