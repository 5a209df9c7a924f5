"""Reads the quantities of a cell, with the units its table gives them.

A cell "3.4" below "IC50 (nM)" is 3.4 nM. A unit may stand in the cell, in the header of its column, in the name of
its row, in a column of units, in other cells of the column, or in the caption.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from rag_assets.answering.verify.table_quotes.rows import Table, TableCell, TableRow
from rag_assets.core.text.numbers.quantities import PLAIN, YEAR, Quantity, quantities

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
_BRACKETED_NUMBER = re.compile(r"[(\[]\s*[-−–+<>]?\s*[\d.]")
_MARK_BEHIND = re.compile(r"(?<=\d)[a-fi-jn-rt-zA-BD-JN-Z](?![\w/])|(?<=\d)[*†‡§¶]+")
"""The mark of a footnote directly behind a number; not a letter that is a unit."""
_BRACKETS = str.maketrans(dict.fromkeys("()[]{}", ";"))
_PER_CENT, _YEARS = "%", "years"


def without_brackets(text: str) -> str:
    """A text without brackets, so that their numbers count: two in "54 (12)"; "[86, 499]" is no reference mark."""
    return text.translate(_BRACKETS)


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a number of a cell."""

    quantity: Quantity
    has_known_unit: bool
    """The table gives the number a unit, which this reading may or may not have, or tells that it is a count."""


def readings(table: Table, row: TableRow, cell: TableCell) -> list[Reading]:
    """Every quantity that each number of a cell may be claimed as.

    A number with its own unit is read with that only; any other with each unit its table gives, and without a unit. A
    number without a sign is positive.
    """
    text = _MARK_BEHIND.sub("", cell.text)
    bare = without_brackets(text)
    own = quantities(f"p {bare}" if _P_HEADER.fullmatch(cell.column) else bare)
    n_outside = len(quantities(without_brackets(_IN_BRACKETS.sub(" ", text))))
    found: list[Reading] = []
    for nth, one in enumerate(own):
        is_plain = not one.has_unit and one.kind in (PLAIN, YEAR)
        is_in_brackets = nth >= n_outside > 0
        units = _units_of(table, row, cell, is_in_brackets=is_in_brackets) if is_plain else []
        is_count = not is_in_brackets and any(_is_of_both(label, cell) for label in (cell.column, *row.names[:1]))
        numbers = [replace(one, is_signed=True), *(_measured(one, unit) for unit in units)]
        found += [Reading(number, bool(units) or is_count) for number in numbers]
    return found


def _is_of_both(label: str, cell: TableCell) -> bool:
    """Whether a cell holds a count and its share: "n (%)" above "54 (4.9)"."""
    return _COUNTS_AND_SHARES.search(label) is not None and _BRACKETED_NUMBER.search(cell.text) is not None


def _measured(number: Quantity, unit: Quantity) -> Quantity:
    return replace(
        number,
        value=number.value * unit.unit_scale,
        kind=unit.kind,
        unit_scale=unit.unit_scale,
        has_unit=True,
        is_signed=True,
    )


def _units_of(table: Table, row: TableRow, cell: TableCell, *, is_in_brackets: bool) -> list[Quantity]:
    """The units given by the header, the row or other cells of the column; if there are none, by the caption."""

    def of(label: str) -> list[Quantity]:
        return [] if _is_of_both(label, cell) and not is_in_brackets else units_named(label)

    of_unit_column = [
        unit for other in row.cells if _UNIT_COLUMN.fullmatch(other.column) for unit in _units([other.text])
    ]
    beside = [
        unit
        for text in table.texts_by_column.get(cell.column, ())
        if cell.column
        for unit in quantities(text)
        if unit.has_unit
    ]
    nearest = [
        *of(cell.column),
        *of_unit_column,
        *(of(row.names[0]) if row.names else []),
        *dict.fromkeys(_as_unit(unit) for unit in beside),
    ]
    return nearest or [*units_named(row.heading), *_units_of_caption(table.caption)]


def units_named(label: str) -> list[Quantity]:
    """The units that a header or the name of a row gives: "IC50 (nM)", "Age, years", "Weight in kg", "Dose mg"."""
    parts = [part for found in _IN_BRACKETS.findall(label) for part in (found, *re.split(r"[,;] ?", found))]
    outside = _IN_BRACKETS.sub(" ", label).strip()
    parts += [part for found in (_BEHIND.search(label), _BEHIND.search(outside)) if found for part in found.groups()]
    parts += [part for found in _LAST_WORDS.finditer(outside) for part in found.groups()]
    units = _units([label, outside, *(part for part in parts if part)])
    if not units and _SHARE.search(label):
        units = _units([_PER_CENT])
    if not units and _AGE.search(label):
        units = _units([_YEARS])
    return units


def _units_of_caption(caption: str) -> list[Quantity]:
    """Units a caption gives to the numbers below it: "(mg/l)", "in %", "percent of ..."."""
    parts = _IN_BRACKETS.findall(caption) + re.findall(r"\bin (\S{1,20}?)[.,;]?(?=\s|$)", caption)
    return _units([*parts, *([_PER_CENT] if _SHARE.search(caption) else [])])


def _units(texts: Iterable[str]) -> list[Quantity]:
    """The quantity "1 <text>" for every text that is a unit and nothing else."""
    found = []
    for text in texts:
        read: Sequence[Quantity] = quantities(f"1 {text.strip()}") if _may_be_unit(text) else ()
        if len(read) == 1 and read[0].has_unit:
            found.append(read[0])
    return list(dict.fromkeys(found))


def _may_be_unit(text: str) -> bool:
    return 0 < len(text.strip()) <= 30 and not any(character.isdigit() for character in text.replace("-1", ""))


def _as_unit(one: Quantity) -> Quantity:
    return replace(one, value=one.unit_scale, written="1", times=Decimal(1), bound="", is_signed=False)
