"""A table region of ADE as blocks: the table with its title and the boxes of its cells, and its
notes.

A publisher puts the title in the text before the table, in a merged first row, or in a merged last
row below the notes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_assets.core.domain import Block, BlockKind, Box, Cell
from rag_assets.parsing.formats.ade.shapes import AdeFile, Region
from rag_assets.parsing.formats.ade.text import has_marks, without_marks
from rag_assets.parsing.formats.markdown.parts import markdown_parts, plain_line
from rag_assets.parsing.shared.html_tables import HtmlTable, split_tables
from rag_assets.parsing.shared.hyphenation import Vocabulary, mended
from rag_assets.parsing.shared.table_rows import span_over, table_block
from rag_assets.parsing.tables import is_table_title

_WRITTEN_BREAK = re.compile(r"\\n(?=\s|$)")
"""A line break that ADE wrote as two characters; not the start of a LaTeX command."""
_MAX_LABEL_CHARS = 200


@dataclass(frozen=True)
class _BoxedTable:
    """One table of the region, with boxes."""

    cells: tuple[Cell, ...]
    caption: str = ""


def table_blocks(region: Region, ade: AdeFile, vocabulary: Vocabulary) -> Iterator[Block]:
    """The blocks of a table region in reading order, without sections; `vocabulary` mends cut words
    of their titles.

    A region that holds marks of a model's words is the model's as a whole: a row mixes what it read
    and wrote.
    """
    cells = tuple(replace(cell, text=without_marks(cell.text).strip()) for cell in region.cells)
    unmarked = replace(region, text=without_marks(region.text), cells=cells)
    is_generated = has_marks(region.text) or cells != region.cells
    for block in _blocks(unmarked, ade):
        title = mended(block.title, vocabulary)
        title_spans = tuple(replace(span, end=len(title)) for span in block.title_spans)
        yield replace(block, title=title, title_spans=title_spans, is_generated=is_generated)


def _blocks(region: Region, ade: AdeFile) -> Iterator[Block]:
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
    """Title (if any), cells of the table proper, and notes: rows merged into one cell at either end
    are not data."""
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
    return n_columns > 1 and len(row) == 1 and row[0].col_span == n_columns


def _pieces(region: Region, ade: AdeFile) -> list[str | _BoxedTable]:
    """Tables, and the text around them, in order."""
    pieces: list[str | _BoxedTable] = []
    listed: tuple[Cell, ...] | None = region.cells or None
    for piece in split_tables(region.text):
        if isinstance(piece, str):
            pieces.extend([piece] if listed is None or "<table" in region.text.lower() else [])
        elif region.cells:
            pieces.extend([_BoxedTable(listed)] if listed else [])
            listed = None
        else:
            pieces.append(_BoxedTable(_boxed(piece, ade), piece.caption))
    if listed:
        pieces.append(_BoxedTable(listed))
    if any(isinstance(piece, _BoxedTable) for piece in pieces):
        return pieces
    return [
        _BoxedTable(part.cells) if part.cells else part.text
        for part in markdown_parts(region.text, "ade")
    ]


def _boxed(table: HtmlTable, ade: AdeFile) -> tuple[Cell, ...]:
    """The cells of `table` with the boxes, and where the file states them all the positions, of
    their ids."""
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
