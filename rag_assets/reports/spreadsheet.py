"""The tables of a report for spreadsheets: one row per paper; beside each answer its page and the
quote it rests on."""

from collections.abc import Iterator, Sequence
from io import BytesIO

from openpyxl import Workbook

from rag_assets.core.text.display import csv_bytes, legible, no_formula
from rag_assets.reports.markdown import searched_in_vain
from rag_assets.reports.report import CitedClaim, Report, Row, WrittenSection

_MAX_CELL_CHARS = 32_767
"""Excel's limit: https://support.microsoft.com/office/excel-specifications-and-limits."""
_MAX_SHEET_NAME_CHARS = 31
_NOT_IN_SHEET_NAMES = str.maketrans(dict.fromkeys("[]:*?/\\", " "))


def as_csv(report: Report) -> bytes:
    """The tables of a report one below the other, each with its header."""
    return csv_bytes(row for section in _tables(report) for row in _rows(section, report))


def as_xlsx(report: Report) -> bytes:
    """The bytes of a workbook with a sheet for each table."""
    book = Workbook(write_only=True)
    for number, section in enumerate(_tables(report), start=1):
        name = f"{number} {legible(section.section.heading).translate(_NOT_IN_SHEET_NAMES)}"
        sheet = book.create_sheet(name[:_MAX_SHEET_NAME_CHARS])
        sheet.freeze_panes = "C2"
        for row in _rows(section, report):
            sheet.append([cell[:_MAX_CELL_CHARS] for cell in row])
    written = BytesIO()
    book.save(written)
    return written.getvalue()


def _tables(report: Report) -> list[WrittenSection]:
    return [section for section in report.sections if section.is_table]


def _rows(section: WrittenSection, report: Report) -> Iterator[list[str]]:
    """A header, then the papers. An answer that is missing has the reason in the column of its
    quote."""
    beside = (
        name
        for label in section.labels
        for name in (label, f"{label}: page", f"{label}: quote, or why none")
    )
    yield [*map(_text, ("paper", "title", *beside))]
    for row in section.rows:
        cells = zip(row.cells, reasons_of(row, section), strict=True)
        answers = (text for cell, reason in cells for text in _answer(cell, reason))
        yield [*map(_text, (row.paper_id, report.titles.get(row.paper_id, ""), *answers))]


def reasons_of(row: Row, section: WrittenSection) -> list[str]:
    """Why each cell of a row has no answer; empty for those that have one."""
    reasons = {
        gap.missing: searched_in_vain(gap) for gap in section.gaps if row.paper_id in gap.about
    }
    return [reasons.get(label, "") for label in section.labels]


def _answer(claims: Sequence[CitedClaim], reason: str) -> tuple[str, str, str]:
    quotes = [one.citation for claim in claims for one in claim.evidence]
    pages = "; ".join(dict.fromkeys(one.page_words for one in quotes if one.page_words))
    return (
        " ".join(claim.said for claim in claims),
        pages,
        " | ".join(one.quote for one in quotes) or reason,
    )


def _text(value: str) -> str:
    return no_formula(legible(value))
