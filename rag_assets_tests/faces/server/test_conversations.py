"""Conversations over HTTP."""

from collections.abc import Iterator

import pytest

from rag_assets.questions.conversations import Rewritten, Turn
from rag_assets_testing.world import World
from rag_assets_tests.faces.server.live import Live, served


@pytest.fixture
def talking(world: World) -> Iterator[Live]:
    with served(world.paths.data) as live:
        yield live


def test_a_conversation_is_begun_listed_read_and_deleted(talking: Live) -> None:
    """History is what makes a page a place to come back to; deleting must be as easy."""
    begun = talking.client.post("/api/conversations")
    conversation_id = begun.json()["conversation_id"]
    asked = Rewritten(
        "Where does basalt take up water?", is_rewritten=True, reason="-", paper_ids=("basalt",)
    )
    talking.shared.conversations.add(
        conversation_id, Turn("Where does it take up water?", asked, {"answer": "Yes."})
    )

    assert begun.status_code == 201
    (listed,) = talking.client.get("/api/conversations").json()["conversations"]
    kept = talking.client.get(f"/api/conversations/{conversation_id}").json()
    assert {name: kept[name] for name in listed} == listed
    assert listed["title"] == "Where does it take up water?"
    (turn,) = kept["turns"]
    assert turn.pop("at").startswith("20")
    assert turn == {
        "turn": 1,
        "question": "Where does it take up water?",
        "asked": "Where does basalt take up water?",
        "rewritten": True,
        "reason": "-",
        "paper_ids": ["basalt"],
        "answer": {"answer": "Yes.", "references": []},
        "contexts": [],
        "dropped": [],
    }

    assert talking.client.delete(f"/api/conversations/{conversation_id}").status_code == 204

    assert talking.client.get("/api/conversations").json() == {"conversations": []}
    for method in ("GET", "DELETE"):
        reply = talking.client.request(method, f"/api/conversations/{conversation_id}")
        assert (reply.status_code, reply.json()["title"]) == (404, "There is no such conversation")
