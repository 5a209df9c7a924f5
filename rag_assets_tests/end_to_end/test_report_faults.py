"""Reports whose run is killed, whose model fails, or whose promises are broken on purpose."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rag_assets.reports import update
from rag_assets.reports.report import Report
from rag_assets.reports.templates import ReportPlan
from rag_assets_testing.wire import RateLimited, Reply, Step, Wire
from rag_assets_testing.wire.quoting_model import quoting_model
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_model_answers import HURRIED, MODELS
from rag_assets_tests.end_to_end.test_reports import (
    TEMPLATE,
    run_with_model,
    write_template,
    written,
)


@pytest.mark.parametrize("fault", [RateLimited(), Reply("no JSON at all")])
def test_what_a_failing_model_leaves_open_is_named_and_asked_again(
    world: World, fault: Step, wire: Wire
) -> None:
    """A report without its gaps looks finished; one that never heals stays empty."""
    write_template(world)
    patient = {**HURRIED, "timeout_s": 0.3}
    server = wire()
    server.answer_by(lambda _request: fault)
    world.run("reports", answering={"model": MODELS["openai"]}, model_access=patient)
    report = world.paths.reports / "review.md"
    assert not report.exists() or "[INSUFFICIENT DATA]" in report.read_text("utf-8").replace(
        "\\", ""
    )
    server.answer_by(quoting_model)

    healed = run_with_model(world, "reports")

    if isinstance(fault, Reply):  # it was answered, badly: asked again only when something changes
        assert "Searched in vain" in written(world)
    else:
        assert healed.is_success, healed.failures or healed.broken
        assert "Ferritin fell by 12%" in written(world)


def _with_sections(report: Report, **changes: Any) -> Report:
    return replace(report, sections=tuple(replace(one, **changes) for one in report.sections))


@pytest.mark.parametrize(
    ("check", "breaks"),
    [
        ("sentences_cited", lambda report: replace(report, evidence=())),
        ("gaps_named", lambda report: _with_sections(report, gaps=())),
        ("no_silent_section", lambda report: _with_sections(report, answers=(), rows=(), gaps=())),
    ],
)
def test_a_report_that_breaks_a_promise_stays_as_it_was_and_the_others_go_on(
    world: World, monkeypatch: pytest.MonkeyPatch, check: str, breaks: Callable[[Report], Report]
) -> None:
    """One template kept the reports of all others back."""
    write_template(world)
    world.run("reports")
    before = written(world)
    changed = TEMPLATE.replace("Where does basalt", "In which places does basalt")
    write_template(world, changed)
    write_template(world, changed.replace("# ", "# Another ", 1), "another")
    assembled = update.assembled

    def broken(plan: ReportPlan, *arguments: Any) -> Report:
        report = assembled(plan, *arguments)
        return report if plan.template.title.startswith("Another") else breaks(report)

    monkeypatch.setattr(update, "assembled", broken)

    outcome = world.run("reports")

    assert outcome.is_success, outcome.broken
    assert "review" in outcome.warned[f"reports.{check}"]
    assert "another" not in outcome.warned[f"reports.{check}"]
    assert written(world) == before
    assert "12%" in written(world, "another")


def test_a_second_template_of_a_name_is_refused_and_the_first_is_written(world: World) -> None:
    """Both write the same report: the one that is read last would win without a word."""
    write_template(world)
    second = world.paths.templates / "review.json"
    second.write_text('{"sections": [{"heading": "Rocks", "guidance": "What is basalt?"}]}')

    outcome = world.run("reports")

    told = outcome.warned["reports.templates_usable"]
    assert "review.md: another template has the same name. Rename one." in told
    assert "What is basalt?" in written(world)
