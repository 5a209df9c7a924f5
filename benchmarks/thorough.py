"""What thorough answers bring and cost beside quick ones, without a model and with a scripted
reader.

    python -m benchmarks.thorough --data DIR QUESTIONS.jsonl [--reader] [--rows ROWS.jsonl] [--set
    KEY=VALUE ...]

DIR is indexed; its answers are not touched, a copy is asked. A line of QUESTIONS has `id`,
`question` and `parts`; a part has `question`, `enough` (what would count as an answer), `paper`
(its id; null where no paper answers the part), `facts` (accepted spellings), `support` (a stretch
of the paper that states it) and `other_words` (two searches).

--reader: a model behind a local server writes the answers. It plans the parts as the file has them,
searches gaps with the words of the file, and quotes the support of a part only where it stands in
the sources of the prompt, so what is measured is what the steps bring before a competent reader.
Without it, no model is asked, and the rules plan.

A part counts as answered when a verified claim quotes one of its facts from its paper. What else is
claimed counts as beside; whether that is wrong is for a reader of ROWS to judge. Intervals draw
whole questions.
"""

import argparse
import json
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.domain import Claim
from rag_assets.core.settings import load_settings
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.core.text.tokens import token_counter
from rag_assets.engine import Engine, open_engine
from rag_assets.evaluation.runs import difference, estimate
from rag_assets_testing.wire import Reply, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, reply

MODEL = "openai:gpt-5-mini"
EFFORTS = ("quick", "thorough")
NOT_COPIED = shutil.ignore_patterns("kept.sqlite3")
MEASURES = (
    "answered",
    "all_answered",
    "open_named",
    "n_claims",
    "n_beside",
    "n_requests",
    "n_tokens",
    "seconds",
)
_LONGEST_QUOTE = 600


@dataclass(frozen=True)
class Part:
    """One thing that a question asks, and its truth."""

    question: str
    enough: str
    paper: str | None
    facts: tuple[str, ...]
    support: str | None
    other_words: tuple[str, ...]

    def is_answered_by(self, claim: Claim) -> bool:
        quotes = [citation.quote for citation in claim.citations if citation.paper_id == self.paper]
        return any(_folded(fact) in _folded(quote) for fact in self.facts for quote in quotes)

    def quote_in(self, sources: Mapping[int, str]) -> str | None:
        """The sentence of the first source that holds the support; None where none does."""
        if self.support is None:
            return None
        words = re.compile(r"\s+".join(map(re.escape, self.support.split())))
        for text in sources.values():
            for line in text.splitlines():
                if found := words.search(line):
                    return _sentence(line, found.start(), found.end())
        return None


@dataclass(frozen=True)
class Asked:
    """A question and its truth."""

    id: str
    question: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Row:
    """What one effort made of one question."""

    id: str
    effort: str
    answered: float
    """Share of the parts that some paper answers."""
    all_answered: float
    open_named: float
    """1: each part without an answer is named, or the whole answer is a refusal."""
    n_claims: int
    n_beside: int
    n_requests: int
    n_tokens: int
    seconds: float
    unanswered: tuple[str, ...]
    claims: tuple[str, ...]
    steps: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--reader", action="store_true")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes")
    given = parser.parse_args()
    asked = _loaded(given.questions)
    with _model(asked) if given.reader else _no_model() as model_settings:
        rows = [
            row
            for effort in EFFORTS
            for row in _rows(asked, effort, given.data, model_settings, given.changes)
        ]
    if given.rows:
        lines = [json.dumps(asdict(row), ensure_ascii=False) for row in rows]
        given.rows.write_text("\n".join(lines) + "\n", "utf-8")
    _print(rows)


def _loaded(path: Path) -> list[Asked]:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Asked(line["id"], line["question"], tuple(map(_part, line["parts"]))) for line in lines]


def _part(part: Mapping[str, Any]) -> Part:
    return Part(
        part["question"],
        part["enough"],
        part["paper"],
        tuple(part["facts"]),
        part["support"],
        tuple(part["other_words"]),
    )


@contextmanager
def _no_model() -> Iterator[dict[str, Any]]:
    yield {}


@contextmanager
def _model(asked: Sequence[Asked]) -> Iterator[dict[str, Any]]:
    """Settings that put the questions to the scripted reader."""
    with pytest.MonkeyPatch.context() as monkeypatch, WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(ScriptedReader(asked))
        yield {"answering.model": MODEL, "model_access.requests_per_minute": 60_000}


class ScriptedReader:
    """Plans as the file says, and quotes what stands in the sources it is given; called from
    several threads."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        self._parts = {one.question: one.parts for one in asked} | {
            part.question: (part,) for one in asked for part in one.parts
        }
        self._counter = token_counter("wordpiece")

    def __call__(self, request: WireRequest) -> Reply:
        said = self._said(request)
        n_input, n_output = self._counter.count_all(
            [f"{request.system}\n{request.prompt}", said.text]
        )
        return replace(said, n_input_tokens=n_input, n_output_tokens=n_output)

    def _said(self, request: WireRequest) -> Reply:
        wanted = json.dumps(request.schema)
        if '"parts"' in wanted:
            parts = self._parts[json.loads(request.prompt)]
            return Reply(
                json.dumps(
                    {"parts": [{"question": one.question, "enough": one.enough} for one in parts]}
                )
            )
        if '"queries"' in wanted:
            (part,) = self._parts[json.loads(request.prompt.splitlines()[-1])["question"]]
            return Reply(json.dumps({"queries": part.other_words}))
        prompt = Prompt.of(request)
        parts = self._parts[prompt.question]
        found = [part.quote_in(prompt.sources) for part in parts]
        missing = [part.question for part, one in zip(parts, found, strict=True) if not one]
        return reply([(one, [one]) for one in found if one], missing)


def _rows(
    asked: Sequence[Asked],
    effort: str,
    data: Path,
    model_settings: Mapping[str, Any],
    changes: Sequence[str],
) -> Iterator[Row]:
    with TemporaryDirectory() as copy:
        shutil.copytree(data, copy, dirs_exist_ok=True, ignore=NOT_COPIED)
        values = {"data_dir": copy, **model_settings, "answering.effort": effort}
        values |= dict(change.split("=", 1) for change in changes)
        with open_engine(load_settings(_nested(values))) as engine:
            engine.search(asked[0].question)  # loads indexes and models
            for one in asked:
                yield _row(one, effort, engine)


def _row(one: Asked, effort: str, engine: Engine) -> Row:
    started = time.perf_counter()
    trace = engine.trace(one.question)
    seconds = time.perf_counter() - started
    result = trace.result
    answered = {part: any(map(part.is_answered_by, result.claims)) for part in one.parts}
    answerable = [is_answered for part, is_answered in answered.items() if part.paper]
    still_open = [part for part, is_answered in answered.items() if not is_answered]
    beside = [
        claim
        for claim in result.claims
        if not any(part.is_answered_by(claim) for part in one.parts)
    ]
    return Row(
        one.id,
        effort,
        sum(answerable) / len(answerable),
        float(all(answerable)),
        float(result.refused or all(_is_named(part, result.unanswered) for part in still_open)),
        len(result.claims),
        len(beside),
        trace.spent.n_requests,
        trace.spent.n_input_tokens + trace.spent.n_output_tokens,
        seconds,
        result.unanswered,
        tuple(_described(claim, claim in beside) for claim in result.claims),
        _steps(trace),
    )


def _is_named(part: Part, unanswered: Sequence[str]) -> bool:
    """Whether a part is among the open ones: most of its longer words stand in one of them."""
    wanted = set(re.findall(r"\w{4,}", part.question.lower()))
    return any(
        len(wanted & set(re.findall(r"\w{4,}", one.lower()))) >= len(wanted) / 2
        for one in unanswered
    )


def _described(claim: Claim, is_beside: bool) -> str:
    sources = ", ".join(citation.paper_id for citation in claim.citations)
    return f"{'BESIDE ' if is_beside else ''}[{sources}] {claim.text}"


def _steps(trace: AnswerTrace) -> tuple[str, ...]:
    return tuple(
        f"{step.kind}: {step.about} {' | '.join(step.words)} ({step.n_claims})"
        for step in trace.steps
    )


def _print(rows: Sequence[Row]) -> None:
    quick, thorough = ([row for row in rows if row.effort == effort] for effort in EFFORTS)
    ids = [row.id for row in quick]
    print(
        f"{len(ids)} questions\n\n| | quick | thorough | difference | better / worse |\n|---|---:|---:|---:|---:|"
    )
    for name in MEASURES:
        old, new = ([float(getattr(row, name)) for row in some] for some in (quick, thorough))
        change = difference(new, old, ids)
        cells = [_cell(estimate(old, ids)), _cell(estimate(new, ids)), _cell(change)]
        print(f"| {name} | {' | '.join(cells)} | {change.n_better} / {change.n_worse} |")


def _cell(one: Any) -> str:
    return f"{one.mean:.3g} ({one.low:.3g} to {one.high:.3g})"


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for path, value in values.items():
        *groups, name = path.split(".")
        inner = nested
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[name] = value
    return nested


def _sentence(line: str, start: int, end: int) -> str:
    """The sentences of a line that hold `line[start:end]`; a shorter stretch where they are very
    long."""
    spans = [span for span in sentence_spans(line) if span[1] > start and span[0] < end]
    begin, stop = spans[0][0], spans[-1][1]
    if stop - begin <= _LONGEST_QUOTE:
        return line[begin:stop]
    return line[max(begin, line.rfind(" ", 0, max(start - 100, 0)) + 1) : end]


def _folded(text: str) -> str:
    return re.sub(r"[\s\u00ad\u2060]+", " ", text).lower()


if __name__ == "__main__":
    main()
