"""A report as a view of a template and the answers to its questions: claims, tables, gaps, and the
evidence of all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.answering.drafts import INSUFFICIENT
from rag_assets.answering.wording import claim_note, notes_of
from rag_assets.core.domain import Citation, Claim, QAResult
from rag_assets.reports.templates import PlannedQuestion, ReportPlan, Section, Template

NOTHING_HOLDS = INSUFFICIENT
"""Shown where no claim holds."""


@dataclass(frozen=True)
class NumberedQuote:
    """A quote of the report, numbered in the order of first use, from 1."""

    number: int
    citation: Citation


@dataclass(frozen=True)
class CitedClaim:
    text: str
    evidence: tuple[NumberedQuote, ...]
    note: str = ""
    """That its quotes carry a part of it only, or how it is computed from them."""

    @property
    def said(self) -> str:
        """The claim with its note."""
        return f"{self.text} ({self.note})" if self.note else self.text


@dataclass(frozen=True)
class Gap:
    """Something a section asks that the papers read do not say."""

    missing: str
    searched: str
    """The question that was asked of the corpus."""
    where: str
    """What was searched: the papers named and the filter; empty for the whole corpus and for whole
    papers."""
    n_chunks: int
    """How many chunks were read in vain."""
    papers: tuple[str, ...]
    """Ids of the papers that those belong to."""
    about: tuple[str, ...] = ()
    """Ids of the papers it is missing for, of those that were to say it; empty where no papers were
    named."""
    is_withheld: bool = False
    """There was an answer, which did not keep the promises about answers: the papers may say it."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """What a section says to one of its questions."""

    asks: str
    """The question as the template has it."""
    lead: tuple[CitedClaim, ...]
    """The sentences that open the answer, with the quotes of the statements that they rest on."""
    statements: tuple[CitedClaim, ...]
    """None where nothing holds."""
    remarks: tuple[str, ...]
    """What a reader must know besides: that few papers support it."""


@dataclass(frozen=True)
class PaperRow:
    """What a table says about one paper."""

    paper_id: str
    cells: tuple[tuple[CitedClaim, ...], ...]
    """One per label, empty where nothing holds."""


@dataclass(frozen=True)
class WrittenSection:
    section: Section
    answers: tuple[AnsweredQuestion, ...]
    """In text, in the order of the questions."""
    labels: tuple[str, ...]
    """Names of the columns of the table."""
    rows: tuple[PaperRow, ...]
    gaps: tuple[Gap, ...]

    @property
    def is_table(self) -> bool:
        return bool(self.section.settings.columns)

    @property
    def statements(self) -> tuple[CitedClaim, ...]:
        """All of them, in leads, text and cells."""
        in_rows = (one for row in self.rows for cell in row.cells for one in cell)
        in_text = (
            one for answered in self.answers for one in (*answered.lead, *answered.statements)
        )
        return (*in_text, *in_rows)


@dataclass(frozen=True)
class Report:
    """Everything that a rendering shows."""

    template: Template
    sections: tuple[WrittenSection, ...]
    evidence: tuple[NumberedQuote, ...]
    papers: tuple[str, ...]
    """Ids of the papers that are cited, in order of first use."""
    titles: Mapping[str, str]
    """By paper id, of the papers that are cited or have a row; the id where a paper has no
    title."""
    models: tuple[str, ...]
    """What wrote or chose the claims."""
    references: tuple[str, ...] = ()
    """The papers that are cited, in a style with a list of references; there a claim is followed by
    the place of its quotes, not by their numbers."""


class _Numbering:
    """Gives each quote its number; a quote that is used again keeps its own."""

    def __init__(self) -> None:
        self.evidence: dict[tuple[str, int, int], NumberedQuote] = {}

    def statements(self, claims: Iterable[Claim]) -> tuple[CitedClaim, ...]:
        cited = []
        for claim in claims:
            quotes = []
            for one in claim.citations:
                quote = NumberedQuote(len(self.evidence) + 1, one)
                place = (one.chunk_id, one.start, one.end)
                quotes.append(self.evidence.setdefault(place, quote))
            cited.append(CitedClaim(claim.text, tuple(quotes), claim_note(claim)))
        return tuple(cited)


def assembled(
    plan: ReportPlan,
    answers: Sequence[QAResult],
    titles: Mapping[str, str],
    paper_of: Mapping[str, str],
) -> Report:
    """The report of a plan. titles: of papers by id. paper_of: the paper of each chunk that was
    read.

    A question without an answer is a gap, as one that was refused.
    """
    by_id = {answer.question_id: answer for answer in answers}
    numbering = _Numbering()
    sections = tuple(
        _written(section, plan.of(section), by_id, numbering, paper_of)
        for section in plan.template.sections
    )
    evidence = tuple(numbering.evidence.values())
    cited = tuple(dict.fromkeys(one.citation.paper_id for one in evidence))
    shown = (*cited, *(row.paper_id for section in sections for row in section.rows))
    models = dict.fromkeys(answer.model.split()[0] for answer in answers if answer.claims)
    named = {paper: titles.get(paper) or paper for paper in shown}
    return Report(plan.template, sections, evidence, cited, named, tuple(models))


def _written(
    section: Section,
    planned: Sequence[PlannedQuestion],
    answers: Mapping[str, QAResult],
    numbering: _Numbering,
    paper_of: Mapping[str, str],
) -> WrittenSection:
    said: list[AnsweredQuestion] = []
    rows: dict[str, list[tuple[CitedClaim, ...]]] = {}
    labels: dict[str, None] = {}
    gaps: list[Gap] = []
    for one in planned:
        answer = answers.get(one.question.id)
        most = 1 if one.column and not section.settings.length else section.settings.length
        claims = answer.claims[:most] if answer else ()
        statements = numbering.statements(claims)
        gaps += _gaps(one, answer, claims, paper_of)
        if one.paper_id is None:
            notes = notes_of(replace(answer, unanswered=())) if answer else ()
            lead = _lead(answer, statements) if answer else ()
            said.append(AnsweredQuestion(one.asks, lead, statements, tuple(notes)))
        else:
            rows.setdefault(one.paper_id, []).append(statements)
            labels[one.asks] = None
    cells = tuple(PaperRow(paper, tuple(own)) for paper, own in rows.items())
    return WrittenSection(section, tuple(said), tuple(labels), cells, tuple(_together(gaps)))


def _lead(answer: QAResult, shown: Sequence[CitedClaim]) -> tuple[CitedClaim, ...]:
    """The sentences of the lead that rest on statements that are shown only."""
    cited = []
    for sentence in answer.lead:
        if max(sentence.claims) <= len(shown):
            quotes = (quote for number in sentence.claims for quote in shown[number - 1].evidence)
            cited.append(CitedClaim(sentence.text, tuple(dict.fromkeys(quotes))))
    return tuple(cited)


def _gaps(
    one: PlannedQuestion,
    answer: QAResult | None,
    claims: Sequence[Claim],
    paper_of: Mapping[str, str],
) -> list[Gap]:
    """What no claim answers, and the papers that no claim cites though the section or the question
    names them.

    claims: those of the answer that are shown.
    """
    question = one.question
    read = answer.contexts if answer else ()
    papers = tuple(dict.fromkeys(paper_of[chunk] for chunk in read if chunk in paper_of))
    is_answered = answer is not None and bool(answer.claims)
    is_withheld = answer is not None and answer.withheld
    missing = (
        [part if one.paper_id is None else f"{one.asks}: {part}" for part in answer.unanswered]
        if answer and is_answered
        else [one.asks]
    )
    if one.paper_id is None:
        cited = {citation.paper_id for claim in claims for citation in claim.citations}
        # the papers that the question was put to: those of its section, else those that it names
        named = one.question.paper_ids or (answer.named_papers if answer else ())
        silent = tuple(paper for paper in named if is_answered and paper not in cited)
        n_silent = sum(paper_of.get(chunk) in silent for chunk in read)
        where = str(question.filter)
        last = [Gap(one.asks, question.question, "", n_silent, silent, silent)] if silent else []
    else:
        where, last = str(question.where or ""), []
    about = (one.paper_id,) if one.paper_id is not None else ()
    gaps = [
        Gap(what, question.question, where, len(read), papers, about, is_withheld)
        for what in missing
    ]
    return gaps + last


def _together(gaps: Sequence[Gap]) -> list[Gap]:
    merged: dict[tuple[str, str, bool, bool], Gap] = {}
    for gap in gaps:
        key = (gap.missing, gap.searched, bool(gap.about), gap.is_withheld)
        known = merged.get(key)
        if known is None or not gap.about:
            merged[key] = gap
            continue
        merged[key] = replace(
            known,
            n_chunks=known.n_chunks + gap.n_chunks,
            papers=tuple(dict.fromkeys((*known.papers, *gap.papers))),
            about=(*known.about, *gap.about),
        )
    return list(merged.values())
