"""What keeps a report from being published, found in reports that were made wrong on purpose."""

from dataclasses import replace
from pathlib import Path

import pytest

from rag_assets.answering.records import unchanged_answers
from rag_assets.core.domain import Claim, QAResult
from rag_assets.reports.report import Report, assembled
from rag_assets.reports.templates import parse_template, plan_report
from rag_assets.reports.update import (
    REPORT_PROMISES,
    ReportFiles,
    ReportsCandidate,
    ReportUpdate,
    is_sound,
)
from rag_assets_tests.reports.test_renderings import answer, citation

TEMPLATE = """# Iron

## Findings

- How much did ferritin fall?
- Who paid for it?
"""
FELL = Claim("Ferritin fell.", (citation("iron", 0, "Ferritin fell by a lot."),))


@pytest.fixture
def answers() -> list[QAResult]:
    return [
        answer("findings/1", "How much did ferritin fall?", FELL),
        answer("findings/2", "Who paid for it?"),
    ]


@pytest.fixture
def report(answers: list[QAResult]) -> Report:
    plan = plan_report(parse_template(TEMPLATE, Path("iron.md")), lambda _question, _k: [])
    return assembled(plan, answers, {}, {})


def broken(
    report: Report, answers: list[QAResult], unusable: dict[str, str] | None = None
) -> set[str]:
    """Names of the promises about reports that do not hold; those of answers have tests of their
    own."""
    update = ReportUpdate(
        ReportFiles(Path("iron.md"), Path("reports")), report, unchanged_answers(answers), ""
    )
    candidate = ReportsCandidate([update], unusable or {})
    own = {"sentences_cited", "gaps_named", "no_silent_section", "templates_usable"}
    found = {one.name for one in REPORT_PROMISES if one.name in own and one.offenders(candidate)}
    assert is_sound(update) == (not found - {"templates_usable"}), (
        "only what breaks one is kept back"
    )
    return found


def test_a_report_as_it_is_made_keeps_its_promises(report: Report, answers: list[QAResult]) -> None:
    """A guardrail that is always red is switched off."""
    assert broken(report, answers) == set()


def test_a_sentence_without_evidence_is_found(report: Report, answers: list[QAResult]) -> None:
    """It would stand there as if it were proven."""
    (section,) = report.sections
    (fell,) = section.statements
    bare = replace(
        section, answers=(replace(section.answers[0], statements=(replace(fell, evidence=()),)),)
    )

    assert broken(replace(report, sections=(bare,)), answers) == {"sentences_cited"}
    assert broken(replace(report, evidence=()), answers) == {"sentences_cited"}, (
        "its number leads nowhere"
    )


def test_a_question_that_is_passed_over_is_found(report: Report, answers: list[QAResult]) -> None:
    """A reader would not learn that anything is missing."""
    (section,) = report.sections

    assert broken(replace(report, sections=(replace(section, gaps=()),)), answers) == {"gaps_named"}


def test_a_section_that_says_nothing_is_found(report: Report, answers: list[QAResult]) -> None:
    """A heading above nothing looks like a fault of the printer."""
    (section,) = report.sections
    silent = replace(section, answers=(), gaps=())

    assert "no_silent_section" in broken(replace(report, sections=(silent,)), answers)
