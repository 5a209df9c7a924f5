"""Reports whose run is killed, whose model fails, or whose promises are broken on purpose."""

import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_assets.answering import summarizers
from rag_assets.core.domain import Claim, PaperPoint
from rag_assets.reports import update
from rag_assets.reports.plan import ReportPlan
from rag_assets.reports.report import Answered, Report, WrittenSection
from rag_assets_testing.wire import RateLimited, Reply, Slow, Step, WireServer, use_wire_environment
from rag_assets_testing.wire.exchange import WireRequest
from rag_assets_testing.wire.quoting_model import Prompt, quoting_model, reply
from rag_assets_testing.world import World
from rag_assets_tests.end_to_end.test_model_answers import HURRIED, MODELS
from rag_assets_tests.end_to_end.test_model_runs_as_processes import DEADLINE_S, command, environment
from rag_assets_tests.end_to_end.test_reports import TEMPLATE, run_with_model, write_template, written
from rag_assets_tests.kept_entries import contents

MANY = "# Many\n\n" + "".join(f"## Part {n}\n\nWhat happened to ferritin in month {n}?\n\n" for n in range(8))
FOUND = "We found that ferritin fell by 12% in all groups of runners within a month of training."


@pytest.mark.whole
def test_a_killed_run_keeps_the_sections_that_were_asked(world: World, tmp_path: Path) -> None:
    """Each section asked twice is paid for twice; one that is lost is missing in the morning."""
    write_template(world, MANY, "many")
    (world.paths.questions / "smoke.jsonl").unlink()
    with WireServer("openai") as server:
        server.answer_by(lambda request: Slow(0.2, quoting_model(request)))
        variables = environment(server, tmp_path / "home") | {"OPENAI_API_KEY": server.key}
        process = subprocess.Popen(
            command(world, "run", "--select", "reports"),
            env=variables,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + DEADLINE_S
        n_before = len(contents(world.paths.kept, "answers"))
        while len(contents(world.paths.kept, "answers")) < n_before + 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        n_finished = len(contents(world.paths.kept, "answers")) - n_before
        n_sent = len(server.requests)
        assert not (world.paths.reports / "many.md").exists()

        done = subprocess.run(
            command(world, "run", "--select", "reports"),
            env=variables,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

        asked = Counter(request.prompt for request in server.requests)
    assert done.returncode == 0, done.stderr
    assert 3 <= n_finished < len(asked), "a run that was over, or had not begun, would prove nothing"
    assert sum(count - 1 for count in asked.values()) == n_sent - n_finished, "only what was under way"
    assert [line for line in written(world, "many").splitlines() if line.startswith("## Part")] == [
        f"## Part {n}" for n in range(8)
    ]


@pytest.mark.parametrize("fault", [RateLimited(), Reply("no JSON at all")])
def test_what_a_failing_model_leaves_open_is_named_and_asked_again(
    world: World, monkeypatch: pytest.MonkeyPatch, fault: Step
) -> None:
    """A report without its gaps looks finished; one that never heals stays empty."""
    write_template(world)
    patient = {**HURRIED, "timeout_s": 0.3}
    with WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(lambda _request: fault)
        world.run("reports", answering={"model": MODELS["openai"]}, model_access=patient)
        report = world.paths.reports / "review.md"
        assert not report.exists() or "[INSUFFICIENT DATA]" in report.read_text("utf-8").replace("\\", "")
        server.answer_by(quoting_model)

        healed = run_with_model(world, "reports")

    if isinstance(fault, Reply):  # it was answered, badly: asked again only when something changes
        assert "Searched in vain" in written(world)
    else:
        assert healed.is_success, healed.failures or healed.broken
        assert "Ferritin fell by 12%" in written(world)


def _without_evidence(report: Report) -> Report:
    return replace(report, evidence=())


def _without_gaps(report: Report) -> Report:
    return _with_sections(report, lambda section: replace(section, gaps=()))


def _silent(report: Report) -> Report:
    nothing: tuple[Answered, ...] = ()
    return _with_sections(report, lambda section: replace(section, answers=nothing, rows=(), gaps=()))


def _with_sections(report: Report, change: Callable[[WrittenSection], WrittenSection]) -> Report:
    return replace(report, sections=tuple(map(change, report.sections)))


@pytest.mark.parametrize(
    ("check", "breaks"),
    [("sentences_cited", _without_evidence), ("gaps_named", _without_gaps), ("no_silent_section", _silent)],
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


def _first_sentence(request: WireRequest) -> Reply:
    """A model that quotes the first sentence with a share, or else the first one, of its sources."""
    sentences = [
        (number, f"{one.strip()}.")
        for number, text in Prompt.of(request).sources.items()
        for one in text.split(". ")
        if len(one.split()) > 5
    ]
    number, sentence = next((one for one in sentences if "12%" in one[1]), sentences[0])
    return reply([(sentence, [(number, sentence.rstrip("."))])])


def _elsewhere(told: PaperPoint) -> list[PaperPoint]:
    return [_with_claims(told, lambda one: _cited(one, page_start=3, page_end=3))]


def _other_words(told: PaperPoint) -> list[PaperPoint]:
    return [_with_claims(told, lambda one: _cited(one, quote=one.citations[0].quote.replace("fell", "rose")))]


def _other_numbers(told: PaperPoint) -> list[PaperPoint]:
    return [_with_claims(told, lambda one: replace(one, text=one.text.replace("12%", "48%")))]


def _bare(told: PaperPoint) -> list[PaperPoint]:
    return [_with_claims(told, lambda one: replace(one, citations=()))]


def _gone(told: PaperPoint) -> list[PaperPoint]:
    return [_with_claims(told, lambda one: _cited(one, chunk_id="gone:1"))]


def _twice(told: PaperPoint) -> list[PaperPoint]:
    return [told, told]


def _with_claims(told: PaperPoint, change: Callable[[Claim], Claim]) -> PaperPoint:
    return replace(told, claims=tuple(map(change, told.claims)))


def _cited(claim: Claim, **changes: object) -> Claim:
    (cited,) = claim.citations
    return replace(claim, citations=(replace(cited, **changes),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("check", "breaks"),
    [
        ("pages_hold_quotes", _elsewhere),
        ("quotes_in_source", _other_words),
        ("numbers_agree", _other_numbers),
        ("claims_cited", _bare),
        ("of_their_papers", _gone),
        ("four_points", _twice),
    ],
)
def test_summaries_that_break_a_promise_are_withheld(
    world: World, monkeypatch: pytest.MonkeyPatch, check: str, breaks: Callable[[PaperPoint], list[PaperPoint]]
) -> None:
    """A guardrail that nobody saw fail may never do so."""
    before = world.bytes_of(world.paths.paper_summaries)
    world.write_paper("ferritin", "Ferritin in athletes", FOUND)
    points = summarizers.PaperSummarizer.points
    monkeypatch.setattr(
        summarizers.PaperSummarizer,
        "points",
        lambda self, chunks: [broken for told in points(self, chunks) for broken in breaks(told)],
    )

    with WireServer("openai") as server:
        use_wire_environment(monkeypatch, server)
        server.answer_by(_first_sentence)
        outcome = world.run(paper_summaries={"model": MODELS["openai"]}, model_access=HURRIED)

    assert f"paper_summaries.{check}" in outcome.broken
    assert "paper_summaries" not in outcome.counts
    assert "reports" not in outcome.counts, "what follows does not run"
    assert world.bytes_of(world.paths.paper_summaries) == before
