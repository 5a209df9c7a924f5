"""Prompts and the places in them that are filled."""

import pytest

from rag_assets.hosted.prompts import load_prompt


@pytest.mark.parametrize("places", [frozenset({"question"}), frozenset({"question", "sources", "page"})])
def test_a_prompt_has_every_place_that_is_filled_and_no_other(places: frozenset[str]) -> None:
    """One too many fails at the first question of the night; one too few asks without what was to be said."""
    with pytest.raises(ValueError, match=r"prompts/question\.md has the places \['question', 'sources'\]"):
        load_prompt("rag_assets.answering.model", "question", places)
