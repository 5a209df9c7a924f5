"""Which words of a block are which words of a PDF: seeds that occur once, a chain through them, and
what lies between.

Works on lists of words alone. A seed is a run of words that occurs once in the block and once in
the part of the PDF that is searched. Seeds are chained in ascending order (the longest increasing
subsequence) and extended word by word.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_RESYNC = 3
"""Words that may be missing or added on either side before two words agree again."""
_FRAGMENT_GAP = 40
_MIN_FRAGMENT = 6
"""Matched words needed in a piece apart from the rest of its block (on the next page, after a
figure)."""

Mapping1to1 = dict[int, int]


@dataclass(frozen=True)
class Shingles:
    """The runs of `size` words that occur exactly once in a list of words, and where."""

    size: int
    places: Mapping[tuple[str, ...], int]

    @classmethod
    def of(
        cls, words: Sequence[str], size: int, start: int = 0, end: int | None = None
    ) -> "Shingles":
        """Unique runs within `words[start:end]`; places count in the whole list."""
        places: dict[tuple[str, ...], int] = {}
        for index in range(start, (len(words) if end is None else end) - size + 1):
            key = tuple(words[index : index + size])
            places[key] = -1 if key in places else index
        return cls(size, {key: index for key, index in places.items() if index >= 0})

    def shared_with(self, other: "Shingles") -> list[tuple[int, int]]:
        """Places (here, there) of the runs that are unique on both sides, in the order of here."""
        return sorted(
            (index, other.places[key]) for key, index in self.places.items() if key in other.places
        )


def matched(
    block: Sequence[str], pdf: Sequence[str], seeds: Sequence[tuple[int, int]], size: int
) -> Mapping1to1:
    """Word of the block -> word of the PDF, ascending on both sides, grown from seeds of `size`
    words.

    `seeds` are places in `block` and `pdf`. Words that do not agree are left out.
    """
    pairs = _words_of_seeds(longest_chain(seeds), size)
    grown: Mapping1to1 = {}
    edge = (-1, -1)
    for position, pair in enumerate(pairs):
        if pair[0] <= edge[0] or pair[1] <= edge[1]:
            continue  # grown over from the pair before
        ahead = pairs[position + 1] if position + 1 < len(pairs) else (len(block), len(pdf))
        grown[pair[0]] = pair[1]
        _grow(grown, block, pdf, pair, -1, edge)
        edge = _grow(grown, block, pdf, pair, 1, ahead)
    return _without_strays(dict(sorted(grown.items())))


def longest_chain(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence that ascends on both sides; `pairs` ascend on the first."""
    ordered = list(pairs)
    return [ordered[at] for at in longest_ascending([(there, -here) for here, there in ordered])]


def _words_of_seeds(seeds: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The pairs of words in the seeds, each word once and ascending on both sides."""
    pairs: list[tuple[int, int]] = []
    for here, there in seeds:
        for step in range(size):
            if not pairs or (here + step > pairs[-1][0] and there + step > pairs[-1][1]):
                pairs.append((here + step, there + step))
    return pairs


def _grow(
    grown: Mapping1to1,
    block: Sequence[str],
    pdf: Sequence[str],
    start: tuple[int, int],
    step: int,
    bound: tuple[int, int],
) -> tuple[int, int]:
    """Extend from `start` towards `bound` (exclusive) while words agree, passing over small
    differences.

    Returns the last pair that agrees.
    """
    at = start
    while found := _next_agreement(block, pdf, at, step, bound):
        at = found
        grown[at[0]] = at[1]
    return at


def _next_agreement(
    block: Sequence[str], pdf: Sequence[str], at: tuple[int, int], step: int, bound: tuple[int, int]
) -> tuple[int, int] | None:
    """The nearest place beyond `at` where the words agree; after a difference two words in a row
    must."""
    room_here, room_there = (bound[0] - at[0]) * step - 1, (bound[1] - at[1]) * step - 1
    for skipped in range(2 * _RESYNC + 1):
        for skip_here in range(max(0, skipped - _RESYNC), min(skipped, _RESYNC) + 1):
            here, there = at[0] + step * (skip_here + 1), at[1] + step * (skipped - skip_here + 1)
            if (
                skip_here >= room_here
                or skipped - skip_here >= room_there
                or block[here] != pdf[there]
            ):
                continue
            if skipped == 0 or _agree_further(block, pdf, (here, there), step):
                return here, there
    return None


def _agree_further(
    block: Sequence[str], pdf: Sequence[str], at: tuple[int, int], step: int
) -> bool:
    here, there = at[0] + step, at[1] + step
    if not (0 <= here < len(block) and 0 <= there < len(pdf)):
        return False
    return block[here] == pdf[there]


def _without_strays(mapping: Mapping1to1) -> Mapping1to1:
    """The mapping without small pieces that are far from the rest in the PDF: chance agreements."""
    fragments: list[list[tuple[int, int]]] = []
    for here, there in mapping.items():
        if (
            fragments
            and there - fragments[-1][-1][1] <= _FRAGMENT_GAP + here - fragments[-1][-1][0]
        ):
            fragments[-1].append((here, there))
        else:
            fragments.append([(here, there)])
    longest = max((len(fragment) for fragment in fragments), default=0)
    return {
        here: there
        for fragment in fragments
        if len(fragment) >= min(_MIN_FRAGMENT, longest)
        for here, there in fragment
    }


def occurrences(phrase: Sequence[str], words: Sequence[str], start: int, end: int) -> list[int]:
    """Where `phrase` occurs, word for word, in `words[start:end]`."""
    wanted, first = tuple(phrase), phrase[0]
    return [
        index
        for index in range(start, end - len(wanted) + 1)
        if words[index] == first and tuple(words[index : index + len(wanted)]) == wanted
    ]


def open_runs(mapping: Mapping1to1, n_words: int) -> list[tuple[int, int]]:
    """The runs [start, end) of words that were not found."""
    edges = [-1, *sorted(mapping), n_words]
    return [(before + 1, after) for before, after in pairwise(edges) if after - before > 1]


def longest_ascending(keys: Sequence[tuple[int, int]]) -> list[int]:
    """Indices of the longest subsequence in which every key is larger than the one before; in O(n
    log n)."""
    tails: list[tuple[int, int]] = []
    """Smallest last key of a subsequence of each length."""
    tail_at: list[int] = []
    previous: list[int] = []
    for index, key in enumerate(keys):
        length = bisect_left(tails, key)
        previous.append(tail_at[length - 1] if length else -1)
        tails[length : length + 1] = [key]
        tail_at[length : length + 1] = [index]
    chain, index = [], tail_at[-1] if tail_at else -1
    while index >= 0:
        chain.append(index)
        index = previous[index]
    return chain[::-1]
