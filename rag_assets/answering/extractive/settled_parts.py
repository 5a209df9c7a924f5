"""The parts of a question that are answered without comparing sentences: by title pages, and by what a paper found.

"Who wrote A, and how many took part in it?" has one such part; the other one is left to the sentences (`answerer`).
What both say becomes one answer here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_assets.answering.drafts import DraftAnswer, DraftClaim, TokenReader
from rag_assets.answering.extractive.named_works import is_name_of_a_work, papers_named
from rag_assets.answering.extractive.publication import asks_about_a_work, names_a_paper, publication_claims
from rag_assets.answering.extractive.summary import findings, findings_in, names_a_subject
from rag_assets.domain import Context
from rag_assets.questions import QuestionPart, asks_about_publication, asks_for_findings, findings_of


@dataclass(frozen=True)
class SettledPart:
    """A part of a question that no sentence is compared for, and its answer."""

    part: QuestionPart
    claims: tuple[DraftClaim, ...]
    """Best first; none for authors that no title page names."""


def settled_parts(
    parts: Sequence[QuestionPart], contexts: Sequence[Context], reader: TokenReader
) -> tuple[SettledPart, ...]:
    """The parts that a title page or the findings of a paper answer. A part that asks for authors is among them even
    without an answer, because no sentence may answer it.

    A part that names no paper is asked of those that answer the parts before it: "and where do the authors work?".
    """
    papers = {context.chunk_id: context.paper_id for context in contexts}
    settled: list[SettledPart] = []
    for part in parts:
        before = {papers[cited.chunk_id] for one in settled for claim in one.claims for cited in claim.citations}
        asked_of = [one for one in contexts if one.paper_id in before] if before and not _names_one(part) else contexts
        if (found := _settled(part, asked_of, reader)) is not None:
            settled.append(found)
    return tuple(settled)


def with_settled(
    of_sentences: DraftAnswer, settled: Sequence[SettledPart], parts: Sequence[QuestionPart], max_claims: int
) -> DraftAnswer:
    """The claims of the settled parts and of the sentences, those for the first part first.

    No part takes the places of another, and a part without a published claim is unanswered. parts: of the question.
    """
    if not settled or not (of_sentences.claims or any(one.claims for one in settled)):
        return of_sentences
    share = max(1, max_claims // (len(settled) + bool(of_sentences.claims)))
    said = of_sentences.claims[: max(1, max_claims - share * len(settled))]
    distinct = {(claim.text, claim.citations): claim for one in settled for claim in one.claims[:share]}
    own = [claim for claim in distinct.values() if not any(claim.text in other.text for other in said)]
    in_order = (*own, *said) if settled[0].part == parts[0] else (*said, *own)
    claims = in_order[:max_claims]
    published = " ".join(claim.text for claim in claims)
    is_answered = {one.part.text: any(claim.text in published for claim in one.claims) for one in settled}
    has_sentences = any(claim in claims for claim in said)
    unanswered = [
        part.text
        for part in parts
        if not is_answered.get(part.text, has_sentences) or part.text in of_sentences.unanswered
    ]
    return replace(
        of_sentences, claims=claims, unanswered=tuple(dict.fromkeys((*unanswered, *of_sentences.unanswered)))
    )


def _names_one(part: QuestionPart) -> bool:
    """Whether the words of a part tell which paper it means."""
    return names_a_paper(part.text) if asks_about_publication(part.text) else names_a_subject(part.text)


def _settled(part: QuestionPart, contexts: Sequence[Context], reader: TokenReader) -> SettledPart | None:
    if asks_about_publication(part.text):
        claims = publication_claims(part.text, part.searched, contexts, reader)
        return SettledPart(part, tuple(claims)) if claims or asks_about_a_work(part.text) else None
    thing = findings_of(part.text)
    named, is_name = papers_named(thing, contexts), is_name_of_a_work(thing)
    if named or is_name:
        claims = findings_in([one for one in contexts if one.paper_id in named])
    elif asks_for_findings(part.text):
        claims = findings(part.searched if _names_one(part) else part.text, contexts)
    else:
        return None
    return SettledPart(part, tuple(claims)) if claims or is_name else None
