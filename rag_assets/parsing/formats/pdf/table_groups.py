"""The groups of a printed table: a lone name opens one, and its rows are told by indentation,
weight and rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rag_assets.parsing.formats.pdf.table_bands import Row

_INDENT_EMS = 0.45
Role = Literal["banner", "group", "row"]


@dataclass
class _Open:
    """A group that rows may still be added to."""

    name: str
    weight: tuple[int, float]
    """Sorts groups by rank: names above the columns, then bold names before others; then by the
    left edge."""
    left: float
    begins_band: bool
    is_indenting: bool | None = None
    """Whether its rows are indented; None before its first row."""


def groups_of(
    rows: Sequence[Row], roles: Sequence[Role], begins_band: Sequence[bool]
) -> list[tuple[str, ...]]:
    """The names of the groups of each row, outermost first; for a row that opens a group, those
    around it.

    roles: whether a row is a lone name that opens a group, one above the columns ("banner"), or any
    other. begins_band: which rows come directly below a rule over the whole table. Indented rows
    end where the indentation returns; others at the next name of that rank, or at a rule when a
    rule opened their group.
    """
    names = [row.entries()[0].texts[0] for row in rows]
    all_bold = all(name.is_bold for name in names)
    stack: list[_Open] = []
    found: list[tuple[str, ...]] = []
    for nth, (row, name) in enumerate(zip(rows, names, strict=True)):
        left, step = name.left, _INDENT_EMS * name.words[0].size
        if roles[nth] in ("group", "banner"):
            rank = -1 if roles[nth] == "banner" else int(all_bold or not name.is_bold)
            one = _Open(row.texts()[0], (rank, left), left, begins_band[nth])
            follows = nth > 0 and roles[nth - 1] == roles[nth]
            while stack and _ends_at(stack[-1], one, step, follows=follows):
                stack.pop()
            found.append(tuple(group.name for group in stack))
            stack.append(one)
            continue
        while stack and _is_left(stack[-1], left, step, begins_band=begins_band[nth]):
            stack.pop()
        if stack and stack[-1].is_indenting is None and stack[-1].weight[0] >= 0:
            stack[-1].is_indenting = left > stack[-1].left + step
        found.append(tuple(group.name for group in stack))
    return found


def _ends_at(group: _Open, following: _Open, step: float, *, follows: bool) -> bool:
    """Whether a group ends where another name opens one; a name right below another of its rank
    goes a level deeper."""
    if group.weight[0] != following.weight[0]:
        return group.weight[0] > following.weight[0]
    if following.left > group.left + step:
        return False
    return not (follows and group.is_indenting is None and abs(following.left - group.left) <= step)


def _is_left(group: _Open, left: float, step: float, *, begins_band: bool) -> bool:
    if group.is_indenting is None:
        return False
    if group.is_indenting:
        return left <= group.left + step
    return begins_band and group.begins_band
