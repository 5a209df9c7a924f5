"""Follow-ups over HTTP: read after what was said, shown as they were read, and kept with their
answers."""

from rag_assets.questions.conversations import Conversations
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.server.live import Live, events_of, served

FIRST = {"question": QUESTIONS[1]["question"], "paper_ids": ["basalt"]}
FOLLOW_UP = "What was compared in that paper?"


def test_a_follow_up_is_read_after_its_conversation_and_says_so(world: World) -> None:
    """A reader must see what was asked in their name; a question that was silently changed answers
    another one."""
    with served(world.paths.data) as live:
        first = live.ask(**FIRST).json()
        kept_in = first["conversation_id"]
        reply = live.ask(FOLLOW_UP, as_events=True, conversation_id=kept_in)

    events = events_of(reply)
    found, done = events[0][1], events[-1][1]
    with Conversations(world.paths.conversations) as kept:
        turns = kept.last_turns(first["conversation_id"], 10)
    assert (found["rewritten"], found["paper_ids"]) == (True, ["basalt"])
    assert "that paper" in found["reason"]
    assert {context["paper_id"] for context in found["contexts"]} == {"basalt"}
    assert (done["conversation_id"], done["turn"]) == (first["conversation_id"], 2)
    assert [turn.question for turn in turns] == [FIRST["question"], FOLLOW_UP]
    assert {**turns[1].answer, "references": []} == done["answer"]


def test_an_answer_is_kept_only_where_it_may_be(world: World) -> None:
    """A program that asks a thousand questions must not push out what people want to come back
    to."""
    with served(world.paths.data) as live:
        kept = live.ask(**FIRST).json()
        not_kept = live.ask(**FIRST, keep=False).json()
        n_conversations = len(live.shared.conversations.list())

    assert kept["turn"] == 1
    assert (not_kept["conversation_id"], not_kept["turn"]) == (None, None)
    assert not_kept["answer"] == kept["answer"]
    assert n_conversations == 1


def test_an_unknown_conversation_is_a_problem(live: Live) -> None:
    """Asked as it stands instead, a follow-up would be answered as another question."""
    reply = live.ask(**FIRST, conversation_id="of another server")

    assert reply.status_code == 404
    assert reply.headers["content-type"] == "application/problem+json"


def test_answers_are_given_where_conversations_cannot_be_kept(world: World) -> None:
    """A full disk, or a database in the way, must not take the answers with it."""
    world.paths.conversations.mkdir(parents=True)
    with served(world.paths.data) as live:
        reply = live.ask(**FIRST)

    assert (reply.status_code, reply.json()["conversation_id"]) == (200, None)
    assert reply.json()["answer"]["claims"]
