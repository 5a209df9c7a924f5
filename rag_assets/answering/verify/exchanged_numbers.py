"""Finds two numbers that a claim gives to each other's words: 7.5 % of the one group for the 7.5 % of the other.

Words that claim and quote share, once each, belong to the number they are clearly nearer to. Numbers count as exchanged
where such words change sides and none keeps its own.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations

from rag_assets.answering.verify.number_agreement import MAX_COMPARED, agree
from rag_assets.core.text.numbers.quantities import Quantity, placed_quantities
from rag_assets.core.text.numbers.spelling import normalized_numbers
from rag_assets.core.text.terms import placed_stems

_CLEARLY_NEARER = 0.5
"""A word belongs to a number at most so far away, as a share of its distance to the other."""
_Numbers = Sequence[tuple[int, Quantity]]


def exchanged_numbers(claim: str, quote: str) -> tuple[str, str] | None:
    """Two exchanged numbers as the claim writes them; None where there are none."""
    said, places = _read(claim)
    quoted, quoted_places = _read(quote)
    shared = [
        (places[stem][0], quoted_places[stem][0])
        for stem in places.keys() & quoted_places.keys()
        if len(places[stem]) == len(quoted_places[stem]) == 1
    ]
    for (at, one), (other_at, other) in combinations(said[:MAX_COMPARED], 2):
        found, other_found = _only_place(one, quoted), _only_place(other, quoted)
        if found is None or other_found is None or found == other_found:
            continue
        moves = Counter(
            (_nearer(quoted_place, found, other_found), _nearer(place, at, other_at)) for place, quoted_place in shared
        )
        n_moved = moves[0, 1] + moves[1, 0]
        if n_moved > 1 and not moves[0, 0] + moves[1, 1]:
            return one.written, other.written
    return None


def _only_place(number: Quantity, quoted: _Numbers) -> int | None:
    places = [at for at, other in quoted if agree(number, other)]
    return places[0] if len(places) == 1 else None


def _nearer(place: int, one: int, other: int) -> int | None:
    """0 or 1 for the first or the second number; None where neither is clearly nearer."""
    distance, other_distance = abs(place - one), abs(place - other)
    if distance < _CLEARLY_NEARER * other_distance:
        return 0
    return 1 if other_distance < _CLEARLY_NEARER * distance else None


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[_Numbers, Mapping[str, list[int]]]:
    """The numbers with their places, and the places of each stem outside them."""
    plain = normalized_numbers(text)
    placed = placed_quantities(plain)
    stems: dict[str, list[int]] = defaultdict(list)
    for at, stem in placed_stems(plain):
        if not any(start <= at < end for start, end, _ in placed):
            stems[stem].append(at)
    return [(start, one) for start, _, one in placed], stems
