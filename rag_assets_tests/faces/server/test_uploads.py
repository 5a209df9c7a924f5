"""Papers that come and go over HTTP, with the runs that follow."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from rag_assets_testing.world import TOKENIZER, World
from rag_assets_tests.corpora import corpus_path
from rag_assets_tests.faces.server.live import Live, served

FACT = "Kelp forests lost 40% of their canopy in three summers of warm water."
PAPER = (
    f"Kelp and warm water\n\n1 Results\n\n{FACT} The loss was greatest near the surface.\n".encode()
)
QUESTION = "How much of their canopy did kelp forests lose?"
DEADLINE_S = 240.0


@pytest.fixture
def changing(world: World) -> Iterator[Live]:
    """A server over a copy of the built world that takes uploads as fast as they come."""
    with served(world.paths.data, server={"uploads_per_minute": 100_000}) as live:
        yield live


def sent(live: Live, name: str, content: bytes) -> httpx2.Response:
    return live.client.post("/api/papers", files={"file": (name, content)})


def ended(client: httpx2.Client, run_id: str) -> Mapping[str, Any]:
    """The run when it is over."""
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        run: Mapping[str, Any] = client.get(f"/api/runs/{run_id}").json()
        if run["state"] in ("succeeded", "failed"):
            return run
        time.sleep(0.2)
    raise TimeoutError(f"run {run_id} is not over after {DEADLINE_S:g} s")


def found_in(live: Live) -> set[str]:
    """The papers that are found for the question about kelp."""
    hits = live.client.post("/api/search", json={"question": QUESTION}).json()["hits"]
    return {hit["paper_id"] for hit in hits}


def test_an_uploaded_paper_can_be_asked_about_deleted_and_taken_back(changing: Live) -> None:
    """The whole way of a paper, as a reader at the page goes it; runs between are the ordinary
    ones."""
    reply = sent(changing, "../kelp.txt", PAPER)
    also = sent(
        changing,
        "second.txt",
        b"Second\n\nIt lasted ten weeks, and nothing else is said of it here.\n",
    )
    third = sent(
        changing,
        "third.txt",
        b"Third\n\nIt lasted nine weeks, and nothing else is said of it here.\n",
    )

    assert (reply.status_code, reply.json()["paper_id"], reply.json()["file_name"]) == (
        202,
        "kelp",
        "kelp.txt",
    )
    run_ids = {one.json()["run_id"] for one in (reply, also, third)}
    assert len(run_ids) < 3, "a run that has not begun is shared"
    first_run = ended(changing.client, reply.json()["run_id"])
    assert first_run["state"] == "succeeded", first_run
    assert ended(changing.client, also.json()["run_id"])["state"] == "succeeded"
    assert {step["state"] for step in first_run["steps"]} == {"succeeded"}
    assert {"parsed_index", "chroma_index", "index_meta"} <= {
        step["asset"] for step in first_run["steps"]
    }
    assert "smoke_eval" not in {step["asset"] for step in first_run["steps"]}
    answer = changing.client.post("/api/answers", json={"question": QUESTION}).json()["answer"]
    assert FACT in answer["claims"][0]["text"]

    deleted = changing.client.delete("/api/papers/kelp")

    assert deleted.status_code == 202
    assert (
        ended(changing.client, deleted.json()["run_id"])["message"]
        == "Papers: 0 added, 0 changed, 1 removed."
    )
    assert "kelp" not in found_in(changing)
    [deletion] = changing.client.get("/api/trash").json()["deletions"]
    assert deletion == {
        "trash_id": deleted.json()["trash_id"],
        "paper_id": "kelp",
        "files": ["kelp.txt"],
    }

    restored = changing.client.post(f"/api/trash/{deleted.json()['trash_id']}/restore")

    assert (restored.status_code, restored.json()["paper_id"]) == (202, "kelp")
    assert ended(changing.client, restored.json()["run_id"])["state"] == "succeeded"
    assert "kelp" in found_in(changing)


@pytest.mark.parametrize(
    ("name", "content", "status", "detail"),
    [
        ("x.pdf", b"", 422, '"x.pdf" is empty (0 bytes). Upload the paper again.'),
        ("x.exe", b"MZ\x00\x01" * 100, 422, '"x.exe" holds binary data in no known format.'),
        (".htaccess", b"Deny from all", 422, "names that begin with a dot"),
        (
            "ferritin.tei.xml",
            b'<TEI xmlns="http://www.tei-c.org/ns/1.0"/>',
            409,
            'There is a paper "ferritin" already.',
        ),
        ("x.txt", b"a" * 10_020_000, 413, '"x.txt" has more than 10 MB (server.max_upload_mb).'),
        ("x.txt", b"a" * 20_000_000, 413, ""),
    ],
)
def test_a_refused_upload_says_why_and_changes_nothing(
    name: str, content: bytes, status: int, detail: str, live: Live
) -> None:
    """A bare 400 would leave the user guessing; half a file would become a paper."""
    papers = live.shared.settings.paths.papers
    before = sorted(papers.rglob("*"))

    reply = sent(live, name, content)

    problem = reply.json()
    assert (reply.status_code, reply.headers["content-type"]) == (
        status,
        "application/problem+json",
    )
    assert detail in problem["detail"]
    assert str(papers.parent) not in reply.text
    assert sorted(papers.rglob("*")) == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/api/papers/none"),
        ("DELETE", "/api/papers/..%2f..%2fetc"),
        ("DELETE", "/api/papers/%00"),
        ("POST", "/api/trash/..%2fpapers/restore"),
        ("POST", "/api/trash/20260101T000000-0123456789ab/restore"),
        ("GET", "/api/runs/..%2f..%2fcache"),
        ("GET", "/api/runs/00000000-0000-0000-0000-000000000000"),
    ],
)
def test_what_is_not_there_cannot_be_changed(method: str, path: str, live: Live) -> None:
    """Ids come from anyone; none may become a path."""
    before = sorted(live.shared.settings.paths.papers.rglob("*"))

    reply = live.client.request(method, path)

    assert reply.status_code == 404, reply.text
    assert reply.json()["detail"]
    assert sorted(live.shared.settings.paths.papers.rglob("*")) == before


@pytest.mark.whole
def test_bad_uploads_are_refused_or_quarantined_and_nothing_is_lost(changing: Live) -> None:
    """Broken PDFs and XML bombs through the front door: each gets an error or a row that says why,
    and the papers that were there are found as before."""
    files = [path for path in sorted(corpus_path("bad").rglob("*")) if path.is_file()]
    folder = changing.shared.settings.paths.papers
    before = {path: path.read_bytes() for path in folder.iterdir()}
    taken, runs = {}, set()
    for number, path in enumerate(files):
        reply = sent(changing, f"{number}_{path.name}", path.read_bytes())
        assert reply.status_code in (202, 422), reply.text
        if reply.status_code == 202:
            taken[reply.json()["paper_id"]] = path.read_bytes()
            runs.add(reply.json()["run_id"])
        else:
            assert reply.json()["detail"]
    assert len(files) >= 200
    assert len(runs) < len(taken) / 4, "a run that has not begun is shared"

    states = {ended(changing.client, run_id)["state"] for run_id in sorted(runs)}

    assert states == {"succeeded"}
    papers = {
        paper["paper_id"]: paper for paper in changing.client.get("/api/papers").json()["papers"]
    }
    assert set(taken) <= set(papers)
    quarantined = [
        papers[paper_id] for paper_id in taken if papers[paper_id]["state"] == "quarantined"
    ]
    assert len(quarantined) > 20
    assert all(paper["reason"] for paper in quarantined)
    assert {path: path.read_bytes() for path in before} == before
    assert {path.read_bytes() for path in folder.iterdir()} == {*before.values(), *taken.values()}
    answer = changing.client.post(
        "/api/answers", json={"question": "How much did ferritin fall in runners?"}
    ).json()
    assert not answer["answer"]["refused"]


def _command(data: Path) -> list[str]:
    code = "from rag_assets.faces.cli import app; app()"
    tokenizer = f"chunking.tokenizer={TOKENIZER['chunking']['tokenizer']}"
    return [
        sys.executable,
        "-c",
        code,
        "serve",
        "--data",
        str(data),
        "--port",
        "0",
        "--set",
        tokenizer,
    ]


class _Serving:
    """A server process and a client that talks to it."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(_command(data), stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        address = next(
            word
            for line in self.process.stderr
            for word in line.split()
            if word.startswith("http://")
        )
        self.client = httpx2.Client(base_url=address.rstrip("./"), timeout=DEADLINE_S)

    def kill(self) -> None:
        self.client.close()
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.mark.whole
def test_a_killed_server_leaves_conversations_and_corpus_whole(world: World) -> None:
    """kill -9 during a run: the conversation is there, that run and the one that waits end by
    themselves."""
    server = _Serving(world.paths.data)
    conversation = server.client.post("/api/conversations").json()["conversation_id"]
    asked = {"question": "How much did ferritin fall in runners?", "conversation_id": conversation}
    turn = server.client.post("/api/answers", json=asked).json()
    server.client.post("/api/papers", files={"file": ("kelp.txt", PAPER)})
    waiting = server.client.post(
        "/api/papers", files={"file": ("late.txt", b"Late\n\nIt lasted ten weeks in all.\n")}
    )
    server.kill()

    again = _Serving(world.paths.data)

    kept = again.client.get(f"/api/conversations/{conversation}").json()
    assert [one["answer"] for one in kept["turns"]] == [turn["answer"]]
    message = ended(again.client, waiting.json()["run_id"])["message"]
    assert message in {
        f"Papers: {n} added, 0 changed, 0 removed." for n in (1, 2)
    }  # 2: both were there in time
    deadline = time.monotonic() + DEADLINE_S
    found: set[str] = set()
    while "kelp" not in found and time.monotonic() < deadline:
        hits = again.client.post("/api/search", json={"question": QUESTION, "k": 20}).json()["hits"]
        found = {hit["paper_id"] for hit in hits}
        time.sleep(0.5)
    papers = again.client.get("/api/papers").json()["papers"]
    again.kill()
    assert found >= {"kelp", "ferritin"}
    assert {paper["paper_id"] for paper in papers} >= {"kelp", "late"}
    assert {paper["state"] for paper in papers if paper["paper_id"] != "late"} == {"ready"}


def test_the_server_imports_no_dagster() -> None:
    """It would cost a second at the start, and memory for as long as the server lives."""
    code = "import sys, rag_assets.faces.server.app; sys.exit('dagster' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], env=os.environ, check=False).returncode == 0
