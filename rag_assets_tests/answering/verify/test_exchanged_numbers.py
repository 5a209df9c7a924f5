"""Two numbers that a claim gives to each other's words."""

from rag_assets.answering.verify.exchanged_numbers import exchanged_numbers
from rag_assets.answering.verify.quoted_text import QuotedText
from rag_assets.answering.verify.table_quotes.claims import misplaced_numbers

QUOTE = "Fever struck 12 brown goats fed hay in spring, whereas it was seen in 47 white sheep given straw all winter."


def test_numbers_of_two_groups_that_change_places_are_seen() -> None:
    """Both numbers are in the quote, and both groups: only their order is false."""
    assert exchanged_numbers("Fever struck 47 brown goats fed hay, and 12 white sheep given straw.", QUOTE) == (
        "47",
        "12",
    )


def test_numbers_that_stay_with_their_groups_are_not_exchanged_in_any_order() -> None:
    """A claim may name the second group first."""
    assert exchanged_numbers("Fever struck 47 white sheep given straw, and 12 brown goats fed hay.", QUOTE) is None
    assert exchanged_numbers("Fever struck 12 brown goats fed hay, and 47 white sheep given straw.", QUOTE) is None


def test_numbers_of_two_quoted_rows_that_change_places_are_seen() -> None:
    """A comparison quotes each row by itself, and is false only when both are read together."""
    table = "Feed: Hay | Milk: 12 | Fever: 3\nFeed: Straw | Milk: 47 | Fever: 8"
    cut = table.index("\n")
    quotes = (QuotedText(table, 0, cut), QuotedText(table, cut + 1, len(table)))
    rows = [some for quote in quotes for some in quote.rows]

    assert misplaced_numbers("Hay gave milk of 47 and straw of 12.", rows)
    assert misplaced_numbers("Hay gave milk of 12 and straw of 47.", rows) == []


def test_rows_whose_names_differ_in_a_number_are_told_apart() -> None:
    """Pen 1 and Pen 2 are as different as hay and straw."""
    table = "Protein | Pen 1: 200 | Pen 2: 150"
    rows = QuotedText(table, 0, len(table)).rows

    assert misplaced_numbers("Protein was 150 in pen 1 and 200 in pen 2.", rows)
    assert misplaced_numbers("Protein was 200 in pen 1 and 150 in pen 2.", rows) == []
