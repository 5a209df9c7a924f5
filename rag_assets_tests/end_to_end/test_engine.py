"""One engine over a published corpus: the same for all who ask, from any thread, through every new
publication."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_assets.answering.trace import AnswerTrace
from rag_assets.core.errors import InvalidQuestions
from rag_assets.core.settings import Settings, load_settings
from rag_assets.engine import Engine, open_engine
from rag_assets.faces.cli.main import app
from rag_assets.questions import NO_WORDS, Question
from rag_assets_testing.world import QUESTIONS, TOKENIZER, World
from rag_assets_tests.kept_entries import raw

FERRITIN = str(QUESTIONS[0]["question"])


def settings_of(world: World, **more: Any) -> Settings:
    return load_settings({"data_dir": str(world.paths.data), **TOKENIZER, **more})


@pytest.fixture(scope="module")
def asked(built: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A copy of the built world that questions are put to; drafts are kept in it."""
    return built.copy_to(tmp_path_factory.mktemp("asked"))


@pytest.fixture(scope="module")
def engine(asked: World) -> Iterator[Engine]:
    with open_engine(settings_of(asked)) as opened:
        yield opened


def test_everyone_who_asks_sees_the_same_contexts(
    asked: World, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ways to the contexts drift apart, and what is looked at is then not what the answer was
    written from."""
    monkeypatch.setenv("RAG_ASSETS_CHUNKING__TOKENIZER", "wordpiece")
    published = asked.answers()
    for question in QUESTIONS:
        one = Question.model_validate(
            {key: question[key] for key in question if key in {"id", "question", "paper_ids"}}
        )
        trace = engine.trace(one)
        first = trace.attempts[0]

        assert list(trace.result.contexts) == published[one.id]["contexts"]
        assert first.contexts == engine.evidence(one).contexts
        found = [hit.chunk.chunk_id for hit in engine.search(one)]
        assert [hit.chunk_id for hit in first.hits] == found

        if one.paper_ids is None:
            shown = CliRunner().invoke(
                app, ["retrieve", one.question, "--json", "--data", str(asked.paths.data)]
            )
            record = json.loads(shown.stdout)
            assert [hit["chunk_id"] for hit in record["hits"]] == found
            assert [context["text"] for context in record["context"]] == [
                context.text for context in first.contexts
            ]


def test_no_more_questions_are_worked_on_than_allowed(
    asked: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred visitors at once would share the memory and the model until nobody gets an
    answer."""
    from rag_assets.search.retrieval.search import Searcher

    at_once: list[int] = []
    working, lock = [0], threading.Lock()
    rank = Searcher.rank

    def counted(self: Searcher, *arguments: Any) -> Any:
        with lock:
            working[0] += 1
            at_once.append(working[0])
        try:
            return rank(self, *arguments)
        finally:
            with lock:
                working[0] -= 1

    monkeypatch.setattr(Searcher, "rank", counted)
    with (
        open_engine(settings_of(asked, execution={"workers": 2})) as engine,
        ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(lambda number: engine.search(f"{FERRITIN} {number}"), range(24)))

    assert max(at_once) <= 2


def test_questions_are_answered_while_a_run_publishes(world: World) -> None:
    """Tables and indexes are replaced one after another; a question between two of them must notice
    nothing."""
    stop = threading.Event()

    def ask_on(engine: Engine) -> list[AnswerTrace]:
        found = []
        while not stop.is_set():
            found.append(engine.trace(f"{FERRITIN} ({len(found) % 3})"))
        return found

    with open_engine(settings_of(world)) as engine, ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask_on, engine) for _ in range(2)]
        world.write_paper(
            "granite",
            "Granite and heat",
            "Granite loses its water slowly when it is heated from below.",
        )
        assert world.run().is_success
        stop.set()
        found = [trace for one in asking for trace in one.result()]

    assert found
    assert all("12%" in trace.result.answer and not trace.result.left_out for trace in found)


def test_a_question_that_was_asked_by_hand_is_not_drafted_again_by_the_nightly_run(
    world: World,
) -> None:
    """A draft by a model is paid for; the run that prunes the cache must keep it while its chunks
    are there."""
    with open_engine(settings_of(world)) as engine:
        mine = engine.trace("Which supplements kept ferritin stable?")
        assert (
            mine.n_cached,
            engine.trace("Which supplements kept ferritin stable?").n_cached,
        ) == (
            0,
            len(mine.attempts),
        )
    drafts = raw(world.paths.kept, "answers")

    world.write_questions(
        [*QUESTIONS, {"id": "mine", "question": "Which supplements kept ferritin stable?"}]
    )
    outcome = world.run()

    assert outcome.facts["qa"]["n_cached_drafts"] >= 1
    assert drafts.has(mine.final.fingerprint)
    world.write_questions(QUESTIONS)
    world.run()
    assert drafts.has(mine.final.fingerprint), "its chunks are still there"


WORDLESS = ["", " \n", "---", ".", "it", "What is it?"]


@pytest.mark.parametrize("text", WORDLESS)
def test_what_has_no_words_is_refused_before_anything_is_searched(
    text: str, engine: Engine
) -> None:
    """The nearest passage to "---" is of some paper, and would answer it with confidence. Other
    lines of a question file go on, so there it is a refusal."""
    trace = engine.trace(Question(id="q", question=text))
    evidence = engine.evidence(Question(id="q", question=text))

    assert (trace.result.refused, trace.result.unanswered) == (True, (NO_WORDS,))
    assert (trace.result.contexts, evidence.contexts, evidence.hits, evidence.queries) == (
        (),
        (),
        (),
        (),
    )
    for ask in (engine.search, engine.evidence, engine.trace):
        with pytest.raises(InvalidQuestions, match=NO_WORDS):
            ask(text)


@pytest.mark.parametrize("text", ["x" * 4001, "ferritin\x00", "\x1b[2J"])
def test_what_is_no_question_is_refused(text: str, engine: Engine) -> None:
    """Whatever reaches the engine may end in a prompt, a terminal or a log."""
    with pytest.raises(InvalidQuestions):
        engine.search(text)
