"""The tools search and ask, as an assistant meets them."""

from typing import Any

import pytest

from rag_assets_testing.world import QUESTIONS, TOPICS, World
from rag_assets_tests.faces.mcp.assistant import Assistant, facts_in, words_of

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


def test_a_search_gives_passages_with_ids_to_go_on_with(assistant: Assistant) -> None:
    """Without ids the next call can only guess."""
    text = assistant.text("search", question=FERRITIN, k=2)

    first = facts_in(text)["hits"][0]
    assert text.startswith("2 chunks, best first.\n")
    assert TOPICS["ferritin"][1] in first["text"]
    assert first["page"].startswith("p")
    assert first["chunk_id"].startswith("ferritin:")
    assert (first["paper_id"], first["title"]) == ("ferritin", "Ferritin in athletes")


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
