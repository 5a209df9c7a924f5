"""PDF, HTML and DOCX are read through docling when it is installed, and say so when it is not.

docling itself is too heavy for the tests: a small package with its documented API stands in, and
converts for real as far as these files need it.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_assets.core.domain import Document, SourceFormat
from rag_assets.core.errors import MissingExtra, UnreadableDocument
from rag_assets.parsing.formats.docling.document import (
    parse_with_docling,
)
from rag_assets_testing.papers.contents import read_content

_STREAMS = """
class DocumentStream:
    def __init__(self, name, stream):
        self.name = name
        self.stream = stream
"""
_STAND_IN = """
import enum
import re


class ConversionStatus(str, enum.Enum):
    SUCCESS = "success"
    PARTIAL_SUCCESS = "partial_success"


class Document:
    def __init__(self, lines):
        self.lines = lines

    def export_to_dict(self):
        texts = [
            {"self_ref": f"#/texts/{i}", "label": label, "text": text, "orig": text, "level": 1, "prov": [],
             "children": [], "content_layer": "body"}
            for i, (label, text) in enumerate(self.lines)
        ]
        return {
            "schema_name": "DoclingDocument", "version": "1.10.0", "origin": {"mimetype": "text/html"}, "pages": {},
            "body": {"children": [{"$ref": text["self_ref"]} for text in texts]},
            "texts": texts, "groups": [], "tables": [], "pictures": [],
        }


class ConversionResult:
    def __init__(self, document, status):
        self.document = document
        self.status = status


class DocumentConverter:
    def convert(self, source, headers=None, raises_on_error=True, max_num_pages=2**31, max_file_size=2**31):
        html = source.stream.read().decode("utf-8")
        if "<html" not in html:
            raise RuntimeError(f"Conversion failed for: {source.name} with status: failure")
        found = re.findall(r"<(h1|h2|p)>(.*?)</", html)
        labels = {"h1": "title", "h2": "section_header", "p": "text"}
        status = ConversionStatus.PARTIAL_SUCCESS if "<partial" in html else ConversionStatus.SUCCESS
        return ConversionResult(Document([(labels[tag], text) for tag, text in found]), status)
"""


@pytest.fixture
def _docling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    package = tmp_path / "site" / "docling"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "document_converter.py").write_text(_STAND_IN)
    (package / "datamodel").mkdir()
    (package / "datamodel" / "base_models.py").write_text(_STREAMS)
    _forget_docling()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield
    _forget_docling()


def _forget_docling() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "docling"]:
        del sys.modules[name]


def converted(content: str) -> Document:
    return read_content(parse_with_docling, "paper.html", content)


@pytest.mark.usefixtures("_docling")
def test_a_converted_file_is_read_like_any_docling_document() -> None:
    """The same reader, so the same sections, kinds and limits."""
    document = converted("<html><h1>Iron</h1><h2>Results</h2><p>Ferritin fell.</p></html>")

    assert (document.title, document.source, document.file_path) == (
        "Iron",
        SourceFormat.DOCLING,
        "paper.html",
    )
    assert document.blocks[-1].section_path == ("Results",)
    assert document.notes == ("converted with docling",)


@pytest.mark.usefixtures("_docling")
def test_a_failed_conversion_quarantines_the_file_with_its_reason() -> None:
    """One bad file must not end the run, and its owner must learn why."""
    with pytest.raises(
        UnreadableDocument,
        match=r"^could not be converted by docling \(Conversion failed for: paper\.html",
    ):
        converted("no page at all")


def test_without_docling_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ImportError with a traceback does not say what to type."""
    _forget_docling()
    monkeypatch.setitem(sys.modules, "docling", None)
    with pytest.raises(MissingExtra) as refusal:
        converted("<html></html>")

    assert str(refusal.value) == (
        "paper.html needs an optional dependency. Install it with: pip install 'rag_assets[docling]'"
    )
