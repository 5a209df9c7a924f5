"""Finds the lines of a page that are not the paper's text: running headers, footers, page numbers,
and boxes.

A running line recurs at the edge of many pages, in every format that knows its pages. A box
(citation, copyright, correspondence, dates) is recognised by its first words.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeVar

EDGE_LINES = 3
"""Lines at the top, and at the bottom, of a page that can be running text."""
_PLACE_TOLERANCE = 0.03
_FEW_PAGES = 4
_SAME_PLACE = 0.003
_MARGIN = 0.1
_MIN_PAGES = 2
_MIN_PAGES_OF_ONE_SIDE = 3
_PAGE_NUMBER = "0"
_DIGITS = re.compile(r"\d+")
_NUMBERS_BESIDE = re.compile(rf"^(?:{_PAGE_NUMBER} )+|(?: {_PAGE_NUMBER})+$")
_ROMAN_NUMBER = re.compile(r"[ivxl]+")
_OPENS_BOX = re.compile(
    r"\W{0,4}(?:"
    r"(?:citation|competing interests?|conflicts? of interests?|funding|abbreviations|(?:\w+ )?editors?|key ?words|"
    r"e-?mail|supplement(?:ary|al) material)\W{0,3}:"
    r"|(?:received|accepted|published|submitted)(?: online)?(?::| \d| (?:on )?[a-z]{3,9} \d)"
    r"|(?:table|figure|fig\.|box) ?[A-Z]?\d{1,3}[:.|]"
    r"|(?:how to cite|cite this|copyright|correspondence|corresponding author|edited by|reviewed by|available online|"
    r"to whom correspondence|this is an open[ -]access|doi|issn)\b|©)",
    re.IGNORECASE,
)

Edge = Literal["top", "bottom"]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line of a page, in the order of the page from top to bottom."""

    text: str
    place: float | None = None
    """Its vertical centre as a fraction of the page, from the top; None where the format does not
    know."""


@dataclass(frozen=True, slots=True)
class _Occurrence:
    page: int
    line: int
    place: float | None


def running(
    pages: Sequence[Sequence[Item]], line_of: Callable[[Item], PlacedLine], share: float
) -> list[Item]:
    """The items of all pages whose lines are running text, as `running_lines` tells."""
    found = running_lines([[line_of(item) for item in page] for page in pages], share)
    return [
        page[index] for page, indices in zip(pages, found, strict=True) for index in sorted(indices)
    ]


def running_lines(pages: Sequence[Sequence[PlacedLine]], share: float) -> list[frozenset[int]]:
    """For each page, the indices of the lines that are running text.

    A line is running when its text (digits folded, so that page numbers agree) is at the same edge
    of more than `share` of the pages and of two at least, or of more than `share` of the left or
    the right pages and of three at least (two, if it is on no page of the other side and always at
    one height in the margin): books print the author on one side and the title on the other. Where
    places are known, a title that is lower on its page than the running headers that repeat it is
    kept.
    """
    found: list[set[int]] = [set() for _ in pages]
    for (text, edge), occurrences in _by_text_and_edge(pages).items():
        alike = _without_model(occurrences) if edge == "top" else occurrences
        if len(pages) < _FEW_PAGES and text != _PAGE_NUMBER:  # the same text twice may be no header
            alike = [o for o in alike if o.place is None or _is_in_margin(o.place)]
        on = {occurrence.page for occurrence in alike}
        is_one_side = len({page % 2 for page in on}) == 1 and _are_at_one_place(alike)
        if _is_frequent(
            on, len(pages), share, _MIN_PAGES if is_one_side else _MIN_PAGES_OF_ONE_SIDE
        ):
            for occurrence in alike:
                found[occurrence.page].add(occurrence.line)
    heads = {
        (round(place, 4), frozenset(folded_line(page[at].text).split()))
        for page, lines in zip(pages, found, strict=True)
        for at in lines
        if (place := page[at].place) is not None and _is_in_margin(place)
    }
    return [
        frozenset(lines | _at_their_height(page, lines, heads))
        for page, lines in zip(pages, found, strict=True)
    ]


def folded_line(text: str) -> str:
    """What makes two running lines alike: case, white space and all digits folded, and no numbers
    beside the text, since one of them is the page's; a lone roman number is a digit."""
    folded = _DIGITS.sub(_PAGE_NUMBER, " ".join(text.casefold().split()))
    if _ROMAN_NUMBER.fullmatch(folded):
        return _PAGE_NUMBER
    return _NUMBERS_BESIDE.sub("", folded)


def _at_their_height(
    page: Sequence[PlacedLine], found: Set[int], heads: Set[tuple[float, Set[str]]]
) -> set[int]:
    """The lines in one row with a running line of the margin, and those at the height of one of
    another page that have no other words: left pages print author and title as one line, right ones
    as two or in another order.

    heads: height and words of the running lines of all pages.
    """
    rows = [
        place
        for index in found
        if (place := page[index].place) is not None and _is_in_margin(place)
    ]
    beside: set[int] = set()
    for index, _ in _edge_lines(len(page)):
        place, words = page[index].place, set(folded_line(page[index].text).split())
        near = [*rows, *(at for at, all_words in heads if words <= all_words)]
        if place is not None and any(abs(place - at) <= _SAME_PLACE for at in near):
            beside.add(index)
    return beside


def _is_in_margin(place: float) -> bool:
    return not _MARGIN < place < 1 - _MARGIN


def _by_text_and_edge(
    pages: Sequence[Sequence[PlacedLine]],
) -> dict[tuple[str, Edge], list[_Occurrence]]:
    groups: dict[tuple[str, Edge], list[_Occurrence]] = defaultdict(list)
    for page, lines in enumerate(pages):
        for index, edge in _edge_lines(len(lines)):
            if key := folded_line(lines[index].text):
                groups[key, edge].append(_Occurrence(page, index, lines[index].place))
    return groups


def _edge_lines(n_lines: int) -> list[tuple[int, Edge]]:
    n_top = min(EDGE_LINES, (n_lines + 1) // 2)
    n_bottom = min(EDGE_LINES, n_lines - n_top)
    top: list[tuple[int, Edge]] = [(index, "top") for index in range(n_top)]
    return top + [(index, "bottom") for index in range(n_lines - n_bottom, n_lines)]


def _without_model(occurrences: list[_Occurrence]) -> list[_Occurrence]:
    """The occurrences without the title that the others repeat: the first, if it is lower on its
    page."""
    first, *others = sorted(occurrences, key=lambda occurrence: occurrence.page)
    if first.place is None or any(other.place is None for other in others):
        return occurrences
    lowest = max((other.place for other in others if other.place is not None), default=1.0)
    return others if first.place > lowest + _PLACE_TOLERANCE else occurrences


def _are_at_one_place(occurrences: Sequence[_Occurrence]) -> bool:
    """Whether lines are printed at exactly the same height in the margin, as no sentence is by
    chance."""
    places = [occurrence.place for occurrence in occurrences if occurrence.place is not None]
    are_known = len(places) == len(occurrences) > 0
    is_same = are_known and max(places) - min(places) <= _SAME_PLACE
    return is_same and _is_in_margin(places[0])


def _is_frequent(on: set[int], n_pages: int, share: float, fewest_of_side: int) -> bool:
    if len(on) >= _MIN_PAGES and len(on) > share * n_pages:
        return True
    for parity in (0, 1):
        n_of_side = len(range(parity, n_pages, 2))
        n_on = sum(page % 2 == parity for page in on)
        if n_on >= fewest_of_side and n_on > share * n_of_side:
            return True
    return False


def opens_box(text: str) -> bool:
    """Whether a paragraph begins like a box or a caption: with the usual first words, the first in
    capitals.

    A sentence that the end of a column left open does not go on in one.
    """
    first = next((character for character in text if character.isalpha() or character == "©"), "")
    if first.islower():
        return False
    return _OPENS_BOX.match(text) is not None
