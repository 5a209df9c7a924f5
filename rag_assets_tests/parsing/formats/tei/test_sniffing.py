"""Telling TEI from other XML by its first bytes."""

import pytest

from rag_assets.parsing.formats.tei.elements import looks_like_tei

TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/>'


@pytest.mark.parametrize(
    "head",
    [
        TEI.encode(),
        b"<tei>\n\t<teiHeader>",
        b'<tei:TEI xmlns:tei="http://www.tei-c.org/ns/1.0">',
        b"<teiCorpus><teiHeader/>",
        b"<TEI.2>",
        b'<?xml version="1.0"?>\n<!-- made > by hand -->\n<?pi x?>\n' + TEI.encode(),
        b'<!DOCTYPE TEI [ <!ENTITY a "b>c"> ]>\n' + TEI.encode(),
        ("\ufeff" + TEI).encode(),
        TEI.encode("utf-16"),
        TEI.encode("utf-16-be"),
        TEI.encode("utf-16-le"),
    ],
)
def test_tei_is_known_however_it_is_wrapped(head: bytes) -> None:
    """A TEI file that is not recognised is left out of the corpus."""
    assert looks_like_tei(head)


@pytest.mark.parametrize(
    "head",
    [
        b'<article xmlns:tei="http://www.tei-c.org/ns/1.0"><front>',
        b"<!-- <TEI> --><html>",
        b"%PDF-1.4 <TEI>",
        b"TEI is a format",
        b"<TEIform>",
        b"",
    ],
)
def test_other_files_are_not_taken_for_tei(head: bytes) -> None:
    """JATS read as TEI would be quarantined with the wrong reason."""
    assert not looks_like_tei(head)
