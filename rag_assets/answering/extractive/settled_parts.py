"""The parts of a question that are answered without comparing sentences: by title pages, and by what a paper found.

"Who wrote A, and how many took part in it?" has one such part; the other one is left to the sentences (`answerer`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rag_assets.answering.drafts import DraftClaim, TokenReader
from rag_assets.answering.extractive.publication import asks_for_authors, names_a_paper, publication_claims
from rag_assets.answering.extractive.summary import findings
from rag_assets.domain import Context
from rag_assets.questions import QuestionPart, asks_about_publication, asks_for_findings


@dataclass(frozen=True)
class SettledPart:
    """A part of a question and all that may be said to it."""

    part: QuestionPart
    claims: tuple[DraftClaim, ...]
    """Best first; none where only a title page could answer and none does."""


def settled_parts(
    parts: Sequence[QuestionPart], contexts: Sequence[Context], reader: TokenReader
) -> tuple[SettledPart, ...]:
    """The parts that title pages or the findings of a paper answer, or that nothing else could answer.

    A part that names no paper is asked of those that answer the parts before it: "and where do the authors work?".
    """
    papers = {context.chunk_id: context.paper_id for context in contexts}
    settled: list[SettledPart] = []
    for part in parts:
        before = {papers[cited.chunk_id] for one in settled for claim in one.claims for cited in claim.citations}
        is_open = names_a_paper(part.text) or not before
        own = contexts if is_open else [one for one in contexts if one.paper_id in before]
        if (found := _settled(part, own, reader)) is not None:
            settled.append(found)
    return tuple(settled)


def _settled(part: QuestionPart, contexts: Sequence[Context], reader: TokenReader) -> SettledPart | None:
    if asks_about_publication(part.text):
        claims = publication_claims(part.text, part.searched, contexts, reader)
        return SettledPart(part, tuple(claims)) if claims or asks_for_authors(part.text) else None
    if asks_for_findings(part.text):
        claims = findings(part.searched, contexts)
        return SettledPart(part, tuple(claims)) if claims else None
    return None
