"""Chooses the sentences of a paper that tell what was asked, done and found, and what limits it.

A sentence is told by its wording, by the labels of a structured abstract and by where it stands. The weights were set
by reading what they choose in 48 papers, and tried on 24 others (docs/adr/0044).
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from rag_assets.answering.drafts import DraftCitation, DraftClaim
from rag_assets.answering.extractive.candidates import Candidate, sentences
from rag_assets.answering.extractive.point_places import Place, places_of
from rag_assets.answering.extractive.point_wordings import (
    ANNOUNCES_LIMITS,
    DETAIL,
    HAS_FIGURE,
    HAS_RESULT,
    LABELS,
    LEANS_BACK,
    OF_DETAIL,
    OF_DISPLAY,
    OF_ONE_PART,
    OF_OTHERS,
    WORDINGS,
)
from rag_assets.answering.extractive.trimming import trimmed
from rag_assets.domain import Context, Point, SectionKind
from rag_assets.text.terms import words_of

_STRONG, _WEAK, _TWICE, _LABELLED, _HEADED, _NAMED = 2.0, 1.0, 0.5, 2.5, 2.0, 2.0
"""What wordings, a label, a heading and an announcement before it count for; a weak wording beside a strong one counts
half."""
_SECTIONS: Mapping[Point, Mapping[SectionKind, float]] = {
    Point.ASKED: {SectionKind.ABSTRACT: 2.0, SectionKind.INTRODUCTION: 1.0},
    Point.DONE: {SectionKind.ABSTRACT: 2.0, SectionKind.METHODS: 1.0},
    Point.FOUND: {
        SectionKind.ABSTRACT: 2.0,
        SectionKind.CONCLUSION: 1.0,
        SectionKind.DISCUSSION: 0.7,
        SectionKind.RESULTS: 0.5,
    },
    Point.LIMITS: {SectionKind.DISCUSSION: 1.0, SectionKind.CONCLUSION: 1.0},
}
"""What standing in a section counts for; the best, where it is of several kinds."""
_ELSEWHERE: Mapping[Point, frozenset[SectionKind]] = {
    Point.ASKED: frozenset({SectionKind.RESULTS, SectionKind.METHODS, SectionKind.DISCUSSION}),
    Point.DONE: frozenset({SectionKind.DISCUSSION, SectionKind.BACKGROUND}),
    Point.FOUND: frozenset({SectionKind.METHODS, SectionKind.INTRODUCTION, SectionKind.BACKGROUND}),
    Point.LIMITS: frozenset(
        {SectionKind.METHODS, SectionKind.INTRODUCTION, SectionKind.BACKGROUND, SectionKind.RESULTS}
    ),
}
"""Sections that seldom say it."""
_MISPLACED, _FORMAL = 1.0, 3.0
_FIGURE, _LATE_IN_ABSTRACT, _AT_ITS_END = 0.5, 0.5, 0.5
_OTHERS, _DISPLAY, _LEANING, _LONG, _ANNOUNCING, _PART, _AFAR = 1.2, 1.0, 0.8, 0.6, 2.5, 0.7, 0.5
"""What is taken off a sentence that cites, points to a display, leans back, is long, only announces, or is about a part
of the work; and off one of what was done that stands at the end of the paper."""
_OTHERS_FOUND = 0.8
"""Taken off a finding that cites, besides."""
_LONG_WORDS = 55
_UNSURE = 0.4
"""Share of what a place counts for where only a weak wording says the point: findings end an abstract, whatever words
they have."""
_EARLY, _LATE = 0.2, 0.6
"""Shares of a paper: what stands before is its beginning, what stands behind its end."""
_ENOUGH, _ENOUGH_OF_FOUND = 2.5, 1.0
"""Least score of a sentence that tells a point; the second among passages that were found for a question, whose place
in the paper is not known."""
_BEST = 6.0
"""A score from which on nothing is missing."""
_SECOND_WITHIN = 0.5
"""A second sentence tells the point nearly as well as the best."""
_RESULT_WITHIN = 1.0
"""The same of a finding with a figure, where the best ones have none: readers ask how much."""
_MOST = {Point.ASKED: 1, Point.DONE: 2, Point.FOUND: 2, Point.LIMITS: 2}
_QUESTION = "Summarise this paper."


class Telling(NamedTuple):
    """A sentence that tells a point."""

    score: float
    """How well; comparable within one point."""
    sentence: Candidate


def scored_points(contexts: Sequence[Context], *, in_order: bool) -> dict[Point, list[Telling]]:
    """The sentences that tell each point, best first. contexts, in_order: as for `told_points`."""
    candidates = sentences(contexts, _QUESTION)
    enough = _ENOUGH if in_order else _ENOUGH_OF_FOUND
    placed = list(zip(candidates, places_of(candidates, contexts, in_order=in_order), strict=True))
    return {
        point: sorted(
            (Telling(score, one) for one, place in placed if (score := _score(point, one, place)) >= enough),
            key=lambda telling: -telling.score,
        )
        for point in Point
    }


def told_points(contexts: Sequence[Context], *, in_order: bool) -> dict[Point, list[DraftClaim]]:
    """The sentences that tell each point, best first, each verbatim and its own quote; none of them twice.

    contexts: of one paper. in_order: they are the whole paper, in its order.
    """
    used: set[str] = set()
    told: dict[Point, list[DraftClaim]] = {}
    for point, tellings in scored_points(contexts, in_order=in_order).items():
        left = [one for one in tellings if one.sentence.text not in used]
        chosen = _with_figure(left) if point is Point.FOUND else _nearly_best(left)[: _MOST[point]]
        used.update(one.sentence.text for one in chosen)
        told[point] = [_claim(one, contexts) for one in chosen]
    return told


def _nearly_best(tellings: Sequence[Telling]) -> list[Telling]:
    return [one for one in tellings if one.score >= tellings[0].score - _SECOND_WITHIN]


def _with_figure(tellings: Sequence[Telling]) -> list[Telling]:
    """The best two findings, and where they have no figure the best one that has."""
    best = _nearly_best(tellings)[: _MOST[Point.FOUND]]
    if not best or any(HAS_RESULT.search(one.sentence.text) for one in best):
        return best
    near = (one for one in tellings if one.score >= best[0].score - _RESULT_WITHIN)
    with_result = (one for one in near if HAS_RESULT.search(one.sentence.text))
    return [*best, *islice((one for one in with_result if not OF_DETAIL.search(one.sentence.text)), 1)]


def _claim(telling: Telling, contexts: Sequence[Context]) -> DraftClaim:
    """The sentence, without the labels before it, and with the sentence before it where it leans back on that one."""
    one = telling.sentence
    start, end = one.shown if LEANS_BACK.match(one.text) else (one.start, one.end)
    text = trimmed(LABELS.sub("", contexts[one.context].text[start:end], count=1))
    return DraftClaim(text, (DraftCitation(one.chunk_id, text),), relevance=round(min(1.0, telling.score / _BEST), 4))


def _score(point: Point, one: Candidate, place: Place) -> float:
    """How well a sentence tells the point; 0 or less where nothing says it."""
    wording = _of_wording(point, one.text, place)
    if wording <= 0:
        return 0.0
    is_sure = wording >= _STRONG or (point is Point.FOUND and place.is_late_in_abstract)
    at_its_place = _of_place(point, place) * (1.0 if is_sure else _UNSURE)
    return wording + at_its_place + _of_point(point, one.text, place) - _discount(one.text)


def _of_wording(point: Point, text: str, place: Place) -> float:
    wordings = WORDINGS[point]
    n_strong, is_weak = len(wordings.strong.findall(text)), wordings.weak.search(text) is not None
    said = _STRONG * (n_strong > 0) + _TWICE * (n_strong > 1) + _WEAK * is_weak * (0.5 if n_strong else 1.0)
    said += _HEADED * _is_headed(point, place)
    said += _NAMED * (point is Point.LIMITS and place.names_limits)
    if place.labelled is not None:
        said += _LABELLED if place.labelled is point else -_LABELLED
    return said


def _of_place(point: Point, place: Place) -> float:
    if not place.kinds.isdisjoint({SectionKind.STATEMENTS, SectionKind.APPENDIX}):
        return -_FORMAL
    said = max([_AT_ITS_END * _is_headed(point, place), *(_SECTIONS[point].get(kind, 0.0) for kind in place.kinds)])
    if not said and not place.kinds.isdisjoint(_ELSEWHERE[point]):
        return -_MISPLACED
    if said or place.share is None or SectionKind.OTHER not in place.kinds:
        return said
    is_at_its_end = place.share < _EARLY if point in (Point.ASKED, Point.DONE) else place.share > _LATE
    return _AT_ITS_END if is_at_its_end else -_AT_ITS_END


def _is_headed(point: Point, place: Place) -> bool:
    heading = WORDINGS[point].heading
    return heading is not None and heading.search(place.headings) is not None


def _of_point(point: Point, text: str, place: Place) -> float:
    """What counts for one point only."""
    if point is Point.DONE:
        return -_PART * (DETAIL.search(text) is not None) - _AFAR * (place.share or 0.0)
    part = _PART * (point in (Point.ASKED, Point.FOUND) and OF_ONE_PART.search(text) is not None)
    if point is not Point.FOUND:
        return -part
    part += _OTHERS_FOUND * (OF_OTHERS.search(text) is not None)
    return _FIGURE * (HAS_FIGURE.search(text) is not None) + _LATE_IN_ABSTRACT * place.is_late_in_abstract - part


def _discount(text: str) -> float:
    return (
        _OTHERS * (OF_OTHERS.search(text) is not None)
        + _DISPLAY * (OF_DISPLAY.search(text) is not None)
        + _LEANING * (LEANS_BACK.match(text) is not None)
        + _LONG * (len(words_of(text)) > _LONG_WORDS)
        + _ANNOUNCING * (ANNOUNCES_LIMITS.search(text) is not None)
    )
