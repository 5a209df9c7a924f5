"""Tables in LaTeX become cells."""

from rag_assets.parsing.conventions.latex_tables import latex_cells, n_table_lines
from rag_assets.parsing.conventions.table_rows import table_lines

SALES = r"""\begin{tabular}{|l|r|r|r|r|}
\hline
\multirow[t]{2}{*}{(in millions)} & \multicolumn{4}{c|}{Year ended December 31,} \\
& & 2021 & & 2020 \\
\multicolumn{5}{|l|}{By region:} \\
Europe ${ }^{(a)}$ & \$ & 4,280 & \$ & $(3,784)$ \\
Share & & $13 \%$ & & 12\% \\ \hline
\end{tabular}"""


def lines(source: str) -> list[str]:
    return table_lines(latex_cells(source))


def test_markup_is_taken_off_and_a_currency_stays_with_its_number() -> None:
    """A quoted row full of backslashes is not readable, and "$" in a column of its own parts label and value."""
    assert lines(SALES) == [
        "(in millions) | Year ended December 31,",
        "| 2021 |  | 2020",
        "By region:",
        "Europe (a) |  | $ 4,280 |  | $ (3,784)",
        "Share |  | 13% |  | 12%",
    ]


def test_the_rows_above_the_first_heading_name_the_columns() -> None:
    """Without its year a number answers nothing; "By region:" names rows, not columns."""
    header_rows = {cell.row for cell in latex_cells(SALES) if cell.is_header}

    assert header_rows == {0, 1}


def test_a_merged_cell_covers_the_empty_ones_below() -> None:
    """The second row would have no name."""
    cells = latex_cells(r"\begin{tabular}{ll}\multirow{2}{*}{A} & x & 1 \\ & y & 2 \\ B & z & 3\end{tabular}")

    assert [(cell.row, cell.col, cell.text, cell.row_span) for cell in cells if cell.col == 0] == [
        (0, 0, "A", 2),
        (2, 0, "B", 1),
    ]


def test_a_table_in_a_cell_stays_in_its_cell() -> None:
    """Its rows would be taken for rows of the outer table."""
    source = r"\begin{tabular}{ll} A & \begin{tabular}{l} one \\ two \end{tabular} \\ B & 2 \end{tabular}"

    assert lines(source) == ["A | one two", "B | 2"]


def test_a_table_ends_where_it_is_closed_or_its_rows_end() -> None:
    """One that was left open would swallow the rest of the paper."""
    closed = [*SALES.split("\n"), "Sales rose."]
    left_open = [
        r"\begin{tabular}{ll}",
        r"A & 1 \\",
        r"B & 2 \\",
        "",
        "Sales rose.",
        r"\begin{tabular}{l}",
        r"\end{tabular}",
    ]

    assert n_table_lines(closed, 0) == len(closed) - 1
    assert n_table_lines(left_open, 0) == 3
    assert n_table_lines(left_open, 4) == 0


def test_what_has_no_cells_is_no_table() -> None:
    """A page laid out with tabular is text."""
    assert latex_cells(r"\begin{tabular}{l} Only one column. \\ And prose. \end{tabular}") == []


def test_hostile_markup_is_read_in_time() -> None:
    """Papers are untrusted; nested braces must not take quadratic time or worse."""
    latex_cells("\\begin{tabular}{" + "{" * 50_000 + "a & b \\\\")
    latex_cells("\\begin{tabular}{l}" * 2_000 + "a & b \\\\")
    latex_cells("\\begin{tabular}{l}" + "\\text{" * 20_000 + " & b")
    assert latex_cells("\\begin{tabular}{l} a & \\multicolumn{999}{l}{b} \\\\ c & d")
