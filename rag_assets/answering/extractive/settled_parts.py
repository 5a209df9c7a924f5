"""The parts of a question that are answered by themselves: by title pages, and what a named work found by that work.

"Who wrote A, and how many took part in it?" has one such part; the other one is left to the sentences (`answerer`).
What both say becomes one answer here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag_assets.answering.drafts import DraftAnswer, DraftClaim, TokenReader
from rag_assets.answering.extractive.named_works import is_name_of_a_work, papers_named
from rag_assets.answering.extractive.publication import asks_about_a_work, names_a_paper, publication_claims
from rag_assets.answering.extractive.summary import names_a_subject
from rag_assets.domain import Context
from rag_assets.questions import QuestionPart, asks_about_publication, findings_of

FindSentences = Callable[[QuestionPart, Sequence[Context]], Sequence[DraftClaim]]
"""part, contexts -> the sentences of these contexts that answer it, best first."""


@dataclass(frozen=True)
class SettledPart:
    """A part of a question that the sentences of other papers may not answer, and its answer."""

    part: QuestionPart
    claims: tuple[DraftClaim, ...]
    """Best first; none for authors that no title page names, or for a work that is only cited."""


def settled_parts(
    parts: Sequence[QuestionPart], contexts: Sequence[Context], reader: TokenReader, find_sentences: FindSentences
) -> tuple[SettledPart, ...]:
    """The parts that ask what title pages say, or what a named work found. A part that asks for authors, or for a work
    that is only cited, is among them even without an answer, because no sentence may answer it.

    A part that names no paper is asked of those that answer the parts before it: "and where do the authors work?".
    """
    papers = {context.chunk_id: context.paper_id for context in contexts}
    settled: list[SettledPart] = []
    for part in parts:
        before = {papers[cited.chunk_id] for one in settled for claim in one.claims for cited in claim.citations}
        asked_of = [one for one in contexts if one.paper_id in before] if before and not _names_one(part) else contexts
        if (found := _settled(part, asked_of, reader, find_sentences)) is not None:
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


def _settled(
    part: QuestionPart, contexts: Sequence[Context], reader: TokenReader, find_sentences: FindSentences
) -> SettledPart | None:
    if asks_about_publication(part.text):
        claims = publication_claims(part.text, part.searched, contexts, reader)
        return SettledPart(part, tuple(claims)) if claims or asks_about_a_work(part.text) else None
    thing = findings_of(part.text)
    named = papers_named(thing, contexts)
    if not named and not is_name_of_a_work(thing):
        return None
    return SettledPart(part, tuple(find_sentences(part, [one for one in contexts if one.paper_id in named])))
