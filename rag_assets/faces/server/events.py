"""Events of an answer as JSON: what a stream sends, and the one reply of those who do not ask for a
stream.

Claims are written as `qa.jsonl` writes them, to the byte; those of the event `done` in the style
that the settings name. Titles are added to the citations of a `claim` event only.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from fastapi.sse import format_sse_event

from rag_assets.answering.wording import CitationStyle, told_beside
from rag_assets.core.domain import Claim, Evidence
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
from rag_assets.faces.answered import context_rows, dropped_rows
from rag_assets.faces.dialogue import ReadQuestion
from rag_assets.faces.server.problems import ProblemError


class AnswerEvents:
    """Turns the events of one answer into JSON objects by name."""

    def __init__(
        self, reading: ReadQuestion, titles: Mapping[str, str], style: CitationStyle
    ) -> None:
        """titles: by paper id. style: of the whole answer; claims on the way are as they are
        stored."""
        self._style = style
        self._reading = reading
        self._titles = titles
        self._n_claims = 0

    def rendered(self, event: Event) -> tuple[str, dict[str, Any]]:
        """Name and data of an event."""
        match event:
            case Planned(parts):
                return "plan", {"parts": parts}
            case PartBegun(number, n_parts, part, other_words):
                return "part", {
                    "number": number,
                    "n_parts": n_parts,
                    "question": part,
                    "other_words": other_words,
                }
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
                steps = [
                    {
                        "kind": one.kind,
                        "about": one.about,
                        "words": one.words,
                        "n_claims": one.n_claims,
                    }
                    for one in trace.steps
                ]
                return "done", {
                    "answer": self._style.shown_row(asdict(trace.result)),
                    "dropped": dropped_rows(trace),
                    "notes": told_beside(trace.result),
                    "steps": steps,
                }

    def _contexts(self, evidence: Evidence) -> dict[str, Any]:
        return {
            "question": self._reading.question.question,
            "rewritten": self._reading.asked.is_rewritten,
            "reason": self._reading.asked.reason,
            "paper_ids": list(self._reading.asked.paper_ids),
            "contexts": context_rows(evidence, self._titles),
        }

    def _claim(self, claim: Claim) -> dict[str, Any]:
        row = asdict(claim)
        for citation in row["citations"]:
            citation["title"] = self._titles.get(citation["paper_id"], "")
        return row


def as_json(value: Mapping[str, Any]) -> str:
    """JSON in the form of `qa.jsonl`."""
    return json.dumps(value, ensure_ascii=False)


def sse(name: str, data: Mapping[str, Any]) -> bytes:
    """An event of a stream. JSON holds no line break, so text of papers cannot forge another
    event."""
    return format_sse_event(event=name, data_str=as_json(data))


def sse_error(error: ProblemError) -> bytes:
    """The last event of a stream that failed."""
    return sse("error", {"problem": error.problem.model_dump()})
