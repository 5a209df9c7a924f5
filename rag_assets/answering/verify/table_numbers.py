"""When two numbers may be the same one (rounded, in another unit, as a share, within a limit), and the
numbers of quoted table cells.

A cell "3.4" below "IC50 (nM)" is 3.4 nM: a unit may stand in the cell, in the header of its column,
in the name of its row, in a column of units, in other cells of the column, or in the caption.
`core.text.quantities` reads numbers; `claim_numbers` compares those of a claim with those of its
quotes.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from rag_assets.answering.verify.quoted_text import (
    SEPARATOR,
    QuotedRows,
    QuotedTable,
    TableCell,
    TableRow,
)
from rag_assets.core.text.number_spelling import PERCENT
from rag_assets.core.text.quantities import P_VALUE, PLAIN, YEAR, Quantity, quantities

MAX_COMPARED = 100
"""A claim with more numbers is not compared, and not published: comparing takes quadratic time."""
_SIGNIFICANCE_LEVELS = {
    Decimal(level) for level in ("0.1", "0.05", "0.01", "0.005", "0.001", "0.0001")
}
_ROUNDED_SHARE = Decimal("0.05")
_BOUND_FACTOR = 10
"""A limit further from the value than this factor is true but says too little."""


def agree(claimed: Quantity, given: Quantity) -> bool:
    """Whether two numbers may be the same; the unit of one may be elsewhere, as in the header of a
    table."""
    if {claimed.bound, given.bound} == {"more", "less"}:
        return False  # "at least 10" does not confirm "at most 10"
    is_one_plain = PLAIN in (claimed.kind, given.kind)
    if is_one_plain and (claimed.bare == given.bare or claimed.value == given.value):
        return True
    if claimed.kind == given.kind:
        return _same_amount(claimed, given)
    if {claimed.kind, given.kind} == {PLAIN, PERCENT}:
        share, percentage = (claimed, given) if claimed.kind == PLAIN else (given, claimed)
        return share.value * 100 == percentage.value
    return _is_per_left_out(claimed, given) and claimed.bare == given.bare


def _is_per_left_out(one: Quantity, other: Quantity) -> bool:
    """Whether one kind is the other without its divisor: "5 mg" for "5 mg/day"."""
    short, long = sorted((one.kind, other.kind), key=len)
    return long.startswith(f"{short}/")


def _same_amount(claimed: Quantity, given: Quantity) -> bool:
    """Whether two numbers of the same kind may be the same: equal, rounded, or within the limit
    that the claim gives ("more than 10"). Signs are compared only if both numbers have a known one.
    A claimed significance level such as "p < 0.05" is confirmed by every smaller p value. Any other
    limit in the source, and a year, must be equal to what is claimed."""
    amount, other = claimed.value, given.value
    if not claimed.is_signed or not given.is_signed:
        amount, other = abs(amount), abs(other)
    if amount == other:
        return True
    if (
        claimed.kind == P_VALUE
        and claimed.bound in ("more", "less")
        and amount in _SIGNIFICANCE_LEVELS
    ):
        return other < amount if claimed.bound == "less" else other > amount
    if given.bound or amount * other <= 0 or claimed.kind == YEAR:
        return False
    if claimed.bound in ("more", "less"):
        return _is_within_bound(claimed.bound, abs(amount), abs(other))
    return _is_rounded(claimed, amount, given, other)


def _is_rounded(claimed: Quantity, amount: Decimal, given: Quantity, other: Decimal) -> bool:
    """Whether the claimed number is the given one, rounded to fewer digits. If only one digit is
    left, the given number must have decimals and be near the claimed one. A number that is claimed
    with "about" only has to be near."""
    if abs(amount - other) * 2 > abs(amount) or claimed.n_digits >= given.n_digits:
        # the first for speed: rounding moves no number by more than half of what is left of it
        return False
    is_rounded = _rounded(other / claimed.scale, claimed.written) == amount / claimed.scale
    if claimed.bound == "about":
        return is_rounded or is_about(claimed, other)
    return is_rounded and (claimed.n_digits > 1 or _is_close_measurement(claimed, given))


def _is_close_measurement(claimed: Quantity, given: Quantity) -> bool:
    """Whether the given number is written with decimals and the claimed one, without signs, differs
    from it by at most 5 per cent. p values are never close."""
    is_measured = "." in given.written and claimed.kind != P_VALUE
    return is_measured and abs(abs(claimed.value) - abs(given.value)) <= _ROUNDED_SHARE * abs(
        given.value
    )


def _is_within_bound(bound: str, limit: Decimal, value: Decimal) -> bool:
    low, high = (limit, value) if bound == "more" else (value, limit)
    return low <= high <= low * _BOUND_FACTOR


def is_about(claimed: Quantity, value: Decimal) -> bool:
    """Whether a number that is claimed with "about" is near a value."""
    is_near = abs(abs(claimed.value) - abs(value)) <= _ROUNDED_SHARE * abs(value)
    return claimed.bound == "about" and is_near


def is_rounded_to(claimed: Quantity, value: Decimal) -> bool:
    """Whether a computed value, rounded to the last digit that the claim writes, is the claimed
    number without its sign. `value` must not be negative."""
    step = Decimal(1).scaleb(-len(claimed.written.partition(".")[2])) * claimed.scale
    return abs(value - abs(claimed.value)) * 2 <= step


def _rounded(value: Decimal, like: str) -> Decimal:
    """Rounds a value to as many decimals as the written number `like` has. A number that ends in
    zeros rounds to these zeros: for "1200", to hundreds."""
    zeros = len(like) - len(like.rstrip("0")) if "." not in like else 0
    exponent = -len(like.partition(".")[2]) if "." in like else zeros
    step = Decimal(1).scaleb(exponent)
    return (value / step).to_integral_value(rounding="ROUND_HALF_UP") * step


_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,40})[)\]]")
_BEHIND = re.compile(r"(?:[,;/]|\bin)\s+([^,;/()]{1,30})$|[,;/]([^,;/()]{1,30})$", re.IGNORECASE)
_LAST_WORDS = re.compile(r"(?:^|\s)(\S{2,}(?:\s\S{1,8})?)$|\s(\S{2,})$")
_COUNTS_AND_SHARES = re.compile(
    r"(?:^|[\s,])(?:n|no\.?|nr\.?|number|count|cases|patients|participants|frequency|freq\.?|total)\s?[(\[][^()\[\]]*[)\]]",
    re.IGNORECASE,
)
_SHARE = re.compile(r"\bper\s?cent(?:age)?s?\b|^%|%$|\bpct\b", re.IGNORECASE)
_AGE = re.compile(r"\bages?\b", re.IGNORECASE)
_UNIT_COLUMN = re.compile(r"units?(?: of measure(?:ment)?)?\s?\w?", re.IGNORECASE)
_P_HEADER = re.compile(r"\W*p(?:[- ]?values?)?\W*", re.IGNORECASE)
_BRACKETED_NUMBER = re.compile(r"[(\[]\s*+(?:[-−–+<>]\s*+)?[\d.]")
_MARK_BEHIND = re.compile(r"(?<=\d)[a-fi-jn-rt-zA-BD-JN-Z](?![\w/])|(?<=\d)[*†‡§¶]+")
"""The mark of a footnote directly behind a number; not a letter that is a unit."""
_BRACKETS = str.maketrans(dict.fromkeys("()[]{}", ";"))
_IN_UNIT = re.compile(r"\bin (\S{1,20}?)[.,;]?(?=\s|$)")
_PER_CENT, _YEARS = "%", "years"
_MAX_UNIT_CHARS = 30


@dataclass(frozen=True)
class GivenNumber:
    """A number that a claim may repeat; a number of a cell may be given in several units."""

    quantity: Quantity
    has_known_unit: bool
    """The table gives the number a unit, which `quantity` may or may not have, or tells that it is
    a count."""


def numbers_of_cell(table: QuotedTable, row: TableRow, cell: TableCell) -> list[GivenNumber]:
    """Every quantity that each number of a cell may be claimed as.

    A number with its own unit is read with that only; any other with each unit its table gives, and
    without a unit. A number without a sign is positive.
    """
    text = _MARK_BEHIND.sub("", cell.text)
    bare = text.translate(_BRACKETS)
    own = quantities(f"p {bare}" if _P_HEADER.fullmatch(cell.column) else bare)
    n_outside = len(quantities(_IN_BRACKETS.sub(" ", text).translate(_BRACKETS)))
    found: list[GivenNumber] = []
    for nth, one in enumerate(own):
        is_plain = not one.has_unit and one.kind in (PLAIN, YEAR)
        is_in_brackets = nth >= n_outside > 0
        units = _units_of(table, row, cell, is_in_brackets=is_in_brackets) if is_plain else []
        is_count = not is_in_brackets and any(
            _names_count_and_share(label, cell) for label in _labels(row, cell)
        )
        found += [
            GivenNumber(number, bool(units) or is_count)
            for number in (one, *(_measured(one, it) for it in units))
        ]
    return [replace(one, quantity=replace(one.quantity, is_signed=True)) for one in found]


def _labels(row: TableRow, cell: TableCell) -> tuple[str, ...]:
    return (cell.column, *row.names[:1])


def _names_count_and_share(label: str, cell: TableCell) -> bool:
    """Whether a cell holds a count and its share: "n (%)" above "54 (4.9)"."""
    return (
        _COUNTS_AND_SHARES.search(label) is not None
        and _BRACKETED_NUMBER.search(cell.text) is not None
    )


def _measured(number: Quantity, unit: Quantity) -> Quantity:
    value, scale = number.value * unit.unit_scale, unit.unit_scale
    return replace(number, value=value, kind=unit.kind, unit_scale=scale, has_unit=True)


def _units_of(
    table: QuotedTable, row: TableRow, cell: TableCell, *, is_in_brackets: bool
) -> list[Quantity]:
    """The units that the table gives a number without a unit, each as the quantity "1 <unit>". The
    header, the name of the row, columns of units and other cells of the column decide. Only if
    these have no unit are the heading above the row and the caption read. A label such as "n (%)"
    gives its unit only to the number in brackets."""
    labels = [
        it for it in _labels(row, cell) if is_in_brackets or not _names_count_and_share(it, cell)
    ]
    of_unit_columns = _units(
        other.text for other in row.cells if _UNIT_COLUMN.fullmatch(other.column)
    )
    below = [
        other.text
        for each in table.rows
        for other in each.cells
        if cell.column and other.column == cell.column
    ]
    # the units of the other numbers of the column, each as the quantity "1 <unit>"
    in_column = [
        replace(one, value=one.unit_scale, written="1", times=Decimal(1), bound="", is_signed=False)
        for text in below
        for one in quantities(text)
        if one.has_unit
    ]
    nearest = [
        *(unit for it in labels for unit in _units_named(it)),
        *of_unit_columns,
        *dict.fromkeys(in_column),
    ]
    if nearest:
        return nearest
    in_caption = _IN_BRACKETS.findall(table.caption) + _IN_UNIT.findall(table.caption)
    share = [_PER_CENT] if _SHARE.search(table.caption) else []
    return [*_units_named(row.heading), *_units([*in_caption, *share])]


def _units_named(label: str) -> list[Quantity]:
    """The units that a header or the name of a row gives: "IC50 (nM)", "Age, years", "Weight in
    kg", "Dose mg"."""
    parts = [
        part
        for found in _IN_BRACKETS.findall(label)
        for part in (found, *re.split(r"[,;] ?", found))
    ]
    outside = _IN_BRACKETS.sub(" ", label).strip()
    parts += [
        part
        for found in (_BEHIND.search(label), _BEHIND.search(outside))
        if found
        for part in found.groups()
    ]
    parts += [part for found in _LAST_WORDS.finditer(outside) for part in found.groups()]
    units = _units([label, outside, *(part for part in parts if part)])
    if not units and _SHARE.search(label):
        units = _units([_PER_CENT])
    if not units and _AGE.search(label):
        units = _units([_YEARS])
    return units


def _units(texts: Iterable[str]) -> list[Quantity]:
    """The quantity "1 <text>" for every text that is a unit and nothing else."""
    found: dict[Quantity, None] = {}
    for text in texts:
        has_digit = any(character.isdigit() for character in text.replace("-1", ""))
        may_be_unit = 0 < len(text.strip()) <= _MAX_UNIT_CHARS and not has_digit
        read = quantities(f"1 {text.strip()}") if may_be_unit else ()
        if len(read) == 1 and read[0].has_unit:
            found[read[0]] = None
    return list(found)


def states_a_row(claim: str, quoted: QuotedRows) -> bool:
    """Whether a claim repeats at least two cells of a quoted row word for word, from its first cell
    on and in order. The caption or the heading of the row may be in front of them."""
    pieces = [piece.strip() for piece in claim.split(SEPARATOR)]
    caption = quoted.table.caption
    if caption.startswith(pieces[0]):
        pieces = pieces[1:]
    for nth in dict.fromkeys(nth for nth, _ in quoted.cells):
        own = [
            quoted.chunk_text[cell.start : cell.end].strip()
            for at, cell in quoted.cells
            if at == nth
        ]
        is_titled = pieces and pieces[0] in (quoted.table.rows[nth].heading, *caption.split("\n"))
        stated, left = pieces[1:] if is_titled else pieces, iter(own)
        if len(stated) > 1 and stated[0] == own[0] and all(piece in left for piece in stated):
            return True
    return False
