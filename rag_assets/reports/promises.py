"""What must hold before reports are published. What breaks it costs one claim, one answer or one
report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.update import UPDATE_PROMISES, AnswerUpdate
from rag_assets.core.promises import Offenders, Promise
from rag_assets.reports.update import ReportUpdate

Offender = dict[str, Any]


@dataclass(frozen=True)
class ReportsCandidate:
    """Reports that wait for publication."""

    updates: Sequence[ReportUpdate]
    unusable: Mapping[str, str]
    """Templates that cannot be read: the reason by file name."""
    max_withheld_share: float
    """The setting answering.max_withheld_share."""

    @property
    def answers(self) -> AnswersCandidate:
        results = tuple(result for update in self.updates for result in update.answers.results)
        return AnswersCandidate(results, self.max_withheld_share)


def uncited_sentences(update: ReportUpdate) -> list[Offender]:
    """Statements in text and tables without a quote in the evidence of their report."""
    report = update.report
    return [
        {
            "report": report.template.name,
            "section": written.section.heading,
            "sentence": one.text[:200],
        }
        for written in report.sections
        for one in written.statements
        if not one.evidence or not set(one.evidence) <= set(report.evidence)
    ]


def unnamed_gaps(update: ReportUpdate) -> list[Offender]:
    """Questions that nothing answers, and that no gap of their section names."""
    searched = {gap.searched for written in update.report.sections for gap in written.gaps}
    return [
        {"report": update.report.template.name, "question": result.question}
        for result in update.answers.results
        if not result.claims and result.question not in searched
    ]


def silent_sections(update: ReportUpdate) -> list[Offender]:
    """Sections that ask something, and have neither a statement nor a gap."""
    return [
        {"report": update.report.template.name, "section": written.section.heading}
        for written in update.report.sections
        if written.section.asks and not written.statements and not written.gaps
    ]


def is_sound(update: ReportUpdate) -> bool:
    """Whether a report may be published; one that may not stays as it was."""
    return not (uncited_sentences(update) or unnamed_gaps(update) or silent_sections(update))


def _of_each(
    name: str, sentence: str, broken: Callable[[ReportUpdate], Offenders]
) -> Promise[ReportsCandidate]:
    """The promise that warns of the reports that are not published."""

    def found(candidate: ReportsCandidate) -> Offenders:
        return [row for update in candidate.updates for row in broken(update)]

    return Promise(
        name,
        f"{sentence} A report that breaks it stays as it was; the others go on.",
        found,
        "warning",
    )


def _of_answers(promise: Promise[AnswersCandidate]) -> Promise[ReportsCandidate]:
    return Promise(
        promise.name,
        promise.sentence,
        lambda candidate: promise.offenders(candidate.answers),
        promise.severity,
    )


def _of_updates(promise: Promise[AnswerUpdate]) -> Promise[ReportsCandidate]:
    def found(candidate: ReportsCandidate) -> Offenders:
        return [row for one in candidate.updates for row in promise.offenders(one.answers)]

    return Promise(promise.name, promise.sentence, found, promise.severity)


REPORT_PROMISES: list[Promise[ReportsCandidate]] = [
    *map(_of_answers, ANSWER_PROMISES),
    _of_each(
        "sentences_cited",
        "Every sentence of a report has its quote in the evidence.",
        uncited_sentences,
    ),
    _of_each(
        "gaps_named", "What a section asks and no paper answers is named below it.", unnamed_gaps
    ),
    _of_each("no_silent_section", "A section says something, or what it lacks.", silent_sections),
    Promise(
        "templates_usable",
        "Every template can be read. The report of one that cannot stays as it was; mend the line that is named.",
        lambda candidate: [
            {"template": name, "problem": why} for name, why in candidate.unusable.items()
        ],
        "warning",
    ),
    *map(_of_updates, UPDATE_PROMISES),
]
