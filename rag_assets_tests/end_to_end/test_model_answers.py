"""Whole runs with a model behind the answers: what is asked, what is published, what is never asked
again.

The model is scripted and sits behind a local server that speaks the provider's protocol; the
requests are made by the provider's real SDK.
"""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from rag_assets.answering.drafts import REFUSAL, AnswerOptions
from rag_assets.core.settings import Paths, load_settings
from rag_assets.engine import open_engine
from rag_assets_testing.wire import ProtocolName, Reply, Wire, WireServer
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, lead, quoting_model, reply
from rag_assets_testing.world import QUESTIONS, TOKENIZER, Outcome, World
from rag_assets_tests.rounds import first_of

MODELS: dict[ProtocolName, str] = {
    "google": "google:gemini-2.5-flash",
    "anthropic": "anthropic:claude-sonnet-5-5",
    "openai": "openai:gpt-5-mini",
    "ollama": "ollama:llama3.2",
}
HURRIED: dict[str, Any] = {
    "timeout_s": 5.0,
    "max_attempts": 2,
    "max_wait_s": 0.1,
    "max_concurrent": 2,
    "requests_per_minute": 60_000,
}
ANSWERS = ("qa", "smoke_eval")
TEN_QUESTIONS = [
    {
        "id": f"n{number}",
        "question": f"What is said of observation number {number} on ferritin in athletes?",
    }
    for number in range(10)
]


def run(
    world: World,
    provider: ProtocolName = "openai",
    access: dict[str, Any] | None = None,
    answering: dict[str, Any] | None = None,
    assets: Sequence[str] = ANSWERS,
) -> Outcome:
    return world.run(
        *assets,
        answering={"model": MODELS[provider], "synthesis": False} | (answering or {}),
        model_access=HURRIED | (access or {}),
    )


def audit(paths: Paths) -> list[dict[str, str]]:
    with paths.qa_audit.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def asked(server: WireServer) -> Counter[str]:
    """How often each question was sent."""
    return Counter(Prompt.of(request).question for request in server.requests)


def _statements(request: WireRequest) -> list[dict[str, Any]]:
    """The claims that a paragraph is asked for."""
    statements: list[dict[str, Any]] = json.loads(request.prompt)["statements"]
    return statements


@pytest.mark.parametrize("provider", first_of(MODELS))
def test_a_model_s_answers_are_verified_and_published(
    provider: ProtocolName, world: World, wire: Wire
) -> None:
    """One setting, and the same promises hold of what a model writes."""
    server = wire(provider)
    server.answer_by(quoting_model)

    outcome = run(world, provider)

    assert outcome.is_success, outcome.failures or outcome.broken
    answers = world.answers()
    [claim] = [
        claim
        for claim in answers["q1"]["claims"]
        if claim["citations"][0]["paper_id"] == "ferritin"
    ]
    [citation] = claim["citations"]
    assert "12%" in citation["quote"]
    assert (citation["page_start"], citation["verification"]) == (2, "exact")
    assert claim["support"]["score"] is None, (
        "the scripted model repeats its quote, and a quote supports itself"
    )
    assert answers["q3"]["answer"] == REFUSAL
    assert {row["model"].split(" ")[0].split("@")[0] for row in answers.values()} == {
        MODELS[provider]
    }
    facts = outcome.facts["qa"]
    assert facts["n_model_requests"] == len(server.requests)
    assert facts["n_input_tokens"] == 1200 * len(server.requests)
    assert "mean_support" not in facts
    assert facts.get("cost_usd") == (0.0 if provider == "ollama" else None), (
        "the prices known are the providers' own"
    )
    rows = audit(world.paths)
    assert facts["model_seconds"] > 0
    assert sum(float(row["model_seconds"]) for row in rows) == pytest.approx(
        facts["model_seconds"], abs=0.01
    )
    assert sum(int(row["n_requests"]) for row in rows) == len(server.requests)
    assert {row["reading"] for row in rows} == {"structured"}


def test_an_unchanged_corpus_makes_no_call(world: World, wire: Wire) -> None:
    """The nightly run must cost nothing while nothing happens; nor is the paragraph above an answer
    paid for again."""
    server = wire()
    server.answer_by(quoting_model)
    server.lead_by = lambda request: lead((_statements(request)[0]["statement"], [1]))
    run(world, answering={"synthesis": True}, assets=())
    n_first, published = (
        (len(server.requests), len(server.led)),
        world.bytes_of(world.paths.data / "output", world.paths.cache),
    )

    again = run(world, answering={"synthesis": True}, assets=())

    assert all(n_first)
    assert (len(server.requests), len(server.led)) == n_first
    [led, *_] = [answer for answer in world.answers().values() if answer["lead"]]
    assert led["answer"].startswith(f"{led['lead'][0]['text']}\n\n")
    assert again.counts["qa"] == (0, 0, 0, 3)
    assert again.facts["qa"]["n_model_requests"] == 0
    assert world.bytes_of(world.paths.data / "output", world.paths.cache) == published


def test_a_spent_budget_stops_cleanly_and_the_next_run_goes_on(world: World, wire: Wire) -> None:
    """A budget is a pause: nothing is lost, nothing is asked twice, also of questions that were
    half done."""
    world.write_questions([{**question, "answerable": True} for question in TEN_QUESTIONS[:5]])
    asked = set()

    def misquoting_then_citing(request: WireRequest) -> Reply:
        question = Prompt.of(request).question
        is_new = question not in asked
        asked.add(question)
        id_, sentence = next(iter(Prompt.of(request).sentences.items()))
        return reply([(question, [question]) if is_new else (sentence, [id_])])

    server = wire()
    server.answer_by(misquoting_then_citing)

    n_runs, outcome = 0, None
    while n_runs < 20 and (outcome is None or outcome.facts["qa"]["n_left"]):
        n_runs += 1
        outcome = run(world, access={"budget_requests": 3}, answering={"k": 1})
        assert outcome.facts["qa"]["n_model_requests"] <= 3
        if n_runs == 1:
            left = [row for row in audit(world.paths) if row["outcome"] == "left"]
            assert len(left) + outcome.facts["qa"]["dagster/row_count"] == 5
            assert all("model_access.budget_requests" in row["verdict"] for row in left)
            assert "smoke_eval.questions_judged" in outcome.warned, (
                "half of the answers would be judged as all"
            )

    assert n_runs > 2
    assert len(world.answers()) == 5
    assert len(server.requests) > 5, "second requests"
    assert max(Counter(request.prompt for request in server.requests).values()) == 1


CLAIM = '{"claims": [{"text": "Ferritin fell.", "cites": ["1.1"]}'
FAULTS = {
    "cut": Reply(f'{CLAIM}, {{"text": "Then', finish="length"),
    "half": Reply(CLAIM),
    "uncited": reply([("Ferritin fell by 12%.", [])]),
    "invented": Reply(
        '{"claims": [{"text": "Ferritin fell by 99%.", "cites": ["1.1"], "replaces": 1}]}'
    ),
    "foreign": reply(
        [("Das Ferritin sank in allen Gruppen um zwölf Prozent und blieb so.", ["1.1"])]
    ),
}


def test_a_slip_of_the_model_is_no_statement_about_the_papers(world: World, wire: Wire) -> None:
    """It was published as "the papers do not say" and kept: the question was never asked again."""
    kinds = [*FAULTS, "honest"]
    world.write_questions(
        [
            {"id": kind, "question": f"Did {kind} ferritin fall?", "answerable": True}
            for kind in kinds
        ]
    )

    def slipping(request: WireRequest) -> Reply:
        asked = str(request.messages[0])
        slips = (step for kind, step in FAULTS.items() if f"Did {kind} ferritin" in asked)
        return next(slips, None) or quoting_model(request)

    server = wire()
    server.answer_by(slipping)
    first = run(world, answering={"min_sources": 1})
    rows = [row for row in audit(world.paths) if row["question_id"] in FAULTS]
    server.answer_by(quoting_model)
    second = run(world, answering={"min_sources": 1})

    assert {row["question_id"]: row["outcome"] for row in rows} == dict.fromkeys(FAULTS, "left")
    assert [one.facts["qa"]["n_left"] for one in (first, second)] == [len(FAULTS), 0]
    assert "could not be verified" in next(
        row["verdict"] for row in rows if row["question_id"] == "invented"
    )


@pytest.mark.parametrize("kind", ["cut", "invented"])
def test_the_same_slip_is_paid_for_three_times_and_not_every_night(
    world: World, kind: str, wire: Wire
) -> None:
    """A model that cannot answer a question would be asked it every night, for ever."""
    question = "How far did ferritin fall?"
    world.write_questions([{"id": "q", "question": question}, QUESTIONS[1]])

    def slipping(request: WireRequest) -> Reply:
        is_asked = question in str(request.messages[0])
        return FAULTS[kind] if is_asked else quoting_model(request)

    def night(**settings: Any) -> tuple[int, int]:
        n_before = len(server.requests)
        outcome = run(world, answering={"min_sources": 1, **settings})
        return len(server.requests) - n_before, outcome.facts["qa"]["n_left"]

    server = wire()
    server.answer_by(slipping)
    nights = [night() for _ in range(5)]
    (row,) = (row for row in audit(world.paths) if "not asked again" in row["verdict"])
    server.answer_by(quoting_model)
    settings = load_settings(
        {
            "data_dir": str(world.paths.data),
            "answering": {"model": MODELS["openai"], "min_sources": 1},
            "model_access": HURRIED,
            **TOKENIZER,
        }
    )
    with open_engine(settings) as engine:
        engine.trace(question, options=AnswerOptions(again=True))
    afterwards = night()

    assert [n > 0 for n, _ in nights] == [True, True, True, False, False]
    assert {n_left for _, n_left in nights} == {1}
    assert row["verdict"].startswith(
        {"cut": "The reply of openai", "invented": "The model's reply could not be verified"}[kind]
    )
    assert "After 3 such replies" in row["verdict"]
    assert afterwards == (0, 0)


def test_vectors_and_answers_of_a_run_share_one_budget(world: World, wire: Wire) -> None:
    """With a budget for each asset or provider a run would spend it several times over."""
    world.write_questions(TEN_QUESTIONS)
    server, embedding_server = wire(), wire("ollama")
    server.answer_by(quoting_model)

    outcome = world.run(
        embedding={"model": "ollama:nomic-embed-text"},
        answering={"model": MODELS["openai"]},
        model_access=HURRIED | {"budget_requests": 8},
    )

    n_for_answers, n_for_vectors = len(server.requests), len(embedding_server.requests)
    assert outcome.facts["qa"]["n_left"] > 0
    assert n_for_answers > 0
    assert n_for_vectors > 0
    assert n_for_answers + n_for_vectors == 8


def test_another_embedding_model_is_told_once_and_all_vectors_are_made_anew(
    world: World, caplog: pytest.LogCaptureFixture, wire: Wire
) -> None:
    """An hour of work would begin without a word, with nothing changed that the user knows of."""
    wire("ollama")
    first, second = (
        world.run("embeddings", embedding={"model": "ollama:nomic-embed-text"}) for _ in range(2)
    )

    told = [line for line in caplog.messages if "All are made anew with ollama" in line]
    n_passages = world.table(world.paths.passages).num_rows
    assert (len(told), first.counts["embeddings"][0]) == (1, n_passages)
    assert second.counts["embeddings"][0] == 0


def test_going_back_to_an_earlier_model_or_question_file_is_free(world: World, wire: Wire) -> None:
    """Somebody compares two models, or tries one question, and would pay for every answer again."""
    server, other = wire(), wire("google")
    server.answer_by(quoting_model)
    other.answer_by(quoting_model)
    run(world)
    published, n_first = world.answers(), len(server.requests)

    run(world, "google")
    world.run(*ANSWERS)
    run(world)

    assert len(server.requests) == n_first > 0
    assert world.answers() == published


COMPOUND = "How much did ferritin fall in runners within a month, and what does basalt take up along the cracks?"
PARTS = (
    "How much did ferritin fall in runners within a month?",
    "What does basalt take up along the cracks?",
)


def planning_model(request: WireRequest) -> Reply:
    """Takes the question apart, and else quotes."""
    if "what an answer must hold" in request.prompt or json.dumps(COMPOUND) == request.prompt:
        return Reply(
            json.dumps({"parts": [{"question": part, "enough": "a fact"} for part in PARTS]})
        )
    if '"enough"' in request.prompt:
        return Reply(json.dumps({"queries": ["basalt cracks", "burial"]}))
    if request.prompt.startswith('"'):
        return Reply(
            json.dumps({"parts": [{"question": json.loads(request.prompt), "enough": ""}]})
        )
    return quoting_model(request)


def run_thorough(world: World, model: str | None) -> Outcome:
    answering = {"effort": "thorough"} | ({"model": model} if model else {})
    return world.run("qa", answering=answering, model_access=HURRIED)


@pytest.mark.parametrize("model", [None, MODELS["openai"]], ids=["keyless", "model"])
def test_both_parts_of_a_question_are_answered_and_an_unchanged_run_asks_nothing(
    world: World, model: str | None, wire: Wire
) -> None:
    """Effort that is paid for again each night, or that publishes what was not verified, is worse
    than none."""
    world.write_questions(
        [{"id": "q", "question": COMPOUND}, {"id": "r", "question": "Who composed the opera?"}]
    )
    server = wire()
    server.answer_by(planning_model)

    outcome = run_thorough(world, model)
    n_asked, before = len(server.requests), world.bytes_of(world.paths.qa, world.paths.qa_audit)
    again = run_thorough(world, model)

    assert len(server.requests) == n_asked
    assert (n_asked > 0) == (model is not None)
    assert outcome.is_success, outcome.failures or outcome.broken
    quotes = [claim["citations"][0]["quote"] for claim in world.answers()["q"]["claims"]]
    assert any("12%" in quote for quote in quotes)
    assert any("cracks" in quote for quote in quotes)
    assert world.answers()["r"]["answer"] == REFUSAL
    assert world.bytes_of(world.paths.qa, world.paths.qa_audit) == before
    assert again.counts["qa"] == (0, 0, 0, 2)
    steps = {row["question_id"]: row["steps"] for row in audit(world.paths)}
    assert steps["q"].split("; ")[:3] == ["plan", "answer", "answer"]
    assert "other words" in steps["r"], "what nothing answered was searched for again"
