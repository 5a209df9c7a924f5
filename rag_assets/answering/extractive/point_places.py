"""Where the sentences of a paper stand: section, part of a structured abstract, how far into the paper."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.point_wordings import ABSTRACT_LABEL, ANNOUNCES_LIMITS, WORDINGS
from rag_assets.domain import BLOCK_SEPARATOR, Context, Point, SectionKind
from rag_assets.text.section_names import section_kinds

_ABSTRACT, _UNKNOWN = frozenset({SectionKind.ABSTRACT}), frozenset({SectionKind.OTHER})
_OPENING = 0.08
"""Share of a paper without an abstract that may hold one below no heading."""
_ANNOUNCED_CHARS = 400
"""So far behind "There are several limitations." stand the sentences that name them."""


@dataclass(frozen=True)
class Place:
    """Where a sentence stands in its paper."""

    kinds: frozenset[SectionKind]
    headings: str
    """Above it."""
    share: float | None
    """How much of the paper stands before it, 0 to 1; None where that is not known."""
    labelled: Point | None
    """The point that its part of a structured abstract is about."""
    is_late_in_abstract: bool
    """It stands in the second half of an abstract."""
    names_limits: bool
    """It is one of the sentences behind one that announces limitations."""


def places_of(candidates: Sequence[Candidate], contexts: Sequence[Context], *, in_order: bool) -> list[Place]:
    """Where the candidates stand, one paper's. in_order: the contexts are the whole paper, in its order."""
    total = sum(len(context.text) for context in contexts) or 1
    before = [sum(len(context.text) for context in contexts[:nth]) for nth in range(len(contexts))]
    shares = [(before[one.context] + one.start) / total if in_order else None for one in candidates]
    kinds = _kinds_of_all(candidates, contexts, shares)
    of_abstract = [nth for nth, of_one in enumerate(kinds) if SectionKind.ABSTRACT in of_one]
    late = set(of_abstract[len(of_abstract) // 2 :])
    labels, named = _labels(candidates, contexts, set(of_abstract)), _named_limits(candidates, contexts)
    return [
        Place(kinds[nth], contexts[one.context].section_title, shares[nth], labels[nth], nth in late, nth in named)
        for nth, one in enumerate(candidates)
    ]


def _kinds_of_all(
    candidates: Sequence[Candidate], contexts: Sequence[Context], shares: Sequence[float | None]
) -> list[frozenset[SectionKind]]:
    kinds = [_kinds(contexts[one.context], one.start) for one in candidates]
    if any(SectionKind.ABSTRACT in of_one for of_one in kinds):
        return kinds
    return [
        _ABSTRACT if of_one == _UNKNOWN and not contexts[one.context].section_title and _opens(share) else of_one
        for one, share, of_one in zip(candidates, shares, kinds, strict=True)
    ]


def _opens(share: float | None) -> bool:
    return share is not None and share < _OPENING


def _kinds(context: Context, place: int) -> frozenset[SectionKind]:
    kinds = section_kinds(context.section_title.split(" > "))
    return _ABSTRACT if kinds == _UNKNOWN and _is_in_labelled_abstract(context.text, place) else kinds


def _is_in_labelled_abstract(text: str, place: int) -> bool:
    """Whether a paragraph of a text without headings begins with "Abstract"."""
    start = text.rfind(BLOCK_SEPARATOR, 0, place)
    return ABSTRACT_LABEL.match(text, start + len(BLOCK_SEPARATOR) if start >= 0 else 0) is not None


def _labels(candidates: Sequence[Candidate], contexts: Sequence[Context], of_abstract: Set[int]) -> list[Point | None]:
    """The point that the part of the abstract is about, for each candidate; None outside and before the first label."""
    labels: list[Point | None] = []
    paragraph = None
    for nth, one in enumerate(candidates):
        known = labels[-1] if labels and one.paragraph == paragraph else None
        paragraph = one.paragraph
        labels.append((_label(one.text, contexts[one.context].section_title) or known) if nth in of_abstract else None)
    return labels


def _label(text: str, headings: str) -> Point | None:
    """The point that a sentence of an abstract, or the heading above it, is labelled with."""
    beginnings = (ABSTRACT_LABEL.sub("", text, count=1), f"{headings.rpartition(' > ')[2]}:")
    return next((point for one in beginnings for point in Point if WORDINGS[point].label.match(one)), None)


def _named_limits(candidates: Sequence[Candidate], contexts: Sequence[Context]) -> set[int]:
    """The candidates shortly behind something that announces limitations, in its paragraph."""
    return {
        nth
        for nth, one in enumerate(candidates)
        if ANNOUNCES_LIMITS.search(_before(contexts[one.context].text, one.start)) is not None
    }


def _before(text: str, place: int) -> str:
    """What stands before a place in its paragraph, as far as an announcement reaches."""
    paragraph = text.rfind(BLOCK_SEPARATOR, 0, place)
    return text[max(0, paragraph, place - _ANNOUNCED_CHARS) : place]
