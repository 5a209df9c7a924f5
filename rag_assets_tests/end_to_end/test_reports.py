"""Whole runs with templates of reports: what is written, what is written again, and what is never
asked again."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_assets.answering.drafts import REFUSAL
from rag_assets_testing.wire import WireServer, use_wire_environment
from rag_assets_testing.wire.quoting_model import Prompt, quoting_model
from rag_assets_testing.world import Outcome, World
from rag_assets_tests.end_to_end.test_model_answers import HURRIED, MODELS

TEMPLATE = """# Runners and rocks

## Runners

- How much did ferritin fall in runners within a month?
- Who composed the opera about the queen?

## Rocks

Where does basalt take up water?

## Side by side

```toml
papers = ["ferritin", "basalt"]
columns = { Result = "What happened within a month of training?" }
```
"""


def write_template(world: World, text: str = TEMPLATE, name: str = "review") -> None:
    world.paths.templates.mkdir(exist_ok=True)
    (world.paths.templates / f"{name}.md").write_text(text, "utf-8")


def written(world: World, name: str = "review") -> str:
    return (world.paths.reports / f"{name}.md").read_text("utf-8")


def rows(world: World) -> dict[str, dict[str, Any]]:
    lines = (world.paths.reports / "review.jsonl").read_text("utf-8").splitlines()
    return {row["question_id"]: row for row in map(json.loads, lines)}


def run_with_model(world: World, *assets: str) -> Outcome:
    return world.run(*assets, answering={"model": MODELS["openai"]}, model_access=HURRIED)


@pytest.fixture(scope="module")
def model_server() -> Iterator[WireServer]:
    """Answers with quotes of what stands in its prompts."""
    with WireServer("openai") as server:
        yield server


@pytest.fixture
def model(model_server: WireServer, monkeypatch: pytest.MonkeyPatch) -> WireServer:
    """The model that answers in this test. Its requests are those of all tests so far."""
    use_wire_environment(monkeypatch, model_server)
    model_server.answer_by(quoting_model)
    return model_server


@pytest.fixture(scope="module")
def reported_once(
    built: World, model_server: WireServer, tmp_path_factory: pytest.TempPathFactory
) -> World:
    """The built world with a report that the model wrote. Not to be changed."""
    world = built.copy_to(tmp_path_factory.mktemp("reported"))
    write_template(world)
    with pytest.MonkeyPatch.context() as environment:
        use_wire_environment(environment, model_server)
        model_server.answer_by(quoting_model)
        outcome = run_with_model(world)
    assert outcome.is_success, outcome.failures or outcome.broken
    return world


@pytest.fixture
def reported(reported_once: World, model: WireServer, tmp_path: Path) -> World:
    """A copy of it, to be changed."""
    return reported_once.copy_to(tmp_path)


def test_a_template_becomes_a_report_of_verified_sentences_and_named_gaps(world: World) -> None:
    """A sentence without its page, or a question that is passed over in silence, and the report is
    worth nothing."""
    write_template(world)

    outcome = world.run("reports")

    assert outcome.is_success, outcome.failures or outcome.broken
    text = written(world)
    fact = "Ferritin fell by 12% in all groups of runners within a month of training. Nobody had expected it."
    assert f"{fact} \\[1\\]" in text
    assert f"1. “{fact}” — ferritin, p. 2" in text
    assert "- Who composed the opera about the queen? Searched in vain: " in text
    assert rows(world)["runners/2"]["answer"] == REFUSAL
    assert outcome.counts["reports"] == (3, 0, 0, 0)


def test_an_unchanged_run_writes_no_byte_and_asks_nothing(
    reported: World, model: WireServer
) -> None:
    """Each night would cost what the report cost."""
    n_before, before = len(model.requests), reported.bytes_of(reported.paths.reports)

    outcome = run_with_model(reported, "reports")

    assert len(model.requests) == n_before > 0
    assert reported.bytes_of(reported.paths.reports) == before
    assert outcome.counts["reports"] == (0, 0, 0, 3)


def test_another_style_writes_the_report_again_and_asks_nothing(
    reported: World, model: WireServer
) -> None:
    """A journal that wants numbers costs no call; a style that is left as it was would be a setting
    without effect."""
    answers = (reported.paths.reports / "review.jsonl").read_bytes()
    n_before = len(model.requests)

    style = {"model": MODELS["openai"], "citation_style": "numeric"}
    outcome = reported.run(answering=style, model_access=HURRIED)

    assert outcome.is_success
    assert len(model.requests) == n_before
    assert (reported.paths.reports / "review.jsonl").read_bytes() == answers
    assert "- \\[1\\] " in written(reported)


def test_an_edited_paper_costs_calls_for_the_sections_that_read_it_only(
    reported: World, model: WireServer
) -> None:
    """A report of many sections would be paid for again whenever one paper changes."""
    asked_before = len(model.requests)
    reported.write_paper(
        "basalt", "Basalt and water", "Where rocks of basalt take up water, they keep it."
    )

    outcome = run_with_model(reported)

    asked = [Prompt.of(request) for request in model.requests[asked_before:]]
    assert outcome.is_success, outcome.failures or outcome.broken
    in_report = [prompt for prompt in asked if "basalt" in prompt.papers.values()]
    assert asked == in_report, "only prompts that show the edited paper are sent again"
    assert "they keep it" in written(reported)
    assert "rocks" in outcome.facts["reports"]["sections_written"]


def test_a_model_is_shown_the_outline(reported: World, model: WireServer) -> None:
    """Sections that know nothing of each other repeat each other."""
    prompts = [request.prompt for request in model.requests if "This part: Rocks" in request.prompt]

    assert prompts
    assert all("Runners and rocks" in prompt and "- Side by side" in prompt for prompt in prompts)


def test_a_deleted_template_takes_its_report_along(world: World) -> None:
    """A report that nothing stands for any more would look current for ever."""
    write_template(world)
    world.run("reports")
    (world.paths.templates / "review.md").unlink()

    outcome = world.run("reports")

    assert list(world.paths.reports.iterdir()) == []
    assert outcome.counts["reports"] == (0, 0, 3, 0)


def test_without_templates_nothing_is_written(built: World) -> None:
    """Whoever wants no report would find folders and failures."""
    assert not built.paths.reports.exists()
