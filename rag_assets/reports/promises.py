"""What must hold before reports are published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.update import UPDATE_PROMISES, AnswerUpdate
from rag_assets.core.domain import Chunk
from rag_assets.core.promises import Offenders, Promise
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
    def reports(self) -> list[Report]:
        return [update.report for update in self.updates]

    @property
    def answers(self) -> AnswersCandidate:
        results = tuple(result for update in self.updates for result in update.answers.results)
        return AnswersCandidate(results, self.chunks, self.min_sources)


def uncited_sentences(candidate: ReportsCandidate) -> list[Offender]:
    """Statements in text and tables without a quote in the evidence of their report."""
    return [
        {"report": report.template.name, "section": written.section.heading, "sentence": one.text[:200]}
        for report in candidate.reports
        for written in report.sections
        for one in written.statements
        if not one.evidence or not set(one.evidence) <= set(report.evidence)
    ]


def unnamed_gaps(candidate: ReportsCandidate) -> list[Offender]:
    """Questions that were refused or not answered, and that no gap of their section names."""
    return [
        {"report": update.report.template.name, "question": result.question}
        for update in candidate.updates
        for searched in [{gap.searched for written in update.report.sections for gap in written.gaps}]
        for result in update.answers.results
        if result.refused and result.question not in searched
    ]


def silent_sections(candidate: ReportsCandidate) -> list[Offender]:
    """Sections that ask something, and have neither a statement nor a gap."""
    return [
        {"report": report.template.name, "section": written.section.heading}
        for report in candidate.reports
        for written in report.sections
        if written.section.asks and not written.statements and not written.gaps
    ]


def _of_answers(promise: Promise[AnswersCandidate]) -> Promise[ReportsCandidate]:
    return Promise(
        promise.name, promise.sentence, lambda candidate: promise.offenders(candidate.answers), promise.severity
    )


def _of_updates(promise: Promise[AnswerUpdate]) -> Promise[ReportsCandidate]:
    def found(candidate: ReportsCandidate) -> Offenders:
        return [row for one in candidate.updates for row in promise.offenders(one.answers)]

    return Promise(promise.name, promise.sentence, found, promise.severity)


REPORT_PROMISES: list[Promise[ReportsCandidate]] = [
    *map(_of_answers, ANSWER_PROMISES),
    Promise(
        "sentences_cited",
        "Every sentence of a report has its quote in the evidence.",
        uncited_sentences,
    ),
    Promise(
        "gaps_named",
        "What a section asks and no paper answers is named below it.",
        unnamed_gaps,
    ),
    Promise(
        "no_silent_section",
        "A section says something, or what it lacks.",
        silent_sections,
    ),
    Promise(
        "templates_usable",
        "Every template can be read. The report of one that cannot stays as it was; mend the line that is named.",
        lambda candidate: [{"template": name, "problem": why} for name, why in candidate.unusable.items()],
        "warning",
    ),
    *map(_of_updates, UPDATE_PROMISES),
]
