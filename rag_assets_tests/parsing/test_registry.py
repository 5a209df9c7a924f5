"""Telling formats apart by content."""

import pytest

from rag_assets.core.domain import SourceFormat
from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.registry import sniff, stem_of

TEI = b'<?xml version="1.0"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/></TEI>'
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"


@pytest.mark.parametrize(
    ("name", "content", "source"),
    [
        ("x.tei.xml", TEI, SourceFormat.TEI),
        ("x.pdf", TEI, SourceFormat.TEI),
        ("x.txt", TEI, SourceFormat.TEI),
        ("x.xml", PDF, SourceFormat.PDF),
        ("x.txt", b"A paper about <b>sheep</b>.", SourceFormat.TEXT),
        ("x.txt", b"{sheep} and goats", SourceFormat.TEXT),
        ("x", b"A paper about sheep.", SourceFormat.TEXT),
        ("x.md", b"# Sheep", SourceFormat.MARKDOWN),
        ("x.json", b'{"schema_name": "DoclingDocument", "version": "1.0.0"}', SourceFormat.DOCLING),
        ("x.json", b'{"markdown": "about DoclingDocument"', SourceFormat.ADE),
        ("x.json", b'{"errors": [], "chunks": [{"grounding": []}]}', SourceFormat.ADE),
        (
            "x.htm",
            b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- saved -->\n<!DOCTYPE HTML><title>x</title>",
            SourceFormat.DOCLING,
        ),
        ("x.docx", b"PK\x03\x04..word/document.xml", SourceFormat.DOCLING),
        ("x.html", TEI, SourceFormat.TEI),
    ],
)
def test_content_decides_and_the_suffix_only_between_texts(
    name: str, content: bytes, source: SourceFormat
) -> None:
    """Files come out of mail and archives under any name; a PDF read as XML is a paper lost."""
    assert sniff(name, content).source is source


@pytest.mark.parametrize(
    ("name", "content", "start_of_problem"),
    [
        (
            "x.xml",
            b"<?xml version='1.0'?><article><front/></article>",
            "is JATS, not TEI. Convert it",
        ),
        ("x.xml", b"<svg/>", "is XML with the root element <svg>, not TEI."),
        ("x.xml", b"<!-- nothing -->", "is XML without any element."),
        ("x.xml", b"A paper about sheep.", "holds no XML but plain text."),
        (
            "x.txt",
            b"<!DOCTYPE html><html><body>",
            "is a .html file by content. Name it so if it is the paper",
        ),
        ("x.pdf", b"<html><body>404", "is a .html file by content."),
        ("x.pdf", b"PK\x03\x04..word/document.xml", "is a .docx file by content."),
        (
            "x.html",
            b"A paper about sheep.",
            "is no .html file: it holds plain text. Save the paper as .html again.",
        ),
        ("x.pdf", b"404 not found", "is no PDF: it has no %PDF- header but holds plain text."),
        (
            "x.json",
            b'{"title": "Sheep"}',
            "is neither a DoclingDocument nor an ADE export but other JSON.",
        ),
        ("x.pdf", b"PK\x03\x04...", "is a ZIP archive or an Office file. Export the paper as PDF."),
        ("x.txt", bytes(range(256)), "holds binary data in no known format."),
    ],
)
def test_unknown_content_is_named_with_what_to_do(
    name: str, content: bytes, start_of_problem: str
) -> None:
    """ "Cannot parse" sends the user to a debugger; "is JATS" sends them to a converter."""
    with pytest.raises(UnreadableDocument) as refusal:
        sniff(name, content)
    assert str(refusal.value).startswith(start_of_problem)


def test_the_longest_suffix_is_cut_off() -> None:
    """ "lund.tei" and "lund" would be two papers."""
    stems = [
        stem_of(name)
        for name in (
            "lund.grobid.tei.xml",
            "lund.tei.xml",
            "a.b.JSON",
            "x.ade.json",
            ".pdf",
            "x.doc",
        )
    ]

    assert stems == ["lund", "lund", "a.b", "x", None, None]
