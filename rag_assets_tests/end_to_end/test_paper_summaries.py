"""Summaries of papers in whole runs: from the papers folder to the list of papers."""

import pytest

from rag_assets.domain import Point
from rag_assets.reading.papers import Papers
from rag_assets.settings import load_settings
from rag_assets_testing.wire import Status, WireServer, use_wire_environment
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_testing.world import TOKENIZER, Outcome, World
from rag_assets_tests.hosted.models import MODELS

FOUND = "We found that ferritin fell by 12% in all groups of runners within a month of training."


def papers_of(world: World) -> Papers:
    return Papers(load_settings({"data_dir": str(world.paths.data), **TOKENIZER}))


def run_with_model(world: World) -> Outcome:
    return world.run(
        paper_summaries={"model": f"openai:{MODELS['openai']}"},
        model_access={"openai": {"requests_per_minute": 60_000}, "max_attempts": 1, "max_wait_s": 0.2},
    )


def test_a_paper_is_listed_with_what_it_found_and_opens_on_the_page_of_it(world: World) -> None:
    """A list of file names tells nobody which paper to read."""
    world.write_paper("ferritin", "Ferritin in athletes", FOUND)

    outcome = world.run()

    assert outcome.is_success, outcome.failures or outcome.broken
    assert outcome.counts["paper_summaries"] == (0, 1, 0, 2)
    listed = {paper.paper_id: paper.in_short for paper in papers_of(world).all()}
    assert listed["ferritin"] == FOUND
    points = {told.point: told for told in papers_of(world).one("ferritin").points}
    assert list(points) == list(Point)
    (claim,) = points[Point.FOUND].claims
    (cited,) = claim.citations
    assert (cited.quote, cited.page_start) == (FOUND, 2)
    assert points[Point.LIMITS].claims == ()


def test_an_unchanged_run_changes_no_byte_and_a_deleted_paper_leaves_nothing(world: World) -> None:
    """A nightly run would look like news; a withdrawn paper would still be summarised."""
    before = world.bytes_of(world.paths.paper_summaries)
    assert world.run().counts["paper_summaries"] == (0, 0, 0, 3)
    assert world.bytes_of(world.paths.paper_summaries) == before

    (world.paths.papers / "iron.tei.xml").unlink()

    assert world.run().counts["paper_summaries"] == (0, 0, 1, 2)
    assert "iron" not in world.table(world.paths.paper_summaries)["paper_id"].to_pylist()


def test_a_damaged_table_is_made_anew(world: World) -> None:
    """A list of papers without summaries, or with wrong ones, and nothing that says so."""
    before = world.bytes_of(world.paths.paper_summaries)
    world.paths.paper_summaries.write_bytes(b"nothing")

    assert world.run().counts["paper_summaries"] == (3, 0, 0, 0)
    assert world.bytes_of(world.paths.paper_summaries) == before


def test_a_model_that_is_down_leaves_the_summaries_that_there_are(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failing night would empty the list."""
    with WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(quoting_model)
        run_with_model(world)
        n_asked, before = len(server.requests), world.bytes_of(world.paths.paper_summaries)
        again = run_with_model(world)
        assert len(server.requests) == n_asked > 0
        assert again.facts["paper_summaries"]["n_model_requests"] == 0
        server.answer_by(lambda _request: Status(503))
        world.write_paper("iron", "Iron and endurance", FOUND)

        outcome = run_with_model(world)

    assert outcome.is_success, outcome.failures or outcome.broken
    assert set(outcome.warned) & {"paper_summaries.all_summarised"}
    assert world.bytes_of(world.paths.paper_summaries) != before or "iron" in str(outcome.warned)
    assert {"ferritin", "basalt"} <= set(world.table(world.paths.paper_summaries)["paper_id"].to_pylist())


def test_a_key_that_is_missing_ends_the_run_before_its_first_asset(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be told after an hour of parsing."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    outcome = run_with_model(world)

    assert not outcome.is_success
    assert outcome.counts == {}
