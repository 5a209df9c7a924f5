"""A paper as LandingAI's ADE exported it (JSON): regions become blocks with pages and boxes.

Finds the title, joins what ADE cut, and gives every block its section; the other steps have modules
of their own.
"""

import re
from dataclasses import replace
from statistics import median

from rag_assets.core.domain import BlockKind, Document, PageSource, Source, n_text_chars
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.headings import is_section_name, starts_abstract
from rag_assets.parsing.formats.ade.noise import Sifted, sifted
from rag_assets.parsing.formats.ade.repairs import with_joined_paragraphs, with_marks_apart
from rag_assets.parsing.formats.ade.shapes import AdeFile, Region, read_ade
from rag_assets.parsing.formats.ade.tables import table_blocks
from rag_assets.parsing.formats.ade.text import has_marks, text_blocks, with_numbered_headings
from rag_assets.parsing.formats.markdown.parts import plain_line
from rag_assets.parsing.shared.files.json_objects import load_json_object
from rag_assets.parsing.shared.files.raw import RawFile
from rag_assets.parsing.shared.hyphenation import Vocabulary
from rag_assets.parsing.shared.sections import (
    LevelledBlock,
    n_chars_of_back,
    with_sections,
    with_settled_levels,
)
from rag_assets.parsing.tables.titles import with_titles_in_tables

_FIRST_FIELD_MARKDOWN = re.compile(rb'\{\s*(?:"(?:data|result)"\s*:\s*\{\s*)?"markdown"\s*:')
_MIN_TITLE_CHARS, _MAX_TITLE_CHARS, _MIN_TITLE_WORDS = 15, 250, 3
_LOWEST_TITLE_TOP = 0.6
_MIN_TITLE_SIZE = 1.5


def looks_like_ade(head: bytes) -> bool:
    """Whether the first 64 KB of a file may be ADE's JSON.

    A long `markdown` field may push the other names beyond these 64 KB, so a file that starts with
    that field may be one.
    """
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return False
    if b'"grounding"' in head and any(
        name in head for name in (b'"chunks"', b'"structure"', b'"chunk_type"')
    ):
        return True
    return _FIRST_FIELD_MARKDOWN.match(start) is not None


def parse_ade(file: RawFile, settings: ParsingSettings) -> Document:
    """Read an ADE export. Raises UnreadableDocument when it is not one or holds no text,
    DocumentLimit when too big."""
    ade = read_ade(load_json_object(file.content, settings.limits), settings.limits.max_pages)
    title = _title_region(ade)
    sift = sifted(ade.regions, title, settings.running_header_share, ade.n_pages)
    try:
        found = _blocks(sift, ade, title)
    except RecursionError as error:
        raise DocumentLimit(
            "has Markdown nested too deep to read. Parse the paper again."
        ) from error
    if not found:
        raise UnreadableDocument(
            f"has {ade.n_pages or 0} pages on which ADE found no text. Check the original file."
        )
    blocks = with_sections(with_settled_levels(found))
    return Document(
        paper_id=file.paper_id,
        title=next((levelled.block.text for levelled in found if levelled.is_title), ""),
        source=Source.ADE,
        file_path=file.path,
        blocks=tuple(blocks),
        n_pages=ade.n_pages,
        page_source=PageSource.PARSER
        if any(block.page_start for block in blocks)
        else PageSource.NONE,
        page_labels=sift.page_labels,
        margins=sift.margins,
        n_source_chars=sum(n_text_chars(plain_line(region.text)) for region in sift.kept)
        - n_chars_of_back(blocks),
        n_dropped_running=sift.n_dropped,
        notes=(f"ADE could not read page {', '.join(map(str, ade.failed_pages))}",)
        if ade.failed_pages
        else (),
    )


def _blocks(sift: Sifted, ade: AdeFile, title: Region | None) -> list[LevelledBlock]:
    vocabulary = Vocabulary.of_texts(region.text for region in sift.kept)
    blocks: list[LevelledBlock] = []
    repaired = with_numbered_headings(with_marks_apart(sift.kept))
    for region, repair in zip(sift.kept, repaired, strict=True):
        if region.kind == "table":
            found = [LevelledBlock(block) for block in table_blocks(repair, ade, vocabulary)]
        else:
            found = list(text_blocks(repair, ade.family, vocabulary))
        if region is title and found:
            found[0] = LevelledBlock(replace(found[0].block, kind=BlockKind.HEADING), is_title=True)
        blocks.extend(found)
    return with_joined_paragraphs(with_titles_in_tables(blocks), vocabulary)


def _title_region(ade: AdeFile) -> Region | None:
    """The region of page 1 that is set in the largest type, measured as area per character.

    A text that ends like a sentence is a title only if its type is clearly larger than usual on the
    page.
    """
    texts = [
        region
        for region in ade.regions
        if region.kind in ("text", "title") and region.page_start == 1 and region.boxes
        if len(plain_line(region.text)) >= _MIN_TITLE_CHARS
    ]
    candidates = [region for region in texts if _may_be_title(region)]
    if not candidates:
        return None
    usual = median(_area_of_character(region) for region in texts)
    largest = max(candidates, key=_area_of_character)
    is_prose = plain_line(largest.text).endswith(".")
    return None if is_prose and _area_of_character(largest) < _MIN_TITLE_SIZE * usual else largest


def _may_be_title(region: Region) -> bool:
    text = plain_line(region.text)
    first_line = next(line for line in region.text.split("\n") if line.strip()).strip("#* ")
    return (
        region.boxes[0].top <= _LOWEST_TITLE_TOP
        and len(text) <= _MAX_TITLE_CHARS
        and text[-1] not in ",;:-–"
        and sum(word[0].isalpha() for word in text.split()) >= _MIN_TITLE_WORDS
        and not has_marks(region.text)
        and not is_section_name(first_line)
        and not starts_abstract(text)
    )


def _area_of_character(region: Region) -> float:
    area = sum((box.right - box.left) * (box.bottom - box.top) for box in region.boxes)
    return area / len(plain_line(region.text))
