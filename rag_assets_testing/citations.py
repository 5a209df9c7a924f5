"""Citations without a paper."""

from typing import Any

from rag_assets.core.domain import Citation, Verification


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
