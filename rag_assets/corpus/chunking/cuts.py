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
"""About so many boundaries, at most twice as many, are compared within one window."""
_LANDMARK_BONUS = 10.0
# A size below the window outweighs any choice of boundaries; among such sizes, shortfalls are
# shared out evenly.
_UNDERSIZE = 50.0
_SHORTFALL = 200.0


class Rank(IntEnum):
    """How bad a boundary is as a place to cut; lower is better."""

    SECTION_END = -1
    BLOCK_END = 0
    UNIT_END = 1
    HELD_TOGETHER = 2
    """Beside a formula, after a colon, between a caption and what it names, inside a unit that had
    to be cut."""


@dataclass(frozen=True, slots=True)
class Item:
    """Size and costs of a unit."""

    size: int
    """Tokens, with the gap before it."""
    lead: int
    """Tokens that a chunk beginning here repeats from before (overlap, a table's title)."""
    cost: float
    """Cost of the boundary before it, -1 to 3."""


@dataclass(frozen=True, slots=True)
class Window:
    """Sizes in tokens between which a cut is chosen."""

    low: int
    high: int


def boundary_cost(before: str, after: str, rank: Rank) -> float:
    """Cost of a cut between two texts: the rank plus a hash, 0 to 1, of the nearest characters on
    both sides."""
    near = f"{before[-_HASHED_CHARS:]}\0{after[:_HASHED_CHARS]}"
    digest = hashlib.blake2b(near.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return rank + int.from_bytes(digest, "big") / 2**64


def choose_cuts(items: Sequence[Item], window: Window) -> list[tuple[int, int]]:
    """Cut the items into runs `[first, last)` of at most `window.high` tokens, and of `window.low`
    where possible.

    A run of one item may be longer. Items that fit one run are not cut.
    """
    if sum(item.size for item in items) <= window.high:
        return [(0, len(items))] if items else []
    starts = _candidates(items, window.high // _MOST_CANDIDATES)
    ends = [*starts[1:], len(items)]
    coarse = [
        replace(items[start], size=sum(item.size for item in items[start:end]))
        for start, end in zip(starts, ends, strict=True)
    ]
    return [(starts[first], ends[last - 1]) for first, last in _cheapest_cuts(coarse, window)]


def _candidates(items: Sequence[Item], step: int) -> list[int]:
    """Indexes of the items before which a cut may fall: all, but of tiny ones the cheapest in each
    `step` tokens.

    Else the cost would grow with the square of how many tiny items (lines of one letter) fit a
    window. A boundary beside an item of `step` tokens or more always stays.
    """
    starts, best, n_tokens = [0], None, 0
    for at in range(1, len(items)):
        is_tiny = items[at].size < step and items[at - 1].size < step
        if best is not None and (not is_tiny or n_tokens >= step):
            starts.append(best)
            best, n_tokens = None, 0
        if not is_tiny:
            starts.append(at)
        elif best is None or items[at].cost < items[best].cost:
            best = at
        n_tokens += items[at].size
    return starts if best is None else [*starts, best]


def _cheapest_cuts(items: Sequence[Item], window: Window) -> list[tuple[int, int]]:
    n = len(items)
    costs = [
        item.cost - _LANDMARK_BONUS
        if at > 0 and _is_landmark(items, at, 2 * window.low)
        else item.cost
        for at, item in enumerate(items)
    ]
    best, came_from = [0.0] + [inf] * n, [0] * (n + 1)
    for first in range(n):
        size = items[first].lead if first else 0
        for last in range(first + 1, n + 1):
            size += items[last - 1].size
            if size > window.high and last > first + 1:
                break
            total = (
                best[first] + _undersize_cost(size, window.low) + (costs[last] if last < n else 0.0)
            )
            if total < best[last]:
                best[last], came_from[last] = total, first
    cuts, last = [], n
    while last:
        cuts.append((came_from[last], last))
        last = came_from[last]
    return cuts[::-1]


def _undersize_cost(size: int, low: int) -> float:
    if size >= low:
        return 0.0
    shortfall = (low - size) / low
    return _UNDERSIZE + _SHORTFALL * shortfall * shortfall


def _is_landmark(items: Sequence[Item], at: int, radius: int) -> bool:
    """Whether the boundary before `items[at]` costs less than every other within `radius` tokens on
    both sides.

    Radius: from any boundary, one twice the window's lower end away can be reached in runs inside
    the window.
    """
    cost, distance = items[at].cost, 0
    for other in range(at - 1, 0, -1):
        distance += items[other].size
        if distance > radius:
            break
        if items[other].cost <= cost:
            return False
    distance = 0
    for other in range(at + 1, len(items)):
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
    """Offsets of consecutive pieces of `text`, each of at most `budget` tokens, without white space
    at their ends.

    A piece of one character may be longer: there is nothing left to cut.
    """
    pieces = _packed(text, _words(text, budget, count_all), budget)
    fitting = []
    for (start, end), n_tokens in zip(
        pieces, count_all([text[a:b] for a, b in pieces]), strict=True
    ):
        if n_tokens <= budget or end - start == 1:
            fitting.append((start, end))
        else:  # tokens of a text are not always the sum of its words'
            tighter = max(1, min(budget - 1, 2 * budget - n_tokens))
            inner = fitting_pieces(text[start:end], tighter, count_all)
            fitting += [(start + a, start + b) for a, b in inner]
    return fitting


def leading_piece(text: str, budget: int, count_all: CountAll) -> str:
    """The first words of `text` that fit `budget` tokens; all of it when it fits."""
    if budget < 1 or not text:
        return ""
    start, end = fitting_pieces(text, budget, count_all)[0]
    return text[start:end]


def _words(text: str, budget: int, count_all: CountAll) -> list[tuple[int, int, int]]:
    """Start, end and tokens of each word; one that is too long is cut into runs of characters."""
    spans = [match.span() for match in _WORD.finditer(text)]
    before = [0, *(end for _, end in spans)]
    counts = count_all([text[at:end] for at, (_, end) in zip(before, spans, strict=False)])
    words = []
    for (start, end), n_tokens in zip(spans, counts, strict=True):
        if n_tokens <= budget:
            words.append((start, end, n_tokens))
            continue
        step = max(1, (end - start) * budget // n_tokens)
        words += [(at, min(at + step, end), budget) for at in range(start, end, step)]
    return words


def _packed(text: str, words: Sequence[tuple[int, int, int]], budget: int) -> list[tuple[int, int]]:
    pieces, first = [], 0
    while first < len(words):
        last, used = first, words[first][2]
        while last + 1 < len(words) and used + words[last + 1][2] <= budget:
            last += 1
            used += words[last][2]
        if last + 1 < len(words):
            ends = (
                at
                for at in range(last, (first + last) // 2, -1)
                if _ENDS_CLAUSE.search(text[slice(*words[at][:2])])
            )
            last = next(ends, last)
        pieces.append((words[first][0], words[last][1]))
        first = last + 1
    return pieces
