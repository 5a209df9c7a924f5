"""What a model that writes is given and says: evidence of honest claims in the contexts, parts told as
missing, characters in and out of each answer.

    python -m benchmarks.honest_writer --data DIR QUESTIONS.jsonl

The writer is scripted and honest: it knows, for each part of a question, the sentences of the papers
that answer it, cites those that it is given, and calls the parts missing of which it was given none.
The judge finds everything carried; the writer is asked over OpenAI's protocol, through the real SDK.
DIR is indexed. A line of QUESTIONS: {"question", "kind", "parts": [{"part", "places": [TEXT, ...],
"says"}]}; a place is words of one sentence or row as the paper has them, `says` the claim where it is
not that sentence. A place that no chunk of DIR has ends the run: it would count as lost.
"""

import argparse
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from rag_assets.answering.drafts import AnswerOptions
from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.domain import QAResult
from rag_assets.core.settings import load_settings
from rag_assets.core.table_files import read_columns
from rag_assets.engine import open_engine
from rag_assets_testing.wire import Reply, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import (
    Prompt,
    all_supported,
    is_judging,
    is_leading,
    lead,
    reply,
)

ACCESS = {"model_access": {"requests_per_minute": 6000}}


@dataclass(frozen=True)
class Asked:
    """A question and the sentences that answer its parts."""

    question: str
    kind: str
    parts: Sequence[dict[str, Any]]

    @property
    def places(self) -> list[str]:
        return [place for part in self.parts for place in part["places"]]

    def written(self, request: WireRequest) -> Reply:
        """The reply of the honest writer."""
        if is_judging(request):
            return all_supported(request)
        if is_leading(request):
            return lead()
        sentences = Prompt.of(request).sentences
        claims, missing = [], []
        for part in self.parts:
            found = [
                (part.get("says") or " ".join(sentence.split()), [id_])
                for place in part["places"]
                for id_, sentence in sentences.items()
                if squeezed(place) in squeezed(sentence)
            ]
            claims += found
            missing += [] if found else [part["part"]]
        return reply(list({text: (text, ids) for text, ids in claims}.values()), missing)


@dataclass(frozen=True)
class Row:
    """What came of a question."""

    kind: str
    n_places: int
    n_found: int
    """Places in what the writer was given, by all requests."""
    n_first: int
    """Those of the first request."""
    n_claims: int
    n_gaps: int
    """Parts that the answer calls open and the papers answer."""
    n_tokens: int
    """Of the contexts of the first request."""
    n_sources: int
    n_used: int
    """Sources with a place."""
    n_in: int
    n_out: int


def squeezed(text: str) -> str:
    return "".join(text.split())


def row_of(asked: Asked, trace: AnswerTrace, requests: Sequence[WireRequest]) -> Row:
    """requests: those that the answer needed."""
    result: QAResult = trace.result
    contexts = trace.attempts[0].contexts
    writing = [one for one in requests if not (is_judging(one) or is_leading(one))]

    def found(sources: Iterable[str]) -> int:
        texts = [squeezed(text) for text in sources]
        return sum(any(squeezed(place) in text for text in texts) for place in asked.places)

    given = [[*Prompt.of(one).sources.values()] for one in writing]
    n_used = sum(found([one]) > 0 for one in given[0])
    told = " ".join(result.unanswered)
    return Row(
        asked.kind,
        len(asked.places),
        found(text for texts in given for text in texts),
        found(given[0]),
        len(result.claims),
        sum(part["part"] in told for part in asked.parts if part["places"]),
        sum(context.n_tokens for context in contexts),
        len(given[0]),
        n_used,
        sum(len(one.system) + len(one.prompt) for one in requests),
        sum(len(asked.written(one).text) for one in requests),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, help="an indexed data folder")
    parser.add_argument("questions", type=Path)
    parser.add_argument("--compress-to", type=float, default=1.0, help="answering.compress_to")
    arguments = parser.parse_args()
    lines = arguments.questions.read_text("utf-8").splitlines()
    asked = [
        Asked(one["question"], one.get("kind", ""), one["parts"]) for one in map(json.loads, lines)
    ]
    answering = {"model": "openai:gpt-5-mini", "compress_to": arguments.compress_to}
    settings = load_settings({"data_dir": arguments.data, "answering": answering, **ACCESS})
    papers = squeezed("".join(read_columns(settings.paths.chunks, ["text"])["text"].to_pylist()))
    places = [place for one in asked for place in one.places]
    if unknown := [place for place in places if squeezed(place) not in papers]:
        raise SystemExit(f"No chunk has: {unknown}")
    rows: list[Row] = []
    with pytest.MonkeyPatch.context() as monkeypatch, WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        with open_engine(settings) as engine:
            for one in asked:
                n_before = len(server.requests)
                server.answer_by(one.written)
                trace = engine.trace(one.question, options=AnswerOptions(again=True))
                rows.append(row_of(one, trace, server.requests[n_before:]))
                print(json.dumps({"question": one.question, **vars(rows[-1])}, ensure_ascii=False))
    _print(rows)


def _print(rows: Sequence[Row]) -> None:
    n_places = sum(row.n_places for row in rows)
    print(
        f"\n{len(rows)} questions, {n_places} places"
        f"\nin the contexts of the first request  {sum(row.n_first for row in rows) / n_places:.3f}"
        f"\nin those of all requests              {sum(row.n_found for row in rows) / n_places:.3f}"
        f"\nparts told as missing that are not    {sum(row.n_gaps for row in rows)}"
        f"\ntokens of contexts, first request     {fmean(row.n_tokens for row in rows):.0f}"
        f"\nsources with a place, of all shown    "
        f"{sum(row.n_used for row in rows) / sum(row.n_sources for row in rows):.3f}"
        f"\ncharacters in and out per answer      "
        f"{fmean(row.n_in for row in rows):.0f} / {fmean(row.n_out for row in rows):.0f}"
    )


if __name__ == "__main__":
    main()
