"""The server under use: many at once, clients that leave, a corpus that is published anew, its
end."""

import asyncio
import json
import shutil
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rag_assets.core.incremental import sealed_json
from rag_assets.faces.server.dependencies import Shared
from rag_assets_testing.world import QUESTIONS, World
from rag_assets_tests.faces.cli.processes import COMMAND, DEADLINE_S, environment, wait_until
from rag_assets_tests.faces.server.live import Live, served

QUESTION = {"question": QUESTIONS[0]["question"]}


@contextmanager
def all_threads_busy(shared: Shared) -> Iterator[int]:
    """Both kinds of work wait, as they do while the engine opens; gives how many threads answer."""
    gate = threading.Event()
    n_answering, n_searching = shared.engine.n_at_once, max(shared.engine.n_at_once, 2)

    def hold() -> None:
        async def held() -> None:
            work = [shared.answering.result(gate.wait) for _ in range(n_answering)]
            work += [shared.searching.result(gate.wait) for _ in range(n_searching)]
            await asyncio.gather(*work)

        asyncio.run(held())

    holder = threading.Thread(target=hold)
    holder.start()
    wait_until(lambda: shared.n_working == n_answering + n_searching, "all threads")
    try:
        yield n_answering
    finally:
        gate.set()
        holder.join()


def test_32_askers_at_once_all_get_their_own_answer(live: Live) -> None:
    """A seminar that asks at the same minute."""
    questions = [QUESTIONS[n % 2]["question"] for n in range(32)]

    with ThreadPoolExecutor(32) as askers:
        replies = list(askers.map(live.ask, questions))

    assert [reply.status_code for reply in replies] == [200] * 32
    assert [reply.json()["answer"]["question"] for reply in replies] == questions
    assert live.shared.n_working == 0


def test_health_names_questions_that_the_papers_answer(world: World) -> None:
    """The page offers them to whoever does not know what there is to ask; a file that is missing
    must not take health down."""
    known = {"topics": ["iron stores"], "questions": ["What do the papers say about iron stores?"]}
    world.paths.examples.write_bytes(sealed_json(known))
    with served(world.paths.data) as live:
        named = live.client.get("/api/health").json()
        world.paths.examples.unlink()
        without = live.client.get("/api/health").json()

    assert (named["topics"], named["examples"]) == (known["topics"], known["questions"])
    assert (without["status"], without["topics"], without["examples"]) == ("ready", [], [])


def test_health_answers_while_the_engine_is_busy_or_opening(built: World) -> None:
    """What restarts servers that do not answer would restart it each time it opens its models."""
    with served(built.paths.data) as live, all_threads_busy(live.shared):
        reply = live.client.get("/api/health")

    assert (reply.status_code, reply.json()["status"]) == (200, "ready")
    assert reply.json()["n_waiting"] >= 1


def test_the_command_serves_until_ctrl_c(world: World, tmp_path: Path) -> None:
    """The whole of it as a user starts it: an address to open, an answer, and a quiet end."""
    log = tmp_path / "serve.log"
    with log.open("wb") as messages:
        command = [*COMMAND, "serve", "--port", "0", "--data", str(world.paths.data)]
        server = subprocess.Popen(
            command, env=environment(world.paths.data), cwd=tmp_path, stderr=messages
        )
    try:
        wait_until(
            lambda: server.poll() is not None or "Ctrl-C ends it" in log.read_text(), "the address"
        )
        address = log.read_text().split(" at ")[1].split(" ")[0]
        request = urllib.request.Request(
            f"{address}/api/answers",
            json.dumps(QUESTION).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as reply:
            answer = json.load(reply)["answer"]
    finally:
        server.send_signal(signal.SIGINT)
        code = server.wait(DEADLINE_S)

    assert (code, "Traceback" in log.read_text()) == (0, False), log.read_text()
    assert answer["claims"] == world.answers()["q1"]["claims"]
    assert "POST /api/answers 200" in " ".join(log.read_text().split())


def test_what_was_cleared_is_neither_served_nor_said_to_be_there(world: World) -> None:
    """Answers would go on from what is gone, while the health of the same server says "not
    built"."""
    with served(world.paths.data) as live:
        before = live.client.post("/api/search", json=QUESTION).status_code
        for made in (world.paths.cache, world.paths.bm25.parent, world.paths.qa.parent):
            shutil.rmtree(made)
        after = [live.client.post("/api/search", json=QUESTION) for _ in range(2)]
        health = live.client.get("/api/health").json()

    assert before == 200
    assert [reply.status_code for reply in after] == [503, 503]
    assert "Run rag-assets run on the server" in after[0].json()["detail"]
    assert health["status"] == "not built"


def test_health_and_answers_agree_while_the_last_step_is_missing(world: World) -> None:
    """A monitor that reads "not built" restarts a server which answers."""
    world.paths.index_meta.unlink()
    with served(world.paths.data) as live:
        assert live.client.post("/api/search", json=QUESTION).status_code == 200
        assert live.client.get("/api/health").json()["status"] == "ready"
