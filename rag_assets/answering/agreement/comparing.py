"""Whether two quotes of different papers agree, contradict each other, or give figures for different things.

Silence is preferred: a contradiction is claimed only of sentences that share most of what they are about and name no
condition, population or name that would explain it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag_assets.answering.agreement.clauses import Clause, Direction
from rag_assets.answering.agreement.figures import Figure
from rag_assets.answering.agreement.statements import Statement
from rag_assets.answering.agreement.wordings import OPPOSITES
from rag_assets.answering.citations.quantities import PLAIN
from rag_assets.domain import Relation

_LEAST_SHARED_TERMS = 2
_LEAST_DICE, _LEAST_SHARE = 0.4, 0.7
"""From where on two sentences are about the same thing. These and those below were chosen on the tuning half of
benchmarks/agreement_pairs.jsonl and on 20,000 pairs of sentences that share words."""
_FEW_TERMS, _ALIKE_DICE = 3, 0.6
"""Sentences that share fewer terms, or contradict each other, must be more alike."""
_MOST_OWN_TERMS = 1
_MOST_FIGURES = 3
_NEAR_FIGURES = 0.5
"""Shared words around two figures, as a share of the fewer."""


@dataclass(frozen=True)
class Shared:
    """What two statements have in common."""

    n_terms: int
    share: float
    """Shared terms as a share of the shorter sentence's."""
    dice: float
    """Shared terms as a share of both sentences' (Dice)."""
    n_own: int
    """Terms that only one sentence has: the fewer of both sides."""

    @classmethod
    def of(cls, one: Statement, other: Statement) -> "Shared":
        n_shared, n_one, n_other = len(one.terms & other.terms), len(one.terms), len(other.terms)
        n_fewest = min(n_one, n_other)
        if not n_fewest:
            return cls(0, 0.0, 0.0, 0)
        return cls(n_shared, n_shared / n_fewest, 2 * n_shared / (n_one + n_other), n_fewest - n_shared)

    @property
    def is_about_the_same(self) -> bool:
        if self.n_terms < _FEW_TERMS:
            return self.n_terms >= _LEAST_SHARED_TERMS and self.dice >= _ALIKE_DICE
        return self.dice >= _LEAST_DICE or self.share >= _LEAST_SHARE

    @property
    def is_about_nothing_else(self) -> bool:
        """Whether hardly a word is left that could name another condition."""
        return self.n_own <= _MOST_OWN_TERMS and self.dice >= _ALIKE_DICE


def relation(one: Statement, other: Statement) -> Relation | None:
    """How two statements relate; None where they are not about the same thing, or nothing of them can be compared."""
    shared = Shared.of(one, other)
    if not (one.is_finding and other.is_finding and shared.is_about_the_same):
        return None
    has_same_conditions = not _differ_in_conditions(one, other)
    findings = _findings(one.clauses, other.clauses)
    figures = _figures(one.figures, other.figures)
    if -1 in findings:
        is_contradiction = has_same_conditions and shared.is_about_nothing_else and 1 not in findings
        return Relation.CONTRADICT if is_contradiction else Relation.DIFFERENT
    if figures.n_opposite > figures.n_same:
        is_about_it = shared.is_about_nothing_else and not shared.n_own
        is_contradiction = has_same_conditions and figures.are_clearly_opposite and is_about_it
        return Relation.CONTRADICT if is_contradiction else Relation.DIFFERENT
    if figures.n_same or findings:
        return Relation.AGREE if has_same_conditions else Relation.DIFFERENT
    return None


def _differ_in_conditions(one: Statement, other: Statement) -> bool:
    """Whether the sentences name different things or exclusive populations."""
    if (one.names - other.names and other.names - one.names) or one.is_adjusted != other.is_adjusted:
        return True
    return any(
        (first.search(one.text) and second.search(other.text) and not second.search(one.text))
        or (second.search(one.text) and first.search(other.text) and not second.search(other.text))
        for first, second in OPPOSITES
    )


@dataclass(frozen=True)
class ComparedFigures:
    """Figures of two sentences that measure the same, by their surroundings."""

    n_same: int = 0
    n_opposite: int = 0
    are_clearly_opposite: bool = False
    """One is more than a quarter larger than the other (values that were measured twice are never quite equal), and the
    sentences have so few figures that it is plain which belong together."""


def _figures(ones: Sequence[Figure], others: Sequence[Figure]) -> ComparedFigures:
    """Each figure of the sentence with fewer beside the one of the other whose surroundings are most like its own."""
    ones, others = sorted((ones, others), key=len)
    n_same, opposite = 0, list[bool]()
    for one in ones:
        near = [(_nearness(one, other), other) for other in others if one.is_comparable(other)]
        near = [item for item in near if item[0] >= _NEAR_FIGURES]
        if any(one.agrees(other) for _, other in near):
            n_same += 1
        elif near:
            opposite.append(one.is_far_from(max(near, key=lambda item: item[0])[1]))
    is_plain = max(len(ones), len(others)) <= _MOST_FIGURES
    return ComparedFigures(n_same, len(opposite), any(opposite) and is_plain)


def _nearness(one: Figure, other: Figure) -> float:
    shared = len(one.terms & other.terms)
    least = 2 if one.quantity.kind == PLAIN else 1
    return shared / min(len(one.terms), len(other.terms)) if shared >= least else 0.0


def _findings(ones: Sequence[Clause], others: Sequence[Clause]) -> frozenset[int]:
    """Holds 1 if two clauses state the same finding, -1 if two state opposite ones; both where there are several."""
    return frozenset(sign for one in ones for other in others if (sign := _compared(one, other)))


def _compared(one: Clause, other: Clause) -> int:
    shared = one.terms & other.terms
    is_stated = all(clause.is_effect or clause.directions for clause in (one, other))
    if len(shared) < _LEAST_SHARED_TERMS or not is_stated:
        return 0
    if one.kinds != other.kinds and (one.is_absent or other.is_absent):
        return 0
    if one.effect_of and other.effect_of and not one.effect_of & other.effect_of:
        return 0
    if one.is_absent and other.is_absent:
        return 1
    signs = [first.sign * second.sign for first, second in _matched(one.directions, other.directions)]
    if one.is_absent or other.is_absent:
        return 0 if -1 in signs else -1  # "did not rise" says nothing against "fell"
    if not signs:
        return 0
    if signs.count(-1) == 2 and len(signs) == 2 and one.is_driven and other.is_driven:
        return 1  # "the shorter, the lower" is "the longer, the higher"
    return min(signs)


def _matched(ones: Sequence[Direction], others: Sequence[Direction]) -> Iterator[tuple[Direction, Direction]]:
    """Directions that are said of the same, the most alike first, each once."""
    pairs = sorted(
        ((len(one.terms & other.terms), -i, -j) for i, one in enumerate(ones) for j, other in enumerate(others)),
        reverse=True,
    )
    taken_ones, taken_others = set[int](), set[int]()
    for n_shared, i, j in pairs:
        is_alike = 2 * n_shared >= min(len(ones[-i].terms), len(others[-j].terms))
        if is_alike and -i not in taken_ones and -j not in taken_others:
            taken_ones.add(-i)
            taken_others.add(-j)
            yield ones[-i], others[-j]
