"""PDF files that cannot be used, or not whole: the reason, in words that say what to do."""

import logging
import sys
from collections.abc import Sequence

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.formats.pdf import document as reading
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.formats.pdf.tables import lines_with_tables
from rag_assets.parsing.formats.pdf.text import PageText
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.pdf import (
    lines,
    page_of,
    parsed,
    pdf_of,
    picture,
    prose,
)

text_page = page_of(*prose("word", 5))


def refusal(content: bytes) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        read_content(parse_pdf, "paper.pdf", content)
    return str(caught.value)


@pytest.fixture(autouse=True)
def _without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)


def test_a_scan_with_a_stamp_on_every_page_is_a_scan() -> None:
    """Download stamps are the only text of many scans; they are not the paper."""

    def stamped(canvas: Canvas) -> None:
        picture(canvas)
        lines(canvas, "Downloaded from an archive", top=20)

    assert (
        "has no text but running headers or page numbers (5 pages of images): run OCR first"
        in refusal(pdf_of(*[stamped] * 5))
    )


def test_pages_without_text_are_named() -> None:
    """A user who misses an answer from page 2 must be able to see why."""
    document = parsed(text_page, picture, picture, text_page, lambda canvas: None)

    assert document.notes == (
        "No text layer on pages 2-3: what stands there is missing. To have such pages read by OCR: "
        "pip install 'rag_assets[ocr]'",
    )


def test_a_password_is_named_and_an_empty_one_is_none() -> None:
    """Papers are often locked against printing only: these open without a password."""
    locked, printable = (
        pdf_of(text_page, encryption=StandardEncryption(password, "owner", canPrint=0))
        for password in ("secret", "")
    )

    assert "is encrypted and needs a password; remove it" in refusal(locked)
    assert "word number 5" in read_content(parse_pdf, "paper.pdf", printable).text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<?xml version='1.0'?><TEI/>", "is XML with the name of a PDF. Give it the right name"),
        (
            b"<!DOCTYPE html><html></html>",
            "is a web page with the name of a PDF. Give it the right name",
        ),
        (b"plain words", "is not a PDF: no %PDF- header in the first 1024 bytes."),
        (b"%PDF-1.7\nand then nothing", "is broken: PDFium finds no readable structure in it"),
    ],
)
def test_what_is_no_pdf_is_said(content: bytes, reason: str) -> None:
    """'Failed to load document' sends the user to the wrong place; the reason says what to mend."""
    assert refusal(content).startswith(reason)


def mirrored(canvas: Canvas) -> None:
    """A page of a library's download: a negative size in a matrix that turns it round again."""
    for number, text in enumerate(
        ("Copyright of the Journal of Mills", "is of the millers' guild.")
    ):
        line = canvas.beginText()
        line.setFont("Helvetica", -12)
        line.setTextTransform(-1, 0, 0, -1, 60, 700 - 15 * number)
        line.textOut(text)
        canvas.drawText(line)


def test_letters_of_a_negative_size_are_read_in_their_order() -> None:
    """The last page of every download of a large library is set so, and cost the whole paper."""
    document = parsed(text_page, mirrored)

    last = document.blocks[-1]
    assert last.text == "Copyright of the Journal of Mills is of the millers' guild."
    assert [round(box.top, 1) for box in last.boxes] == [0.1]
    assert document.notes == ()


def test_a_page_that_fails_is_left_out_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody foresees what all PDFs of the world hold: one page must not cost the others."""

    def lines_of(page: PageText) -> Sequence[Sequence[Line]]:
        return [[]][page.number] if page.number == 2 else lines_with_tables(page)

    monkeypatch.setattr(reading, "lines_with_tables", lines_of)

    with caplog.at_level(logging.ERROR):
        document = parsed(text_page, page_of("The second page fails."), page_of("It goes on."))

    assert (document.n_pages, document.n_pages_unread) == (3, 1)
    assert "word number 5" in document.text
    assert document.blocks[-1].text == "It goes on."
    assert document.notes == (
        "Could not be read: page 2 (IndexError: list index out of range). What stands there is "
        "missing: print the file to a new PDF with another program and put that in its place.",
    )
    assert [record.getMessage() for record in caplog.records] == ["Page 2 of paper.pdf is left out"]


def test_a_page_whose_paragraphs_cannot_be_found_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lines of a page are read, and what follows fails: the rest of the paper is wanted."""
    groups = reading.line_groups

    def failing(lines: Sequence[Line]) -> Sequence[object]:
        if lines[0].frame.page == 2:
            raise ZeroDivisionError("float division by zero")
        return groups(lines)

    monkeypatch.setattr(reading, "line_groups", failing)

    document = parsed(text_page, page_of("The second page fails."), page_of("It goes on."))

    assert document.blocks[-1].text == "It goes on."
    assert "page 2 (ZeroDivisionError: float division by zero)" in document.notes[0]


def test_a_file_without_any_page_that_can_be_read_is_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """'No text layer' would send the user to run OCR over a file that no program can open."""

    def failing(page: PageText) -> Sequence[Sequence[Line]]:
        raise ValueError("no such font")

    monkeypatch.setattr(reading, "lines_with_tables", failing)

    assert refusal(pdf_of(text_page, text_page)) == (
        "has no page that can be read. Could not be read: page 1 (ValueError: no such font); page 2 "
        "(ValueError: no such font). What stands there is missing: print the file to a new PDF with "
        "another program and put that in its place."
    )
