"""Finds the lines of a page that are not the paper's text: running headers, footers, page numbers,
and boxes.

A running line is repeated at the edge of many pages; this works for every format that knows its
pages. A box (citation, copyright, correspondence, dates) is recognised by its first words.

A place is the vertical centre of a line as a fraction of the page, 0 at the top.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Literal, TypeVar

EDGE_LINES = 3
"""Only this many lines at the top, and at the bottom, of a page can be running text."""
RUNNING_SHARE = 0.5
"""Text on more than this share of the pages is a running line. Too low drops refrains of the text,
too high keeps journal names in every chunk."""
_PLACE_TOLERANCE = 0.03
_FEW_PAGES = 4
_SAME_PLACE = 0.003
_MARGIN = 0.1
"""Upper and lower part of the page."""
_MIN_PAGES = 2
_MIN_PAGES_OF_ONE_SIDE = 3
_PAGE_NUMBER = "0"
_DIGITS = re.compile(r"\d+")
_NUMBERS_BESIDE = re.compile(rf"^(?:{_PAGE_NUMBER} )+|(?<! {_PAGE_NUMBER})(?: {_PAGE_NUMBER})+$")
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
    """A line of a page. The lines of a page are ordered from top to bottom."""

    text: str
    place: float | None = None
    """Its vertical centre as a fraction of the page, 0 at the top; None if the format does not know
    it."""


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """A line by the index of its page and its index on that page."""

    page: int
    index: int
    place: float | None


def running(pages: Sequence[Sequence[Item]], line_of: Callable[[Item], PlacedLine]) -> list[Item]:
    """The items of all pages whose lines are running text by `running_lines`."""
    found = running_lines([[line_of(item) for item in page] for page in pages])
    return [
        page[index] for page, indices in zip(pages, found, strict=True) for index in sorted(indices)
    ]


def running_lines(pages: Sequence[Sequence[PlacedLine]]) -> list[frozenset[int]]:
    """For each page, the indices of the lines that are running text.

    Lines are compared by `folded_line`, so that page numbers agree. A line is running text if it is
    at the same edge of at least two pages, and of more than half of all pages. Books print the
    author on left pages and the title on right ones, so more than half of the left or of the right
    pages is enough too, if these are at least three; two are enough if the line is on no page
    of the other side, and always at the same height in the margin.

    Where places are known, a title is kept that is lower on its page than the running headers that
    repeat it.
    """
    found: list[set[int]] = [set() for _ in pages]
    for (text, edge), occurrences in _by_text_and_edge(pages).items():
        repeats = _without_title(occurrences) if edge == "top" else occurrences
        if len(pages) < _FEW_PAGES and text != _PAGE_NUMBER:  # the same text twice may be no header
            repeats = [line for line in repeats if line.place is None or _is_in_margin(line.place)]
        on_pages = {line.page for line in repeats}
        is_one_side = len({page % 2 for page in on_pages}) == 1 and _are_at_one_place(repeats)
        min_pages_of_side = _MIN_PAGES if is_one_side else _MIN_PAGES_OF_ONE_SIDE
        if _is_frequent(on_pages, len(pages), min_pages_of_side):
            for line in repeats:
                found[line.page].add(line.index)
    headers = {
        (round(place, 4), frozenset(folded_line(page[index].text).split()))
        for page, indices in zip(pages, found, strict=True)
        for index in indices
        if (place := page[index].place) is not None and _is_in_margin(place)
    }
    return [
        frozenset(indices | _at_height_of_headers(page, indices, headers))
        for page, indices in zip(pages, found, strict=True)
    ]


def folded_line(text: str) -> str:
    """The form in which two running lines are compared: "12 Smith et al." -> "smith et al.".

    Small letters, single spaces, and each number as "0". Numbers before and after the text are
    removed, because one of them is the page number; a line with only a number, also a roman one, is
    "0".
    """
    folded = _DIGITS.sub(_PAGE_NUMBER, " ".join(text.casefold().split()))
    if _ROMAN_NUMBER.fullmatch(folded):
        return _PAGE_NUMBER
    return _NUMBERS_BESIDE.sub("", folded)


def _at_height_of_headers(
    page: Sequence[PlacedLine], found: Set[int], headers: Set[tuple[float, Set[str]]]
) -> set[int]:
    """Further running lines of a page: the lines at the same height as one of `found`, and those at
    the height of a running line of any page that contains all their words. Left pages may print
    author and title as one line, right pages as two, or in another order.

    headers: place and words of the running lines in the margins of all pages.
    """
    own_places = [
        place
        for index in found
        if (place := page[index].place) is not None and _is_in_margin(place)
    ]
    further: set[int] = set()
    for index, _ in _edge_lines(len(page)):
        place, words = page[index].place, set(folded_line(page[index].text).split())
        places = [*own_places, *(header for header, all_words in headers if words <= all_words)]
        if place is not None and any(abs(place - header) <= _SAME_PLACE for header in places):
            further.add(index)
    return further


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
    """Index and edge of the lines at the top and at the bottom of a page with `n_lines` lines; no
    line is in both."""
    n_top = min(EDGE_LINES, (n_lines + 1) // 2)
    n_bottom = min(EDGE_LINES, n_lines - n_top)
    top: list[tuple[int, Edge]] = [(index, "top") for index in range(n_top)]
    return top + [(index, "bottom") for index in range(n_lines - n_bottom, n_lines)]


def _without_title(occurrences: list[_Occurrence]) -> list[_Occurrence]:
    """The occurrences without the title of the paper, which running headers repeat: that is the
    first occurrence, if it is lower on its page than all others."""
    first, *others = sorted(occurrences, key=lambda occurrence: occurrence.page)
    if first.place is None or any(other.place is None for other in others):
        return occurrences
    lowest = max((other.place for other in others if other.place is not None), default=1.0)
    return others if first.place > lowest + _PLACE_TOLERANCE else occurrences


def _are_at_one_place(occurrences: Sequence[_Occurrence]) -> bool:
    """Whether all lines are printed at the same height in the margin. Sentences that are repeated
    by chance are not."""
    places = [occurrence.place for occurrence in occurrences if occurrence.place is not None]
    are_known = len(places) == len(occurrences) > 0
    is_same = are_known and max(places) - min(places) <= _SAME_PLACE
    return is_same and _is_in_margin(places[0])


def _is_frequent(on_pages: set[int], n_pages: int, min_pages_of_side: int) -> bool:
    """Whether these are more than half of all pages, or of the left or the right pages."""
    if len(on_pages) >= _MIN_PAGES and len(on_pages) > RUNNING_SHARE * n_pages:
        return True
    for parity in (0, 1):
        n_pages_of_side = len(range(parity, n_pages, 2))
        n_found = sum(page % 2 == parity for page in on_pages)
        if n_found >= min_pages_of_side and n_found > RUNNING_SHARE * n_pages_of_side:
            return True
    return False


def opens_box(text: str) -> bool:
    """Whether a paragraph begins with the usual first words of a box or a caption, with a capital
    letter. A sentence that is open at the end of a column cannot continue there.
    """
    first = next((character for character in text if character.isalpha() or character == "©"), "")
    if first.islower():
        return False
    return _OPENS_BOX.match(text) is not None
