"""Where the tables of a page are: between horizontal rules of one width, with lines of cells between
them; without rules, runs of lines whose cells are below each other.

The caption decides what a ruled region is: boxes with prompts and plots have rules too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_high

from rag_assets.parsing.formats.pdf.blocks import kind_of_caption
from rag_assets.parsing.formats.pdf.drawings import Drawings, Rectangle, Rule, shared_size
from rag_assets.parsing.formats.pdf.layout import Line
from rag_assets.parsing.formats.pdf.table_columns import PrintedLine, printed_lines
from rag_assets.parsing.formats.pdf.text import Segment
from rag_assets.parsing.tables.grid import is_value

_MIN_ROWS = 2
_MAX_LABEL_FILL = 0.65
"""Lines between the rows of a table (labels, wrapped cells) are shorter than this share of the
column."""
_MAX_ROW_PITCH = 3.0
_STUB_EMS = 2.0
_LINE_GAP = 1.5
_APART = 0.9


def runs_of_rows(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Runs [start, end) of table rows with the labels between them; at least two rows whose cells
    are aligned.

    A run ends above a line of names that comes after values and some white space, because these
    names are the header of another table."""
    for start, end in _aligned_runs(lines):
        has_values = False
        last = start
        for at in range(start, end):
            if not _is_row(lines[at]):
                continue
            names_columns = all(map(_is_name, lines[at].cells[1:]))
            if (
                names_columns
                and has_values
                and lines[at].top - lines[last].bottom >= _APART * lines[at].height
            ):
                yield start, last + 1
                start, has_values = _with_names_above(lines, at, last + 1, lines[at:end]), False
            has_values = has_values or any(map(is_value, lines[at].cells[1:]))
            last = at
        yield start, end


def _is_name(text: str) -> bool:
    return any(map(str.isalnum, text)) and not is_value(text)


def _aligned_runs(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Runs [start, end) of lines that look like a table without drawn rules: aligned rows, the
    lines between and below them that continue a cell, and the names of columns above them."""
    first_row = previous_end = 0
    while first_row < len(lines):
        if not _is_row(lines[first_row]):
            first_row += 1
            continue
        end, rows = first_row + 1, [lines[first_row]]
        for index in range(first_row + 1, len(lines)):
            if not _goes_on(lines[index - 1], lines[index]):
                break
            if _is_row(lines[index]):
                rows.append(lines[index])
                end = index + 1
        if len(rows) >= _MIN_ROWS and _are_aligned(rows):
            while end < len(lines) and _wraps_cell(
                rows[-1], lines[end], lines[end].top - lines[end - 1].bottom
            ):
                end += 1
            yield _with_names_above(lines, first_row, previous_end, lines[first_row:end]), end
        first_row = previous_end = end


def _with_names_above(lines: Sequence[Line], at: int, first: int, run: Sequence[Line]) -> int:
    """The index of the first line of the header above the row `at`; `at` itself if no line above it
    belongs to a header.

    first: the lowest index that is allowed. run: the lines from the row on."""
    edge = (
        min(line.left for line in run) + _STUB_EMS * run[0].size
    )  # names of rows begin left of it
    most = max(len(line.cells) for line in run)
    names_end = max(line.cell_rights[0] for line in run if len(line.cells) == most)
    while at > first and _stands_above(lines[at], lines[at - 1], edge, names_end):
        at -= 1
    return at


def _is_row(line: Line) -> bool:
    return len(line.cells) > 1


def _goes_on(above: Line, line: Line) -> bool:
    """Whether a line may continue a table below another line: it is near, and is a row of cells or
    as short as a label."""
    if (
        line.table
        or above.table
        or not -0.5 * line.height <= line.top - above.bottom <= _MAX_ROW_PITCH * line.height
    ):
        return False
    return _is_row(line) or (line.right - line.left) <= _MAX_LABEL_FILL * line.column.width


def _stands_above(row: Line, line: Line, edge: float, names_end: float) -> bool:
    """Whether a line above the first row is part of the header: near the row, and to the right of
    where the names of rows begin (`edge`).

    It is over the cells of the row. Or only its middle is over them, since a name may be wider than
    its values; then it begins to the right of all names of rows, which end at `names_end`."""
    if line.table or row.column != line.column or row.top - line.bottom > _LINE_GAP * line.height:
        return False
    is_over = line.left >= row.left - line.size and line.right <= row.right + line.size
    is_around = (
        _is_row(row)
        and line.left >= names_end
        and row.left <= (line.left + line.right) / 2 <= row.right
    )
    return line.left >= edge and (is_over or is_around)


def _wraps_cell(row: Line, line: Line, gap: float) -> bool:
    """Whether a single line, `gap` points below the table, continues a cell of the last row."""
    if _is_row(line) or line.table or gap > 0.5 * line.height or row.column != line.column:
        return False
    cells = zip(row.cell_lefts[1:], row.cell_rights[1:], strict=True)
    return line.left >= row.cell_rights[0] and any(
        abs(left - line.left) <= 0.3 * line.size or (line.left < right and left < line.right)
        for left, right in cells
    )


def _are_aligned(rows: Sequence[Line]) -> bool:
    """Whether most neighbouring rows have cells, after the first, whose left edges, right edges or
    middles are at the same place."""
    shared = 0
    for above, row in pairwise(rows):
        tolerance = 0.6 * row.size
        lefts = any(
            abs(a - b) <= tolerance for a in above.cell_lefts[1:] for b in row.cell_lefts[1:]
        )
        rights = any(
            abs(a - b) <= tolerance for a in above.cell_rights[1:] for b in row.cell_rights[1:]
        )
        centres = any(
            abs(a - b) <= 2 * tolerance for a in _centres(above)[1:] for b in _centres(row)[1:]
        )
        shared += lefts or rights or centres
    return shared * 2 >= len(rows) - 1


def _centres(row: Line) -> list[float]:
    return [left + right for left, right in zip(row.cell_lefts, row.cell_rights, strict=True)]


_SAME_EDGE = 3.0
"""Points; rules whose ends differ by no more are rules of one table."""
_LEAST_WIDTH = 40.0
_MOST_RULES, _MOST_STACKS, _MOST_REGIONS = 400, 40, 60
_LEAST_SHARE = 0.6
_FULL_LINE = 0.8
"""A line without gaps that fills this share of the width is one of prose."""
_FIGURE_OVERLAP = 0.3
_MOST_APART = 40.0
"""Points between a caption and its table or figure."""
_MOST_CAPTION_LINES, _LEADING = 12, 0.6
"""Lines of a caption, and the white space between them in heights of a line."""
_LEAST_VALUES, _LEAST_NAMED = 0.5, 0.75
_LINES_BELOW_HEADER = 2
_HEADER_GAP = 1.2
"""Lines of a header above the first rule are at most so many of their heights apart."""


@dataclass(frozen=True)
class Captions:
    """Where the captions on a page are."""

    of_tables: tuple[Rectangle, ...]
    of_figures: tuple[Rectangle, ...]
    first_lines: tuple[Rectangle, ...]

    @classmethod
    def among(cls, segments: Sequence[Segment]) -> "Captions":
        """Finds the captions of tables and figures among the segments of a page."""
        kinds = [(kind_of_caption(segment.text, segment.bold), segment) for segment in segments]
        of_tables, of_figures = (
            tuple(_paragraph(segment, segments) for kind, segment in kinds if kind == wanted)
            for wanted in ("table", "figure")
        )
        first_lines = tuple(
            (one.left, one.top, one.right, one.bottom) for kind, one in kinds if kind
        )
        return cls(of_tables, of_figures, first_lines)

    def begin_in(self, line: PrintedLine) -> bool:
        """Whether a line is, or is a part of, the first line of a caption."""
        return any(
            left < line.right and line.left < right and top < line.middle < bottom
            for left, top, right, bottom in self.first_lines
        )

    def beside_others(self) -> list[Rectangle]:
        """The captions of tables that have another caption of a table to their left or right."""
        heights = [(caption[1], caption[3]) for caption in self.of_tables]
        return [
            caption
            for nth, caption in enumerate(self.of_tables)
            if any(
                top < caption[3] and caption[1] < bottom
                for at, (top, bottom) in enumerate(heights)
                if at != nth
            )
        ]

    def is_captioned(self, area: Rectangle) -> bool:
        """Whether a caption of a table is near."""
        return any(_is_near(area, caption) for caption in self.of_tables)

    def is_near_figure(self, area: Rectangle) -> bool:
        """Whether a caption of a figure is near."""
        return any(_is_near(area, caption) for caption in self.of_figures)

    def is_figure(self, area: Rectangle) -> bool:
        """Whether only a caption of a figure is near."""
        return not self.is_captioned(area) and self.is_near_figure(area)


def _paragraph(first: Segment, segments: Sequence[Segment]) -> Rectangle:
    """The place of a caption: its first line, and the lines directly below it that are as near as
    lines of one paragraph."""
    left, right, bottom = first.left, first.right, first.bottom
    height = first.bottom - first.top
    below = [
        s for s in segments if first.top < s.top <= first.top + _MOST_CAPTION_LINES * 1.5 * height
    ]
    for segment in sorted(below, key=lambda s: s.top):
        is_next = -height <= segment.top - bottom <= _LEADING * height and segment.bottom > bottom
        if is_next and segment.left < right and left < segment.right:
            left, right, bottom = min(left, segment.left), max(right, segment.right), segment.bottom
    return left, first.top, right, bottom


def _is_near(area: Rectangle, caption: Rectangle) -> bool:
    gap = max(area[1] - caption[3], caption[1] - area[3])
    return caption[0] < area[2] and area[0] < caption[2] and gap <= _MOST_APART


def is_in_figure(area: Rectangle, drawings: Drawings) -> bool:
    """Whether a picture covers a large share of an area."""
    size = (area[2] - area[0]) * (area[3] - area[1])
    return any(
        shared_size(area, one) >= _FIGURE_OVERLAP * max(size, 1.0) for one in drawings.figures
    )


def ruled_areas(
    words: Sequence[Segment], drawings: Drawings, captions: Captions
) -> list[Rectangle]:
    """The areas of the tables that rules show, from top to bottom; none overlaps another.

    An area without a caption must be at least 60% as wide as the text, because shorter rules are
    also drawn below sums."""
    if not words:
        return []
    wide = _LEAST_SHARE * (max(word.right for word in words) - min(word.left for word in words))
    areas: list[Rectangle] = []
    for rules in _stacks(drawings.across[:_MOST_RULES])[:_MOST_STACKS]:
        areas += _areas_between(rules, words, drawings, captions)
    areas = [area for area in areas if area[2] - area[0] >= wide or captions.is_captioned(area)]
    areas.sort(key=lambda area: (area[2] - area[0]) * (area[1] - area[3]))  # largest first
    apart: list[Rectangle] = []
    for area in areas[:_MOST_REGIONS]:
        if not any(_overlap(area, other) for other in apart):
            apart.append(area)
    return sorted(apart, key=lambda area: area[1])


def _overlap(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _stacks(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Groups of at least two rules below each other whose left and right ends are the same."""
    stacks: list[list[Rule]] = []
    for rule in rules:
        if rule.length < _LEAST_WIDTH:
            continue
        for stack in stacks:
            first = stack[0]
            if (
                abs(first.start - rule.start) <= _SAME_EDGE
                and abs(first.end - rule.end) <= _SAME_EDGE
            ):
                stack.append(rule)
                break
        else:
            stacks.append([rule])
    return [stack for stack in stacks if len(stack) > 1]


def _areas_between(
    rules: Sequence[Rule], words: Sequence[Segment], drawings: Drawings, captions: Captions
) -> Iterator[Rectangle]:
    """The areas of tables between the rules of one stack, from top to bottom.

    rules: rules with the same ends, from top to bottom. An area grows from one space between two
    rules to the next while these contain rows of cells, or nothing, as between the two rules of a
    double line. It ends at a caption, and at a space whose lines are not rows of cells."""
    left, right = rules[0].start, rules[0].end
    inside = [word for word in words if left - 2 <= (word.left + word.right) / 2 <= right + 2]
    lines = printed_lines(inside)
    top = bottom = None
    for above, below in pairwise(rules):
        between = [line for line in lines if above.at < line.middle < below.at]
        first_caption = next(
            (nth for nth, line in enumerate(between) if captions.begin_in(line)), len(between)
        )
        rows = between[:first_caption]
        # Lines as wide as the table and without gaps are prose. A table with a caption may have
        # some.
        n_full = sum(_fills(line, right - left) for line in rows)
        is_captioned = captions.is_captioned((left, above.at, right, below.at))
        most = len(rows) / 2 if is_captioned else 1
        # Before any row was found, a space may belong to the text above the caption of the next
        # table.
        is_begun = (
            top is not None or below is rules[-1] or not _is_of_next(between, first_caption, below)
        )
        # Names of columns right above a rule may be the header of a table that begins below.
        is_whole = is_captioned or not _ends_in_header(
            rows, [line for line in lines if line.middle > below.at]
        )
        is_last = len(rows) > 1 or below is rules[-1]
        # Lines without cells below a table that has no caption are text after it.
        are_lines = top is not None and is_last and all(len(line.texts) == 1 for line in rows)
        is_table = (
            bool(rows)
            and n_full <= max(most, 1)
            and is_begun
            and is_whole
            and not (are_lines and not is_captioned)
        )
        # The area ends at the rule below, or above a caption in the space.
        if is_table or (not between and top is not None):
            top = above.at if top is None else top
            bottom = below.at if first_caption == len(between) else between[first_caption].top
        if (
            top is not None
            and bottom is not None
            and (first_caption < len(between) or (between and not is_table))
        ):
            yield _grown((left, top, right, bottom), lines, drawings, captions)
            top = bottom = None
    if top is not None and bottom is not None:
        yield _grown((left, top, right, bottom), lines, drawings, captions)


def _is_of_next(lines: Sequence[PrintedLine], at: int, below: Rule) -> bool:
    """Whether the caption that begins in line `at`, if any, is nearer to the rule below than to the
    lines above. Then it belongs to the next table, and the lines above may be prose between a
    running head and that table."""
    return (
        0 < at < len(lines) and lines[at].top - lines[at - 1].bottom > below.at - lines[-1].bottom
    )


def _ends_in_header(rows: Sequence[PrintedLine], below: Sequence[PrintedLine]) -> bool:
    """Whether the rule between `rows` and the lines `below` it ends the header of another table:
    the last row has names of columns after rows with values, and directly below the rule are values
    again."""
    has_values = [
        any(line.value_share > _LEAST_VALUES for line in some)
        for some in (rows[:-1], below[:_LINES_BELOW_HEADER])
    ]
    return all(has_values) and len(rows[-1].texts) > 1 and rows[-1].value_share == 0


def _fills(line: PrintedLine, width: float) -> bool:
    """Whether a line looks like prose: one text without gaps that is nearly as wide as the
    table."""
    return len(line.texts) == 1 and line.right - line.left >= _FULL_LINE * width


def _grown(
    area: Rectangle, lines: Sequence[PrintedLine], drawings: Drawings, captions: Captions
) -> Rectangle:
    """The area with what belongs to the table above its first and below its last rule.

    It grows as far as vertical rules reach, and up to the top of a header above it: lines with a
    name for most columns, or with any names if values are directly below the first rule."""
    left, top, right, bottom = area
    heads = [line for line in lines if captions.begin_in(line)]
    outside = [
        *heads,
        *(line for line in lines if not top < line.middle < bottom and _fills(line, right - left)),
    ]
    for rule in drawings.down:
        is_beside = (
            left - _SAME_EDGE <= rule.at <= right + _SAME_EDGE
            and rule.start <= bottom + 2
            and rule.end >= top - 2
        )
        if is_beside and not any(
            min(top, rule.start) < line.middle < max(bottom, rule.end) for line in outside
        ):
            top, bottom = min(top, rule.start), max(bottom, rule.end)
    inside = [line for line in lines if top < line.middle < bottom]
    is_cut = inside[0].value_share > _LEAST_VALUES
    names_end = next(
        (line.texts[0].right for line in inside if line.value_share > _LEAST_VALUES), right
    )
    n_columns = median_high(len(line.texts) for line in inside)
    for line in reversed([line for line in lines if line.middle < top]):
        names_all = len(line.texts) >= max(2, _LEAST_NAMED * n_columns)
        is_near = top - line.bottom <= _HEADER_GAP * (line.bottom - line.top)
        is_right = line.left > names_end and (top < area[1] or len(line.texts) > 1)
        names_some = is_right or (is_cut and len(line.texts) > 1)
        if not is_near or line in heads or not (names_all or names_some):
            break
        top = line.top
    return left, top, right, bottom
