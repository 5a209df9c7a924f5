"""POST /v1/chat/completions and GET /v1/models: the protocol of OpenAI, so that existing chat programs can ask.

The last message of the user is the question, read after those before it. Instructions of a system message have no say:
an answer is what the papers say, verified.
"""

from collections.abc import Iterator
from contextlib import aclosing

from fastapi import APIRouter, Request, Response
from fastapi.sse import format_sse_event

from rag_assets.engine import Event, Finished
from rag_assets.faces.server.chat_protocol import MODEL, ChatReply, ChatRequest, Completion, Model, Models, turns_of
from rag_assets.faces.server.dependencies import SharedDep, counts_as_question
from rag_assets.faces.server.events import as_json, sound_result
from rag_assets.faces.server.problems import ProblemError, invalid_request, not_found
from rag_assets.faces.server.schemas import Asked
from rag_assets.faces.server.streams import HEARTBEAT, EventStream, streamed, until_left

router = APIRouter(prefix="/v1", tags=["chat"])
_END = format_sse_event(data_str="[DONE]")


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
    question = Asked(question=_question_of(body)).as_question()
    completion = Completion()

    def answered() -> Iterator[Event]:
        reading = shared.dialogue.read_after(question, turns_of(body.messages[:-1]))
        yield from shared.engine.answer(reading.question)

    events = shared.answering.events(answered)
    if not body.stream:
        async with aclosing(until_left(events, request)) as items:
            results = [sound_result(event.trace) async for event in items if isinstance(event, Finished)]
        return Response(as_json(completion.whole(results[0])) if results else "", media_type="application/json")

    def rendered(event: Event) -> bytes:
        if not isinstance(event, Finished):
            return HEARTBEAT
        result = sound_result(event.trace)
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
    """As OpenAI sends errors within a stream."""
    problem = error.problem
    said = {"message": f"{problem.title}. {problem.detail}", "type": problem.type, "code": problem.status}
    return format_sse_event(data_str=as_json({"error": said})) + _END
