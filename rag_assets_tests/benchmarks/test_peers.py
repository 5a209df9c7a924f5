"""Peers cut and join as their documentation says; a peer that is built wrong makes us look good."""

from benchmarks.quality.peers.base import SourceBlock
from benchmarks.quality.peers.haiku_recipe import MAX_TOKENS, chunks
from benchmarks.quality.peers.naive import SIZE, windows
from rag_assets.core.text.tokens import token_counter

SENTENCE = "Ferritin fell in all groups of runners within a month of training. "


def block(text: str, page: int, *headings: str) -> SourceBlock:
    return SourceBlock("iron", "Iron and endurance", headings, text, page, page)


def test_windows_have_the_pages_of_the_text_they_hold() -> None:
    """A window with the page of its neighbour is counted as a page that was found, or missed."""
    pieces = windows([block("a" * 900, 1), block("b" * 900, 2), block("c" * 900, 3)])

    assert [len(piece.text) for piece in pieces[:2]] == [SIZE, SIZE]
    assert [(piece.page_start, piece.page_end) for piece in pieces] == [
        (1, 2),
        (1, 2),
        (2, 3),
        (3, 3),
    ]
    assert all(("a" in piece.text) == (piece.page_start == 1) for piece in pieces)


def test_chunks_stay_in_their_section_and_size_and_carry_its_headings() -> None:
    """Without the headings the recipe is plain chunking under another name."""
    pieces = list(chunks([block(SENTENCE * 40, 1, "Results"), block(SENTENCE, 2, "Methods")]))

    assert all(piece.indexed.startswith("Iron and endurance\n") for piece in pieces)
    assert [piece.indexed.split("\n")[1] for piece in pieces] == ["Results"] * (len(pieces) - 1) + [
        "Methods"
    ]
    assert len(pieces) > 2
    assert (
        max(token_counter("wordpiece").count_all([piece.indexed for piece in pieces])) <= MAX_TOKENS
    )
    assert not any(piece.found.text.startswith("Iron and") for piece in pieces)
