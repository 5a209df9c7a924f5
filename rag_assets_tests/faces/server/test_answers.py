"""Answers over HTTP: the same as those of the pipeline, as JSON and as events."""

import json
from pathlib import Path

from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.end_to_end.test_model_answers import COMPOUND, PARTS
from rag_assets_tests.faces.server.live import Live, events_of, served


def test_claims_are_those_of_the_pipeline_byte_for_byte(built: World, live: Live) -> None:
    """A reader who checks a cited answer against qa.jsonl must find the very same text, places and
    figures."""
    published = built.paths.qa.read_text("utf-8").splitlines()

    for row, question in zip(published, QUESTIONS, strict=True):
        asked = {name: question[name] for name in ("question", "paper_ids") if name in question}
        claims = f'"claims": {json.dumps(json.loads(row)["claims"], ensure_ascii=False)}'
        assert claims in row, "else nothing is compared"
        as_json = live.ask(**asked)
        as_events = live.ask(**asked, as_events=True)

        assert claims.encode() in as_json.content
        assert claims.encode() in as_events.content


def test_a_stream_tells_what_was_found_then_each_claim_then_the_whole(live: Live) -> None:
    """The page shows claims as they come; one that is not in the answer, or numbered wrongly,
    misleads."""
    reply = live.ask(QUESTIONS[0]["question"], as_events=True)

    events = events_of(reply)
    names = [name for name, _ in events]
    done = events[-1][1]
    last_start = max(at for at, name in enumerate(names) if name == "contexts")
    claims = [data for name, data in events[last_start:] if name == "claim"] or [
        data for name, data in events if name == "claim"
    ]
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert (names[0], names[-1]) == ("contexts", "done")
    assert events[0][1]["contexts"][0]["title"] == "Ferritin in athletes"
    assert [claim["number"] for claim in claims] == list(range(1, len(claims) + 1))
    assert [claim["text"] for claim in claims] == [
        claim["text"] for claim in done["answer"]["claims"]
    ]
    assert claims[0]["citations"][0]["title"] == "Ferritin in athletes"


def test_a_thorough_answer_tells_its_steps_as_it_takes_them(live: Live) -> None:
    """It takes several times as long: a page that shows nothing meanwhile looks hung."""
    asked = {"question": COMPOUND, "effort": "thorough"}
    reply = live.ask(**asked, as_events=True)
    quick = live.ask(COMPOUND, as_events=True)

    events = events_of(reply)
    begun = [data for name, data in events if name == "part"]
    done = events[-1][1]
    assert events[0] == ("plan", {"parts": list(PARTS)})
    assert [(data["number"], data["n_parts"], data["question"]) for data in begun[:2]] == [
        (1, 2, PARTS[0]),
        (2, 2, PARTS[1]),
    ]
    assert [step["kind"] for step in done["steps"][:3]] == ["plan", "answer", "answer"]
    assert "plan" not in dict(events_of(quick)), "the server is set to quick answers"


def test_a_folder_without_an_index_says_what_to_do(tmp_path: Path) -> None:
    """The first thing a new user does is to start the server and ask; an empty 500 would end it
    there."""
    with served(tmp_path) as live:
        health = live.client.get("/api/health").json()
        as_json = live.ask("What fell?")
        as_events = live.ask("What fell?", as_events=True)

    (name, data) = events_of(as_events)[-1]
    assert (health["status"], health["corpus_version"]) == ("not built", None)
    assert (as_json.status_code, as_json.headers["content-type"]) == (
        503,
        "application/problem+json",
    )
    assert as_json.json()["title"] == "There is nothing to search yet"
    assert "rag-assets run" in as_json.json()["detail"]
    assert (name, data["problem"]["title"]) == (
        "error",
        "There is nothing to search yet",
    )
    assert str(tmp_path) not in as_json.text + as_events.text, "a path of the server"


def test_a_search_finds_passages_with_their_places(live: Live) -> None:
    """What is found must lead to a page, or nobody can check it."""
    hits = live.client.post(
        "/api/search", json={"question": QUESTIONS[0]["question"], "k": 2}
    ).json()["hits"]

    assert len(hits) == 2
    assert (hits[0]["paper_id"], hits[0]["title"]) == ("ferritin", "Ferritin in athletes")
    assert "fell by 12%" in hits[0]["text"]
    assert hits[0]["page_start"] == 2
    text = live.client.get(f"/api/chunks/{hits[0]['chunk_id']}").json()["text"]
    assert hits[0]["text"].endswith(text[hits[0]["start"] : hits[0]["end"]])
    assert not {"chunk", "file_path", "fingerprint"} & set(hits[0]), "a path of the server"
