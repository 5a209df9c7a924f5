"""What is shown and kept beside an answer: what was read for it, and what was left out of it; as
JSON values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.answering.trace import AnswerTrace
from rag_assets.answering.verify.objections import Reason
from rag_assets.core.domain import Evidence, QAResult
from rag_assets.engine import Event, Finished, Retrieved

_LOST_CITATIONS: Mapping[Reason, str] = {
    Reason.SOURCE_NOT_GIVEN: "A citation named a text that had not been given to the model.",
    Reason.QUOTE_NOT_FOUND: "A quote does not stand in the paper it names.",
}
"""Why a citation of a published statement was left out, for readers."""


@dataclass(frozen=True)
class Answered:
    """An answer and what is shown beside it, as JSON values."""

    result: QAResult
    contexts: Sequence[Mapping[str, Any]]
    """What it was made from."""
    dropped: Sequence[Mapping[str, Any]]
    """What was left out of it."""

    @classmethod
    def of(cls, events: Sequence[Event], titles: Mapping[str, str]) -> "Answered":
        """events: all events of an answer; titles: by paper id."""
        read = [
            context_rows(event.evidence, titles) for event in events if isinstance(event, Retrieved)
        ]
        contexts = {row["chunk_id"]: row for rows in read for row in rows}
        (trace,) = (event.trace for event in events if isinstance(event, Finished))
        return cls(trace.result, tuple(contexts.values()), dropped_rows(trace))


def context_rows(evidence: Evidence, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The contexts of one search, without their texts. titles: by paper id."""
    bands = {hit.chunk.chunk_id: hit.band for hit in evidence.hits}
    return [
        {
            "chunk_id": context.chunk_id,
            "paper_id": context.paper_id,
            "title": titles.get(context.paper_id, ""),
            "section_path": evidence.chunks[context.chunk_id].section_path,
            "page_start": context.page_start,
            "page_end": context.page_end,
            "page_label": evidence.chunks[context.chunk_id].page_label,
            "n_tokens": context.n_tokens,
            "band": bands.get(context.chunk_id),
        }
        for context in evidence.contexts
    ]


def dropped_rows(trace: AnswerTrace) -> list[dict[str, Any]]:
    """The statements that were left out, then how many citations of others did not hold, by
    reason."""
    outcomes = trace.final.verified.outcomes
    statements = [
        {
            "reason": one.objection.reason,
            "message": one.objection.why,
            "claim": one.proposed.text,
            "n": 1,
        }
        for one in outcomes
        if one.objection is not None
    ]
    statements += [
        {"reason": one.promise, "message": one.why, "claim": one.claim, "n": 1}
        for one in trace.result.left_out
        if one.promise
    ]
    lost = Counter(citation.reason for one in outcomes if one.holds for citation in one.lost)
    return statements + [
        {"reason": reason, "message": _LOST_CITATIONS[reason], "claim": "", "n": n}
        for reason, n in lost.items()
    ]
