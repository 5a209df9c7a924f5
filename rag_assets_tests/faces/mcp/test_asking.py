"""The tools search and ask, as an assistant meets them."""

import sys
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

from rag_assets.answering.drafts import WITHHELD
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.cli.processes import environment
from rag_assets_tests.faces.mcp.assistant import Assistant, connected, facts_in, words_of
from rag_assets_tests.faces.server.test_withheld import WHY

FERRITIN = str(QUESTIONS[0]["question"])


def test_an_answer_names_the_page_and_the_place_of_every_quote(
    asked: World, assistant: Assistant
) -> None:
    """An assistant that cannot say where a sentence stands is no better than one without papers."""
    published = asked.answers()["q1"]
    claims = assistant.facts("ask", question=FERRITIN)["claims"]

    assert [claim["claim"] for claim in claims] == [claim["text"] for claim in published["claims"]]
    for claim, shown in zip(published["claims"], claims, strict=True):
        for citation, place in zip(claim["citations"], shown["proved_by"], strict=True):
            assert (place["paper_id"], place["page"]) == (
                citation["paper_id"],
                f"p. {citation['page_start']}",
            )
            assert place["chunk_id"] == citation["chunk_id"]
            assert place["characters"] == f"{citation['start']}-{citation['end']}"


def test_a_refusal_says_that_it_is_one(assistant: Assistant) -> None:
    """A model that takes a refusal for a failed call would answer from memory, in the name of the
    papers."""
    result = assistant.call(
        "ask", question="Who composed the opera about the queen?", paper_ids=["ferritin"]
    )

    assert not result.is_error
    assert words_of(result).startswith(
        "The papers in this corpus do not contain enough information"
    )
    assert "This is a refusal" in words_of(result)


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (
            {"question": FERRITIN, "where": "sction:results"},
            'there is no field "sction", is section meant?',
        ),
        ({"question": " "}, "The question has no word that can be searched for"),
        ({"question": FERRITIN, "k": 0}, "greater than or equal to 1"),
        ({}, "Field required"),
    ],
)
def test_wrong_arguments_are_told_with_what_is_right(
    assistant: Assistant, arguments: dict[str, Any], remedy: str
) -> None:
    """A model corrects what it is told; a bare failure it repeats."""
    result = assistant.call("search", **arguments)

    assert result.is_error
    assert remedy in words_of(result)


SABOTAGED_SERVER = """
import pytest
from rag_assets.faces.cli import app
from rag_assets_tests.end_to_end.test_guardrails import sabotage_answers
from rag_assets_tests.faces.server.test_withheld import with_another_number

sabotage_answers(pytest.MonkeyPatch(), with_another_number)
app(["mcp"])
"""


def test_a_withheld_answer_is_told_in_words_with_its_reason(asked: World) -> None:
    """As a failed call, the assistant would try again, or answer from memory; as a refusal, it
    would tell the user that the papers do not say it."""
    server = StdioServerParameters(
        command=sys.executable, args=["-c", SABOTAGED_SERVER], env=environment(asked.paths.data)
    )

    with connected(server) as assistant:
        withheld = assistant.call("ask", question=FERRITIN)
        next_one = assistant.call("search", question=FERRITIN)

    assert (withheld.is_error, next_one.is_error) == (False, False), words_of(withheld)
    assert words_of(withheld).startswith(WITHHELD)
    assert "refusal" not in words_of(withheld)
    facts = facts_in(words_of(withheld))
    assert any(WHY in note for note in facts["notes"])
    assert "claims" not in facts
