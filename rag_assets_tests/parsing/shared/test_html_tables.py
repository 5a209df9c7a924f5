"""Tables written as HTML by models land on the right grid, whatever their syntax."""

import pytest

from rag_assets.core.domain import Cell
from rag_assets.parsing.shared.table_rows import HtmlTable, split_tables, table_block
from rag_assets.parsing.tables import read_table


def only_table(html: str) -> HtmlTable:
    (table,) = split_tables(html)
    assert isinstance(table, HtmlTable)
    return table


def grid(table: HtmlTable) -> list[tuple[int, int, str]]:
    return [(cell.row, cell.col, cell.text) for cell in table.cells]


def header_rows(cells: tuple[Cell, ...]) -> set[int]:
    return {cell.row for cell in read_table(cells) if cell.is_header}


def test_a_bare_less_than_sign_does_not_swallow_the_row() -> None:
    """`<0.05` read as a tag eats every cell up to the next `>`: the p values of the paper."""
    table = only_table(
        "<table><tr><td>p <0.05</td><td>n<30 & m>2</td><td>girls <boys</td></tr></table>"
    )

    assert grid(table) == [(0, 0, "p <0.05"), (0, 1, "n<30 & m>2"), (0, 2, "girls <boys")]


def test_merged_cells_push_the_others_to_their_columns() -> None:
    """Without the occupied places, every value of the second row stands under the wrong header."""
    html = (
        '<table><tr><td rowspan="2">Arm</td><td colspan="2">Ferritin</td></tr>'
        "<tr><td>before</td><td>after</td></tr><tr><td>Iron</td><td>20</td><td>31</td></tr></table>"
    )

    table = only_table(html)

    assert grid(table)[2:4] == [(1, 1, "before"), (1, 2, "after")]
    assert (table.cells[0].row_span, table.cells[1].col_span) == (2, 2)


def test_several_tables_and_the_text_around_them_come_in_order() -> None:
    """A chunk may hold a caption, two tables and a note; merged, they are not data of the paper."""
    pieces = split_tables(
        "Table 1. A\n<table><tr><td>a</td></tr></table> note <table><tr><td>b</td></tr></table>"
    )

    assert [piece.strip() if isinstance(piece, str) else grid(piece)[0][2] for piece in pieces] == [
        "Table 1. A",
        "a",
        "note",
        "b",
    ]


def test_an_unclosed_table_is_read_to_the_end() -> None:
    """Output cut at a token limit still holds the rows before the cut."""
    assert grid(only_table("<table><tr><td>Arm</td><td>12")) == [(0, 0, "Arm"), (0, 1, "12")]


def test_a_table_inside_a_cell_is_text_of_that_cell() -> None:
    """Its rows belong to another grid."""
    table = only_table(
        "<table><tr><td>a<table><tr><td>b</td></tr></table></td><td>c</td></tr></table>"
    )

    assert grid(table) == [(0, 0, "a b"), (0, 1, "c")]


def test_cell_ids_follow_the_cells_they_belong_to() -> None:
    """The id finds the cell's box; an empty row that is left out must not shift them."""
    html = '<table><tr><td id="e"></td></tr><tr><td id="a">x</td><td>y</td><td id="c">z</td></tr></table>'

    table = only_table(html)

    assert list(zip(table.cell_ids, [cell.text for cell in table.cells], strict=True)) == [
        ("a", "x"),
        ("", "y"),
        ("c", "z"),
    ]
    assert table.cells[0].row == 0


def test_raised_and_lowered_digits_stay_apart_from_their_base() -> None:
    """10<sup>9</sup> must not read 109."""
    table = only_table(
        "<table><tr><td>10<sup>9</sup> CFU</td><td>H<sub><b>2</b></sub>O<br>pure</td></tr></table>"
    )

    assert [cell.text for cell in table.cells] == ["10⁹ CFU", "H₂O pure"]


@pytest.mark.parametrize("span", ["99999999999999999999", "-3", "x", "0", "500000"])
def test_a_hostile_span_neither_hangs_nor_overflows(span: str) -> None:
    """One attribute must not allocate a billion cells."""
    table = only_table(
        f'<table><tr><td colspan="{span}" rowspan="{span}">a</td><td>b</td></tr></table>'
    )

    assert table.cells[0].col_span <= 1000
    assert table.cells[0].row_span == 1


def test_the_header_is_found_without_header_tags() -> None:
    """Most tables have no `<th>`; without a header a value is a bare number."""
    html = (
        '<table><tr><td></td><td colspan="2">Incidence</td></tr><tr><td></td><td>Echinacea</td><td>Control</td></tr>'
        "<tr><td>Turner (2005)</td><td>73/149</td><td>58/103</td></tr></table>"
    )

    assert header_rows(only_table(html).cells) == {0, 1}


def test_rows_of_measurements_with_their_units_are_no_header() -> None:
    """The first measurement would be read as part of the name of every other one."""
    named = '<tr><td>Growth</td><td>Treated</td><td colspan="2">Control</td></tr>'
    head = f'<tr><td></td><td colspan="2">EC50</td></tr>{named}'
    rows = (
        "<tr><td>Lag phase</td><td>1.445 ppm ZnSO4</td><td>1.580 ppm ZnSO4</td></tr>"
        "<tr><td>Stationary phase</td><td>0.426 ppm ZnSO4</td><td>0.457 ZnSO4</td></tr>"
    )
    doses = '<tr><td></td><td colspan="2">Dose</td></tr><tr><td>Group</td><td>0.5 mg</td><td>1.5 mg</td></tr>'

    assert header_rows(only_table(f"<table>{head}{rows}</table>").cells) == {0, 1}
    cured = "<tr><td>Children</td><td>12 of 20</td><td>15 of 21</td></tr>"
    assert header_rows(only_table(f"<table>{doses}{cured}</table>").cells) == {0, 1}


def test_header_tags_are_believed() -> None:
    """Where the source says what the header is, nothing is inferred."""
    html = (
        "<table><thead><tr><td>1</td><td>2</td></tr></thead><tr><td>a</td><td>b</td></tr></table>"
    )

    assert header_rows(only_table(html).cells) == {0}


def test_spans_cover_the_lines_of_the_text() -> None:
    """A gap between runs is text without a page."""
    table = only_table("<table><tr><td></td><td>b</td></tr><tr><td>c</td><td>1</td></tr></table>")

    block = table_block(table.cells, "")

    assert block.text == "| b\nc | 1"
    assert [(span.start, span.end) for span in block.spans] == [(0, 4), (4, 9)]


def test_what_is_struck_out_in_a_cell_is_not_its_value() -> None:
    """Both values of a corrected cell read as one number that nobody wrote."""
    table = only_table(
        "<table><tr><td>Tide</td><td><del><b>4.9</b></del><ins>5.3</ins> m <strike>!</strike></td></tr></table>"
    )

    assert [cell.text for cell in table.cells] == ["Tide", "5.3 m"]
