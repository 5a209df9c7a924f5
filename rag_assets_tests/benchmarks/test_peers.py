"""Peers cut and join as their documentation says; a peer that is built wrong makes us look good."""

from benchmarks.quality.measures import Found
from benchmarks.quality.peers.base import Packing, SourceBlock, Words, reciprocal_ranks
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


def test_reciprocal_ranks_prefer_what_both_rankings_have() -> None:
    """1/61 + 1/63 is more than 1/61 alone."""
    assert reciprocal_ranks([[7, 8, 9], [9, 5]])[0] == 9
    assert set(reciprocal_ranks([[7, 8, 9], [9, 5]])) == {5, 7, 8, 9}


def test_a_budget_is_filled_best_first_and_never_passed() -> None:
    """A peer that reads more tokens than we do wins by reading."""
    counter = token_counter("wordpiece")
    found = [Found(SENTENCE * n, "iron", 1, 1) for n in (3, 9, 2)]
    budget = counter.count(SENTENCE * 3) + counter.count(SENTENCE * 2)

    assert Packing().packed(found, budget) == [found[0], found[2]]
    assert Packing().packed(found, 1) == [found[0]]


def test_words_rank_the_text_that_holds_them_first() -> None:
    """Questions end in question marks and hold brackets, which a query language would read as its
    own."""
    words = Words(["Basalt takes up water.", "Ferritin falls in runners.", "Nothing of the kind."])

    assert words.search("Why (does) ferritin fall? AND: runner's", 2)[0] == 1
