"""Claims about cells of real tables: true ones in several wordings, and false ones with one thing
exchanged.

Rows, names and headers are read from the cells of the parsed documents by rules of their own here,
not by those of the chunker or the verifier, and with a fixed seed. `table_claims` puts them to the
test.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rag_assets.core.domain import Block, Chunk

SEED = 22
MOST_NAME_CHARS = 90
MOST_HEADER_ROWS = 3
ONE_NUMBER = re.compile(
    r"[<>]?\s?[$€£]?[-−–]?[$€£]?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)\s?(?P<percent>%?)"
)
FIRST_NUMBER = re.compile(rf"(?:{ONE_NUMBER.pattern})(?=\s?[(±\[]|[a-z*†‡]{{0,3}}\Z)")
OTHER_UNITS = {
    "%": "mg",
    "$": "€",
    "mg": "g",
    "g": "mg",
    "kg": "g",
    "µg": "mg",
    "ng/ml": "mg/ml",
    "mg/l": "ng/l",
    "nM": "µM",
    "µM": "mM",
    "mm": "cm",
    "cm": "mm",
    "ms": "s",
    "s": "ms",
    "secs": "min",
    "min": "hours",
    "hours": "days",
    "hr": "days",
    "days": "weeks",
    "weeks": "days",
    "months": "years",
    "years": "months",
    "ml": "l",
    "Mb": "kb",
}
WORDINGS = (
    "The {col} of {row} is {v}.",
    "{row} has a {col} of {v}.",
    "For {row}, the authors report {v} as the {col}.",
    "The table lists {v} for {row} ({col}).",
    "{row}: {col} was {v}.",
    "With respect to {col}, {row} reached {v} in this study.",
    "A {col} of {v} was found for {row}.",
)
WORDINGS_WITHOUT_COLUMN = (
    "{row} has a value of {v}.",
    "The value for {row} was {v}.",
    "For {row}, the authors report {v}.",
)
TWO_CELLS = (
    "{row} had a {col} of {v} and a {col2} of {v2}.",
    "For {row}, the {col} was {v} and the {col2} {v2}.",
)
TWO_ROWS = (
    "The {col} was {v} for {row} and {v2} for {row2}.",
    "{row} had a {col} of {v}, {row2} one of {v2}.",
    "The {col} of {row} and {row2} were {v} and {v2}, respectively.",
)


@dataclass(frozen=True)
class Cell:
    """A number below a header, in a named row."""

    row: int
    col: int
    row_name: str
    header: str
    text: str
    number: str

    @property
    def unit(self) -> str:
        """As its own text or its header gives it; empty when neither does in a way known here."""
        if self.text.strip().endswith("%"):
            return "%"
        if "$" in self.text:
            return "$"
        parts = [
            *re.findall(r"[(\[]([^()\[\]]+)[)\]]", self.header),
            *re.findall(r", ?([^,]+)$", self.header),
        ]
        found = next((part.strip() for part in parts if part.strip() in OTHER_UNITS), "")
        return found or ("%" if re.search(r"^%|\bpercent\b", self.header, re.IGNORECASE) else "")


@dataclass(frozen=True)
class Grid:
    """The cells of one table of a document that hold one number, or begin with one."""

    cells: tuple[Cell, ...]
    row_texts: dict[int, tuple[str, ...]]
    all_text: str

    @cached_property
    def by_place(self) -> dict[tuple[int, int], Cell]:
        return {(cell.row, cell.col): cell for cell in self.cells}


@dataclass(frozen=True)
class Case:
    """A claim over one or two quoted rows."""

    kind: str
    is_true: bool
    claim: str
    quotes: tuple[str, ...]
    chunk: Chunk


def grid_of(block: Block) -> Grid | None:
    """The table of a block; None when it has no numbers in named rows."""
    places: dict[tuple[int, int], str] = {}
    marked: set[int] = set()
    for cell in block.cells:
        for row in range(cell.row, cell.row + cell.row_span):
            for col in range(cell.col, cell.col + cell.col_span):
                places[row, col] = " ".join(cell.text.split())
        marked |= {cell.row} if cell.is_header else set()
    rows = sorted({row for row, _ in places})
    cols = sorted({col for _, col in places})
    n_header = _n_header(places, rows, cols, marked)
    found = []
    for row in rows[n_header:]:
        name = places.get((row, cols[0]), "")
        if (
            not _is_name(name)
            or len({text for (at, _), text in places.items() if at == row and text}) < 2
        ):
            continue
        for col in cols[1:]:
            above = [places.get((at, col), "") for at in rows[:n_header]]
            header = " ".join(dict.fromkeys(text for text in above if text))
            text = places.get((row, col), "")
            number = ONE_NUMBER.fullmatch(text) or FIRST_NUMBER.match(text)
            if number and len(header) <= MOST_NAME_CHARS and not (header and not _is_name(header)):
                found.append(Cell(row, col, name, header, text, number["number"]))
    texts = {row: tuple(places[row, col] for col in cols if places.get((row, col))) for row in rows}
    return (
        Grid(tuple(found), texts, f"{block.title} {' '.join(places.values())}") if found else None
    )


def _n_header(
    places: dict[tuple[int, int], str], rows: Sequence[int], cols: Sequence[int], marked: set[int]
) -> int:
    n_marked = next((i for i, row in enumerate(rows) if row not in marked), len(rows))
    if n_marked:
        return n_marked
    n_header = 0
    for row in rows[: min(MOST_HEADER_ROWS, len(rows) - 1)]:
        texts = [places.get((row, col), "") for col in cols[1:]]
        if not any(texts) or any(FIRST_NUMBER.match(text) for text in texts):
            break
        n_header += 1
    return n_header


def _is_name(text: str) -> bool:
    return (
        bool(re.search(r"[^\W\d_]{1,}", text))
        and len(text) <= MOST_NAME_CHARS
        and not FIRST_NUMBER.fullmatch(text)
    )


def cases_of(grid: Grid, chunks: Sequence[Chunk], most_of_a_kind: int, key: str) -> Iterator[Case]:
    """Up to so many cases of each kind, each with the line of a chunk that holds its row."""
    rng = random.Random(f"{SEED} {key}")
    cells = list(grid.cells)
    rng.shuffle(cells)
    for kind, make in KINDS.items():
        n_made = 0
        for cell in cells:
            if n_made == most_of_a_kind:
                break
            place = line_of(grid.row_texts[cell.row], chunks)
            if place and not set(words(cell.header)) <= set(words(place[1])):
                cell = replace(cell, header="")
            made = make(Draw(rng, grid, cell, chunks)) if place else None
            if place and made:
                claim, others = made
                lines = [line_of(grid.row_texts[other.row], chunks) for other in others]
                if any(line is None or line[0] is not place[0] for line in lines):
                    continue
                n_made += 1
                quotes = tuple(dict.fromkeys([place[1], *(line[1] for line in lines if line)]))
                yield Case(kind, kind.startswith("true"), claim, quotes, place[0])


def line_of(texts: Sequence[str], chunks: Sequence[Chunk]) -> tuple[Chunk, str] | None:
    """The line of a chunk whose cells are those of a row, or hold them behind their headers, in
    order."""
    return next(
        (
            (chunk, line)
            for chunk in chunks
            for line in chunk.text.split("\n")
            if " | " in line and _holds(line, texts)
        ),
        None,
    )


def _holds(line: str, texts: Sequence[str]) -> bool:
    pieces = [" ".join(piece.split()) for piece in line.split(" | ") if piece.strip()]
    if len(pieces) != len(texts):
        return False
    return all(
        piece == text or piece.endswith(f": {text}")
        for piece, text in zip(pieces, texts, strict=True)
    )


@dataclass(frozen=True)
class Draw:
    """A cell drawn for a case."""

    rng: random.Random
    grid: Grid
    cell: Cell
    chunks: Sequence[Chunk]

    def others_of_row(self) -> list[Cell]:
        """Other columns of the row with another number and a header of other words."""
        return [
            other
            for other in self.grid.cells
            if other.row == self.cell.row
            and other.header
            and words(other.header) != words(self.cell.header)
            and bare(other.number) != bare(self.cell.number)
            and not any(
                bare(same.number) == bare(self.cell.number)
                and words(same.header) == words(other.header)
                for same in self.grid.cells
                if same.row == self.cell.row
            )
        ]

    def others_of_column(self) -> list[Cell]:
        """The same column in rows of other names with other numbers."""
        return [
            other
            for other in self.grid.cells
            if other.col == self.cell.col
            and words(other.row_name) != words(self.cell.row_name)
            and not any(
                bare(same.number) == bare(self.cell.number)
                for same in self.grid.cells
                if same.col == self.cell.col and words(same.row_name) == words(other.row_name)
            )
        ]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def bare(number: str) -> float:
    return float(number.replace(",", ""))


def written(number: str, cell: Cell, unit: str) -> str:
    """A number as one would write it in a sentence: with the sign it has in the cell, and with a
    unit."""
    before = cell.text[: cell.text.find(cell.number)] if cell.number in cell.text else ""
    sign = "-" if re.search(r"[-−–]", before) else ""
    bound = f"{found[0]} " if (found := re.search(r"[<>]", before)) else ""
    if unit in "$€":
        return f"{bound}{sign}{unit}{number}"
    return f"{bound}{sign}{number}{'' if unit == '%' else ' '}{unit}"


def named(text: str, rng: random.Random) -> str:
    """A name as a sentence has it: as it stands, without marks and brackets, or in lower case."""
    plain = re.sub(r"[*†‡§]+|(?<=[a-z)])[:.]$", "", text).strip()
    short = re.sub(r"\s*[(\[][^()\[\]]*[)\]](?!\s?\d|[a-z]\b)", "", plain).strip()
    return rng.choice(
        (plain, short if words(short) else plain, lowered(short if words(short) else plain))
    )


def lowered(text: str) -> str:
    return text[0].lower() + text[1:] if re.match(r"[A-Z][a-z]", text) else text


def column_name(header: str, rng: random.Random) -> str:
    """A header without its unit."""
    short = re.sub(
        r"\s*[(\[][^()\[\]]*[)\]]|,\s?[^,\s]{1,6}$|^%\s(?:of\s)?|^#\s", "", header
    ).strip()
    return named(short if words(short) else header, rng)


def worded(
    draw: Draw, *, row: str | None = None, header: str | None = None, value: str | None = None
) -> str:
    cell, rng = draw.cell, draw.rng
    header = cell.header if header is None else header
    wordings = WORDINGS if header else WORDINGS_WITHOUT_COLUMN
    unit = cell.unit if rng.random() < 0.7 else ""
    text = rng.choice(wordings).format(
        row=named(cell.row_name if row is None else row, rng),
        col=column_name(header, rng) if header else "",
        v=value or written(cell.number, cell, unit),
    )
    return text[0].upper() + text[1:]


Made = tuple[str, list[Cell]] | None


def true_cell(draw: Draw) -> Made:
    return worded(draw), []


def true_other_writing(draw: Draw) -> Made:
    """With thousands marked or not, and a trailing "in this table"."""
    number = draw.cell.number
    digits = number.replace(",", "")
    whole, _, rest = digits.partition(".")
    other = (
        digits
        if "," in number
        else f"{int(whole):,}" + (f".{rest}" if rest else "")
        if len(whole) > 3
        else ""
    )
    if not other or re.fullmatch(r"(?:19|20)\d\d", digits):
        return None
    return worded(draw, value=written(other, draw.cell, draw.cell.unit)), []


def true_two_cells(draw: Draw) -> Made:
    others = draw.others_of_row() if draw.cell.header else []
    if not others:
        return None
    return _two_cells(draw, draw.cell, draw.rng.choice(others), is_swapped=False)


def _two_cells(draw: Draw, one: Cell, other: Cell, *, is_swapped: bool) -> Made:
    first, second = (other, one) if is_swapped else (one, other)
    text = draw.rng.choice(TWO_CELLS).format(
        row=named(one.row_name, draw.rng),
        col=column_name(one.header, draw.rng),
        col2=column_name(other.header, draw.rng),
        v=written(first.number, first, first.unit),
        v2=written(second.number, second, second.unit),
    )
    return text[0].upper() + text[1:], []


def _two_rows(draw: Draw, one: Cell, other: Cell, *, is_swapped: bool) -> Made:
    first, second = (other, one) if is_swapped else (one, other)
    text = draw.rng.choice(TWO_ROWS).format(
        row=named(one.row_name, draw.rng),
        row2=named(other.row_name, draw.rng),
        col=column_name(one.header, draw.rng),
        v=written(first.number, first, first.unit),
        v2=written(second.number, second, second.unit),
    )
    return text[0].upper() + text[1:], [other]


def true_two_rows(draw: Draw) -> Made:
    others = draw.others_of_column() if draw.cell.header else []
    return _two_rows(draw, draw.cell, draw.rng.choice(others), is_swapped=False) if others else None


def two_cells_swapped(draw: Draw) -> Made:
    others = draw.others_of_row() if draw.cell.header else []
    return _two_cells(draw, draw.cell, draw.rng.choice(others), is_swapped=True) if others else None


def two_rows_swapped(draw: Draw) -> Made:
    others = draw.others_of_column() if draw.cell.header else []
    return _two_rows(draw, draw.cell, draw.rng.choice(others), is_swapped=True) if others else None


def number_changed(draw: Draw) -> Made:
    number = draw.cell.number
    at = draw.rng.choice([i for i, character in enumerate(number) if character.isdigit()])
    other = (
        number[:at]
        + draw.rng.choice([d for d in "123456789" if d != number[at]])
        + number[at + 1 :]
    )
    in_row = {
        bare(found)
        for text in draw.grid.row_texts[draw.cell.row]
        for found in re.findall(r"\d[\d,]*\.?\d*|\.\d+", text)
    }
    in_cell = [bare(found) for found in re.findall(r"\d[\d,]*\.?\d*|\.\d+", draw.cell.text)]
    if bare(other) in in_cell or (bare(other) in in_row and not draw.cell.header):
        return None
    return worded(draw, value=written(other, draw.cell, draw.cell.unit)), []


def number_of_other_row(draw: Draw) -> Made:
    others = [
        other for other in draw.others_of_column() if bare(other.number) != bare(draw.cell.number)
    ]
    in_row = " ".join(draw.grid.row_texts[draw.cell.row])
    others = [other for other in others if draw.cell.header or other.number not in in_row]
    if not others:
        return None
    other = draw.rng.choice(others)
    return worded(draw, value=written(other.number, other, draw.cell.unit)), []


def row_swapped(draw: Draw) -> Made:
    others = draw.others_of_column()
    return (worded(draw, row=draw.rng.choice(others).row_name), []) if others else None


def column_swapped(draw: Draw) -> Made:
    others = draw.others_of_row()
    return (
        (worded(draw, header=draw.rng.choice(others).header), [])
        if draw.cell.header and others
        else None
    )


def unit_swapped(draw: Draw) -> Made:
    unit = draw.cell.unit
    return (
        (worded(draw, value=written(draw.cell.number, draw.cell, OTHER_UNITS[unit])), [])
        if unit
        else None
    )


def unit_added(draw: Draw) -> Made:
    """A unit that stands nowhere in the table."""
    unit = next(
        (
            one
            for one in draw.rng.sample(["mg", "km", "ms", "kg"], 4)
            if one not in words(draw.grid.all_text)
        ),
        "",
    )
    if draw.cell.unit or not unit:
        return None
    return worded(draw, value=written(draw.cell.number, draw.cell, unit)), []


KINDS = {
    "true: one cell": true_cell,
    "true: number in another writing": true_other_writing,
    "true: two cells of a row": true_two_cells,
    "true: two rows": true_two_rows,
    "number: a digit": number_changed,
    "number of another row": number_of_other_row,
    "unit swapped": unit_swapped,
    "unit added": unit_added,
    "row swapped": row_swapped,
    "column swapped": column_swapped,
    "two cells swapped": two_cells_swapped,
    "two rows swapped": two_rows_swapped,
}
