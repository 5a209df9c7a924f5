"""Papers that come and go over HTTP, with the runs that follow."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import pytest

from rag_assets.faces.server import dependencies
from rag_assets_testing.world import World
from rag_assets_tests.faces.cli.processes import wait_until
from rag_assets_tests.faces.server.live import Live, served

FACT = "Kelp forests lost 40% of their canopy in three summers of warm water."
PAPER = (
    f"Kelp and warm water\n\n1 Results\n\n{FACT} The loss was greatest near the surface.\n".encode()
)
QUESTION = "How much of their canopy did kelp forests lose?"


@pytest.fixture
def changing(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """A server over a copy of the built world that takes uploads as fast as they come."""
    monkeypatch.setattr(dependencies, "UPLOADS_PER_MINUTE", 100_000)
    with served(world.paths.data) as live:
        yield live


def sent(live: Live, name: str, content: bytes) -> httpx2.Response:
    return live.client.post("/api/papers", files={"file": (name, content)})


def ended(client: httpx2.Client, run_id: str) -> Mapping[str, Any]:
    """The run when it is over."""

    def run() -> Any:
        return client.get(f"/api/runs/{run_id}").json()

    wait_until(lambda: run()["state"] in ("succeeded", "failed"), f"the end of run {run_id}")
    return run()


def found_in(live: Live) -> set[str]:
    """The papers that are found for the question about kelp."""
    hits = live.client.post("/api/search", json={"question": QUESTION}).json()["hits"]
    return {hit["paper_id"] for hit in hits}


def test_an_uploaded_paper_can_be_asked_about_deleted_and_taken_back(changing: Live) -> None:
    """The whole way of a paper, as a reader at the page goes it; runs between are the ordinary
    ones."""
    reply = sent(changing, "../kelp.txt", PAPER)

    assert (reply.status_code, reply.json()["paper_id"], reply.json()["file_name"]) == (
        202,
        "kelp",
        "kelp.txt",
    )
    first_run = ended(changing.client, reply.json()["run_id"])
    assert first_run["state"] == "succeeded", first_run
    assert {step["state"] for step in first_run["steps"]} == {"succeeded"}
    assert {"parsed_index", "chroma_index", "index_meta"} <= {
        step["asset"] for step in first_run["steps"]
    }
    assert "smoke_eval" not in {step["asset"] for step in first_run["steps"]}
    answer = changing.ask(QUESTION).json()["answer"]
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


def test_a_record_that_was_corrected_stays_corrected(changing: Live) -> None:
    """A wrong author would be cited again after each run."""
    client = changing.client
    paper = client.get("/api/papers").json()["papers"][0]["paper_id"]
    path = f"/api/papers/{paper}/record"

    refused = [client.put(path, json=wrong) for wrong in ({"venue": "Winter"}, {"doi": "unknown"})]
    unknown = client.put("/api/papers/nothing/record", json={"year": 1999})
    client.put(path, json={"authors": ["Ada Lund", "Moe, Bo"]})
    reply = client.put(path, json={"year": 1999, "doi": "10.1234/Iron.7"})

    assert [refusal.status_code for refusal in refused] == [422, 422]
    assert (unknown.status_code, reply.status_code) == (404, 202)
    assert ended(client, reply.json()["run_id"])["state"] == "succeeded"
    record = next(
        one for one in client.get("/api/papers").json()["papers"] if one["paper_id"] == paper
    )
    assert (record["authors"], record["year"]) == (["Ada Lund", "Bo Moe"], 1999)
    assert record["doi"] == "10.1234/iron.7"


def test_a_damaged_file_of_corrections_is_not_overwritten(changing: Live, world: World) -> None:
    """All that was corrected before would be lost."""
    paper = changing.client.get("/api/papers").json()["papers"][0]["paper_id"]
    file = world.paths.papers / "corrections.csl.json"
    file.write_text("[{")

    reply = changing.client.put(f"/api/papers/{paper}/record", json={"year": 1999})

    assert reply.status_code == 409
    assert file.read_text() == "[{"
