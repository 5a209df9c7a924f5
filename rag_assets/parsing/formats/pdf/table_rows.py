"""The rows of a printed table: which lines are one row, which label belongs to several rows, and in
which groups a row is.

     City     Year  Cases         the header, see `table_headers`
    ---------------------------   a rule over the whole table
     Northern towns               a lone name opens a group (`groups_of`)
       Oslo   2019     12         ] a band, the lines between two such rules: here two rows,
              2020     15         ] and "Oslo" is the label of both
    ---------------------------
       Turku  2019  about 300     ] a band that is one row, because its texts are wrapped
                    (reported)    ]

Each band is read in the first of these ways that fits:

1. Rules of both directions bound its cells: the rules are the edges of the rows, and a cell that no
   rule cuts belongs to all rows beside it (`ruled_rows`).
2. It is one row; or each label of the first column is in the middle of its own rows (`rows_of`).
3. Its lines are joined to rows by distance, and where texts go on (`_goes_on`); a text that is alone
   in a leading column, at whatever height, is the label of all its rows.

Labels printed at a right angle beside the rows come last, when all bands are read
(`sideways_labels`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from statistics import fmean, quantiles
from typing import Literal

from rag_assets.parsing.formats.pdf.table_columns import Placed, PlacedText, PrintedLine
from rag_assets.parsing.formats.pdf.text import Segment

_TIGHT = 0.87
"""Lines closer than this share of the usual distance are one row."""
_FARTHER = 1.1
_OFF_CENTRE = 0.3
"""Share of the distance of rows that a label may be off the middle of its rows."""
_READS_ON = 0.5
"""Share of the texts below others that begin with a small letter in a row of wrapped texts."""
_HALF = 0.75
"""Lines this much closer, with texts in different columns, are one row whose texts are set at
different heights."""


@dataclass
class TableLine:
    """A printed line with its texts placed."""

    printed: PrintedLine
    placed: list[Placed]

    @property
    def columns(self) -> set[int]:
        return {column for one in self.placed for column in range(one.first, one.end)}

    @property
    def middle(self) -> float:
        return self.printed.middle

    def at(self, column: int) -> PlacedText | None:
        return next((one.text for one in self.placed if one.first <= column < one.end), None)


@dataclass
class RowCell:
    """One cell's lines of text, over columns [first, end)."""

    first: int
    end: int
    texts: list[PlacedText] = field(default_factory=list)


@dataclass
class PrintedRow:
    lines: list[TableLine]

    @property
    def middle(self) -> float:
        return fmean(line.middle for line in self.lines)

    @property
    def columns(self) -> set[int]:
        return set().union(*(line.columns for line in self.lines))

    def texts(self) -> list[str]:
        """The texts of its cells, lines joined with spaces."""
        return [" ".join(text.text for text in entry.texts) for entry in self.entries()]

    def entries(self) -> list[RowCell]:
        """Its cells from left to right."""
        entries: list[RowCell] = []
        for one in sorted(
            (one for line in self.lines for one in line.placed), key=lambda one: one.first
        ):
            if entries and one.first < entries[-1].end:
                entries[-1].end = max(entries[-1].end, one.end)
                entries[-1].texts.append(one.text)
            else:
                entries.append(RowCell(one.first, one.end, [one.text]))
        return entries


@dataclass(frozen=True)
class Cut:
    """A rule between vertical rules: it separates the cells above it from those below it, in the
    columns it covers."""

    at: float
    columns: frozenset[int]


@dataclass
class RowLabel:
    """A text that names the rows [start, end)."""

    column: int
    texts: list[PlacedText]
    start: int
    end: int


def usual_distance(lines: Sequence[TableLine]) -> float:
    """The distance between the lines of neighbouring rows, in points: the upper quartile of all
    distances between neighbouring lines; 0 if there are fewer than two lines."""
    distances = [below.middle - line.middle for line, below in pairwise(lines)]
    return (
        quantiles(distances, n=4)[2] if len(distances) > 1 else distances[0] if distances else 0.0
    )


def are_parted(band: Sequence[TableLine], cuts: Sequence[Cut]) -> bool:
    """Whether cuts separate all rows of a band: where a value is directly below another, a cut is
    between them."""
    return not any(
        _both_hold_values(line, below)
        for line, below in pairwise(band)
        if not any(line.middle < cut.at < below.middle for cut in cuts)
    )


def ruled_rows(
    band: Sequence[TableLine], cuts: Sequence[Cut]
) -> tuple[list[PrintedRow], list[RowLabel]]:
    """The rows between the cuts of a band, and the labels: texts in cells that span several rows,
    because no cut crosses these cells."""
    # All lines between two cuts, of whatever columns, are a part: later a row.
    parts = [
        [line for line in band if above < line.middle <= below]
        for above, below in pairwise([float("-inf"), *(cut.at for cut in cuts), float("inf")])
    ]
    # In each column only the cuts that cover it end a cell: one over several parts is a label.
    labels: list[RowLabel] = []
    for column in sorted(set().union(*(line.columns for line in band))):
        starts = [0, *(nth for nth, cut in enumerate(cuts, 1) if column in cut.columns), len(parts)]
        for start, end in pairwise(starts):
            ones = [
                one
                for part in parts[start:end]
                for line in part
                for one in line.placed
                if one.first == column
            ]
            if end - start > 1 and ones:
                labels.append(RowLabel(column, [one.text for one in ones], start, end))
    # The rows are what remains; labels count them without the parts that held nothing else.
    taken = {id(text) for label in labels for text in label.texts}
    rows = [
        PrintedRow([rest for line in part if (rest := _without(line, taken)).placed])
        for part in parts
    ]
    before = [0, *accumulate(bool(row.lines) for row in rows)]
    moved = [replace(label, start=before[label.start], end=before[label.end]) for label in labels]
    return [row for row in rows if row.lines], [label for label in moved if label.start < label.end]


def _without(line: TableLine, taken: set[int]) -> TableLine:
    """A line without some texts, given by their identity."""
    return TableLine(line.printed, [one for one in line.placed if id(one.text) not in taken])


def rows_of(
    band: Sequence[TableLine], usual: float, *, is_bounded: bool
) -> tuple[list[PrintedRow], list[RowLabel]]:
    """The printed rows of a band, and the labels that stand for several of these rows.

    usual: see `usual_distance`. is_bounded: drawn rules separate the band from other bands. A label
    names the rows that it stands for by their indexes in the band.
    """
    # 1. All lines are one row, with cells of several lines.
    if is_bounded and _is_one_row(band):
        return [PrintedRow(list(band))], []
    # 2. Each line is a row, and labels stand beside the middle of their rows.
    labels = _spanning_labels(band) if is_bounded else []
    if not labels and (centred := _centred_labels(band)):
        own = {id(text) for label in centred for text in label.texts}
        lines = [_without(line, own) for line in band]
        return [PrintedRow([line]) for line in lines if line.placed], centred
    # 3. Lines are joined to rows; a label that spans the band stands for all of them.
    apart = {id(one.text) for _, ones in labels for one in ones}
    rest = [_without(line, apart) for line in band]
    rows = list(_joined([line for line in rest if line.placed], usual))
    return rows, [
        RowLabel(column, [one.text for one in ones], 0, len(rows)) for column, ones in labels
    ]


def _is_one_row(band: Sequence[TableLine]) -> bool:
    """Whether the lines of a band are one row. One of its lines has a text in all columns, and no
    other line has a value where that line has one; or most texts continue the text above them."""
    if len(band) < 2 or _is_wrapped(band):
        return True
    fullest = max(band, key=lambda line: len(line.columns))
    others = [line for line in band if line is not fullest]
    return all(
        line.columns < fullest.columns and not _both_hold_values(line, fullest) for line in others
    )


def _is_wrapped(band: Sequence[TableLine]) -> bool:
    """Whether most texts below the first of a column begin with a small letter, so that they
    continue it. A column whose first text begins with a small letter does not count."""
    columns: dict[int, list[str]] = {}
    for one in (one for line in band for one in line.placed):
        columns.setdefault(one.first, []).append(one.text.text)
    below = [text for first, *rest in columns.values() if not first[:1].islower() for text in rest]
    return bool(below) and sum(text[:1].islower() for text in below) >= _READS_ON * len(below)


def _both_hold_values(line: TableLine, other: TableLine) -> bool:
    """Whether two lines have values in the same column."""
    pairs = [(one.text, other.at(one.first)) for one in line.placed]
    return any(text.is_value and above is not None and above.is_value for text, above in pairs)


def _spanning_labels(band: Sequence[TableLine]) -> list[tuple[int, list[Placed]]]:
    """The leading columns whose only text is the label of the whole band, with the pieces of this
    text; columns to the right have texts in several lines."""
    labels: list[tuple[int, list[Placed]]] = []
    for column in sorted(set().union(*(line.columns for line in band))):
        with_text = [
            nth for nth, line in enumerate(band) if any(one.first == column for one in line.placed)
        ]
        later = [line for line in band if any(one.first > column for one in line.placed)]
        is_once = with_text and with_text[-1] - with_text[0] < len(with_text) < len(later)
        ones = [one for nth in with_text for one in band[nth].placed if one.first == column]
        is_wrapped = len(ones) > 1 and (
            any(one.text.is_value for one in ones) or len(later) < 2 * len(ones)
        )
        if not is_once or is_wrapped or any(one.end - one.first > 1 for one in ones):
            break
        labels.append((column, ones))
    return labels


def _joined(lines: Sequence[TableLine], usual: float) -> Iterator[PrintedRow]:
    """The rows that the lines form, from top to bottom; `_goes_on` decides which line continues the
    row above it. usual: see `usual_distance`."""
    row: list[TableLine] = []
    for nth, line in enumerate(lines):
        below = lines[nth + 1] if nth + 1 < len(lines) else None
        if row and not _goes_on(row, line, below, usual):
            yield PrintedRow(row)
            row = []
        row.append(line)
    if row:
        yield PrintedRow(row)


def _goes_on(
    row: Sequence[TableLine], line: TableLine, below: TableLine | None, usual: float
) -> bool:
    """Whether a line is part of the row above it."""
    # A word that is hyphenated goes on.
    last = row[-1]
    if any(_is_hyphenated(last.at(one.first), one.text) for one in line.placed):
        return True
    # Texts in other columns only: the row is set at two heights.
    distance = line.middle - last.middle
    above = set().union(*(one.columns for one in row))
    is_tight = distance <= _TIGHT * usual
    if not above & line.columns:
        return distance <= _HALF * usual or (is_tight and line.columns.isdisjoint({0}))
    # So far the row is a name alone: its next line, or the name of the next row.
    name, next_name = last.at(0), line.at(0)
    if name is not None and next_name is not None and all(set(one.columns) == {0} for one in row):
        return _reads_on(name, next_name) or (is_tight and not _is_nearer(line, last, below))
    # Values below values, or a text in a new column, are another row.
    if any(_both_hold_values(line, one) for one in row) or not line.columns < above:
        return False
    if any(one.text.is_value for one in line.placed if one.first):
        return False
    # Words alone: wrapped texts, if the name goes on or the line is near.
    if next_name is not None and name is not None and _reads_on(name, next_name):
        return True
    if next_name is not None:
        return is_tight and not _is_nearer(line, last, below)
    return is_tight or 2 * len(line.columns) <= len(above)


def _is_nearer(line: TableLine, above: TableLine, below: TableLine | None) -> bool:
    """Whether a line is nearer to the line below than to the line above, or hardly farther from
    it."""
    return below is not None and below.middle - line.middle < _FARTHER * (
        line.middle - above.middle
    )


def _is_hyphenated(text: PlacedText | None, following: PlacedText) -> bool:
    """Whether a text ends in a hyphen inside a word, which goes on in the text below it."""
    return (
        text is not None
        and text.text[-2:-1].isalpha()
        and text.text[-1] == "-"
        and following.text[:1].isalpha()
    )


def _reads_on(text: PlacedText, following: PlacedText) -> bool:
    """Whether a text goes on in the text below it: the lower one begins with a small letter, or the
    upper one ends with a sign such as a comma or an open bracket."""
    first = following.text[:1]
    return (
        (first.islower() and not text.text[:1].islower())
        or text.text.endswith(("-", ",", "(", "/", "&"))
        or first in ")&"
    )


def _centred_labels(band: Sequence[TableLine]) -> list[RowLabel]:
    """The labels of the first column, each printed in the middle of its rows; empty unless all rows
    can be shared out so.

        2019   3
        2020   5    <- "Oslo" is printed here, beside the middle one of its rows
        2021   4
    """
    rows = [line.middle for line in band if line.columns - {0}]
    ones = [(line.middle, one) for line in band for one in line.placed if one.end == 1]
    if (
        len(rows) < 2
        or not ones
        or ones[0][0] - rows[0] < _OFF_CENTRE * (rows[1] - rows[0])
        or len(ones) == len(rows)
    ):
        return []
    # Each label takes the rows from `start` on whose middle is nearest to its own.
    labels, start = [], 0
    for middle, one in ones:
        if start == len(rows):
            return []
        end = min(
            range(start, len(rows)), key=lambda nth: abs(rows[start] + rows[nth] - 2 * middle)
        )
        if abs((rows[start] + rows[end]) / 2 - middle) > _OFF_CENTRE * (rows[1] - rows[0]):
            return []
        labels.append(RowLabel(0, [one.text], start, end + 1))
        start = end + 1
    return labels if start == len(rows) else []


def sideways_labels(
    words: Sequence[Segment], rows: Sequence[PrintedRow], edges: Sequence[float]
) -> list[RowLabel]:
    """The labels printed at a right angle beside rows, each with its rows: those up to the nearest
    rules above and below its middle. Their `column` is -1, left of all columns.

    edges: the heights of the rules over the whole table, in points."""
    # Words that overlap in height are lines of one label.
    labels: list[list[Segment]] = []
    for word in sorted(words, key=lambda word: (word.top + word.bottom) / 2):
        if (
            labels
            and min(word.bottom, labels[-1][-1].bottom) - max(word.top, labels[-1][-1].top) > 0
        ):
            labels[-1].append(word)
        else:
            labels.append([word])
    tops = [min(word.top for word in label) for label in labels]
    bottoms = [max(word.bottom for word in label) for label in labels]
    found = []
    for nth, label in enumerate(labels):
        top, bottom = tops[nth], bottoms[nth]
        middle = (top + bottom) / 2
        # Up to the nearest rule, or half-way to the label before and behind.
        before = bottoms[nth - 1] if nth else float("-inf")
        behind = tops[nth + 1] if nth + 1 < len(labels) else float("inf")
        ceiling = max(
            (edge for edge in edges if before <= edge < middle), default=(before + top) / 2
        )
        floor = min(
            (edge for edge in edges if middle < edge <= behind), default=(bottom + behind) / 2
        )
        inside = [at for at, row in enumerate(rows) if ceiling < row.middle < floor]
        if inside:
            text = PlacedText(tuple(sorted(label, key=lambda word: word.left)))
            found.append(RowLabel(-1, [text], inside[0], inside[-1] + 1))
    return found


_INDENT_EMS = 0.45
Role = Literal["banner", "group", "row"]


@dataclass
class _OpenGroup:
    """A group to which rows may still be added."""

    name: str
    rank: int
    """-1 for a name above the columns, 0 for a name in bold while others are not, else 1."""
    left: float
    begins_band: bool
    is_indenting: bool | None = None
    """Whether its rows are indented; None before its first row."""


def groups_of(
    rows: Sequence[PrintedRow], roles: Sequence[Role], begins_band: Sequence[bool]
) -> list[tuple[str, ...]]:
    """The names of the groups that each row is in, outermost first. A row that opens a group is in
    the groups around that group only.

    A group of indented rows ends where the indentation ends. Any other group ends at the next name
    of its rank, or at a rule if a rule was above its name.

    roles: for each row, "group" for a lone name that opens a group, "banner" for a lone name above
    the columns, "row" for any other row. begins_band: for each row, whether a rule over the whole
    table is directly above it."""
    names = [row.entries()[0].texts[0] for row in rows]
    all_bold = all(name.is_bold for name in names)
    stack: list[_OpenGroup] = []
    found: list[tuple[str, ...]] = []
    for nth, (row, name) in enumerate(zip(rows, names, strict=True)):
        left, step = name.left, _INDENT_EMS * name.words[0].size
        if roles[nth] in ("group", "banner"):
            rank = -1 if roles[nth] == "banner" else int(all_bold or not name.is_bold)
            group = _OpenGroup(row.texts()[0], rank, left, begins_band[nth])
            follows = nth > 0 and roles[nth - 1] == roles[nth]
            while stack and _ends_at(stack[-1], group, step, follows=follows):
                stack.pop()
            found.append(tuple(outer.name for outer in stack))
            stack.append(group)
            continue
        while stack and _is_outside(stack[-1], left, step, begins_band=begins_band[nth]):
            stack.pop()
        if stack and stack[-1].is_indenting is None and stack[-1].rank >= 0:
            stack[-1].is_indenting = left > stack[-1].left + step
        found.append(tuple(group.name for group in stack))
    return found


def _ends_at(group: _OpenGroup, following: _OpenGroup, step: float, *, follows: bool) -> bool:
    """Whether a group ends where another name opens a group. A name directly below another name of
    its rank does not end that group: it opens a group inside it."""
    if group.rank != following.rank:
        return group.rank > following.rank
    if following.left > group.left + step:
        return False
    return not (follows and group.is_indenting is None and abs(following.left - group.left) <= step)


def _is_outside(group: _OpenGroup, left: float, step: float, *, begins_band: bool) -> bool:
    """Whether a row that begins at `left` does not belong to the group, which ends above it."""
    if group.is_indenting is None:
        return False
    if group.is_indenting:
        return left <= group.left + step
    return begins_band and group.begins_band
