"""Updates the report of a template: which of its questions are asked again, which files are
written, and which promises must hold before it is published. If a promise is broken, one claim, one
answer or one report is left out; the others are published.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rag_assets.answering.promises import ANSWER_PROMISES, AnswersCandidate
from rag_assets.answering.records import (
    UPDATE_PROMISES,
    AnswerUpdate,
    answered,
    is_current,
    meta_of,
    read_results,
    result_fingerprint,
    unchanged_answers,
    write_results,
)
from rag_assets.answering.wording import renamed
from rag_assets.core.domain import QAResult
from rag_assets.core.incremental import StagedFiles, file_sha256, fingerprint
from rag_assets.core.promises import Offenders, Promise
from rag_assets.core.settings import Settings
from rag_assets.core.table_files import read_columns
from rag_assets.corpus.records.published import titles_of
from rag_assets.engine import Engine
from rag_assets.reports.renderings import as_markdown
from rag_assets.reports.report import Report, assembled
from rag_assets.reports.templates import (
    ReportPlan,
    Section,
    Template,
    plan_report,
    subject_of,
)

REPORTS_VERSION = 4
"""Raise it when the code asks other questions for the same template, or writes the same answers
differently."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ReportFiles:
    """The files of the report of a template."""

    template: Path
    folder: Path

    @property
    def text(self) -> Path:
        return self.folder / f"{self.template.stem}.md"

    @property
    def answers(self) -> Path:
        """The answers from which the report is made, as rows of qa.jsonl."""
        return self.folder / f"{self.template.stem}.jsonl"

    @property
    def meta(self) -> Path:
        """The inputs from which the answers were made."""
        return self.folder / f"{self.template.stem}.meta.json"

    def all(self) -> tuple[Path, ...]:
        return self.text, self.answers, self.meta


@dataclass(frozen=True)
class ReportUpdate:
    """A report that is ready to be published."""

    files: ReportFiles
    report: Report
    answers: AnswerUpdate
    inputs: str
    """Fingerprint of the inputs from which the answers were made."""

    def stage(self, staged: StagedFiles) -> None:
        """Write its files to temporary paths; files that do not change are not written."""
        text, rows = as_markdown(self.report).encode(), self.files.answers
        staged.put(self.files.text, text)
        if self.answers.traces or not self.files.meta.exists():
            rows = staged.path(self.files.answers)
            write_results(self.answers.results, rows)
        label = self.files.template.name
        staged.put(
            self.files.meta,
            meta_of(rows, self.inputs, self.answers, question_file=label, text=text),
        )


@dataclass(frozen=True)
class ReportWriter:
    """Writes reports; an engine answers their questions."""

    engine: Engine
    settings: Settings

    def updated(self, template: Template, files: ReportFiles, progress: Progress) -> ReportUpdate:
        """The report as it should be published. If template, corpus, settings and code have not
        changed, no question is asked.

        progress: called with the numbers of questions that are done, and of all. A question that a
        model cannot answer now keeps its published answer. Raises the errors of `answered`.
        """
        plan, published = self._published(template, files)
        inputs = fingerprint(
            file_sha256(files.template), self.engine.answers_version(), REPORTS_VERSION
        )
        planned = [(each.question.id, each.question.question) for each in plan.questions]
        has_all_answers = planned == [(row.question_id, row.question) for row in published]
        if has_all_answers and is_current(files.answers, files.meta, inputs):
            return ReportUpdate(
                files, self._assembled(plan, published), unchanged_answers(published), inputs
            )
        plan, answers = self._answered(template, published, progress)
        return ReportUpdate(files, self._assembled(plan, answers.results), answers, inputs)

    def published(self, template: Template, files: ReportFiles) -> Report:
        """The report from its published answers; no question is asked."""
        return self._assembled(*self._published(template, files))

    def written(self, template: Template, progress: Progress) -> Report:
        """A new report, for which all questions are asked; it is not published. progress: see
        `updated`. Raises the errors of `answered`."""
        plan, answers = self._answered(template, [], progress)
        return self._assembled(plan, answers.results)

    def in_steps(self, template: Template) -> Iterator[tuple[int, int] | Report]:
        """A new report, question by question: yields the numbers of answered and of all questions
        before each question, and at last the report. Closing the iterator ends the work. Raises the
        errors of `Engine.answer`."""
        plan = plan_report(template, self._papers_about)
        answers: list[QAResult] = []
        for planned in plan.questions:
            yield len(answers), len(plan.questions)
            answers.append(self.engine.trace(planned.question, options=planned.options).result)
        yield self._assembled(plan, answers)

    def _published(
        self, template: Template, files: ReportFiles
    ) -> tuple[ReportPlan, Sequence[QAResult]]:
        """The plan with the papers of the published report, and its answers."""
        published = read_results(files.answers)

        def published_papers(section: Section) -> list[str]:
            # the id of a question in a table is "<section>/<paper>/<column>"
            ids = (row.question_id.split("/") for row in published)
            return list(dict.fromkeys(parts[1] for parts in ids if parts[0] == section.key))

        return plan_report(template, published_papers), published

    def _answered(
        self, template: Template, published: Sequence[QAResult], progress: Progress
    ) -> tuple[ReportPlan, AnswerUpdate]:
        """A new plan and the answers to its questions; published answers are kept while they are
        valid."""
        plan = plan_report(template, self._papers_about)
        options = {planned.question.id: planned.options for planned in plan.questions}
        answers = answered(
            [planned.question for planned in plan.questions],
            published,
            lambda question: self.engine.trace(question, options=options[question.id]),
            still_holds=self.engine.keeps_promises,
            n_at_once=self.engine.n_at_once,
            report=progress,
        )
        return plan, answers

    def _papers_about(self, section: Section) -> list[str]:
        """Ids of the papers for the table of a section: all, or those that a search finds."""
        subject = subject_of(section)
        if section.settings.papers == "all":
            return self.engine.papers(subject.filter)
        return [hit.chunk.paper_id for hit in self.engine.search(subject, section.settings.k)]

    def _assembled(self, plan: ReportPlan, answers: Sequence[QAResult]) -> Report:
        """The report in the citation style of the settings. A style with references needs a second
        pass, because the names of papers depend on which papers are cited."""
        report = assembled(plan, answers, self._titles, self._paper_of)
        sources = self.engine.style.sources(report.papers)
        if not sources.references:
            return report
        cited = assembled(
            plan,
            [renamed(answer, sources.names) for answer in answers],
            self._titles,
            self._paper_of,
        )
        return replace(cited, references=sources.references)

    @cached_property
    def _titles(self) -> dict[str, str]:
        return titles_of(self.settings.paths)

    @cached_property
    def _paper_of(self) -> dict[str, str]:
        chunks = read_columns(self.settings.paths.chunks, ["chunk_id", "paper_id"])
        return dict(
            zip(chunks["chunk_id"].to_pylist(), chunks["paper_id"].to_pylist(), strict=True)
        )


def section_fingerprints(name: str, results: Sequence[QAResult]) -> dict[str, str]:
    """ "<template>/<section>" -> fingerprint of the answers of the section. name: of the
    template."""
    rows: defaultdict[str, list[str]] = defaultdict(list)
    for result in results:
        rows[f"{name}/{result.question_id.partition('/')[0]}"].append(result_fingerprint(result))
    return {section: fingerprint(prints) for section, prints in rows.items()}


Offender = dict[str, Any]


@dataclass(frozen=True)
class ReportsCandidate:
    """Reports before publication, about which promises are checked."""

    updates: Sequence[ReportUpdate]
    unusable: Mapping[str, str]
    """File name of a template that cannot be read -> the reason."""

    @property
    def answers(self) -> AnswersCandidate:
        results = tuple(result for update in self.updates for result in update.answers.results)
        return AnswersCandidate(results)


def uncited_sentences(update: ReportUpdate) -> list[Offender]:
    """Claims in text and tables without a quote in the evidence of their report."""
    report = update.report
    return [
        {
            "report": report.template.name,
            "section": written.section.heading,
            "sentence": claim.text[:200],
        }
        for written in report.sections
        for claim in written.statements
        if not claim.evidence or not set(claim.evidence) <= set(report.evidence)
    ]


def unnamed_gaps(update: ReportUpdate) -> list[Offender]:
    """Questions without an answer that are not among the gaps of the report."""
    searched = {gap.searched for written in update.report.sections for gap in written.gaps}
    return [
        {"report": update.report.template.name, "question": result.question}
        for result in update.answers.results
        if not result.claims and result.question not in searched
    ]


def silent_sections(update: ReportUpdate) -> list[Offender]:
    """Sections with a question that have neither a claim nor a gap."""
    return [
        {"report": update.report.template.name, "section": written.section.heading}
        for written in update.report.sections
        if written.section.asks and not written.statements and not written.gaps
    ]


def is_sound(update: ReportUpdate) -> bool:
    """Whether a report may be published. Else its published version stays as it is."""
    return not (uncited_sentences(update) or unnamed_gaps(update) or silent_sections(update))


def _each(
    promise: Promise[Any], parts: Callable[[ReportsCandidate], Iterable[Any]]
) -> Promise[ReportsCandidate]:
    """The promise about one part as a promise about all reports. parts: the parts of the reports on
    which it is checked."""

    def offenders(candidate: ReportsCandidate) -> Offenders:
        return [row for part in parts(candidate) for row in promise.offenders(part)]

    return replace(promise, offenders=offenders)


_STAYS = "A report that breaks it stays as it was; the others go on."
_REPORT: list[Promise[ReportUpdate]] = [
    Promise(
        "sentences_cited",
        f"Every sentence of a report has its quote in the evidence. {_STAYS}",
        uncited_sentences,
        "warning",
    ),
    Promise(
        "gaps_named",
        f"What a section asks and no paper answers is named below it. {_STAYS}",
        unnamed_gaps,
        "warning",
    ),
    Promise(
        "no_silent_section",
        f"A section says something, or what it lacks. {_STAYS}",
        silent_sections,
        "warning",
    ),
]
REPORT_PROMISES: list[Promise[ReportsCandidate]] = [
    *(_each(one, lambda candidate: [candidate.answers]) for one in ANSWER_PROMISES),
    *(_each(one, lambda candidate: candidate.updates) for one in _REPORT),
    Promise(
        "templates_usable",
        "Every template can be read. The report of one that cannot stays as it was; mend the line that is named.",
        lambda candidate: [
            {"template": name, "problem": why} for name, why in candidate.unusable.items()
        ],
        "warning",
    ),
    *(
        _each(one, lambda candidate: [update.answers for update in candidate.updates])
        for one in UPDATE_PROMISES
    ),
]
