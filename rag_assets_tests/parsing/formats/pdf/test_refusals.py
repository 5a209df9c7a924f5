"""PDF files that cannot be used, or not whole: the reason, in words that say what to do."""

import sys

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.formats.pdf.document import parse_pdf
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
