"""Where a run of units is cut into chunks or passages.

The cuts follow from the text around them rather than from a count since the beginning, so that an
edit moves the cuts near it and leaves the others where they are (content-defined chunking:
Muthitacharoen, Chen and Mazieres 2001, "A Low-bandwidth Network File System"). Every boundary has a
cost: a rank plus a hash of the words on its two sides. Ends of sections rank before ends of blocks,
these before ends of sentences, these before places that should stay together. Dynamic programming
finds the cuts of least total cost. Boundaries that are cheapest within a wide radius (local minima:
Bjorner, Blass and Gurevich 2010, "Content-dependent chunking for differential compression, the
local maximum approach") are landmarks where every solution cuts: an edit moves no cut beyond the
nearest landmark it leaves.

A unit that alone is too long is cut by `fitting_pieces`: at the end of a clause if one lies in the
second half, else between words, and inside a word (a gene sequence, a base64 dump) only where the
word alone is too long.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf

_HASHED_CHARS = 48
_MOST_CANDIDATES = 128
"""At most about this many boundaries are compared within one window (twice as many in the worst
case)."""
_LANDMARK_BONUS = 10.0
# A run below the lower end of the window costs more than any choice of boundaries can save. The
# cost grows with the square of what is missing: two runs that are a little short are better than one
# that is much too short.
_UNDERSIZE = 50.0
_SHORTFALL = 200.0


class Rank(IntEnum):
    """How bad a boundary is as a place to cut; lower is better."""

    SECTION_END = -1
    BLOCK_END = 0
    UNIT_END = 1
    HELD_TOGETHER = 2
    """The two units should stay in one chunk: next to a formula, after a colon, between a caption
    and its table or figure, inside a unit that was cut for its length."""


@dataclass(frozen=True, slots=True)
class Item:
    """Size and costs of one unit."""

    size: int
    """Tokens of the unit, including the white space before it."""
    lead: int
    """Tokens of earlier text that a chunk repeats if it begins with this unit (overlap or a table's
    title)."""
    cost: float
    """Cost of a cut before this unit, -1 to 3."""


@dataclass(frozen=True, slots=True)
class Window:
    """Smallest and largest size of a run, in tokens."""

    low: int
    high: int


def boundary_cost(before: str, after: str, rank: Rank) -> float:
    """Cost of a cut between two texts: the rank plus a hash from 0 to 1 of the last characters of
    `before` and the first characters of `after`."""
    nearest_chars = f"{before[-_HASHED_CHARS:]}\0{after[:_HASHED_CHARS]}"
    digest = hashlib.blake2b(nearest_chars.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return rank + int.from_bytes(digest, "big") / 2**64


def choose_cuts(items: Sequence[Item], window: Window) -> list[tuple[int, int]]:
    """Group the items into runs, returned as index ranges `[first, last)`.

    A run has at most `window.high` tokens, except that a single item may be longer. It has at least
    `window.low` tokens where possible. Items that all fit into one run are not cut.
    """
    if sum(item.size for item in items) <= window.high:
        return [(0, len(items))] if items else []
    # items between two possible cuts are joined to one item
    starts = _possible_starts(items, window.high // _MOST_CANDIDATES)
    ends = [*starts[1:], len(items)]
    joined_items = [
        replace(items[start], size=sum(item.size for item in items[start:end]))
        for start, end in zip(starts, ends, strict=True)
    ]
    return [(starts[first], ends[last - 1]) for first, last in _cheapest_cuts(joined_items, window)]


def _possible_starts(items: Sequence[Item], step: int) -> list[int]:
    """Indexes of the items that a run may begin with.

    Every item of at least `step` tokens, and every item after one, may begin a run. Among smaller
    items only the cheapest per `step` tokens may: otherwise a text of one-letter lines would have
    too many boundaries to compare.
    """
    starts, cheapest, n_tokens = [0], None, 0
    for index in range(1, len(items)):
        is_tiny = items[index].size < step and items[index - 1].size < step
        if cheapest is not None and (not is_tiny or n_tokens >= step):
            starts.append(cheapest)
            cheapest, n_tokens = None, 0
        if not is_tiny:
            starts.append(index)
        elif cheapest is None or items[index].cost < items[cheapest].cost:
            cheapest = index
        n_tokens += items[index].size
    return starts if cheapest is None else [*starts, cheapest]


def _cheapest_cuts(items: Sequence[Item], window: Window) -> list[tuple[int, int]]:
    """The runs `[first, last)` of least total cost, by dynamic programming: `best_cost[last]` is
    the least cost of runs that cover the first `last` items, `best_first[last]` the first item of
    the last of these runs."""
    n = len(items)
    # a landmark is so cheap that every solution cuts there
    costs = [
        item.cost - _LANDMARK_BONUS
        if index > 0 and _is_landmark(items, index, 2 * window.low)
        else item.cost
        for index, item in enumerate(items)
    ]
    best_cost, best_first = [0.0] + [inf] * n, [0] * (n + 1)
    for first in range(n):
        size = items[first].lead if first else 0
        for last in range(first + 1, n + 1):
            size += items[last - 1].size
            if size > window.high and last > first + 1:
                break  # this run and all longer ones are too long
            total = (
                best_cost[first]
                + _undersize_cost(size, window.low)
                + (costs[last] if last < n else 0.0)
            )
            if total < best_cost[last]:
                best_cost[last], best_first[last] = total, first
    # follow the best runs from the end to the beginning
    cuts, last = [], n
    while last:
        cuts.append((best_first[last], last))
        last = best_first[last]
    return cuts[::-1]


def _undersize_cost(size: int, low: int) -> float:
    """Cost of a run with fewer than `low` tokens."""
    if size >= low:
        return 0.0
    shortfall = (low - size) / low
    return _UNDERSIZE + _SHORTFALL * shortfall * shortfall


def _is_landmark(items: Sequence[Item], index: int, radius: int) -> bool:
    """Whether a cut before `items[index]` is cheaper than every other cut within `radius` tokens on
    both sides. Of equally cheap cuts the first one is the landmark."""
    cost, distance = items[index].cost, 0
    for other in range(index - 1, 0, -1):
        distance += items[other].size
        if distance > radius:
            break
        if items[other].cost <= cost:
            return False
    distance = 0
    for other in range(index + 1, len(items)):
        distance += items[other - 1].size
        if distance > radius:
            break
        if items[other].cost < cost:
            return False
    return True


CountAll = Callable[[Sequence[str]], list[int]]

_WORD = re.compile(r"\S+")
_ENDS_CLAUSE = re.compile(r"[,;:.!?)\]]$|^\|$")


def fitting_pieces(text: str, budget: int, count_all: CountAll) -> list[tuple[int, int]]:
    """Split `text` into pieces of at most `budget` tokens; returns their offsets, without white
    space at their ends.

    A single character may have more tokens than that; it is not split.
    """
    pieces = _packed(text, _words(text, budget, count_all), budget)
    fitting = []
    for (start, end), n_tokens in zip(
        pieces, count_all([text[a:b] for a, b in pieces]), strict=True
    ):
        if n_tokens <= budget or end - start == 1:
            fitting.append((start, end))
        else:
            # A text can have more tokens than its words counted one by one. The piece is split
            # again, with a budget that is lower by the excess.
            lower_budget = max(1, min(budget - 1, 2 * budget - n_tokens))
            inner = fitting_pieces(text[start:end], lower_budget, count_all)
            fitting += [(start + a, start + b) for a, b in inner]
    return fitting


def leading_piece(text: str, budget: int, count_all: CountAll) -> str:
    """The first words of `text` that fit `budget` tokens; all of it when it fits."""
    if budget < 1 or not text:
        return ""
    start, end = fitting_pieces(text, budget, count_all)[0]
    return text[start:end]


def _words(text: str, budget: int, count_all: CountAll) -> list[tuple[int, int, int]]:
    """Start, end and size in tokens of each word. A word of more than `budget` tokens is split into
    pieces of equal length, each taken to have `budget` tokens."""
    spans = [match.span() for match in _WORD.finditer(text)]
    previous_ends = [0, *(end for _, end in spans)]
    # a word is counted with the white space before it
    counts = count_all(
        [text[start:end] for start, (_, end) in zip(previous_ends, spans, strict=False)]
    )
    words = []
    for (start, end), n_tokens in zip(spans, counts, strict=True):
        if n_tokens <= budget:
            words.append((start, end, n_tokens))
            continue
        step = max(1, (end - start) * budget // n_tokens)
        words += [(cut, min(cut + step, end), budget) for cut in range(start, end, step)]
    return words


def _packed(text: str, words: Sequence[tuple[int, int, int]], budget: int) -> list[tuple[int, int]]:
    """Offsets of pieces of at most `budget` tokens. A piece ends with a clause if one ends in its
    second half, else with the last word that fits. words: as `_words` returns them."""
    pieces, first = [], 0
    while first < len(words):
        last, n_tokens = first, words[first][2]
        while last + 1 < len(words) and n_tokens + words[last + 1][2] <= budget:
            last += 1
            n_tokens += words[last][2]
        if last + 1 < len(words):
            clause_ends = (
                index
                for index in range(last, (first + last) // 2, -1)
                if _ENDS_CLAUSE.search(text[words[index][0] : words[index][1]])
            )
            last = next(clause_ends, last)
        pieces.append((words[first][0], words[last][1]))
        first = last + 1
    return pieces
