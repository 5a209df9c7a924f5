"""What is searched for on behalf of a question: by rules, and by a model behind a local server."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from rag_assets.core.domain import Query, QueryOrigin
from rag_assets.core.settings import RetrievalSettings, Settings
from rag_assets.hosted.connections import Connections
from rag_assets.questions import asked
from rag_assets.search.retrieval import ranking
from rag_assets.search.retrieval.queries import (
    MAX_PARTS,
    MAX_QUERY_CHARS,
    QueryPlanner,
    open_query_planner,
)
from rag_assets_testing.wire import (
    BadKey,
    ProtocolName,
    Reply,
    Status,
    Step,
    Wire,
    WireServer,
)
from rag_assets_tests.hosted.models import HURRIED, MODELS
from rag_assets_tests.search.retrieval.corpus import Corpus, chunk_of

QUESTION, PART, MODEL_PART = QueryOrigin.QUESTION, QueryOrigin.PART, QueryOrigin.MODEL_PART
VARIANT, PASSAGE = QueryOrigin.VARIANT, QueryOrigin.PASSAGE
ASKED = "Which joints tire under load?"
COMPOUND = "Which joints tire under load, and what settles on the fields?"


def settings_of(data: Path, queries: Mapping[str, Any], **others: Any) -> Settings:
    return Settings.model_validate(
        {
            "data_dir": str(data),
            "retrieval": {"queries": dict(queries)},
            "model_access": HURRIED.model_dump(),
        }
        | others
    )


Planning = Callable[..., tuple[WireServer, QueryPlanner]]


@pytest.fixture
def planning(wire: Wire, tmp_path: Path) -> Iterator[Planning]:
    """Begins a server, and opens a planner with these settings that asks it; or with a server that
    was begun."""
    with ExitStack() as stack:

        def begin(
            queries: Mapping[str, Any],
            provider: ProtocolName = "openai",
            server: WireServer | None = None,
        ) -> tuple[WireServer, QueryPlanner]:
            model = f"{provider}:{MODELS[provider]}"
            settings = settings_of(tmp_path, queries, answering={"model": model})
            server = server or wire(provider)
            connections = stack.enter_context(Connections(settings.model_access))
            return server, open_query_planner(settings, connections)

        yield begin


def wordings(*variants: str, passage: str = "") -> Reply:
    return Reply(json.dumps({"variants": variants, "passage": passage}))


def parts(*questions: str) -> Reply:
    return Reply(json.dumps({"questions": questions}))


def planned(planner: QueryPlanner, question: str = ASKED) -> list[tuple[str, QueryOrigin]]:
    return [(query.text, query.origin) for query in planner.plan(question).queries]


@pytest.mark.parametrize(
    ("decomposition", "found"),
    [
        ("rules", [("Which joints tire under load?", PART), ("what settles on the fields?", PART)]),
        ("none", [(COMPOUND, QUESTION)]),
    ],
)
def test_without_a_model_rules_take_a_question_apart(
    tmp_path: Path, decomposition: str, found: list[tuple[str, QueryOrigin]]
) -> None:
    """The keyless search must stay what it is, and no request may be made for it."""
    settings = settings_of(tmp_path, {"decomposition": decomposition})
    with Connections(HURRIED) as connections:
        planner = open_query_planner(settings, connections)

        assert planned(planner, COMPOUND) == found
        assert planned(planner) == [(ASKED, QUESTION)]
        assert planned(planner, " ") == []
        assert planner.identity == ""


@pytest.mark.parametrize(
    ("part", "is_searched_alone"),
    [("does zinc shorten it?", True), ("how was it chosen?", False)],
)
def test_a_part_that_points_back_is_searched_by_its_own_words_too_if_it_has_some(
    part: str, is_searched_alone: bool, tmp_path: Path
) -> None:
    """Of a question about viruses and zinc, searched as a whole, the passages were about viruses
    only."""
    question = f"Which viruses cause the common cold, and {part}"
    with Connections(HURRIED) as connections:
        found = planned(open_query_planner(settings_of(tmp_path, {}), connections), question)

    assert (question, QUESTION) in found, "what it points at stands there only"
    assert ((part, PART) in found) is is_searched_alone


@pytest.mark.parametrize("provider", list(MODELS))
def test_a_model_writes_other_wordings_and_a_passage(
    provider: ProtocolName, planning: Planning
) -> None:
    """One request brings both, through every provider's real SDK."""
    wanted = {"variants": 2, "hypothetical_passage": True}
    server, planner = planning(wanted, provider)
    server.answer_with(
        wordings("Which welds get weary?", "What fatigues?", passage="Welded joints tire.")
    )

    plan = planner.plan(ASKED)

    assert plan.queries == (
        Query(ASKED, QUESTION),
        Query("Which welds get weary?", VARIANT),
        Query("What fatigues?", VARIANT),
        Query("Welded joints tire.", PASSAGE),
    )
    assert plan.usage.n_requests == 1
    [request] = server.requests
    assert request.prompt.startswith(json.dumps(ASKED)), "a schema may stand behind it"


def test_what_a_model_writes_is_cut_and_cleaned(planning: Planning) -> None:
    """A reply of a thousand queries would be a thousand searches; control characters go to
    terminals."""
    long = "word " * 1_000
    server, worded = planning({"variants": 3})
    server.answer_with(
        wordings(ASKED.upper(), "", "a\x1b[31m\nb", "A [31m b", long, *"xyz", passage="unasked"),
        parts(*(f"part {n}?" for n in range(99))),
    )
    variants = planned(worded)[1:]
    found = planned(planning({"decomposition": "model"}, server=server)[1])

    assert [text for text, _ in variants][:1] == ["a [31m b"]
    assert len(variants) == 3
    assert len(variants[1][0]) <= MAX_QUERY_CHARS
    assert PASSAGE not in {origin for _, origin in variants}
    assert len(found) == MAX_PARTS


def test_nothing_is_asked_twice(planning: Planning) -> None:
    """The retry for a second paper and the next night search for the same."""
    server, planner = planning({"variants": 1})
    server.answer_with(wordings("What fatigues?"))
    plans = [planner.plan(ASKED), planner.plan(ASKED)]
    _, planner = planning({"variants": 1}, server=server)
    plans += [planner.plan(ASKED), planner.plan(ASKED)]

    assert len({plan.queries for plan in plans}) == 1
    assert [plan.usage.n_requests for plan in plans] == [1, 0, 0, 0]
    assert len(server.requests) == 1


FAULTS: list[tuple[str, Callable[[], Step], str, int]] = [
    ("a refused key", BadKey, "key", 1),
    ("a server that is down", lambda: Status(503), "503", 3),
]


@pytest.mark.parametrize(
    ("case", "fault", "words", "n_requests"), FAULTS, ids=[case for case, *_ in FAULTS]
)
def test_a_model_that_cannot_be_asked_costs_one_warning_and_no_answer(
    case: str,
    fault: Callable[[], Step],
    words: str,
    n_requests: int,
    planning: Planning,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A provider that is down must not take the search with it, nor be waited for at every
    question."""
    server, planner = planning({"variants": 3})
    server.answer_by(lambda _request: fault())

    first, second = planned(planner, COMPOUND), planned(planner)

    assert [text for text, _ in first] == [
        "Which joints tire under load?",
        "what settles on the fields?",
    ], case
    assert second == [(ASKED, QUESTION)]
    warnings = [text for text in caplog.messages if "is searched as it is" in text]
    assert len(warnings) == 1
    assert words in warnings[0]
    assert len(server.requests) == n_requests


CORPUS = Corpus(
    [
        chunk_of(
            "bridge",
            "Welded joints tire under load. Steel bridges carry cars.",
            paper_id="jones2021",
        ),
        chunk_of(
            "river",
            "The river floods each spring. Silt settles on the fields.",
            paper_id="jones2021",
            ordinal=1,
        ),
        chunk_of(
            "iron", "Ferritin fell in all groups. Iron stores recovered.", paper_id="smith2020"
        ),
    ]
)


def test_other_wordings_find_more_and_each_hit_tells_what_found_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planning: Planning
) -> None:
    """Without that, whether the model's queries are worth their price cannot be told."""
    CORPUS.index(tmp_path / "index")
    retrieval = RetrievalSettings()
    monkeypatch.setattr(ranking, "CANDIDATES", 1)
    server, planner = planning({"variants": 1, "hypothetical_passage": True})
    server.answer_with(wordings("silt fields settles", passage="Ferritin fell in groups."))
    with CORPUS.searcher(tmp_path / "index", retrieval, planner=planner) as searcher:
        evidence = searcher.evidence(asked("Which welded joints tire under load?"), 3)
    with CORPUS.searcher(tmp_path / "index", retrieval) as plain:
        alone = plain.evidence(asked("Which welded joints tire under load?"), 3)

    assert [hit.chunk.chunk_id for hit in alone.hits] == ["bridge"]
    assert [hit.found_by for hit in alone.hits] == [(0,)]
    found_by = {
        hit.chunk.chunk_id: [evidence.queries[n].origin for n in hit.found_by]
        for hit in evidence.hits
    }
    assert found_by == {"bridge": [QUESTION], "river": [VARIANT], "iron": [PASSAGE]}
    assert evidence.query_usage.n_requests == 1
    of_passage = next(hit for hit in evidence.hits if hit.chunk.chunk_id == "iron")
    assert of_passage.lexical_score is None, (
        "a made-up passage is no question: its words are not searched"
    )
