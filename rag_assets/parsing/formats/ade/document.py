"""Reads a paper that LandingAI's ADE exported as JSON: regions become blocks with pages and boxes.

Finds the title, joins paragraphs that ADE cut, and gives every block its section. The title of a
table is in the text before it, in a merged first row, or in a merged last row below the notes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from rag_assets.core.domain import (
    Block,
    BlockKind,
    Box,
    Cell,
    Document,
    PageSource,
    SourceFormat,
    n_text_chars,
)
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.core.text.headings import is_section_name, starts_abstract
from rag_assets.parsing.formats.ade.repairs import (
    Sifted,
    sifted,
    with_joined_paragraphs,
    with_marks_apart,
)
from rag_assets.parsing.formats.ade.shapes import AdeFile, Region, read_ade
from rag_assets.parsing.formats.ade.text import (
    has_marks,
    text_blocks,
    with_numbered_headings,
    without_marks,
)
from rag_assets.parsing.formats.markdown.parts import markdown_parts, plain_line
from rag_assets.parsing.shared.files import RawFile, load_json_object
from rag_assets.parsing.shared.hyphenation import Vocabulary, mended
from rag_assets.parsing.shared.sections import (
    LevelledBlock,
    n_chars_of_back,
    with_sections,
    with_settled_levels,
)
from rag_assets.parsing.shared.table_rows import HtmlTable, span_over, split_tables, table_block
from rag_assets.parsing.tables import is_table_title
from rag_assets.parsing.tables.titles import with_titles_in_tables

_WRITTEN_BREAK = re.compile(r"\\n(?=\s|$)")
"""A line break that ADE wrote as two characters; not the start of a LaTeX command."""
_MAX_LABEL_CHARS = 200


@dataclass(frozen=True)
class _BoxedTable:
    """A table whose cells have boxes, as far as the file states them."""

    cells: tuple[Cell, ...]
    caption: str = ""


def table_blocks(region: Region, ade: AdeFile, vocabulary: Vocabulary) -> Iterator[Block]:
    """The blocks of a table region in reading order, without sections. vocabulary: joins hyphenated
    words in titles.

    If a region has marks of text that a model wrote, all its blocks count as generated, because a
    row may mix such text with printed text.
    """
    cells = tuple(replace(cell, text=without_marks(cell.text).strip()) for cell in region.cells)
    unmarked = replace(region, text=without_marks(region.text), cells=cells)
    is_generated = has_marks(region.text) or cells != region.cells
    for block in _table_blocks(unmarked, ade):
        title = mended(block.title, vocabulary)
        title_spans = tuple(replace(span, end=len(title)) for span in block.title_spans)
        yield replace(block, title=title, title_spans=title_spans, is_generated=is_generated)


def _table_blocks(region: Region, ade: AdeFile) -> Iterator[Block]:
    """The tables of a region, and the texts between them: a title or a short text before a table is
    its title, another text above all tables is a paragraph, and one below a table is a note."""
    pieces = _pieces(region, ade)
    title = ""
    for index, piece in enumerate(pieces):
        if isinstance(piece, _BoxedTable):
            yield from _table_with_notes(piece, title, region)
            title = ""
            continue
        text = plain_line(_WRITTEN_BREAK.sub(" ", piece))
        if index + 1 < len(pieces) and (is_table_title(text) or len(text) <= _MAX_LABEL_CHARS):
            title = text
        elif text:
            is_above = not any(isinstance(earlier, _BoxedTable) for earlier in pieces[:index])
            yield _text_block(
                text, BlockKind.PARAGRAPH if is_above else BlockKind.FOOTNOTE, region.boxes
            )


def _table_with_notes(table: _BoxedTable, title_above: str, region: Region) -> Iterator[Block]:
    """The block of a table, and its notes. title_above: text before the table; it is a paragraph if
    the table has a title row."""
    own_title, rows, notes = _without_merged_edges(table.cells)
    title = own_title.text if own_title else ""
    if title_above and title:
        yield _text_block(title_above, BlockKind.PARAGRAPH, region.boxes)
    if rows:
        title_boxes = (own_title.boxes if own_title else ()) or region.boxes
        yield table_block(rows, title or title_above or table.caption, region.boxes, title_boxes)
    for note in notes:
        yield _text_block(note.text, BlockKind.FOOTNOTE, note.boxes or region.boxes)


def _without_merged_edges(cells: Sequence[Cell]) -> tuple[Cell | None, list[Cell], list[Cell]]:
    """The title cell (None if there is none), the cells of the table itself, and the cells of
    notes. Rows at either end that are merged into one cell are titles or notes, not data."""
    by_row: dict[int, list[Cell]] = {}
    for cell in cells:
        by_row.setdefault(cell.row, []).append(cell)
    rows = [by_row[row] for row in sorted(by_row)]
    n_columns = max((cell.col + cell.col_span for cell in cells), default=0)
    title: Cell | None = None
    notes: list[Cell] = []
    if len(rows) > 1 and _is_merged(rows[0], n_columns) and is_table_title(rows[0][0].text):
        title = rows.pop(0)[0]
    while len(rows) > 1 and _is_merged(rows[-1], n_columns):
        last = rows.pop()[0]
        if not title and is_table_title(last.text):
            title = last
        else:
            notes.insert(0, last)
    return title, [cell for row in rows for cell in row], notes


def _is_merged(row: Sequence[Cell], n_columns: int) -> bool:
    """Whether a row is one cell over all columns."""
    return n_columns > 1 and len(row) == 1 and row[0].col_span == n_columns


def _pieces(region: Region, ade: AdeFile) -> list[str | _BoxedTable]:
    """The tables of a region, and the texts before, between and after them, in order.

    Version 2 lists the cells of the one table of a region in the JSON. They stand in the place of
    the first table of the text, or at its end if the text has no table; further tables of the text
    are the same one and are left out. Without HTML tables, tables in Markdown are read.
    """
    pieces: list[str | _BoxedTable] = []
    listed_cells = region.cells
    for piece in split_tables(region.text):
        if isinstance(piece, str):
            # without HTML, the text of such a region is that of its listed cells
            if not listed_cells or "<table" in region.text.lower():
                pieces.append(piece)
        elif not region.cells:
            pieces.append(_BoxedTable(_boxed(piece, ade), piece.caption))
        elif listed_cells:
            pieces.append(_BoxedTable(listed_cells))
            listed_cells = ()
    if listed_cells:
        pieces.append(_BoxedTable(listed_cells))
    if any(isinstance(piece, _BoxedTable) for piece in pieces):
        return pieces
    return [
        _BoxedTable(part.cells) if part.cells else part.text
        for part in markdown_parts(region.text, "ade")
    ]


def _boxed(table: HtmlTable, ade: AdeFile) -> tuple[Cell, ...]:
    """The cells of a table with the boxes that the file states for their ids. If the file states
    different positions for all of them, these replace the positions in the HTML."""
    boxes = [ade.cell_boxes.get(cell_id) for cell_id in table.cell_ids]
    cells = [
        replace(cell, text=_plain(cell.text), boxes=(box,) if box else ())
        for cell, box in zip(table.cells, boxes, strict=True)
    ]
    positions = [ade.cell_positions.get(cell_id) for cell_id in table.cell_ids]
    stated = [position for position in positions if position is not None]
    if (
        not cells
        or len(stated) < len(cells)
        or len({(row, col) for row, col, _, _ in stated}) < len(cells)
    ):
        return tuple(cells)
    first_row, first_col = min(row for row, *_ in stated), min(col for _, col, *_ in stated)
    return tuple(
        replace(
            cell, row=row - first_row, col=col - first_col, row_span=row_span, col_span=col_span
        )
        for cell, (row, col, row_span, col_span) in zip(cells, stated, strict=True)
    )


def _plain(text: str) -> str:
    return plain_line(text) if any(mark in text for mark in "*_`\\<") else text


def _text_block(text: str, kind: BlockKind, boxes: Sequence[Box]) -> Block:
    return Block(kind, text, spans=(span_over(0, len(text), boxes),))


_FIRST_FIELD_MARKDOWN = re.compile(rb'\{\s*(?:"(?:data|result)"\s*:\s*\{\s*)?"markdown"\s*:')
_MIN_TITLE_CHARS, _MAX_TITLE_CHARS, _MIN_TITLE_WORDS = 15, 250, 3
_LOWEST_TITLE_TOP = 0.6
_MIN_TITLE_SIZE = 1.5


def looks_like_ade(head: bytes) -> bool:
    """Whether a file whose first 64 KB are `head` may be an export of ADE.

    A long `markdown` field may push the other field names beyond these 64 KB, so a file that starts
    with that field counts too.
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
    """Read an ADE export. Raises UnreadableDocument when the file is no such export or has no text,
    DocumentLimit when it is too large."""
    ade = read_ade(load_json_object(file.content), settings.limits.max_pages)
    title = _title_region(ade)
    sift = sifted(ade.regions, title, ade.n_pages)
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
        source=SourceFormat.ADE,
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
    """The blocks of all regions in reading order, without sections. title: region with the title of
    the paper."""
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
    """The region with the title of the paper: the one on page 1 with the largest type, measured as
    area per character. None if there is no candidate.

    A text that ends with a full stop is a title only if its type is 1.5 times as large as usual on
    the page.
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
