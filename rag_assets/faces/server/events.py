"""Events of an answer as JSON: what a stream sends, and the one reply of those who do not ask for a stream.

Claims are written as `qa.jsonl` writes them, to the byte; titles are added to the citations of a `claim` event only.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi.sse import format_sse_event

from rag_assets.answering.trace import AnswerTrace
from rag_assets.answering.verify.objections import Reason
from rag_assets.answering.wording import told_beside
from rag_assets.core.domain import Claim, Context, Evidence
from rag_assets.engine import (
    ClaimDropped,
    ClaimVerified,
    Event,
    Finished,
    PartBegun,
    Planned,
    Retrieved,
    Retrying,
)
from rag_assets.faces.dialogue import ReadQuestion, sound_result
from rag_assets.faces.server.problems import ProblemError

LOST_CITATIONS: Mapping[Reason, str] = {
    Reason.SOURCE_NOT_GIVEN: "A citation named a text that had not been given to the model.",
    Reason.QUOTE_NOT_FOUND: "A quote does not stand in the paper it names.",
}
"""Why a citation of a published statement was left out, for readers."""


class AnswerEvents:
    """Turns the events of one answer into JSON objects by name."""

    def __init__(self, reading: ReadQuestion, titles: Mapping[str, str]) -> None:
        """titles: by paper id."""
        self._reading = reading
        self._titles = titles
        self._n_claims = 0

    def rendered(self, event: Event) -> tuple[str, dict[str, Any]]:
        """Name and data of an event. Raises GuardrailBroken for an answer that breaks a promise: it is not shown."""
        match event:
            case Planned(parts):
                return "plan", {"parts": parts}
            case PartBegun(number, n_parts, part, other_words):
                return "part", {"number": number, "n_parts": n_parts, "question": part, "other_words": other_words}
            case Retrieved(evidence):
                return "contexts", self._contexts(evidence)
            case ClaimVerified(claim):
                self._n_claims += 1
                return "claim", {"number": self._n_claims, **self._claim(claim)}
            case ClaimDropped(reason, claim, why):
                return "dropped", {"reason": reason, "message": why, "claim": claim}
            case Retrying(k, n_objections):
                self._n_claims = 0
                return "retrying", {"k": k, "n_objections": n_objections}
            case Finished(trace):
                result = sound_result(trace)
                dropped = _dropped(trace)
                steps = [
                    {"kind": one.kind, "about": one.about, "words": one.words, "n_claims": one.n_claims}
                    for one in trace.steps
                ]
                return "done", {
                    "answer": asdict(result),
                    "dropped": dropped,
                    "notes": told_beside(result),
                    "steps": steps,
                }

    def _contexts(self, evidence: Evidence) -> dict[str, Any]:
        bands = {hit.chunk.chunk_id: hit.band for hit in evidence.hits}
        contexts = [
            self._context(context, evidence) | {"band": bands.get(context.chunk_id)} for context in evidence.contexts
        ]
        return {
            "question": self._reading.question.question,
            "rewritten": self._reading.asked.is_rewritten,
            "reason": self._reading.asked.reason,
            "paper_ids": list(self._reading.asked.paper_ids),
            "contexts": contexts,
        }

    def _context(self, context: Context, evidence: Evidence) -> dict[str, Any]:
        chunk = evidence.chunks[context.chunk_id]
        return {
            "chunk_id": context.chunk_id,
            "paper_id": context.paper_id,
            "title": self._titles.get(context.paper_id, ""),
            "section_path": chunk.section_path,
            "page_start": context.page_start,
            "page_end": context.page_end,
            "page_label": chunk.page_label,
            "n_tokens": context.n_tokens,
        }

    def _claim(self, claim: Claim) -> dict[str, Any]:
        row = asdict(claim)
        for citation in row["citations"]:
            citation["title"] = self._titles.get(citation["paper_id"], "")
        return row


def _dropped(trace: AnswerTrace) -> list[dict[str, Any]]:
    """The statements that were left out, then how many citations of others did not hold, by reason."""
    outcomes = trace.final.verified.outcomes
    statements = [
        {"reason": one.objection.reason, "message": one.objection.why, "claim": one.proposed.text, "n": 1}
        for one in outcomes
        if one.objection is not None
    ]
    lost = Counter(citation.reason for one in outcomes if one.holds for citation in one.lost)
    return statements + [
        {"reason": reason, "message": LOST_CITATIONS[reason], "claim": "", "n": n} for reason, n in lost.items()
    ]


def as_json(value: Mapping[str, Any]) -> str:
    """JSON in the form of `qa.jsonl`."""
    return json.dumps(value, ensure_ascii=False)


def sse(name: str, data: Mapping[str, Any]) -> bytes:
    """An event of a stream. JSON holds no line break, so text of papers cannot forge another event."""
    return format_sse_event(event=name, data_str=as_json(data))


def sse_error(error: ProblemError) -> bytes:
    """The last event of a stream that failed."""
    return sse("error", {"problem": error.problem.model_dump()})
