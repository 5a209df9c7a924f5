"""What a model is asked, and what is made of its reply before anything in it is believed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rag_assets.answering.drafts import (
    SINGLE_SOURCE_NOTE,
    DraftAnswer,
    DraftCitation,
    Reading,
)
from rag_assets.answering.model.answerer import (
    MAX_CLAIM_CHARS,
    MAX_CLAIMS,
    HostedAnswerer,
)
from rag_assets.core.errors import AccessDenied, RequestRejected, UnreadableReply
from rag_assets.core.settings import AnsweringSettings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.hosted.prompts import load_prompt
from rag_assets_testing.wire import (
    BadKey,
    ProviderRefusal,
    Reply,
    Status,
    Step,
    Wire,
    WireServer,
)
from rag_assets_testing.wire import (
    ContextTooLong as LongPrompt,
)
from rag_assets_testing.wire.quoting_model import Prompt, reply
from rag_assets_tests.answering.builders import chunk, context
from rag_assets_tests.hosted.models import HURRIED

QUESTION = "How much did ferritin fall?"
LAST = "See also [3.2] and [ 4.1]."
CHUNKS = [
    chunk(f"paper{number}", f"In trial {number} ferritin fell by 1{number}% in a month.\n{LAST}")
    for number in range(8)
]
CONTEXTS = [context(item) for item in CHUNKS]
MODEL = ModelName("openai", "gpt-5-mini")


@contextmanager
def answerer(wire: Wire, *steps: Step) -> Iterator[tuple[HostedAnswerer, WireServer]]:
    server = wire()
    server.answer_with(*steps)
    with Connections(HURRIED) as connections:
        yield HostedAnswerer(MODEL, connections, AnsweringSettings()), server


def draft_of(wire: Wire, *steps: Step, n_contexts: int = 2) -> DraftAnswer:
    with answerer(wire, *steps) as (model, _):
        return model.draft(QUESTION, CONTEXTS[:n_contexts])


def test_ids_become_places(wire: Wire) -> None:
    """A model knows ids, a citation needs the chunk and where in it the sentence stands."""
    draft = draft_of(wire, reply([("It fell.", ["2.1", "[1.2, 1.1]"])]))

    [claim] = draft.claims
    assert claim.citations == (
        DraftCitation(CHUNKS[1].chunk_id, CHUNKS[1].text.split("\n")[0], 0),
        DraftCitation(CHUNKS[0].chunk_id, LAST, len(CHUNKS[0].text) - len(LAST)),
        DraftCitation(CHUNKS[0].chunk_id, CHUNKS[0].text.split("\n")[0], 0),
    )
    assert (draft.reading, draft.n_hallucinated, draft.raw_reply) == (Reading.STRUCTURED, 0, "")
    assert draft.seconds > 0


IN_GERMAN = "Der Wert sank in beiden Gruppen innerhalb eines Monats, und danach stieg er wieder."
FAULTS: dict[str, tuple[Step, str]] = {
    "an id that is not there": (reply([("It fell.", ["1.1", "7.3"])]), "The sources have no 7.3."),
    "a source in place of an id": (reply([("It fell.", ["3"])]), "The sources have no 3."),
    "no id": (reply([("It fell.", ["1.1"]), ("It rose.", [])]), "at least one id"),
    "another language": (reply([(IN_GERMAN, ["1.1"])]), "the language of the question"),
    "cut": (Reply('{"claims": [{"text": "It fell.", "ci', finish="length"), "fewer and shorter"),
}


@pytest.mark.parametrize("kind", list(FAULTS))
def test_a_faulty_reply_is_repaired_once(kind: str, wire: Wire) -> None:
    """Most slips are mended when the model sees them; unmended, each costs a claim or the answer."""
    fault, told = FAULTS[kind]
    with answerer(wire, fault, reply([("It fell.", ["1.1"])])) as (model, server):
        draft = model.draft(QUESTION, CONTEXTS[:2])

        assert told in server.requests[1].prompt
    assert [len(claim.citations) for claim in draft.claims] == [1]
    assert (draft.reading, draft.n_hallucinated) == (Reading.REPAIRED, 0)


def test_a_claim_that_cites_nothing_after_the_repair_takes_no_other_along(
    wire: Wire,
) -> None:
    """The others were paid for, and can be verified."""
    step = reply([("It fell.", ["1.1", "9.9"]), ("It rose.", ["9.9"])])
    draft = draft_of(wire, step, step)

    assert [len(claim.citations) for claim in draft.claims] == [1, 0]
    assert draft.n_hallucinated == 2


def test_the_prompt_shows_numbered_sources_and_the_rules(wire: Wire) -> None:
    """What is not in the prompt cannot be asked of a reply."""
    with answerer(wire, reply([])) as (model, server):
        model.draft(QUESTION, CONTEXTS[:2])

    [request] = server.requests
    seen = Prompt.of(request)
    assert seen.question == QUESTION
    assert [*seen.sentences] == ["1.1", "1.2", "2.1", "2.2"]
    assert [CHUNKS[0].text.startswith(seen.sentences["1.1"]), seen.sentences["2.2"]] == [
        True,
        "See also [ 3.2] and [ 4.1].",
    ]
    for rule in ("begins with its id", "no surer", "`missing` lists", "<AI_GENERATED>"):
        assert rule in request.system


@pytest.mark.parametrize(
    ("fault", "error"), [(BadKey(), AccessDenied), (LongPrompt(), RequestRejected)]
)
def test_a_fault_that_kept_an_unreadable_reply_from_its_repair_is_no_refusal(
    fault: Step, error: type[Exception], wire: Wire
) -> None:
    """Kept as a refusal, a fault of one minute would be the answer for good."""
    with pytest.raises(error):
        draft_of(wire, Reply("Hm."), fault)


def test_a_claim_looks_like_nothing_but_a_claim(wire: Wire) -> None:
    """Square brackets are where an answer names paper and page, and our own sentences are ours to
    say."""
    cited = ["1.1"]

    draft = draft_of(
        wire, reply([("It fell [smith2020, p. 3].", cited), (SINGLE_SOURCE_NOTE, cited)])
    )

    assert [claim.text for claim in draft.claims] == ["It fell (smith2020, p. 3)."]


def test_of_countless_claims_the_best_are_verified_and_the_rest_counted(
    wire: Wire,
) -> None:
    """A reply that runs in circles must not fill the answer, nor the bill."""
    same = [("Iron rose.", ["1.1"])] * 30
    many = [(f"Ferritin did fall, number {n}.", ["1.1"] * 300) for n in range(119)]

    draft = draft_of(wire, reply([*same, *many]))

    assert [claim.text for claim in draft.claims] == [text for text, _ in many[:MAX_CLAIMS]]
    assert draft.unanswered == ("Not verified: 96 further statements of the reply.",)
    assert {len(claim.citations) for claim in draft.claims} == {1}


def test_an_endless_claim_is_listed_as_dropped(wire: Wire) -> None:
    """Gone without a word, nobody knows that the model wrote something else than was asked."""
    [claim] = draft_of(wire, reply([("It fell. " * 3_000, ["1.1"])])).claims

    assert (len(claim.text), claim.fault) == (
        MAX_CLAIM_CHARS + 2,
        "it has more than 1,000 characters",
    )


def completion(finish: str = "stop", **message: object) -> Status:
    """A reply of OpenAI's with a message that has no text."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    named = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return Status(200, {**named, "choices": [choice]})


CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
UNREADABLE = "cannot be read as an answer. It wrote: "
SAYS_NOTHING: dict[str, tuple[Step, str]] = {
    "empty": (Reply(""), "wrote nothing that can be seen."),
    "blanks": (Reply("  \n\t "), "wrote nothing that can be seen."),
    "empty object": (Reply("{}"), UNREADABLE + "'{}'."),
    "prose": (Reply("Ferritin fell by 10% in a month [1.1]."), UNREADABLE),
    "no claims beside an answer": (
        Reply('{"answer": "Ferritin fell by 10% in a month.", "claims": []}'),
        UNREADABLE,
    ),
    "cut off": (
        Reply('{"claims": [{"text": "It fell.", "cites": ["1.1"]}, {"text": "T', finish="length"),
        "was cut by the output limit, also after it was asked to be brief.",
    ),
    "cut off, and not said to be": (
        Reply('{"claims": [{"text": "It fell.", "cites": ["1.1"]}'),
        UNREADABLE,
    ),
    "another language": (reply([(IN_GERMAN, ["1.1"])]), "in another language than the question"),
    "reasoning only": (
        Reply("<think>Ferritin fell by 10%, says source 1.</think>"),
        "wrote down its reasoning and no answer.",
    ),
    "tool call": (
        completion("tool_calls", content=None, tool_calls=[CALL]),
        "called a tool, and there is none.",
    ),
    "filtered": (
        completion("content_filter", content=""),
        "withheld its reply (a content filter).",
    ),
    "refused": (ProviderRefusal(), "refused to answer."),
    "marks and no claim": (Reply("[1] [2]"), UNREADABLE),
}


@pytest.mark.parametrize("kind", list(SAYS_NOTHING))
def test_a_reply_that_says_nothing_is_no_refusal_and_told_in_its_own_words(
    kind: str, wire: Wire
) -> None:
    """Published as a refusal, it would say of the papers what is true of the model only, and never
    be asked again. What helps against a reply that was cut does not help against a filter."""
    step, told = SAYS_NOTHING[kind]
    with pytest.raises(UnreadableReply) as fault:
        draft_of(wire, step, step)

    assert told in fault.value.what
    assert str(fault.value).startswith(f"{fault.value.what} The question is asked again")


def test_sources_that_are_too_long_are_halved_best_first(wire: Wire) -> None:
    """An answer from the better half is better than none."""
    with answerer(
        wire,
        LongPrompt(),
        LongPrompt(),
        reply([("It fell.", ["1.1"])]),
    ) as (
        model,
        server,
    ):
        draft = model.draft(QUESTION, CONTEXTS)

    assert [len(Prompt.of(request).sources) for request in server.requests] == [8, 4, 2]
    assert draft.n_contexts_read == 2
    assert len(draft.claims) == 1


def test_without_contexts_no_model_is_asked(wire: Wire) -> None:
    """The answer is known: there is nothing to answer from."""
    with answerer(wire) as (model, server):
        assert model.draft(QUESTION, []) == DraftAnswer()

    assert server.requests == []


def test_the_id_changes_with_what_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer to an older prompt must not pass for one to the new."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    model = HostedAnswerer(MODEL, Connections(HURRIED), AnsweringSettings())
    before = model.identity
    monkeypatch.setattr(
        "rag_assets.answering.model.answerer._INSTRUCTIONS",
        load_prompt("rag_assets.answering.model", "judge", frozenset()),
    )

    assert before.startswith("openai:gpt-5-mini prompt-")
    assert model.identity != before


def test_a_rejected_request_is_no_draft(wire: Wire) -> None:
    """A refusal would be published, and never be asked again."""
    with pytest.raises(RequestRejected, match="openai rejects the request"):
        draft_of(wire, Status(400))
