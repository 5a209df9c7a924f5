"""Puts a report together from a template and the answers to its questions: claims, tables, gaps,
and the evidence of all claims."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag_assets.answering.drafts import INSUFFICIENT
from rag_assets.answering.wording import claim_note, notes_of
from rag_assets.core.domain import Citation, Claim, QAResult
from rag_assets.reports.templates import PlannedQuestion, ReportPlan, Section, Template

NOTHING_HOLDS = INSUFFICIENT
"""Shown in place of an answer without claims."""


@dataclass(frozen=True)
class NumberedQuote:
    """A quote of the report, numbered in the order of first use, from 1."""

    number: int
    citation: Citation


@dataclass(frozen=True)
class CitedClaim:
    """A claim with its numbered quotes."""

    text: str
    evidence: tuple[NumberedQuote, ...]
    note: str = ""
    """Remark that its quotes support only a part of it, or how it is computed from them."""

    @property
    def said(self) -> str:
        """The claim followed by its note."""
        return f"{self.text} ({self.note})" if self.note else self.text


@dataclass(frozen=True)
class Gap:
    """A question of a section, or a part of it, to which no answer was found."""

    missing: str
    """The question or part, in the words of the template."""
    searched: str
    """The question that was asked of the corpus."""
    where: str
    """The filter of the search, with the named papers; empty for the whole corpus and for whole
    papers."""
    n_chunks: int
    """Number of chunks that were read without result."""
    papers: tuple[str, ...]
    """Ids of the papers of these chunks."""
    about: tuple[str, ...] = ()
    """Ids of the named papers for which the answer is missing; empty if no papers were named."""
    is_withheld: bool = False
    """Whether there was an answer that broke the promises about answers. The papers may contain the
    answer then."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """The answer of a section to one of its questions."""

    asks: str
    """The question in the words of the template."""
    lead: tuple[CitedClaim, ...]
    """The sentences at the beginning of the answer, with the quotes of the statements that they
    summarise."""
    statements: tuple[CitedClaim, ...]
    """Empty if there is no answer."""
    remarks: tuple[str, ...]
    """Remarks for the reader, for example that few papers support the answer."""


@dataclass(frozen=True)
class PaperRow:
    """A row of a table: the answers from one paper."""

    paper_id: str
    cells: tuple[tuple[CitedClaim, ...], ...]
    """The claims for each label; empty if there is no answer."""


@dataclass(frozen=True)
class WrittenSection:
    """A section of a report: answers as text, or a table, and the gaps."""

    section: Section
    answers: tuple[AnsweredQuestion, ...]
    """The answers as text, in the order of the questions."""
    labels: tuple[str, ...]
    """Names of the columns of the table."""
    rows: tuple[PaperRow, ...]
    gaps: tuple[Gap, ...]

    @property
    def is_table(self) -> bool:
        return bool(self.section.settings.columns)

    @property
    def statements(self) -> tuple[CitedClaim, ...]:
        """All claims of the section, in leads, text and cells."""
        in_rows = (claim for row in self.rows for cell in row.cells for claim in cell)
        in_text = (
            claim for answered in self.answers for claim in (*answered.lead, *answered.statements)
        )
        return (*in_text, *in_rows)


@dataclass(frozen=True)
class Report:
    """A report with everything that a rendering shows."""

    template: Template
    sections: tuple[WrittenSection, ...]
    evidence: tuple[NumberedQuote, ...]
    papers: tuple[str, ...]
    """Ids of the papers that are cited, in order of first use."""
    titles: Mapping[str, str]
    """Id of each paper that is cited or has a row -> its title, or its id if it has none."""
    models: tuple[str, ...]
    """Names of the models that wrote or chose the claims."""
    references: tuple[str, ...] = ()
    """The list of references, in a style that has one. A claim is then followed by the places of
    its quotes, not by their numbers."""


class _Numbering:
    """Numbers the quotes of a report; a quote that is used again keeps its number."""

    def __init__(self) -> None:
        self.evidence: dict[tuple[str, int, int], NumberedQuote] = {}
        """Chunk, start and end of a quote -> the numbered quote."""

    def statements(self, claims: Iterable[Claim]) -> tuple[CitedClaim, ...]:
        """The claims with numbered quotes."""
        cited_claims = []
        for claim in claims:
            quotes = []
            for citation in claim.citations:
                quote = NumberedQuote(len(self.evidence) + 1, citation)
                place = (citation.chunk_id, citation.start, citation.end)
                quotes.append(self.evidence.setdefault(place, quote))
            cited_claims.append(CitedClaim(claim.text, tuple(quotes), claim_note(claim)))
        return tuple(cited_claims)


def assembled(
    plan: ReportPlan,
    answers: Sequence[QAResult],
    titles: Mapping[str, str],
    paper_of: Mapping[str, str],
) -> Report:
    """The report of a plan. titles: id of a paper -> its title. paper_of: id of a chunk -> id of its
    paper.

    A question without an answer becomes a gap, like a refused question.
    """
    by_id = {answer.question_id: answer for answer in answers}
    numbering = _Numbering()
    sections = tuple(
        _written(section, plan.of(section), by_id, numbering, paper_of)
        for section in plan.template.sections
    )
    evidence = tuple(numbering.evidence.values())
    cited = tuple(dict.fromkeys(quote.citation.paper_id for quote in evidence))
    shown = (*cited, *(row.paper_id for section in sections for row in section.rows))
    models = dict.fromkeys(answer.model.split()[0] for answer in answers if answer.claims)
    shown_titles = {paper: titles.get(paper) or paper for paper in shown}
    return Report(plan.template, sections, evidence, cited, shown_titles, tuple(models))


def _written(
    section: Section,
    planned: Sequence[PlannedQuestion],
    answers: Mapping[str, QAResult],
    numbering: _Numbering,
    paper_of: Mapping[str, str],
) -> WrittenSection:
    """A section from the answers to its questions. A cell of a table shows one claim, unless the
    template sets another length."""
    texts: list[AnsweredQuestion] = []
    cells_of: dict[str, list[tuple[CitedClaim, ...]]] = {}
    labels: dict[str, None] = {}
    gaps: list[Gap] = []
    for question in planned:
        answer = answers.get(question.question.id)
        max_claims = section.settings.length or (1 if question.column else None)
        claims = answer.claims[:max_claims] if answer else ()
        statements = numbering.statements(claims)
        gaps += _gaps(question, answer, claims, paper_of)
        if question.paper_id is None:
            notes = notes_of(replace(answer, unanswered=())) if answer else ()
            lead = _lead(answer, statements) if answer else ()
            texts.append(AnsweredQuestion(question.asks, lead, statements, tuple(notes)))
        else:
            cells_of.setdefault(question.paper_id, []).append(statements)
            labels[question.asks] = None
    rows = tuple(PaperRow(paper, tuple(cells)) for paper, cells in cells_of.items())
    return WrittenSection(section, tuple(texts), tuple(labels), rows, tuple(_merged(gaps)))


def _lead(answer: QAResult, shown: Sequence[CitedClaim]) -> tuple[CitedClaim, ...]:
    """The sentences of the lead whose claims are all shown, with the quotes of these claims. Their
    numbers count from 1."""
    cited_claims = []
    for sentence in answer.lead:
        if max(sentence.claims) <= len(shown):
            quotes = (quote for number in sentence.claims for quote in shown[number - 1].evidence)
            cited_claims.append(CitedClaim(sentence.text, tuple(dict.fromkeys(quotes))))
    return tuple(cited_claims)


def _gaps(
    planned: PlannedQuestion,
    answer: QAResult | None,
    claims: Sequence[Claim],
    paper_of: Mapping[str, str],
) -> list[Gap]:
    """The gaps of one question: the question if it has no answer, or else its unanswered parts; and
    one gap for the papers that the section or the question names and no claim cites.

    claims: the claims of the answer that are shown.
    """
    question = planned.question
    chunk_ids = answer.contexts if answer else ()
    papers = tuple(dict.fromkeys(paper_of[chunk] for chunk in chunk_ids if chunk in paper_of))
    is_answered = answer is not None and bool(answer.claims)
    is_withheld = answer is not None and answer.withheld
    missing = [planned.asks]
    if answer and is_answered:
        prefix = "" if planned.paper_id is None else f"{planned.asks}: "
        missing = [f"{prefix}{part}" for part in answer.unanswered]
    uncited_gap: list[Gap] = []
    if planned.paper_id is None:
        cited = {citation.paper_id for claim in claims for citation in claim.citations}
        # the papers of the section, or else those that the question names
        named = question.paper_ids or (answer.named_papers if answer else ())
        uncited = tuple(paper for paper in named if is_answered and paper not in cited)
        n_chunks = sum(paper_of.get(chunk) in uncited for chunk in chunk_ids)
        where = str(question.filter)
        if uncited:
            uncited_gap = [Gap(planned.asks, question.question, "", n_chunks, uncited, uncited)]
    else:
        where = str(question.where or "")
    about = (planned.paper_id,) if planned.paper_id is not None else ()
    gaps = [
        Gap(what, question.question, where, len(chunk_ids), papers, about, is_withheld)
        for what in missing
    ]
    return gaps + uncited_gap


def _merged(gaps: Sequence[Gap]) -> list[Gap]:
    """The gaps, where those that miss the same thing for different papers are one gap."""
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
