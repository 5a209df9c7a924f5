"""Reads a DoclingDocument (JSON, schema 1.x), and files that docling converts into one.

The JSON is read here without docling-core, which defines its schema, because that takes 2.4 s to
import and refuses unknown fields. The body tree gives the reading order; furniture (page headers
and footers, comments, notes) is left out.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

from rag_assets.core.domain import Document, PageSource, SourceFormat, n_text_chars
from rag_assets.core.errors import DocumentLimit, MissingExtra, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.headings import heading_depth, is_section_name
from rag_assets.parsing.formats.docling.pages import (
    FURNITURE,
    PageSizes,
    furniture_of_first_page,
    is_inside_float,
    running_items,
)
from rag_assets.parsing.formats.docling.tree import BodyWalk, Items
from rag_assets.parsing.shared.files import (
    RawFile,
    load_json_object,
    mapping,
    sequence,
    text_field,
)
from rag_assets.parsing.shared.sections import (
    LevelledBlock,
    n_chars_of_back,
    with_sections,
    with_settled_levels,
)

_SCHEMA = re.compile(rb'"schema_name"\s*:\s*"DoclingDocument"')
_MAX_TITLE_CHARS = 300
_HTML_STARTS = (b"<!doctype html", b"<html")


def looks_like_docling(head: bytes) -> bool:
    """Whether a file with these first 64 KB is a DoclingDocument in JSON."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _SCHEMA.search(head) is not None


def looks_like_html(head: bytes) -> bool:
    """Whether a file with these first 64 KB is an HTML page. Comments and an XML declaration may
    come first."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    while start.startswith((b"<!--", b"<?xml")):
        _, mark, start = start.partition(b"-->" if start.startswith(b"<!--") else b"?>")
        start = start.lstrip() if mark else b""
    return start.startswith(_HTML_STARTS)


def looks_like_docx(head: bytes) -> bool:
    """Whether a file with these first 64 KB is a Word document: a ZIP archive with a folder
    `word`."""
    return head.startswith(b"PK\x03\x04") and b"word/" in head


def parse_docling(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a DoclingDocument. Raises UnreadableDocument when the file is no such document or has no
    text, DocumentLimit when it is too large."""
    parsed = load_json_object(file.content)
    if parsed.get("schema_name") != "DoclingDocument":
        raise UnreadableDocument(
            "holds JSON that is no DoclingDocument. Export the paper with docling again."
        )
    return _document_of(parsed, file, settings)


def parse_with_docling(file: RawFile, settings: ParsingSettings) -> Document:
    """Convert an HTML or DOCX file with docling, an optional dependency, and read the result.

    Uses the documented API of docling 2. Tests use a substitute for docling, because docling
    installs torch. Raises MissingExtra when docling is not installed, UnreadableDocument with
    docling's reason when it cannot convert the file, DocumentLimit when it has too many pages.
    """
    result = _converted(file, settings.limits.max_pages)
    document = _document_of(result.document.export_to_dict(), file, settings)
    is_partial = getattr(result.status, "value", result.status) == "partial_success"
    note = "converted with docling, in part only" if is_partial else "converted with docling"
    return replace(document, notes=(*document.notes, note))


def _document_of(parsed: Mapping[str, Any], file: RawFile, settings: ParsingSettings) -> Document:
    """The document of a parsed DoclingDocument. file: the file that contains it, or was converted
    into it."""
    pages, limits = PageSizes.of(parsed), settings.limits
    if pages.count is not None and pages.count > limits.max_pages:
        raise DocumentLimit(
            f"has {pages.count} pages, but parsing.limits.max_pages is {limits.max_pages}. Raise the limit or split it."
        )
    running = running_items(parsed, pages)
    walk = BodyWalk(Items(parsed, pages), running)
    found = walk.blocks()
    if not found:
        raise UnreadableDocument(
            "holds a DoclingDocument without text. Convert it again, with OCR if scanned."
        )
    title_at = _title_index(found, pages)
    blocks = with_sections(_levelled(found, title_at))
    return Document(
        paper_id=file.paper_id,
        title=found[title_at].block.text if title_at is not None else "",
        source=SourceFormat.DOCLING,
        file_path=file.path,
        blocks=tuple(blocks),
        n_pages=pages.count,
        page_source=PageSource.PARSER
        if any(block.page_start for block in blocks)
        else PageSource.NONE,
        n_source_chars=_n_source_chars(parsed, running) - n_chars_of_back(blocks),
        n_dropped_running=walk.n_furniture,
        margins=furniture_of_first_page(parsed, pages),
        notes=walk.notes(),
    )


def _converted(file: RawFile, max_pages: int) -> Any:
    """The ConversionResult of docling for the file."""
    try:
        converter = importlib.import_module("docling.document_converter").DocumentConverter()
        stream_type = importlib.import_module("docling.datamodel.base_models").DocumentStream
    except ImportError as error:
        raise MissingExtra.named("docling", purpose=file.path) from error
    try:
        stream = stream_type(name=PurePosixPath(file.path).name, stream=BytesIO(file.content))
        return converter.convert(stream, max_num_pages=max_pages)
    except Exception as error:  # docling passes on the errors of a dozen libraries
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise UnreadableDocument(
            f"could not be converted by docling ({reason}). Check the file."
        ) from error


def _levelled(blocks: Sequence[LevelledBlock], title_at: int | None) -> list[LevelledBlock]:
    """The blocks with at most one title and with levels of headings.

    If a document has several titles (slides), all but one become sections of level 1, and the other
    headings go one level deeper. If all headings have the same level, docling did not know it; then
    their numbers and names decide.
    """
    has_several_titles = sum(block.is_title for block in blocks) > 1
    levelled = [
        replace(
            block,
            level=1 if block.is_title else block.level + (has_several_titles and block.level > 0),
            is_title=index == title_at,
        )
        for index, block in enumerate(blocks)
    ]
    has_one_level = len({block.level for block in levelled if block.is_heading}) == 1
    return with_settled_levels(levelled) if has_one_level else levelled


def _title_index(blocks: Sequence[LevelledBlock], pages: PageSizes) -> int | None:
    """Index of the first title; without one, in a document with pages, that of the first heading on
    page 1 that does not name a section, if it is not too long. Else None."""
    for index, levelled in enumerate(blocks):
        if levelled.is_title:
            return index
    for index, levelled in enumerate(blocks):
        text = levelled.block.text
        names_section = is_section_name(text) or heading_depth(text) is not None
        if levelled.level and pages.sizes and levelled.block.page_start == 1 and not names_section:
            return index if len(text) <= _MAX_TITLE_CHARS else None
    return None


def _n_source_chars(parsed: Mapping[str, Any], running: frozenset[str]) -> int:
    """Number of characters of texts and table cells in the body, without running lines and texts
    inside pictures."""
    texts = [
        mapping(text)
        for index, text in enumerate(sequence(parsed.get("texts")))
        if f"#/texts/{index}" not in running
    ]
    body = [
        text
        for text in texts
        if text.get("content_layer", "body") == "body"
        and text_field(text.get("label")) not in FURNITURE
        and (text_field(text.get("label")) == "caption" or not is_inside_float(text))
    ]
    cells = [
        mapping(cell)
        for table in sequence(parsed.get("tables"))
        for cell in sequence(mapping(mapping(table).get("data")).get("table_cells"))
    ]
    return sum(n_text_chars(Items.text_of(item)) for item in [*body, *cells])
