"""The lines of a page with its tables read: each table is one line, the words beside it stay
prose."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import compress, groupby
from operator import not_
from unicodedata import category

from rag_assets.parsing.formats.pdf.drawings import Drawings, Rectangle, shared_size
from rag_assets.parsing.formats.pdf.figure_regions import figures_of, picture_of
from rag_assets.parsing.formats.pdf.glyphs import Frame
from rag_assets.parsing.formats.pdf.layout import Column, Line, lines_in_reading_order
from rag_assets.parsing.formats.pdf.printed_table import Printed
from rag_assets.parsing.formats.pdf.table_grid import Region, read_region
from rag_assets.parsing.formats.pdf.table_regions import Captions, is_in_figure, ruled_areas
from rag_assets.parsing.formats.pdf.table_runs import runs_of_rows
from rag_assets.parsing.formats.pdf.text import Layer, PageText, Segment, words_of
from rag_assets.parsing.tables.values import is_value

_LEAST_ROWS, _LEAST_ROWS_ALONE = 2, 4
_LEAST_NAMED, _LEAST_WHOLE = 0.6, 0.5
"""Least shares in a table without a caption: columns with a name, and rows that are whole."""
_MARKS = ("Pd", "So")
"""Dashes and symbols like ticks, which stand for values."""


def lines_with_tables(page: PageText) -> list[list[Line]]:
    """The lines of each layer in reading order. Labels of a table at a right angle to it are taken
    from their layer."""
    lines: list[list[Line]] = []
    layers = list(page.layers)
    for nth, layer in enumerate(layers):
        drawings = page.drawings.in_frame(layer.frame)
        captions = Captions.among(layer.segments)
        others = [other.seen_from(layer.frame) for other in layers[nth + 1 :]]
        sideways = [segment for other in others for segment in other]
        tables = _ruled_tables(layer, drawings, captions, sideways)
        named = [table.area for table in tables if captions.is_captioned(table.area)]
        figures, outside = figures_of(layer.segments, sideways, drawings, captions, named)
        drawings = replace(
            drawings, figures=(*drawings.figures, *(figure.area for figure in figures))
        )
        tables = [
            table
            for table in tables
            if table.area in named or not is_in_figure(table.area, drawings)
        ]
        layer = replace(layer, segments=outside)
        for at, seen in enumerate(others, nth + 1):
            is_label = [
                any(_is_beside(segment, table.area) for table in tables)
                or any(one.holds(segment) for one in figures)
                for segment in seen
            ]
            layers[at] = replace(
                layers[at], segments=tuple(compress(layers[at].segments, map(not_, is_label)))
            )
        read = _lines(layer, tables, drawings, captions)
        lines.append(
            [replace(line, picture=picture_of(line, figures)) for line in read] if figures else read
        )
    return lines


def _ruled_tables(
    layer: Layer, drawings: Drawings, captions: Captions, sideways: Sequence[Segment]
) -> list[Printed]:
    pictures = [
        area
        for area in drawings.figures
        if captions.is_captioned(area) and not captions.is_near_figure(area)
    ]
    words = layer.words() if pictures or len(drawings.across) > 1 else []
    areas = ruled_areas(words, drawings, captions)
    tables = []
    for area in [
        *areas,
        *(one for one in pictures if not any(shared_size(one, area) for area in areas)),
    ]:
        inside = [word for word in words if _is_in(word, area)]
        beside = [word for word in sideways if _is_beside(word, area)]
        table = _read(
            Region(layer.frame, area, inside, drawings_in(drawings, area), beside),
            drawings,
            captions,
        )
        if table:
            tables.append(table)
    return tables


def _lines(
    layer: Layer, tables: Sequence[Printed], drawings: Drawings, captions: Captions
) -> list[Line]:
    """The lines of a layer with its ruled tables, and those without rules found among its lines."""
    of_place = {table.area: table for table in tables}
    segments = _with_captions_apart(_without(layer, list(of_place)), captions)
    found: list[Line] = []
    lines = lines_in_reading_order(Layer(layer.frame, (*segments, *map(_placeholder, tables))))
    for _, column in groupby(lines, key=lambda line: line.column):
        own = [
            _table_line(of_place[line.left, line.top, line.right, line.bottom], line.column)
            if line.segments[0].is_float and not line.text
            else line
            for line in column
        ]
        found += _with_runs(own, layer.frame, drawings, captions)
    return [replace(line, segments=()) for line in found]


def _with_captions_apart(segments: Sequence[Segment], captions: Captions) -> list[Segment]:
    """The segments, with each of several captions beside each other as one: their lines are no rows
    of two cells."""
    kept = list(segments)
    for left, top, right, bottom in captions.beside_others():
        own = [
            s
            for s in kept
            if top <= (s.top + s.bottom) / 2 <= bottom and left <= (s.left + s.right) / 2 <= right
        ]
        if own:
            whole = replace(
                own[0],
                text=" ".join(s.text for s in own),
                top=top,
                right=right,
                bottom=bottom,
                is_float=True,
            )
            kept = [whole if s is own[0] else s for s in kept if s is own[0] or s not in own]
    return kept


def _with_runs(
    lines: Sequence[Line], frame: Frame, drawings: Drawings, captions: Captions
) -> list[Line]:
    found: list[Line] = []
    at = 0
    for start, end in runs_of_rows(lines):
        run = lines[start:end]
        area = (
            min(line.left for line in run),
            run[0].top,
            max(line.right for line in run),
            max(line.bottom for line in run),
        )
        words = [
            word
            for line in run
            for segment in line.segments
            for word in words_of(segment.glyphs, frame)
        ]
        table = _read(Region(frame, area, words, drawings_in(drawings, area)), drawings, captions)
        if table:
            titles = [line for line in run if line.bottom <= table.area[1]]
            found += [*lines[at:start], *titles, _table_line(table, run[0].column)]
            at = end
    return [*found, *lines[at:]]


def drawings_in(drawings: Drawings, area: Rectangle) -> Drawings:
    """The rules and shades inside an area."""
    left, top, right, bottom = area[0] - 3, area[1] - 3, area[2] + 3, area[3] + 3
    return Drawings(
        tuple(
            r for r in drawings.across if top <= r.at <= bottom and r.start < right and left < r.end
        ),
        tuple(
            r for r in drawings.down if left <= r.at <= right and r.start < bottom and top < r.end
        ),
        tuple(
            s
            for s in drawings.shades
            if s[0] < right and left < s[2] and s[1] < bottom and top < s[3]
        ),
    )


def _read(region: Region, drawings: Drawings, captions: Captions) -> Printed | None:
    """The table of a region; None where it is a figure or reads as none."""
    is_picture = is_in_figure(region.area, drawings)
    if (is_picture and region.area not in drawings.figures) or captions.is_figure(region.area):
        return None
    table = read_region(region)
    if table is None:
        return None
    reads_as_one = (
        _has_rows if captions.is_captioned(region.area) and not is_picture else _holds_values
    )
    return table if reads_as_one(table) else None


def _has_rows(table: Printed) -> bool:
    return len({cell.row for cell in table.cells}) > 1


def _holds_values(table: Printed) -> bool:
    """Whether a table without a caption is one: most rows have a name and values, below a header or
    in some number."""
    n_behind = len(table.columns) - 1
    named = {
        cell.col + nth for cell in table.cells if cell.is_header for nth in range(cell.col_span)
    }
    n_values: Counter[int] = Counter()
    names: set[int] = set()
    rows: set[int] = set()
    for cell in (cell for cell in table.cells if not cell.is_header and not cell.is_group):
        rows.add(cell.row)
        if cell.col:
            n_values[cell.row] += is_value(cell.text) or all(
                category(sign) in _MARKS for sign in cell.text
            )
        elif any(map(str.isalpha, cell.text)) and not is_value(cell.text):
            names |= set(range(cell.row, cell.row + cell.row_span))
    n_whole = sum(row in names and 2 * n_values[row] >= n_behind for row in rows)
    least = _LEAST_ROWS if len(named - {0}) >= _LEAST_NAMED * n_behind else _LEAST_ROWS_ALONE
    return n_whole >= max(least, _LEAST_WHOLE * len(rows))


def _is_in(word: Segment, area: Rectangle) -> bool:
    left, top, right, bottom = area
    return (
        left - 2 <= (word.left + word.right) / 2 <= right + 2
        and top <= (word.top + word.bottom) / 2 <= bottom
    )


def _is_beside(word: Segment, area: Rectangle) -> bool:
    """Whether a text at a right angle is a label of the table in an area."""
    return _is_in(word, area) and word.bottom - word.top > word.right - word.left


def _without(layer: Layer, areas: Sequence[Rectangle]) -> list[Segment]:
    """The segments of a layer without the words inside the areas."""
    segments: list[Segment] = []
    for segment in layer.segments:
        near = [
            area
            for area in areas
            if segment.right >= area[0] - 2
            and segment.left <= area[2] + 2
            and segment.bottom >= area[1]
            and segment.top <= area[3]
        ]
        if near:
            words = words_of(segment.glyphs, layer.frame)
            segments += [word for word in words if not any(_is_in(word, area) for area in near)]
        else:
            segments.append(segment)
    return segments


def _placeholder(table: Printed) -> Segment:
    left, top, right, bottom = table.area
    return Segment("", left, top, right, bottom, size=1.0, bold=0.0, italic=0.0, is_float=True)


def _table_line(table: Printed, column: Column) -> Line:
    left, top, right, bottom = table.area
    text = " ".join(cell.text.replace("\n", " ") for cell in table.cells)
    return Line(
        table.frame,
        column,
        (text,),
        left,
        top,
        right,
        bottom,
        size=1.0,
        bold=0.0,
        italic=0.0,
        table=table,
    )
