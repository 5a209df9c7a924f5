"""Summaries of papers in whole runs: from the papers folder to the list of papers."""

import pytest

from rag_assets.core.domain import Point
from rag_assets.core.settings import load_settings
from rag_assets.library.reading.papers import Papers
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


def test_without_a_model_a_paper_is_listed_with_its_abstract_and_nothing_fails(world: World) -> None:
    """A list of file names tells nobody which paper to read."""
    text = f"Abstract\n\n{FOUND} We bled them twice.\n\nMethods\n\nRunners were bled by two nurses in the clinic.\n"
    (world.paths.papers / "runners.txt").write_text(f"Ferritin in runners\n\n{text}", "utf-8")

    outcome = world.run()

    assert outcome.is_success, outcome.failures or outcome.broken
    assert outcome.counts["paper_summaries"] == (0, 0, 0, 0)
    listed = {paper.paper_id: paper.abstract for paper in papers_of(world).all()}
    assert listed["runners"] == f"{FOUND} We bled them twice."
    assert listed["iron"] == ""
    assert papers_of(world).one("runners").points == ()


def test_papers_come_and_go_with_their_summaries(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A withdrawn paper would still be summarised; a model that is switched off would still be believed."""
    with WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(quoting_model)
        assert run_with_model(world).counts["paper_summaries"] == (3, 0, 0, 0)
        assert [told.point for told in papers_of(world).one("ferritin").points] == list(Point)
        (world.paths.papers / "iron.tei.xml").unlink()
        assert run_with_model(world).counts["paper_summaries"] == (0, 0, 1, 2)

    assert world.run().counts["paper_summaries"] == (0, 0, 2, 0)
    assert papers_of(world).one("ferritin").points == ()


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
