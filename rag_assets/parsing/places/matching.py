"""Aligns the words of a block with the words of a PDF.

Works only on lists of words; all positions are indices of words. A seed is a run of words that
occurs once in the block and once in the part of the PDF that is searched. The longest chain of
seeds that ascends on both sides is kept (the longest increasing subsequence), and extended word by
word. `here` is a position in the block, `there` a position in the PDF.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

_RESYNC = 3
"""Largest number of words that may be missing or added on one side before the words agree again."""
_FRAGMENT_GAP = 40
_MIN_FRAGMENT = 6
"""Least number of matched words in a piece that is separate from the rest of its block (on the next
page, after a figure)."""

Mapping1to1 = dict[int, int]
"""Word of the block -> word of the PDF, both ascending."""


@dataclass(frozen=True)
class Shingles:
    """The runs of `size` words that occur exactly once in a list of words."""

    size: int
    positions: Mapping[tuple[str, ...], int]
    """Run -> index of its first word in the list."""

    @classmethod
    def of(
        cls, words: Sequence[str], size: int, start: int = 0, end: int | None = None
    ) -> "Shingles":
        """The unique runs of `words[start:end]`; positions count from the start of `words`."""
        positions: dict[tuple[str, ...], int] = {}
        for index in range(start, (len(words) if end is None else end) - size + 1):
            run = tuple(words[index : index + size])
            positions[run] = -1 if run in positions else index
        return cls(size, {run: index for run, index in positions.items() if index >= 0})

    def shared_with(self, other: "Shingles") -> list[tuple[int, int]]:
        """Positions (in this list, in the other list) of the runs that are unique in both,
        sorted."""
        return sorted(
            (index, other.positions[run])
            for run, index in self.positions.items()
            if run in other.positions
        )


def matched(
    block: Sequence[str], pdf: Sequence[str], seeds: Sequence[tuple[int, int]], size: int
) -> Mapping1to1:
    """Which word of the block is which word of the PDF. Words without a counterpart are left out.

    seeds: positions (here, there) of runs of `size` words that are equal on both sides.
    """
    pairs = _words_of_seeds(longest_chain(seeds), size)
    grown: Mapping1to1 = {}
    edge = (-1, -1)
    for position, pair in enumerate(pairs):
        if pair[0] <= edge[0] or pair[1] <= edge[1]:
            continue  # the pair before was extended beyond this one
        ahead = pairs[position + 1] if position + 1 < len(pairs) else (len(block), len(pdf))
        grown[pair[0]] = pair[1]
        _grow(grown, block, pdf, pair, -1, edge)
        edge = _grow(grown, block, pdf, pair, 1, ahead)
    return _without_strays(dict(sorted(grown.items())))


def longest_chain(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of `pairs` whose second numbers ascend too; the first ones ascend in
    `pairs`."""
    ordered = list(pairs)
    keys = [(there, -here) for here, there in ordered]  # -here: equal second numbers do not ascend
    return [ordered[index] for index in longest_ascending(keys)]


def _words_of_seeds(seeds: Sequence[tuple[int, int]], size: int) -> list[tuple[int, int]]:
    """The pairs (here, there) of all words in the seeds. Seeds may overlap, but each word is
    returned once, and both sides ascend."""
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
    """Add to `grown` the pairs of words that agree, from `start` towards `bound` (exclusive), and
    pass over small differences. step: 1 goes forward, -1 back.

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
    """The nearest pair after `at` (before it, if step is -1) where the words agree, before `bound`.

    If words are skipped, at most three on each side, two words in a row must agree. Pairs with
    fewer skipped words are tried first.
    """
    n_here, n_there = (bound[0] - at[0]) * step - 1, (bound[1] - at[1]) * step - 1
    """Numbers of words before `bound` on each side."""
    for skipped in range(2 * _RESYNC + 1):
        for skip_here in range(max(0, skipped - _RESYNC), min(skipped, _RESYNC) + 1):
            skip_there = skipped - skip_here
            if skip_here >= n_here or skip_there >= n_there:
                continue
            here, there = at[0] + step * (skip_here + 1), at[1] + step * (skip_there + 1)
            if block[here] == pdf[there] and (
                skipped == 0 or _agree_further(block, pdf, (here, there), step)
            ):
                return here, there
    return None


def _agree_further(
    block: Sequence[str], pdf: Sequence[str], at: tuple[int, int], step: int
) -> bool:
    """Whether the next pair of words agrees too."""
    here, there = at[0] + step, at[1] + step
    if not (0 <= here < len(block) and 0 <= there < len(pdf)):
        return False
    return block[here] == pdf[there]


def _without_strays(mapping: Mapping1to1) -> Mapping1to1:
    """The mapping without small pieces that are far from the rest in the PDF, since these agree
    only by chance."""
    fragments: list[list[tuple[int, int]]] = []
    for here, there in mapping.items():
        last_here, last_there = fragments[-1][-1] if fragments else (here, there)
        if fragments and there - last_there <= _FRAGMENT_GAP + here - last_here:
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
    """Positions at which `phrase` occurs, word for word, in `words[start:end]`; they count from the
    start of `words`."""
    wanted, first = tuple(phrase), phrase[0]
    return [
        index
        for index in range(start, end - len(wanted) + 1)
        if words[index] == first and tuple(words[index : index + len(wanted)]) == wanted
    ]


def open_runs(mapping: Mapping1to1, n_words: int) -> list[tuple[int, int]]:
    """The runs [start, end) of words of the block that have no counterpart in `mapping`."""
    edges = [-1, *sorted(mapping), n_words]
    return [(before + 1, after) for before, after in pairwise(edges) if after - before > 1]


def longest_ascending(keys: Sequence[tuple[int, int]]) -> list[int]:
    """Indices of the longest subsequence in which every key is larger than the one before; in O(n
    log n), by patience sorting."""
    tails: list[tuple[int, int]] = []
    """Smallest last key of all ascending subsequences of length 1, 2 and so on."""
    tail_at: list[int] = []
    """Index of each of these keys."""
    previous: list[int] = []
    """Index of the key before each key, in the longest subsequence that ends with it; -1 for
    none."""
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
