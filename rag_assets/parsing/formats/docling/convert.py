"""PDF, HTML and DOCX through docling's own converter, an optional dependency (`rag_assets[docling]`).

docling finds layout and tables with models that it fetches at its first PDF; HTML and DOCX need none. Written against
the documented API of docling 2 (`DocumentConverter.convert` of a `DocumentStream`, `export_to_dict`); tests run it
against a stand-in with that API, since docling brings torch along.
"""

import importlib
from dataclasses import replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from rag_assets.core.domain import Document
from rag_assets.core.errors import MissingExtra, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.docling.document import document_of
from rag_assets.parsing.shared.files.raw import RawFile

_WORD_FOLDER = b"word/"
_HTML_STARTS = (b"<!doctype html", b"<html")


def looks_like_html(head: bytes) -> bool:
    """Whether the first 64 KB of a file are those of an HTML page (comments and an XML declaration may precede)."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    while start.startswith((b"<!--", b"<?xml")):
        _, mark, start = start.partition(b"-->" if start.startswith(b"<!--") else b"?>")
        start = start.lstrip() if mark else b""
    return start.startswith(_HTML_STARTS)


def looks_like_docx(head: bytes) -> bool:
    """Whether the first 64 KB of a file are those of a Word document (a ZIP archive with a `word` folder)."""
    return head.startswith(b"PK\x03\x04") and _WORD_FOLDER in head


def parse_with_docling(file: RawFile, settings: ParsingSettings) -> Document:
    """Convert a file with docling and read the result.

    Raises MissingExtra when docling is not installed, UnreadableDocument with docling's reason when it cannot convert
    the file, DocumentLimit when it has too many pages.
    """
    result = _converted(file, settings.limits.max_pages)
    document = document_of(result.document.export_to_dict(), file, settings)
    is_partial = getattr(result.status, "value", result.status) == "partial_success"
    note = "converted with docling, in part only" if is_partial else "converted with docling"
    return replace(document, notes=(*document.notes, note))


def _converted(file: RawFile, max_pages: int) -> Any:
    """docling's ConversionResult of the file."""
    try:
        converter = importlib.import_module("docling.document_converter").DocumentConverter()
        stream_type = importlib.import_module("docling.datamodel.base_models").DocumentStream
    except ImportError as error:
        raise MissingExtra.named("docling", purpose=file.path) from error
    try:
        stream = stream_type(name=PurePosixPath(file.path).name, stream=BytesIO(file.content))
        return converter.convert(stream, max_num_pages=max_pages)
    except Exception as error:  # its backends let the errors of a dozen libraries through
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise UnreadableDocument(f"could not be converted by docling ({reason}). Check the file.") from error
