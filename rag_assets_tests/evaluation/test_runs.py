"""Runs of a question file: resumed, replayed, compared, reported."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.errors import InvalidSettings, RequestRejected
from rag_assets.core.settings import Settings, load_settings
from rag_assets.engine import Engine
from rag_assets.evaluation.cases import Case
from rag_assets.evaluation.runs import (
    EvaluationRun,
    RecordedAnswerer,
    RunHeader,
    compared,
    header_of,
    read_run,
    run_questions,
    summaries,
)
from rag_assets.questions import Question
from rag_assets_testing.world import QUESTIONS, TOKENIZER, World
from rag_assets_tests.evaluation.cases import good_case, question, result

ASKED = [Question.model_validate(one) for one in QUESTIONS]


class CountingEngine(Engine):
    """Writes down what it is asked, is killed at one question, and has another one rejected."""

    killed_at = rejected_at = ""

    def trace(self, question: Any, *arguments: Any, **more: Any) -> Any:
        if question.id == self.killed_at:
            raise KeyboardInterrupt
        if question.id == self.rejected_at:
            raise RequestRejected("A content filter refused it.")
        self.asked = [*getattr(self, "asked", []), question.id]
        return super().trace(question, *arguments, **more)


@pytest.fixture(scope="module")
def settings(built: World, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    copy = built.copy_to(tmp_path_factory.mktemp("evaluated"))
    return load_settings(
        {"data_dir": str(copy.paths.data), **TOKENIZER, "execution": {"workers": 1}}
    )


@pytest.fixture
def engine(settings: Settings) -> Iterator[CountingEngine]:
    with CountingEngine(settings) as opened:
        yield opened


def run_of(
    path: Path, engine: Engine, settings: Settings, asked: list[Question] = ASKED
) -> EvaluationRun:
    header = header_of(path.stem, asked, engine, settings)
    return run_questions(path, header, asked, engine, settings, judge=None, report=lambda *_: None)


def test_a_run_killed_half_way_goes_on_without_asking_a_question_twice(
    tmp_path: Path, engine: CountingEngine, settings: Settings
) -> None:
    """An evaluation by a model is paid for by the question."""
    path = tmp_path / "run.jsonl"
    engine.killed_at = ASKED[-1].id
    with pytest.raises(KeyboardInterrupt):
        run_of(path, engine, settings)
    with path.open("ab") as file:
        file.write(b'{"case": {"question": {"id": "torn')
    engine.killed_at = ""

    run = run_of(path, engine, settings)

    assert sorted(engine.asked) == sorted(one.id for one in ASKED), "each question once, over both"
    assert len(ASKED) > 1
    assert run.is_complete
    assert read_run(path) == run, "the torn line is gone"


def test_a_question_that_a_model_rejects_costs_its_row(
    tmp_path: Path, engine: CountingEngine, settings: Settings
) -> None:
    """A content filter at one question ended the run, each time it was gone on with at the same
    place."""
    path = tmp_path / "run.jsonl"
    engine.rejected_at = ASKED[0].id
    run = run_of(path, engine, settings)
    with pytest.raises(RequestRejected):
        run_of(tmp_path / "alone.jsonl", engine, settings, ASKED[:1])
    engine.rejected_at = ""

    assert sorted(run.cases) == sorted(one.id for one in ASKED[1:])
    assert not run.is_complete, "it passes for no whole run"
    assert run_of(path, engine, settings).is_complete


def test_a_run_is_replayed_from_its_drafts_and_verified_anew(
    tmp_path: Path, engine: CountingEngine, settings: Settings
) -> None:
    """Whoever changes the verification can see what it does to the answers of a model without its
    key; a draft whose quote is in no source is refused in the replay."""
    run = run_of(tmp_path / "run.jsonl", engine, settings)
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    draft = json.loads(lines[1])["case"]["draft"]
    assert draft["claims"], "the first question has an answer"
    first = next(iter(run.cases.values()))
    assert first.draft

    with Engine(settings, answerer=RecordedAnswerer(run)) as again:
        replayed = run_of(tmp_path / "again.jsonl", again, settings)
    invented = Case(first.question, first.result, draft=type(first.draft)())
    with Engine(
        settings,
        answerer=RecordedAnswerer(EvaluationRun(run.header, {first.question.id: invented})),
    ) as other:
        refused = run_of(tmp_path / "refused.jsonl", other, settings, [first.question])

    assert {key: case.result.claims for key, case in replayed.cases.items()} == {
        key: case.result.claims for key, case in run.cases.items()
    }
    assert all(case.result.model.startswith("recorded") for case in replayed.cases.values())
    assert refused.cases[first.question.id].result.refused


def header(name: str, n: int, **changes: Any) -> RunHeader:
    facts = {
        "corpus": "c",
        "questions": "q",
        "method": name,
        "settings": {"evaluation": {"floors": {}, "judge": "none"}},
    }
    return RunHeader(name=name, n_questions=n, **{**facts, **changes})


def run_with(
    name: str, answers: list[str], tags: Sequence[str] = (), **changes: Any
) -> EvaluationRun:
    cases = [
        good_case(question=question(id=f"q{n}", tags=tags), result=says(text))
        for n, text in enumerate(answers)
    ]
    return EvaluationRun(
        header(name, len(answers), **changes), {case.question.id: case for case in cases}
    )


def says(text: str) -> Any:
    return replace(result(), answer=text)


def test_two_runs_are_compared_by_exchanging_their_answers() -> None:
    """Six questions right that were wrong, none the other way: p is about 2 / 2^6."""
    before, now = run_with("a", ["sixty"] * 6 + ["60"] * 4), run_with("b", ["60"] * 10)

    right = compared(before, now)[0]

    assert (right.metric.name, right.before, right.now) == ("right", 0.4, 1.0)
    assert (right.change.n_better, right.change.n_worse) == (6, 0)
    assert right.change.p == pytest.approx(2 / 2**6, abs=0.01)
    assert summaries(before)[0].estimate.low < 0.4 < summaries(before)[0].estimate.high


@pytest.mark.parametrize("differs", ["corpus", "questions"])
def test_runs_over_another_corpus_or_other_questions_are_not_compared(differs: str) -> None:
    """The difference would be that of the papers, and be told of the settings."""
    with pytest.raises(
        InvalidSettings, match=f"a and b cannot be compared: their {differs} differ"
    ):
        compared(run_with("a", ["60"]), run_with("b", ["60"], **{differs: "other"}))
