"""The longest part of a sequence that never goes back, as pages and words do not while a paper is read."""

from bisect import bisect_left
from collections.abc import Sequence


def longest_ascending(keys: Sequence[tuple[int, int]]) -> list[int]:
    """Indices of the longest subsequence in which every key is larger than the one before; in O(n log n)."""
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
