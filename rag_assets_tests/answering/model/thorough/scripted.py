"""Thorough answers whose planner and answerer are models behind a local server, asked of a small
made corpus."""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic

import pytest

from rag_assets.answering.model.answerer import HostedAnswerer
from rag_assets.answering.model.planning import open_planner
from rag_assets.answering.model.thorough import ThoroughPipeline
from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.domain import Evidence
from rag_assets.core.settings import ModelAccessSettings, Settings
from rag_assets.hosted.access import ModelName
from rag_assets.hosted.connections import Connections
from rag_assets.questions import Question
from rag_assets_testing.wire import Reply, Step, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, reply
from rag_assets_tests.answering.builders import (
    chunk,
    evidence,
    finished,
    pipeline_in,
)
from rag_assets_tests.hosted.models import HURRIED, MODELS

FELL = chunk("smith2020", "Ferritin fell in all groups by 12% within a month.")
PAID = chunk("jones2021", "The trial was paid for by the national sports council of Norway.")
ASIDE = chunk("lee2019", "Runners were weighed each morning before the first meal.")
FALL, PAYER = "Did ferritin fall in the groups?", "Who funded the trial of iron in Norway?"
QUESTION = Question(
    id="q", question="Did ferritin fall in the groups, and who funded the trial of iron in Norway?"
)
N_REQUESTS = 6
"""Of a whole answer: the plan, two parts, other words, and the open part with each of the two."""
CORPUS: Mapping[str, Evidence] = {
    FALL: evidence(FELL),
    PAYER: evidence(ASIDE),
    "grant": evidence(ASIDE, FELL),
    "sponsor": evidence(ASIDE, PAID),
    QUESTION.question: evidence(FELL, ASIDE),
}
USAGE = {"n_input_tokens": 100, "n_output_tokens": 10}


def found(question: Question, _k: int) -> Evidence:
    return CORPUS.get(question.question, evidence())


class ScriptedModel:
    """Plans what it is told to, and quotes the source that answers a question, if that is given."""

    answers: Mapping[str, str] = {FALL: "Ferritin", PAYER: "paid", QUESTION.question: "Ferritin"}

    def __init__(
        self, parts: Sequence[str] = (FALL, PAYER), words: Sequence[str] = ("grant", "sponsor")
    ) -> None:
        self._parts = parts
        self._words = words
        self._instead: defaultdict[str, deque[Step]] = defaultdict(deque)
        self.asked: list[str] = []
        """Kinds of the requests that came: plan, gap, or the question that a draft was asked
        for."""

    def does_instead(self, kind: str, *steps: Step) -> None:
        """What happens to the next requests of that kind."""
        self._instead[kind].extend(steps)

    def __call__(self, request: WireRequest) -> Step:
        kind = _kind(request)
        self.asked.append(kind)
        if self._instead[kind]:
            return self._instead[kind].popleft()
        if kind == "plan":
            return _counted(
                json.dumps(
                    {"parts": [{"question": one, "enough": "a fact"} for one in self._parts]}
                )
            )
        if kind == "gap":
            return _counted(json.dumps({"queries": self._words}))
        prompt = Prompt.of(_first(request))
        quoted = [text for text in prompt.sources.values() if self.answers[kind] in text]
        return _counted(reply([(text, [text]) for text in quoted]).text)


def _kind(request: WireRequest) -> str:
    wanted = json.dumps(request.schema)
    return (
        "plan"
        if '"parts"' in wanted
        else "gap"
        if '"queries"' in wanted
        else Prompt.of(_first(request)).question
    )


def _first(request: WireRequest) -> WireRequest:
    """The request without what was said after the first prompt, when a reply was to be repaired."""
    return replace(request, messages=request.messages[:1])


def _counted(text: str) -> Reply:
    return Reply(text, **USAGE)


@contextmanager
def thorough(
    folder: Path,
    model: Callable[[WireRequest], Step],
    *,
    access: ModelAccessSettings = HURRIED,
    clock: Callable[[], float] = monotonic,
    **limits: float,
) -> Iterator[tuple[ThoroughPipeline, WireServer]]:
    """A pipeline that asks `model`, and the server behind which it is. folder: keeps the
    replies."""
    with pytest.MonkeyPatch.context() as monkeypatch, WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(model)
        settings = Settings.model_validate(
            {
                "data_dir": str(folder),
                "answering": {
                    "model": f"openai:{MODELS['openai']}",
                    "min_sources": 1,
                    "thorough": limits,
                },
                "model_access": access.model_dump(),
            }
        )
        with Connections(settings.model_access) as connections:
            answerer = HostedAnswerer(
                ModelName("openai", MODELS["openai"]), connections, settings.answering
            )
            quick = pipeline_in(folder, answerer, settings.answering)
            planner = open_planner(settings, connections)
            yield ThoroughPipeline(quick, planner, settings.answering.thorough, clock), server


def answered(pipeline: ThoroughPipeline) -> AnswerTrace:
    return finished(pipeline.answer(QUESTION, found))


def said(trace: AnswerTrace) -> set[str]:
    return {claim.text for claim in trace.result.claims}
