"""Citations without a paper, and answers of them."""

from typing import Any

from rag_assets.answering.drafts import REFUSAL
from rag_assets.core.domain import Citation, Claim, QAResult, Verification


def cited(
    quote: str, paper_id: str = "smith2020", page: int | None = 1, **changes: Any
) -> Citation:
    """A quote on one page of the first chunk of a paper, at its beginning. changes: other values of
    its fields."""
    start = changes.get("start", 0)
    facts: dict[str, Any] = {
        "paper_id": paper_id,
        "chunk_id": f"{paper_id}:1",
        "page_start": page,
        "page_end": page,
        "quote": quote,
        "start": start,
        "end": start + len(quote),
        "verification": Verification.EXACT,
    }
    return Citation(**facts | changes)


def answer_of(*claims: Claim, **changes: Any) -> QAResult:
    """An answer of these claims; without any, a refusal. changes: other values of its fields."""
    papers = [citation.paper_id for claim in claims for citation in claim.citations]
    facts: dict[str, Any] = {
        "question_id": "q1",
        "question": "Why?",
        "answer": " ".join(claim.text for claim in claims) or REFUSAL,
        "claims": claims,
        "refused": not claims,
        "single_source": False,
        "sources_used": tuple(dict.fromkeys(papers)),
        "unanswered": (),
        "model": "m",
        "contexts": (),
        "fingerprint": "f",
    }
    return QAResult(**facts | changes)
