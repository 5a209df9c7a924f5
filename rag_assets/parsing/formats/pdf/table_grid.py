"""A printed table as cells: header, rows, labels and groups of the words in its region.

Rules end the header and separate bands of rows. White space that crosses the lines separates
columns. Indentation shows where a group ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any

from rag_assets.core.domain import Cell
from rag_assets.parsing.formats.pdf.blocks import without_bullet
from rag_assets.parsing.formats.pdf.drawings import Drawings, Rectangle, Rule
from rag_assets.parsing.formats.pdf.glyphs import Frame
from rag_assets.parsing.formats.pdf.printed_table import Printed
from rag_assets.parsing.formats.pdf.table_columns import (
    Interval,
    Placed,
    PlacedText,
    PrintedLine,
    columns_of,
    placed,
    printed_lines,
)
from rag_assets.parsing.formats.pdf.table_headers import TableHeader, headers_of, with_spanners
from rag_assets.parsing.formats.pdf.table_rows import (
    Cut,
    PrintedRow,
    Role,
    RowLabel,
    TableLine,
    are_parted,
    groups_of,
    rows_of,
    ruled_rows,
    sideways_labels,
    usual_distance,
)
from rag_assets.parsing.formats.pdf.text import Segment
from rag_assets.parsing.tables.grid import shape_of

_MOST_WORDS = 4_000
_MOST_COLUMNS = 40
_EDGE = 0.02
"""A rule over the whole table ends at most this share of its width from its edges."""
_LEAST_EDGE = 4.0
_SHORT, _LEAST_ROWS = 0.2, 3
_MEETS = 2.0
"""Rules that end so near each other, in points, meet."""


@dataclass(frozen=True)
class TableRegion:
    """Where a table is, and what is printed and drawn in it. Points of the frame."""

    frame: Frame
    area: Rectangle
    words: Sequence[Segment]
    drawings: Drawings
    sideways: Sequence[Segment] = field(default=())
    """Words at a right angle to the others, their places in this frame."""

    def below(self, lines: Sequence[PrintedLine]) -> "TableRegion":
        """The region from the first of some lines on, with the words of these lines. lines: the
        last lines of the region."""
        left, _, right, bottom = self.area
        words = [word for line in lines for word in line.words]
        return replace(self, area=(left, lines[0].top, right, bottom), words=words)


def read_region(region: TableRegion) -> Printed | None:
    """The cells of a table; None if the region has no columns, no words or too many."""
    if not region.words or len(region.words) > _MOST_WORDS:
        return None
    lines = printed_lines(region.words, region.drawings.down)
    edges = _band_edges(region)
    short = [rule for rule in region.drawings.across if rule.at not in edges]
    headers = headers_of(lines, edges, short)
    starts = [*(header.start for header in headers), len(lines)]
    parts = [
        _Part(region, lines[start:end], header, edges, short)
        for header, (start, end) in zip(headers, pairwise(starts), strict=True)
    ]
    if not all(part.columns for part in parts):
        parts = [_Part(region, lines, headers[0], edges, short)]
    if n_titles := parts[0].n_titles(lines) if parts[0].columns else 0:
        table = read_region(region.below(lines[n_titles:]))
        if table and any(cell.is_header for cell in table.cells):
            return table
    cells: list[Cell] = []
    for part in parts if parts[0].columns else ():
        below = cells[-1].row + 1 if cells else 0
        cells += [replace(cell, row=cell.row + below) for cell in part.cells()]
    return (
        Printed(region.frame, region.area, tuple(cells), tuple(parts[-1].columns))
        if cells
        else None
    )


def read_list(region: TableRegion, bar: Rectangle) -> Printed | None:
    """The table of one column in a box whose bar contains its name. None if it has several columns
    or too few rows.

    A row begins with a bullet. If no row has one, a row begins below white space or below a line
    that is not full."""
    lines, (left, _, right, _) = printed_lines(region.words), region.area
    starts = [without_bullet(line.words[0].text) for line in lines]
    marked = [start != line.words[0].text for start, line in zip(starts, lines, strict=True)]
    if any(len(line.texts) > 1 + is_marked for line, is_marked in zip(lines, marked, strict=True)):
        return None
    n_names = sum(line.middle < bar[3] for line in lines)
    least = min((line.top - above.bottom for above, line in pairwise(lines[n_names:])), default=0.0)
    rows: list[list[PrintedLine]] = []
    for nth, line in enumerate(lines):
        above = lines[nth - 1]
        is_apart = line.top - above.bottom > least + _MEETS or above.right < right - _SHORT * (
            right - left
        )
        if nth in (0, n_names) or (nth > n_names and (marked[nth] if any(marked) else is_apart)):
            rows.append([])
        rows[-1].append(line)
    if not n_names or len(rows) < _LEAST_ROWS:
        return None
    cells = tuple(
        Cell(
            nth,
            0,
            "\n".join(
                text.text for line in row for text in line.texts if without_bullet(text.text)
            ),
            is_header=nth == 0,
            boxes=(region.frame.box(left, row[0].top, right, row[-1].bottom),),
        )
        for nth, row in enumerate(rows)
    )
    return Printed(region.frame, region.area, cells, ((left, right),))


@dataclass
class _Part:
    """A header with the lines below it up to the next one."""

    region: TableRegion
    lines: Sequence[PrintedLine]
    header: TableHeader
    edges: Sequence[float]
    short: Sequence[Rule]

    @cached_property
    def columns(self) -> list[Interval]:
        """From left to right; empty where there are too few or too many."""
        n_header = self.header.end - self.header.start
        columns = columns_of(
            self.lines[:n_header],
            self.lines[n_header:],
            self.header.marks,
            self.region.drawings.down,
        )
        return columns if 2 <= len(columns) <= _MOST_COLUMNS else []

    @cached_property
    def names(self) -> list[list[Placed]]:
        """The texts of each line of the header."""
        lines = self.lines[: self.header.end - self.header.start]
        names = [placed(line, self.columns, is_header=True) for line in lines]
        return with_spanners(names, self.columns, self.short)

    def n_titles(self, lines: Sequence[PrintedLine]) -> int:
        """How many lines at the top are the title of the table, and not names of columns.

        A title is alone in its line. It is over the names of rows and other columns, or it takes
        several lines in the middle of the table. 0 if such a text occurs again in `lines`, because
        it is then the name of a group of rows."""
        lone = [own[0] for own in takewhile(lambda own: len(own) == 1, self.names)]
        middle = (self.region.area[0] + self.region.area[2]) / 2
        in_middle = [one for one in lone if abs(one.text.centre - middle) <= _MEETS]
        titles = [
            *takewhile(
                lambda one: _is_over_names(one) or (len(in_middle) > 1 and one in in_middle), lone
            )
        ]
        further = [
            one
            for line in lines[len(titles) :]
            if titles and len(line.texts) == 1
            for one in placed(line, self.columns)
        ]
        comes_again = any(
            _is_over_names(one) or abs(one.text.centre - title.text.centre) <= _MEETS
            for one in further
            for title in titles
        )
        return 0 if comes_again else len(titles)

    def cells(self) -> list[Cell]:
        """The cells of the header and of the rows below it; row 0 is the first line of the header.

        The body is read in bands, which end at rules over the whole table and at the edges of
        shaded rows. In a band, shorter rules separate the rows if there is one between each two of
        them; otherwise the places of the texts decide."""
        region, columns, lines = self.region, self.columns, self.lines
        n_header = self.header.end - self.header.start
        header = self.names
        table = _TableReading(
            region,
            [TableLine(line, one) for line, one in zip(lines, header, strict=False)],
            len(columns),
        )
        body = [TableLine(line, placed(line, columns)) for line in lines[n_header:]]
        usual = usual_distance(body)
        bands = _bands(body, [*self.edges, *_row_edges(region)])
        cuts = _cuts(region, self.short, columns)
        for band in bands:
            own = [cut for cut in cuts if band[0].middle < cut.at < band[-1].middle]
            if own and are_parted(band, own):
                rows, labels = ruled_rows(band, own)
            else:
                rows, labels = rows_of(band, usual, is_bounded=len(bands) > 1)
            # A rule directly above a band may end a group of rows; the edge of a shaded row may
            # not.
            above = [line.middle for line in lines if line.middle < band[0].middle]
            is_ruled = any(max(above, default=0.0) < edge < band[0].middle for edge in self.edges)
            table.add(rows, labels, is_ruled=is_ruled)
        return table.cells()


def _is_over_names(one: Placed) -> bool:
    """Whether a text is over the first column, which has the names of rows, and further columns."""
    return one.first == 0 and one.end > 1


def _band_edges(region: TableRegion) -> list[float]:
    """The heights of the rules over the whole table, in points from the top."""
    left, _, right, _ = region.area
    allowed = max(_LEAST_EDGE, _EDGE * (right - left))
    return [
        r.at
        for r in region.drawings.across
        if r.start <= left + allowed and r.end >= right - allowed
    ]


def _row_edges(region: TableRegion) -> list[float]:
    """The edges of shaded rows."""
    left, _, right, _ = region.area
    wide = [s for s in region.drawings.shades if s[2] - s[0] >= 0.9 * (right - left)]
    return [edge for _, top, _, bottom in wide for edge in (top, bottom)]


def _cuts(region: TableRegion, rules: Sequence[Rule], columns: Sequence[Interval]) -> list[Cut]:
    """The rules that reach from one vertical rule or edge of the table to another, from top to
    bottom. Rules at one height become one cut."""
    left, _, right, _ = region.area
    inner = [
        rule for rule in region.drawings.down if left + _LEAST_EDGE < rule.at < right - _LEAST_EDGE
    ]
    cuts: list[Cut] = []
    for rule in rules if inner else ():
        ends = [
            left,
            right,
            *(down.at for down in inner if down.start - 1 <= rule.at <= down.end + 1),
        ]
        if all(any(abs(at - end) <= _MEETS for at in ends) for end in (rule.start, rule.end)):
            own = frozenset(
                n for n, edges in enumerate(columns) if rule.start <= sum(edges) / 2 <= rule.end
            )
            if cuts and rule.at - cuts[-1].at <= _MEETS:
                own |= cuts.pop().columns
            cuts.append(Cut(rule.at, own))
    return [cut for cut in cuts if cut.columns]


def _bands(lines: Sequence[TableLine], edges: Sequence[float]) -> list[list[TableLine]]:
    """The lines in bands from top to bottom. A band ends where an edge is between two lines."""
    bands: list[list[TableLine]] = []
    for nth, line in enumerate(lines):
        above = lines[nth - 1].middle if nth else line.middle
        if not nth or any(above < edge < line.middle for edge in edges):
            bands.append([])
        bands[-1].append(line)
    return bands


def _header_rows(lines: Sequence[TableLine]) -> list[PrintedRow]:
    """The rows of a header, each of one or more lines.

    A line with a name over several columns ends a row. It also begins one if the row above has
    texts in its columns; so does a line with more columns than the line above whose names are not
    aligned with it. Other lines continue the names above them."""
    rows: list[PrintedRow] = []
    is_open = False
    for line in lines:
        spans = any(one.end - one.first > 1 for one in line.placed)
        above = rows[-1].lines[-1] if rows else line
        comes_again = len({one.text.text for one in line.placed}) < len(line.placed)
        is_beside = above.columns < line.columns and not any(
            one.text.is_aligned(below.place, may_begin=not comes_again)
            for one in above.placed
            if (below := line.at(one.first))
        )
        if not is_open or ((spans or is_beside) and rows[-1].columns & line.columns):
            rows.append(PrintedRow([]))
        rows[-1].lines.append(line)
        is_open = not spans
    return rows


def _role(rows: Sequence[PrintedRow], nth: int) -> Role:
    """The role of row `nth`: "group" for a lone name above further rows, "banner" if that name is
    not in the first column, "row" for any other row."""
    entries = rows[nth].entries()
    if len(entries) == 1 and nth + 1 < len(rows) and not entries[0].texts[0].is_value:
        return "banner" if _is_banner(rows[nth]) else "group"
    return "row"


def _is_banner(row: PrintedRow) -> bool:
    """Whether a row has a single text that is not in the first column."""
    entries = row.entries()
    return len(entries) == 1 and entries[0].first > 0


@dataclass
class _TableReading:
    """The cells of a table while its bands are read."""

    region: TableRegion
    header: list[TableLine]
    n_columns: int
    rows: list[PrintedRow] = field(default_factory=list)
    band_starts: set[int] = field(default_factory=set)
    labels: list[RowLabel] = field(default_factory=list)

    def add(
        self, rows: Sequence[PrintedRow], labels: Sequence[RowLabel], *, is_ruled: bool
    ) -> None:
        """Adds the rows of a band, with the labels that count its rows from 0. is_ruled: a rule
        over the whole table is directly above the band."""
        at = len(self.rows)
        self.labels += [
            replace(label, start=label.start + at, end=label.end + at) for label in labels
        ]
        self.band_starts |= {at} if is_ruled else set()
        self.rows += rows

    def cells(self) -> list[Cell]:
        """All cells in reading order, rows counted from the first line of the header.

        A name above the columns that occurs again between rows, with other numbers ("Age 23", later
        "Age 33"), is no header: it names only the rows up to there."""
        again = {shape_of(row.texts()[0]) for row in self.rows if _is_banner(row)}
        banners = [
            row
            for line in self.header
            if _is_banner(row := PrintedRow([line])) and shape_of(row.texts()[0]) in again
        ]
        own = [banner.lines[0] for banner in banners]
        header = _header_rows([line for line in self.header if line not in own])
        rows, n_above, top = [*banners, *self.rows], len(banners), len(header)
        cells = [
            self._cell(
                n_above + nth, one.first, one.texts, col_span=one.end - one.first, is_header=True
            )
            for nth, row in enumerate(header)
            for one in row.entries()
        ]
        labels = [
            replace(one, start=one.start + n_above, end=one.end + n_above) for one in self.labels
        ]
        named = {(label.column, nth) for label in labels for nth in range(label.start, label.end)}
        leading = {label.column for label in labels}
        cells += [
            self._cell(
                top + one.start,
                one.column,
                one.texts,
                row_span=one.end - one.start,
                is_stub=leading.issuperset(range(one.column)),
            )
            for one in labels
        ]
        roles = ["row" if (0, nth) in named else _role(rows, nth) for nth in range(len(rows))]
        starts = [nth - n_above in self.band_starts for nth in range(len(rows))]
        for nth, (row, group) in enumerate(zip(rows, groups_of(rows, roles, starts), strict=True)):
            at = nth if nth < n_above else top + nth
            for entry in (entry for entry in row.entries() if (entry.first, nth) not in named):
                if roles[nth] in ("group", "banner"):
                    cells.append(
                        self._cell(
                            at, 0, entry.texts, col_span=self.n_columns, is_group=True, group=group
                        )
                    )
                    continue
                if entry.first:
                    cells.append(
                        self._cell(at, entry.first, entry.texts, col_span=entry.end - entry.first)
                    )
                else:
                    cells.append(self._cell(at, 0, entry.texts, is_stub=True, group=group))
        return sorted(
            self._with_sideways(cells, n_above + top), key=lambda cell: (cell.row, cell.col)
        )

    def _with_sideways(self, cells: Sequence[Cell], top: int) -> Sequence[Cell]:
        """The cells with the labels printed at a right angle beside them. The labels are the first
        column, so all other cells move by one column; without labels nothing moves. top: the number
        of rows above the body."""
        labels = sideways_labels(self.region.sideways, self.rows, _band_edges(self.region))
        if not labels:
            return cells
        beside = [
            self._cell(top + one.start, 0, one.texts, row_span=one.end - one.start, is_stub=True)
            for one in labels
        ]
        return [*beside, *(replace(cell, col=cell.col + 1) for cell in cells)]

    def _cell(self, row: int, column: int, texts: Sequence[PlacedText], **roles: Any) -> Cell:
        """A cell with one line of text for each of the texts, and the box around them on the
        page."""
        words = [word for text in texts for word in text.words]
        box = self.region.frame.box(
            min(word.left for word in words),
            min(word.top for word in words),
            max(word.right for word in words),
            max(word.bottom for word in words),
        )
        return Cell(row, column, "\n".join(text.text for text in texts), boxes=(box,), **roles)
