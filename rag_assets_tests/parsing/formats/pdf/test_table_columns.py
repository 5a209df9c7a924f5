"""Columns of printed tables: a value is named where its column is certain, and never wrongly."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Block, BlockKind
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.shared.files.raw import RawFile
from rag_assets_testing.papers.pdf import lines, prose, write_pdf

Placed = tuple[float, str]
"""Left edge in points, and what is printed there."""


def printed(folder: Path, rows: Sequence[Sequence[Placed]]) -> Block:
    """The table of a PDF with those rows, below a paragraph."""

    def draw(canvas: Canvas) -> None:
        top = lines(canvas, prose("rope", 4))
        for nth, row in enumerate(rows):
            for left, text in row:
                lines(canvas, [text], left=left, top=top + 30 + 14 * nth)

    path = write_pdf(folder / "paper.pdf", [draw])
    document = parse_pdf(RawFile("paper", "paper.pdf", path.read_bytes()), ParsingSettings())
    [table] = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    return table


def named(table: Block) -> dict[tuple[int, int], str]:
    """The texts of the body by row and column."""
    return {(cell.row, cell.col): cell.text for cell in table.cells if not cell.is_header}


def test_a_row_with_a_gap_keeps_its_values_below_their_headers(tmp_path: Path) -> None:
    """Counted from the left, the load of the second rope would be read as its length."""
    table = printed(
        tmp_path,
        [
            [(60, "Rope"), (200, "Length"), (300, "Load"), (400, "Price")],
            [(60, "hemp"), (200, "20"), (300, "150"), (400, "7")],
            [(60, "nylon"), (300, "480"), (400, "9")],
        ],
    )

    assert [cell.text for cell in table.cells if cell.is_header] == ["Rope", "Length", "Load", "Price"]
    assert named(table)[2, 2] == "480"
    assert (2, 1) not in named(table)


def test_a_header_over_two_columns_names_both(tmp_path: Path) -> None:
    """Without it, two columns "wet" and "dry" say nothing of what was measured."""
    table = printed(
        tmp_path,
        [
            [(210, "Breaking load, tons each"), (420, "Price")],
            [(60, "Rope"), (200, "wet"), (300, "dry")],
            [(60, "hemp"), (200, "2.5"), (300, "3.1"), (420, "7")],
            [(60, "nylon"), (200, "4.0"), (300, "4.4"), (420, "9")],
        ],
    )

    spanning = next(cell for cell in table.cells if cell.text == "Breaking load, tons each")
    assert (spanning.col, spanning.col_span, spanning.is_header) == (1, 2, True)


def test_a_long_name_of_a_row_may_reach_over_a_column_that_is_empty_in_it(tmp_path: Path) -> None:
    """One such line of a financial statement left all its rows without the names of their columns."""
    long = "Growth of the load since the ropes were new"
    table = printed(
        tmp_path,
        [
            [(60, "Rope"), (200, "Length"), (300, "Load"), (400, "Price")],
            [(60, "hemp"), (200, "20"), (300, "150"), (400, "7")],
            [(60, long), (300, "480"), (400, "9")],
        ],
    )

    assert (named(table)[2, 0], named(table)[2, 2], named(table)[2, 3]) == (long, "480", "9")
    assert (2, 1) not in named(table)


def test_a_header_may_have_as_many_lines_as_those_of_financial_statements(tmp_path: Path) -> None:
    """With "Net income per share in US cents" set one word a line, no row had the names of its columns."""
    words = ["Income", "per", "share", "(US", "cents)"]
    table = printed(
        tmp_path,
        [
            *([(300, word)] for word in words[:-1]),
            [(60, "In million"), (200, "Sales"), (300, words[-1])],
            [(60, "hemp"), (200, "20"), (300, "150")],
            [(60, "nylon"), (200, "31"), (300, "480")],
        ],
    )

    assert [cell.text for cell in table.cells if cell.is_header and cell.col == 2] == words
    assert named(table)[5, 2] == "150"


@pytest.mark.parametrize(
    ("rows", "doubt"),
    [
        ([[(60, "hemp"), (200, "20")], [(60, "nylon"), (200, "30")], [(60, "sisal"), (200, "25")]], "no header"),
        (
            [
                [(60, "Rope"), (200, "Load")],
                [(60, "hemp"), (200, "20")],
                [(60, "Wire"), (200, "Load")],
                [(60, "steel"), (200, "90")],
            ],
            "two tables",
        ),
        (
            [
                [(60, "Rope"), (200, "Load"), (300, "Load")],
                [(60, "hemp"), (200, "2.5"), (300, "3.1")],
                [(60, "nylon"), (200, "4.0"), (300, "4.4")],
            ],
            "two columns of one name",
        ),
        (
            [
                [(60, "Ana Sun"), (200, "Bo Moe"), (300, "Cy Lund")],
                [(60, "Harbour College"), (200, "Rope Works"), (300, "Rope Works")],
                [(60, "Bergen"), (200, "Oslo"), (300, "Oslo")],
            ],
            "names of people",
        ),
    ],
)
def test_a_table_in_doubt_keeps_its_lines_alone(tmp_path: Path, rows: list[list[Placed]], doubt: str) -> None:
    """A value below the wrong name is a false statement; a bare row is none."""
    table = printed(tmp_path, rows)

    assert table.cells == (), doubt
    assert table.text == "\n".join(" | ".join(text for _, text in row) for row in rows)
