"""A report as a Word document (.docx)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from io import BytesIO

from docx import Document
from docx.document import Document as WordDocument

from rag_assets.answering.wording import place_of
from rag_assets.core.text.display import legible
from rag_assets.reports.markdown import (
    EVIDENCE,
    GAPS,
    PAPERS,
    counts_sentence,
    gap_sentence,
    made_by,
    mark_of,
    named,
    papers_listed,
)
from rag_assets.reports.report import NOTHING_HOLDS, Answered, CitedClaim, Report, Row, WrittenSection


def as_word(report: Report) -> bytes:
    """The bytes of the file."""
    document = Document()
    document.core_properties.title = legible(report.template.title)[:255]
    document.core_properties.author = "rag_assets"
    document.core_properties.created = document.core_properties.modified = datetime.now(UTC)
    document.add_heading(legible(report.template.title), 0)
    if report.template.introduction:
        document.add_paragraph(legible(report.template.introduction))
    for section in report.sections:
        _add_section(document, section, report)
    if report.evidence:
        document.add_heading(EVIDENCE, 1)
        for one in report.evidence:
            place = legible(place_of(one.citation))
            document.add_paragraph(f"[{one.number}] “{legible(one.citation.quote)}” — {place}")
        document.add_heading(PAPERS, 1)
        for paper in papers_listed(report):
            document.add_paragraph(legible(paper), style="List Bullet")
    document.add_paragraph(legible(made_by(report)))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _add_section(document: WordDocument, written: WrittenSection, report: Report) -> None:
    document.add_heading(legible(written.section.heading), written.section.level - 1)
    if written.section.guidance and (written.section.items or written.rows):
        document.add_paragraph(legible(written.section.guidance))
    if written.is_table and written.rows:
        _add_table(document, written, report)
        document.add_paragraph(legible(counts_sentence(written)))
    elif written.rows:
        for row in written.rows:
            _add_summary(document, row, written.labels, report)
    elif not written.answers and written.section.asks:
        document.add_paragraph(NOTHING_HOLDS)
    for answered in written.answers:
        _add_answer(document, answered, report, has_question=bool(written.section.items))
    if written.gaps:
        document.add_paragraph().add_run(GAPS).bold = True
        for gap in written.gaps:
            document.add_paragraph(legible(gap_sentence(gap)), style="List Bullet")


def _add_answer(document: WordDocument, answered: Answered, report: Report, *, has_question: bool) -> None:
    paragraph = document.add_paragraph()
    if has_question:
        paragraph.add_run(f"{legible(answered.asks)} ").bold = True
    paragraph.add_run(_said(answered.statements, report))
    for remark in answered.remarks:
        document.add_paragraph().add_run(legible(remark)).italic = True


def _add_summary(document: WordDocument, row: Row, labels: Sequence[str], report: Report) -> None:
    told = [(label, cell) for label, cell in zip(labels, row.cells, strict=True) if cell]
    document.add_paragraph().add_run(_title(row.paper_id, report)).bold = True
    for label, cell in told:
        document.add_paragraph(
            f"{legible(named(label, labels))}{_said(cell, report, in_table=True)}", style="List Bullet"
        )
    if not told:
        document.add_paragraph(NOTHING_HOLDS)


def _add_table(document: WordDocument, written: WrittenSection, report: Report) -> None:
    table = document.add_table(rows=1, cols=len(written.labels) + 1, style="Table Grid")
    for cell, name in zip(table.rows[0].cells, ("Paper", *written.labels), strict=True):
        cell.text = legible(name)
    for row in written.rows:
        texts = (_title(row.paper_id, report), *(_said(cell, report, in_table=True) for cell in row.cells))
        for cell, text in zip(table.add_row().cells, texts, strict=True):
            cell.text = text


def _said(statements: Sequence[CitedClaim], report: Report, *, in_table: bool = False) -> str:
    said = (
        f"{one.said} {''.join(mark_of(quote, report, in_table=in_table) for quote in one.evidence)}"
        for one in statements
    )
    return legible(" ".join(said)) or NOTHING_HOLDS


def _title(paper_id: str, report: Report) -> str:
    return legible(report.titles.get(paper_id, paper_id))
