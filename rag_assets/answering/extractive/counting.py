"""Answers to "Which papers use X?" and "How many papers use X?": one claim for each paper, and
their number.

The number is of the papers that were found, so it is told as "at least". A paper is quoted by the
sentence or row that says it: one that names what the question names, and does not deny it. Where
the question has no name, a paper counts if that has every telling word of it: a sentence that is
only like it may say something else.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from rag_assets.answering.drafts import DraftClaim
from rag_assets.answering.extractive.candidates import Candidate
from rag_assets.answering.extractive.relevance import RestrictedPart, ScoredPart
from rag_assets.answering.extractive.selection import claims_of
from rag_assets.answering.verify.names import names_in, names_missing_in
from rag_assets.answering.verify.polarity import turned_round
from rag_assets.core.domain import Context
from rag_assets.core.text.terms import terms_of
from rag_assets.questions import QuestionPart
from rag_assets.questions.about_papers import asked_of_each, counted

Score = Callable[[Sequence[RestrictedPart]], tuple[Sequence[Candidate], Sequence[ScoredPart]]]


def claims_of_papers(
    part: QuestionPart, contexts: Sequence[Context], score: Score, floor: float
) -> tuple[DraftClaim, ...]:
    """The claims, the most relevant paper first, behind their number where that is asked for; a
    preprint and its published version are one paper. score: see `relevance.read_closely`. floor:
    relevance from which on one counts.
    """
    works = {one.paper_id: one.paper.work or one.paper_id for one in contexts}
    names, asked = names_in(part.searched), replace(part, searched=asked_of_each(part.searched))
    candidates, scored = score([RestrictedPart(asked, paper) for paper in works])

    def says_it(one: Candidate) -> bool:
        is_denied = turned_round(one.text, [asked.searched]) or turned_round(
            asked.searched, [one.text]
        )
        is_missing = any(name.is_decisive for name in names_missing_in([one.text, one.lead], names))
        return not (is_denied or is_missing)

    found: dict[str, tuple[Candidate, float]] = {}
    for work, one in zip(works.values(), scored, strict=True):
        order = (-one.relevance).argsort(kind="stable").tolist()
        saying = (at for at in order if one.relevance[at] >= floor and says_it(candidates[at]))
        if (at := next(saying, None)) is not None:
            found.setdefault(work, (candidates[at], float(one.relevance[at])))
    best = sorted(found.values(), key=lambda pair: -pair[1])
    if counted(part.text, 1) and not names:
        terms = terms_of(asked.searched)
        best = [pair for pair in best if terms <= terms_of(f"{pair[0].lead} {pair[0].text}")]
    claims = tuple(claims_of(best, contexts))
    number = counted(part.text, len(best))
    citations = tuple(cited for claim in claims for cited in claim.citations)
    return (DraftClaim(number, citations, relevance=1.0), *claims) if claims and number else claims
