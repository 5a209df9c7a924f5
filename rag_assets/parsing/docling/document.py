"""A DoclingDocument (JSON, schema 1.x) as blocks.

The schema is read here directly: docling-core, which defines it, takes 2.4 s to import and refuses fields it does not
know, where a reader only wants the ones it does. The body tree gives the reading order; furniture (page headers and
footers, comments, notes) is left out. Converting PDF, HTML or DOCX to a DoclingDocument is `convert`'s.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rag_assets.domain import Block, Document, PageSource, Source, Zone
from rag_assets.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.conventions.section_headings import (
    Heading,
    heading_depth,
    settled_levels,
    with_abstract,
    with_sections,
)
from rag_assets.parsing.conventions.section_names import is_section_name
from rag_assets.parsing.docling.noise import FURNITURE, running_items
from rag_assets.parsing.docling.pages import Pages
from rag_assets.parsing.docling.tree import Draft, Reading
from rag_assets.parsing.files.json_objects import load_json_object, mapping, sequence, text_field
from rag_assets.parsing.files.raw import RawFile
from rag_assets.settings import ParsingSettings

_SCHEMA = re.compile(rb'"schema_name"\s*:\s*"DoclingDocument"')
_MAX_TITLE_CHARS = 300


def looks_like_docling(head: bytes) -> bool:
    """Whether the first 64 KB of a file are those of a DoclingDocument's JSON."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _SCHEMA.search(head) is not None


def is_docling(parsed: object) -> bool:
    """Whether a parsed JSON value is a DoclingDocument."""
    return isinstance(parsed, dict) and parsed.get("schema_name") == "DoclingDocument"


def parse_docling(file: RawFile, settings: ParsingSettings) -> Document:
    """Read a DoclingDocument. Raises UnreadableDocument when it is none or is empty, DocumentLimit when too big."""
    parsed = load_json_object(file.content, settings.limits)
    if not is_docling(parsed):
        raise UnreadableDocument("holds JSON that is no DoclingDocument. Export the paper with docling again.")
    return document_of(parsed, file, settings)


def document_of(parsed: Mapping[str, Any], file: RawFile, settings: ParsingSettings) -> Document:
    """The document in the parsed DoclingDocument that `file` holds or was converted to."""
    pages, limits = Pages.of(parsed), settings.limits
    if pages.count is not None and pages.count > limits.max_pages:
        raise DocumentLimit(
            f"has {pages.count} pages, but parsing.limits.max_pages is {limits.max_pages}. Raise the limit or split it."
        )
    running = running_items(parsed, pages, settings.running_header_share)
    reading = Reading(parsed, pages, limits.max_depth, running)
    drafts = reading.drafts()
    if not drafts:
        raise UnreadableDocument("holds a DoclingDocument without text. Convert it again, with OCR if scanned.")
    title_at = _title_index(drafts, pages)
    blocks = _with_sections(drafts, title_at)
    return Document(
        paper_id=file.paper_id,
        title=drafts[title_at].block.text if title_at is not None else "",
        source=Source.DOCLING,
        file_path=file.path,
        blocks=tuple(blocks),
        n_pages=pages.count,
        page_source=PageSource.PARSER if any(block.page_start for block in blocks) else PageSource.NONE,
        n_source_chars=_n_source_chars(parsed, running)
        - sum(len(block.text) for block in blocks if block.zone is Zone.BACK),
        n_dropped_running=reading.n_furniture,
        notes=reading.notes(),
    )


def _with_sections(drafts: Sequence[Draft], title_at: int | None) -> list[Block]:
    """The blocks with their sections. Levels that docling only guessed, all alike, give way to numbers and names."""
    n_titles = sum(draft.is_title for draft in drafts)
    stated = [_stated_level(draft, n_titles) for draft in drafts]
    is_heading = [level > 0 and index != title_at for index, level in enumerate(stated)]
    headings = [
        Heading(draft.block.text, level)
        for draft, level, is_one in zip(drafts, stated, is_heading, strict=True)
        if is_one
    ]
    is_flat = len({heading.level for heading in headings}) == 1
    settled = iter(settled_levels(headings) if is_flat else [heading.level for heading in headings])
    levels = [next(settled) if is_one else 0 for is_one in is_heading]
    return with_abstract(with_sections([draft.block for draft in drafts], levels))


def _stated_level(draft: Draft, n_titles: int) -> int:
    """Level of a heading, 0 for other blocks; where a document has several titles (slides), they are sections."""
    if draft.is_title:
        return 1
    return draft.level + 1 if draft.level and n_titles > 1 else draft.level


def _title_index(drafts: Sequence[Draft], pages: Pages) -> int | None:
    """The first title; in a PDF without one, the first heading of its first page that is no section's."""
    for index, draft in enumerate(drafts):
        if draft.is_title:
            return index
    for index, draft in enumerate(drafts):
        text = draft.block.text
        if draft.level and pages.sizes and draft.block.page_start == 1 and not _names_section(text):
            return index if len(text) <= _MAX_TITLE_CHARS else None
    return None


def _names_section(text: str) -> bool:
    return is_section_name(text) or heading_depth(text) is not None


def _n_source_chars(parsed: Mapping[str, Any], running: frozenset[str]) -> int:
    """Characters of the body's texts and table cells, running lines and what stands inside pictures aside."""
    texts = [
        mapping(text) for index, text in enumerate(sequence(parsed.get("texts"))) if f"#/texts/{index}" not in running
    ]
    body = [
        text
        for text in texts
        if text.get("content_layer", "body") == "body"
        and text_field(text.get("label")) not in FURNITURE
        and (text_field(text.get("label")) == "caption" or not _is_inside_float(text))
    ]
    cells = [
        mapping(cell)
        for table in sequence(parsed.get("tables"))
        for cell in sequence(mapping(mapping(table).get("data")).get("table_cells"))
    ]
    return sum(len(text_field(item.get("text"))) for item in [*body, *cells])


def _is_inside_float(text: Mapping[str, Any]) -> bool:
    parent = text_field(mapping(text.get("parent")).get("$ref"))
    return parent.startswith(("#/pictures/", "#/tables/"))
