"""Reading figures, tables and notes of a TEI tree into blocks. Where they belong in the text is decided in `floats`."""

from dataclasses import replace

from lxml import etree

from rag_assets.core.domain import BlockKind, Zone
from rag_assets.parsing.formats.tei.coords import Area, areas_of
from rag_assets.parsing.formats.tei.elements import FLOATS, name_of
from rag_assets.parsing.formats.tei.inline import InlineReader
from rag_assets.parsing.formats.tei.tables import figure_parts
from rag_assets.parsing.formats.tei.text import TextRun, UnplacedBlock

_ID = "{http://www.w3.org/XML/1998/namespace}id"


def float_blocks(
    element: etree._Element, reader: InlineReader, path: tuple[str, ...], zone: Zone
) -> list[UnplacedBlock]:
    """The blocks of a figure, table or note, with the notes below a table; without those that hold no text."""
    empty = UnplacedBlock(
        BlockKind.FIGURE,
        TextRun(),
        path,
        zone,
        element_id=element.get(_ID) or "",
        areas=_areas_inside(element),
    )
    if name_of(element) == "note":
        blocks = [replace(empty, kind=BlockKind.FOOTNOTE, run=reader.read(element))]
    else:
        blocks = _figure_blocks(element, reader, empty)
    return [block for block in blocks if block.run.text or block.title]


def trailing_floats(body: etree._Element) -> set[etree._Element]:
    """The figures, tables and notes behind the last section: GROBID moves all of them there.

    With page breaks in the text they stand where they belong.
    """
    if next(body.iter("{*}pb"), None) is not None or body.find("{*}div") is None:
        return set()
    floats: set[etree._Element] = set()
    for child in reversed(body):
        if name_of(child) in FLOATS:
            floats.add(child)
        elif name_of(child):
            break
    return floats


def _figure_blocks(element: etree._Element, reader: InlineReader, empty: UnplacedBlock) -> list[UnplacedBlock]:
    """`empty` as a figure with its caption, or as the tables in it and the notes below them."""
    parts = figure_parts(element, reader)
    if not parts.tables:
        caption = TextRun.joined([run for run in (parts.caption, *parts.notes) if run.text], " ")
        return [replace(empty, run=caption)]
    tables = [replace(empty, kind=BlockKind.TABLE, run=table.run, cells=table.cells) for table in parts.tables]
    if parts.caption.text:
        tables[0] = replace(tables[0], title=parts.caption.text, caption=parts.caption)
    return [*tables, *(replace(empty, kind=BlockKind.FOOTNOTE, run=run) for run in parts.notes)]


def _areas_inside(element: etree._Element) -> tuple[Area, ...]:
    """An element's own areas, or those of what is in it: some files have them on the picture alone."""
    return areas_of(element) or tuple(area for inner in element.iter() for area in areas_of(inner))
