"""The groups of lines that a question is trained with: one that answers it, or none, among some
that do not."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.reader_training.lines import Line
from benchmarks.reader_training.nearness import Compared

GROUP_SIZE = 6
"""Lines of a group at most."""
_NEAREST = 10
"""Most of the wrong lines are drawn among so many."""
_NEAR_OF_UNANSWERED = 4
"""The nearest lines of a question without an answer, which are in every group of it."""
_OF_OTHER_FIELDS, _ANSWER_LEFT_OUT, _BEST_ANSWER = 0.12, 0.08, 0.8
"""Chances that a group holds lines of other fields only, that it holds lines of other papers only,
and that of several answers the best one is drawn."""


@dataclass(frozen=True, slots=True)
class Group:
    """Lines among which one answers, or none."""

    question: str
    lines: tuple[Line, ...]
    has_answer: bool
    """The first line answers; False: none does."""


def passes(compared: Sequence[Compared], chance: random.Random) -> Iterator[Compared]:
    """The questions again and again without end, each pass in another order."""
    while compared:
        yield from chance.sample(compared, len(compared))


def drawn(one: Compared, chance: random.Random) -> Group:
    """A group of a question; another one at each draw."""
    asked, near, far = one.question, one.near, one.far
    kind = chance.random()
    if one.strange and kind < _OF_OTHER_FIELDS:
        return Group(asked.text, tuple(_some(one.strange, GROUP_SIZE, chance)), False)
    if not asked.answers:
        lines = [*near[:_NEAR_OF_UNANSWERED], *_some(near[_NEAR_OF_UNANSWERED:], 1, chance)]
        return Group(asked.text, (*lines, *far[: GROUP_SIZE - len(lines)]), False)
    if far and _OF_OTHER_FIELDS <= kind < _OF_OTHER_FIELDS + _ANSWER_LEFT_OUT:
        return Group(asked.text, tuple(_some(far, GROUP_SIZE, chance)), False)
    answer = asked.answers[0] if chance.random() < _BEST_ANSWER else chance.choice(asked.answers)
    n_nearest = chance.choice((GROUP_SIZE - 3, GROUP_SIZE - 2))
    lines = [answer, *_some(near[:_NEAREST], n_nearest, chance), *_some(near[_NEAREST:], 1, chance)]
    return Group(asked.text, (*lines, *_some(far, GROUP_SIZE - len(lines), chance)), True)


def _some(lines: Sequence[Line], n: int, chance: random.Random) -> list[Line]:
    return chance.sample(lines, min(n, len(lines)))
