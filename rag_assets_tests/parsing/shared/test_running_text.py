"""Running headers and footers: the frequency rule."""

from rag_assets.parsing.shared.running_text import PlacedLine, running_lines


def page(number: int, header: str) -> list[PlacedLine]:
    """A page with a header, body lines of its own and a page number."""
    body = [
        PlacedLine(f"body {word} of page {'abcdefghij'[number]}", 0.2 + 0.1 * i)
        for i, word in enumerate("klmnopq")
    ]
    return [PlacedLine(header, 0.05), *body, PlacedLine(f"{number + 1}", 0.95)]


def test_text_on_half_of_the_pages_or_less_is_kept() -> None:
    """A refrain of the text must not be lost."""
    pages = [
        page(number, "A refrain" if number in (0, 3, 4) else f"x {'abcdef'[number]}")
        for number in range(6)
    ]

    found = running_lines(pages)

    assert found == [frozenset({8})] * 6


def test_headers_that_alternate_over_four_pages_are_running_text() -> None:
    """A short paper has each of its two headers on two pages only, always at one height."""
    pages = [page(number, "A. Author" if number % 2 else "The Title") for number in range(4)]

    found = running_lines(pages)

    assert found == [frozenset({0, 8})] * 4


def test_the_title_is_not_taken_for_the_header_that_repeats_it() -> None:
    """Without its title the first page loses what the paper is about."""
    pages = [page(number, "The Title") for number in range(5)]
    pages[0] = [PlacedLine("The Title", 0.15), *pages[0][1:]]

    found = running_lines(pages)

    assert found == [frozenset({8}), *[frozenset({0, 8})] * 4]


def test_a_text_that_two_pages_share_away_from_the_margin_is_kept() -> None:
    """Two pages are too few to tell a header from a sentence that is said twice; page numbers still
    go."""
    pages = [
        [PlacedLine("The same sentence.", 0.3), PlacedLine("Another.", 0.6), PlacedLine("7", 0.8)]
    ] * 2

    found = running_lines(pages)

    assert found == [frozenset({2})] * 2


def test_without_known_places_the_text_alone_decides() -> None:
    """Text files with form feeds know their pages but no coordinates."""
    pages = [
        [PlacedLine("Header 2021"), PlacedLine(f"body {name}"), PlacedLine("vii")]
        for name in "abcd"
    ]

    found = running_lines(pages)

    assert found == [frozenset({0, 2})] * 4
