"""Which printed lines of a table name its columns, at the top and again further down.

A rule over the whole table ends a header. So does a row of short rules, one below each name; these
also show where the columns are. Where names come again below values, another table begins that was
drawn into the same frame. A name may be printed for several columns (`with_spanners`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_assets.parsing.formats.pdf.drawings import Rule
from rag_assets.parsing.formats.pdf.table_columns import Interval, Placed, PlacedText, PrintedLine
from rag_assets.parsing.tables.grid import is_aside, shape_of

_MOST_LINES, _MOST_LINES_BELOW_VALUES = 8, 4
_LEAST_VALUES, _MOST_VALUES = 0.3, 0.5
"""Share of values among the texts behind the first: more in a line of values, at most in a header
that a rule ends."""
_LINES_TO_VALUES = 3
"""The first values of a table are at most so many lines below its header."""
_LEADING = 1.2
"""Lines of a header are at most so many of their heights apart; a wider space sets it off."""
_ONE_HEIGHT = 1.5
"""Points; rules whose heights differ by no more are in one row."""


@dataclass(frozen=True)
class TableHeader:
    """The lines [start, end) of a table name its columns."""

    start: int
    end: int
    marks: tuple[Rule, ...] = ()
    """Short rules below the names of the last line, one for each column."""


def headers_of(
    lines: Sequence[PrintedLine], edges: Sequence[float], short: Sequence[Rule]
) -> list[TableHeader]:
    """The headers of a table from top to bottom; the first begins in its first line and may have
    none.

    edges: the heights of the rules over the whole table. short: all other horizontal rules.
    """
    headers = [_first(lines, edges, short)]
    ruled = [
        any(line.middle < edge < below.middle for edge in edges) for line, below in pairwise(lines)
    ]
    has_values = [_holds_values(line) for line in lines]
    is_grid = all(edge for nth, edge in enumerate(ruled) if has_values[nth] and has_values[nth + 1])
    n_rows = sum(len(line.texts) > 1 for line in lines[headers[0].end :])
    is_of_values = 2 * sum(has_values[headers[0].end :]) > n_rows
    for nth in range(headers[0].end + 1, len(lines) - 2):
        end = headers[-1].end
        if not _ends_header(lines, nth) or not any(has_values[end:nth]):
            continue
        start = _first_line_of(lines, nth, end)
        marks, above = _marks_below(lines, nth, short), lines[start - 1]
        is_far = lines[start].top - above.bottom > _LEADING * _height(lines[start])
        is_set_off = ruled[start - 1] or len(above.texts) == 1 or is_far
        is_apart = (ruled[nth] and not is_grid) or _is_written_apart(lines, start, nth)
        if _comes_again(lines, nth, headers) or (
            is_of_values and (marks or (is_set_off and is_apart))
        ):
            headers.append(TableHeader(start, nth + 1, marks))
    return headers


def _ends_header(lines: Sequence[PrintedLine], nth: int) -> bool:
    """Whether a line names columns and none of the next ones does; a lone name above several
    columns names none."""
    names, goes_on, ends_below = (
        _names_columns(lines[at], lines[at + 1 :])
        and (len(lines[at].texts) > 1 or (at + 1 < len(lines) and len(lines[at + 1].texts) == 2))
        for at in (nth, nth + 1, nth + 2)
    )
    is_unit_or_name = len(lines[nth + 1].texts) == 1 and _names_columns(
        lines[nth + 1], lines[nth + 2 :]
    )
    return names and not goes_on and not (is_unit_or_name and ends_below)


def _comes_again(lines: Sequence[PrintedLine], nth: int, headers: Sequence[TableHeader]) -> bool:
    """Whether a line says what the last line of a header says; numbers may differ where the names
    of rows have the same name or none."""
    (first, *names), above = (
        lines[nth].texts,
        [lines[header.end - 1].texts for header in headers if header.end],
    )
    for other in above:
        texts = [text.text for text in names], [text.text for text in other[1:]]
        if texts[0] and texts[0] == texts[1] and (len(names) > 1 or first.text == other[0].text):
            return True
        if [shape_of(text.text) for text in lines[nth].texts] == [
            shape_of(text.text) for text in other
        ]:
            return True
    return False


def _is_written_apart(lines: Sequence[PrintedLine], start: int, nth: int) -> bool:
    """Whether lines are bold among others that are not, the first has a name above several columns,
    or the last names no rows."""
    own = [text for line in lines[start : nth + 1] for text in line.texts]
    below = [text for line in lines[nth + 1 : nth + 1 + _LINES_TO_VALUES] for text in line.texts]
    is_bold = all(text.is_bold for text in own) and not any(text.is_bold for text in below)
    names_no_rows = len(lines[nth].texts) > 1 and _names_columns(
        lines[nth], lines[nth + 1 :], may_name_rows=False
    )
    return (
        is_bold
        or names_no_rows
        or (start < nth and len(lines[start].texts) < len(lines[nth].texts) - 1)
    )


def _height(line: PrintedLine) -> float:
    return line.bottom - line.top


def _first(
    lines: Sequence[PrintedLine], edges: Sequence[float], short: Sequence[Rule]
) -> TableHeader:
    """The header at the top: above the first rule over the table, or the first row of short ones,
    with names above it, or else above the first line of values."""
    for nth in range(min(_MOST_LINES, len(lines) - 1)):
        if _holds_values(lines[nth]):
            break
        if marks := _marks_below(lines, nth, short):
            return TableHeader(0, nth + 1, marks)
    above = [sum(line.middle < edge for line in lines) for edge in sorted(edges)]
    for nth, n_above in enumerate(above):
        if 0 < n_above < len(lines) and any(
            _may_be_names(line, lines[n_above]) for line in lines[:n_above]
        ):
            for n_next in above[nth + 1 :]:
                own, below = lines[n_above:n_next], lines[n_next:]
                are_more = len(own) == 1 and len(own[0].texts) > len(lines[n_above - 1].texts)
                if not below or not all(
                    _names_columns(line, below, may_name_rows=are_more) for line in own
                ):
                    break
                n_above = n_next
            has_values = any(line.value_share > _MOST_VALUES for line in lines[:n_above])
            return TableHeader(
                0, _n_above_values(lines) if has_values or n_above > _MOST_LINES else n_above
            )
    return TableHeader(0, _n_above_values(lines))


def _n_above_values(lines: Sequence[PrintedLine]) -> int:
    """The lines above the first line of values."""
    n_header = next(
        (n for n, line in enumerate(lines[: _MOST_LINES + 1]) if _holds_values(line)), 0
    )
    while (
        n_header > 1
        and len(lines[n_header - 1].texts) == 1
        and lines[n_header - 1].left < lines[n_header].texts[0].right
    ):
        n_header -= 1  # a lone name at the left opens a group
    return n_header


def _may_be_names(line: PrintedLine, below: PrintedLine) -> bool:
    """Whether a line has several names, or one above the values of the line below."""
    return len(line.texts) > 1 or (
        line.left > below.texts[0].right and below.value_share > _MOST_VALUES
    )


def _holds_values(line: PrintedLine) -> bool:
    return line.value_share > _LEAST_VALUES


def _marks_below(lines: Sequence[PrintedLine], nth: int, short: Sequence[Rule]) -> tuple[Rule, ...]:
    """The row of short rules right below the names of a line, one below each but the first, if
    values follow and none of them is drawn below a name of several columns, or below a title."""
    line, below = lines[nth], lines[nth + 1 : nth + 1 + _LINES_TO_VALUES]
    near = [rule for rule in short if line.middle < rule.at < below[0].middle]
    rules = [rule for rule in near if rule.at - near[0].at <= _ONE_HEIGHT]
    of_values = next(filter(_holds_values, below), None)
    if not rules or line.value_share or of_values is None:
        return ()
    is_right = line.left > of_values.texts[0].right
    names = line.texts[0 if is_right else 1 :]
    are_marked = all(
        sum(rule.start <= name.centre <= rule.end for rule in rules) == 1 for name in names
    )
    alone = all(
        sum(rule.start <= text.centre <= rule.end for text in line.texts) == 1 for rule in rules
    )
    is_spanner = any(
        sum(rule.start <= text.centre <= rule.end for text in other.texts) > 1
        for rule in rules
        for other in below
    )
    is_enough = len(names) > 1 or len(names) == len(of_values.texts) - 1
    return tuple(rules) if are_marked and alone and is_enough and not is_spanner else ()


def _names_columns(
    line: PrintedLine, below: Sequence[PrintedLine], *, may_name_rows: bool = True
) -> bool:
    """Whether a line holds nothing but names, several or one that is right of the names of rows,
    and values follow."""
    of_values = next(filter(_holds_values, below[:_LINES_TO_VALUES]), None)
    if of_values is None or not (may_name_rows or line.left > of_values.texts[0].right):
        return False
    return _are_names(line, of_values)


def _are_names(line: PrintedLine, of_values: PrintedLine) -> bool:
    is_right = line.left > of_values.texts[0].right
    names = line.texts[0 if is_right else 1 :]
    is_enough = is_right or len(names) == 1 or len({name.text for name in names}) > 1
    return bool(names) and all(map(_is_name, names)) and is_enough


def _is_name(text: PlacedText) -> bool:
    return any(map(str.isalnum, text.text)) and not text.is_value


def _first_line_of(lines: Sequence[PrintedLine], nth: int, end: int) -> int:
    """The first line of the header whose last line is `nth`, below line `end`."""
    of_values = next(line for line in lines[nth + 1 :] if _holds_values(line))
    start = nth
    while start - 1 > end and nth - start + 1 < _MOST_LINES_BELOW_VALUES:
        gap = lines[start].top - lines[start - 1].bottom
        if gap > _LEADING * _height(lines[start]) or not _are_names(lines[start - 1], of_values):
            break
        start -= 1
    return start


def with_spanners(
    lines: Sequence[Sequence[Placed]], columns: Sequence[Interval], rules: Sequence[Rule]
) -> list[list[Placed]]:
    """The header lines of a table, each name with the columns it is printed for.

    A short rule below a name shows its columns. Without a rule, a name above others gets the
    columns that it is centred over, or only its own if it is aligned with that one. In a line of
    italics above an upright line, names that begin where their columns do reach up to the next
    name."""
    spread: list[list[Placed]] = []
    for nth in reversed(range(len(lines))):
        line = lines[nth]
        done: list[Placed] = []
        reaches = _is_set_apart(line, lines[nth + 1 : nth + 2], columns)
        for at, one in enumerate(line):
            start = done[-1].end if done else 0
            stop = line[at + 1].first if at + 1 < len(line) else len(columns)
            own = [
                rule
                for rule in rules
                if sum(rule.start <= other.text.centre <= rule.end for other in line) == 1
            ]
            over = _ruled_below(one, lines[nth + 1 :], columns, own)
            if nth and nth + 1 == len(lines) == nth + len(line) and is_aside(one.text.text):
                over = 0, 1  # the unit of all values stands in the corner
            elif over is None and reaches and one.first:
                over = one.first, stop
            elif over is None and nth + 1 < len(lines):
                over = _centred_over(one, columns, min(start, one.first), max(stop, one.end))
            done.append(Placed(one.text, *over) if over else one)
        spread.insert(0, done)
    return spread


def _is_set_apart(
    line: Sequence[Placed], below: Sequence[Sequence[Placed]], columns: Sequence[Interval]
) -> bool:
    """Whether a header line in italics is above upright names of columns.

    It has at least two names in italics, each beginning where its column does. The line below has
    an upright name for each column from the first of these names on."""
    groups = [one for one in line if one.first]
    names = [one for own in below for one in own if groups and one.first >= groups[0].first]
    return (
        1 < len(groups) < len(names) == len(columns) - groups[0].first
        and all(one.text.is_italic and one.text.begins_at(columns[one.first]) for one in groups)
        and not any(one.text.is_italic for one in names)
    )


def _ruled_below(
    one: Placed,
    below: Sequence[Sequence[Placed]],
    columns: Sequence[Interval],
    rules: Sequence[Rule],
) -> tuple[int, int] | None:
    """The columns [first, end) that a rule directly below a name covers; None without such a
    rule."""
    text, size = one.text, one.text.words[0].size
    bottom = max(word.bottom for word in text.words)
    floor = max(
        [bottom, *(min(word.top for name in row for word in name.text.words) for row in below[:1])]
    )
    for rule in rules:
        is_below = bottom - 0.5 * size <= rule.at <= floor + 0.5 * size
        if (
            is_below
            and rule.start <= text.centre <= rule.end
            and rule.length >= 0.8 * (text.right - text.left)
        ):
            covered = [
                n
                for n, edges in enumerate(columns)
                if rule.start - size <= sum(edges) / 2 <= rule.end + size
            ]
            if covered and covered[0] <= one.first and one.end <= covered[-1] + 1:
                return covered[0], covered[-1] + 1
    return None


def _centred_over(
    one: Placed, columns: Sequence[Interval], start: int, stop: int
) -> tuple[int, int] | None:
    """The columns [first, end), between `start` and `stop`, that a name is centred over; None if it
    is aligned with its own column."""
    text = one.text
    if one.end - one.first == 1 and text.is_aligned(columns[one.first]):
        return None
    ranges = [
        (first, end) for first in range(start, one.first + 1) for end in range(one.end, stop + 1)
    ]
    return min(
        ranges,
        key=lambda r: (
            abs((columns[r[0]][0] + columns[r[1] - 1][1]) / 2 - text.centre),
            r[1] - r[0],
        ),
    )
