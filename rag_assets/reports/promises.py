"""What must hold of reports before they are published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.update import UPDATE_PROMISES, unanswered_rows, unjudged_rows
from rag_assets.core.domain import Chunk
from rag_assets.core.promises import Promise
from rag_assets.reports.report import Report
from rag_assets.reports.update import ReportUpdate

Offender = dict[str, Any]


@dataclass(frozen=True)
class ReportsCandidate:
    """Reports that wait for publication."""

    updates: Sequence[ReportUpdate]
    unusable: Mapping[str, str]
    """Templates that cannot be read: the reason by file name."""
    chunks: Mapping[str, Chunk]
    """The published chunks by id; those that are cited are enough."""
    min_sources: int

    @property
    def answers(self) -> AnswersCandidate:
        results = tuple(result for update in self.updates for result in update.answers.results)
        return AnswersCandidate(results, self.chunks, self.min_sources)


def uncited_sentences(reports: Sequence[Report]) -> list[Offender]:
    """Statements in text and tables without a quote in the evidence of their report."""
    return [
        {"report": report.template.name, "section": written.section.heading, "sentence": one.text[:200]}
        for report in reports
        for written in report.sections
        for one in written.statements
        if not one.evidence or not set(one.evidence) <= set(report.evidence)
    ]


def unnamed_gaps(updates: Sequence[ReportUpdate]) -> list[Offender]:
    """Questions that were refused or not answered, and that no gap of their section names."""
    return [
        {"report": update.report.template.name, "question": result.question}
        for update in updates
        for searched in [{gap.searched for written in update.report.sections for gap in written.gaps}]
        for result in update.answers.results
        if result.refused and result.question not in searched
    ]


def silent_sections(reports: Sequence[Report]) -> list[Offender]:
    """Sections that ask something, and have neither a statement nor a gap."""
    return [
        {"report": report.template.name, "section": written.section.heading}
        for report in reports
        for written in report.sections
        if written.section.asks and not written.statements and not written.gaps
    ]


def _reports(candidate: ReportsCandidate) -> list[Report]:
    return [update.report for update in candidate.updates]


def _of_answers(promise: Promise[AnswersCandidate]) -> Promise[ReportsCandidate]:
    return Promise(
        promise.name, promise.sentence, lambda candidate: promise.offenders(candidate.answers), promise.severity
    )


REPORT_PROMISES: list[Promise[ReportsCandidate]] = [
    *map(_of_answers, ANSWER_PROMISES),
    Promise(
        "sentences_cited",
        "Every sentence of a report has its quote in the evidence.",
        lambda candidate: uncited_sentences(_reports(candidate)),
    ),
    Promise(
        "gaps_named",
        "What a section asks and no paper answers is named below it.",
        lambda candidate: unnamed_gaps(candidate.updates),
    ),
    Promise(
        "no_silent_section",
        "A section says something, or what it lacks.",
        lambda candidate: silent_sections(_reports(candidate)),
    ),
    Promise(
        "templates_usable",
        "Every template can be read. The report of one that cannot stays as it was; mend the line that is named.",
        lambda candidate: [{"template": name, "problem": why} for name, why in candidate.unusable.items()],
        "warning",
    ),
    Promise(
        UPDATE_PROMISES[0].name,
        UPDATE_PROMISES[0].sentence,
        lambda candidate: [row for one in candidate.updates for row in unanswered_rows(one.answers)],
        "warning",
    ),
    Promise(
        UPDATE_PROMISES[1].name,
        UPDATE_PROMISES[1].sentence,
        lambda candidate: [row for one in candidate.updates for row in unjudged_rows(one.answers)],
        "warning",
    ),
]
