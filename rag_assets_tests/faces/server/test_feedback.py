"""What readers say of answers is kept, whole, in the order it came."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rag_assets.faces.server.problems import ProblemError
from rag_assets.faces.server.routes.feedback import MAX_BYTES, add_line
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.server.live import Live, served
from rag_assets_tests.kept_entries import contents

SAID = {"question": "What fell?", "fingerprint": "0123456789abcdef", "verdict": "bad", "claim": 2, "comment": "No.\nΔ"}


def test_feedback_leads_back_to_its_answer(world: World) -> None:
    """Praise or blame without its answer improves nothing."""
    with served(world.paths.data) as live:
        answer = live.client.post("/api/answers", json={"question": QUESTIONS[0]["question"]}).json()["answer"]
        reply = live.client.post("/api/feedback", json={**SAID, "fingerprint": answer["fingerprint"]})

    (row,) = [json.loads(line) for line in world.paths.feedback.read_text("utf-8").splitlines()]
    assert reply.status_code == 201
    assert row["id"] == reply.json()["feedback_id"]
    assert {name: row[name] for name in SAID} == {**SAID, "fingerprint": answer["fingerprint"]}
    assert answer["fingerprint"] in contents(world.paths.kept, "answers"), "the draft is kept under the fingerprint"


@pytest.mark.parametrize(
    "wrong",
    [
        {"verdict": "fine"},
        {"fingerprint": "../../etc/passwd"},
        {"fingerprint": "0123456789abcdef\n"},
        {"claim": 0},
        {"comment": "x" * 4001},
        {"question": ""},
        {"path": "/etc/passwd"},
    ],
)
def test_feedback_that_makes_no_sense_is_refused(live: Live, wrong: dict[str, object]) -> None:
    """What is kept is read by people and programs later."""
    assert live.client.post("/api/feedback", json={**SAID, **wrong}).status_code == 422


def test_feedback_does_not_fill_the_disk(tmp_path: Path) -> None:
    """Anybody who may ask may send feedback, a thousand times a minute."""
    path = tmp_path / "feedback.jsonl"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES)

    with pytest.raises(ProblemError) as refused:
        add_line(path, {"n": 1})

    assert refused.value.status_code == 507
    assert path.stat().st_size == MAX_BYTES


def test_a_line_that_a_kill_cut_short_costs_no_other_line(tmp_path: Path) -> None:
    """The next line would be glued to the broken one, and both be lost."""
    path = tmp_path / "feedback.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2, "comm')

    add_line(path, {"n": 3})

    assert path.read_bytes().split(b"\n") == [b'{"n": 1}', b'{"n": 2, "comm', b'{"n": 3}', b""]


def test_lines_of_several_readers_are_not_mixed(tmp_path: Path) -> None:
    """Two readers who press the button at once."""
    path = tmp_path / "logs" / "feedback.jsonl"

    with ThreadPoolExecutor(8) as readers:
        list(readers.map(lambda n: add_line(path, {"n": n, "comment": "x" * 3000}), range(200)))

    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert sorted(row["n"] for row in rows) == list(range(200))
