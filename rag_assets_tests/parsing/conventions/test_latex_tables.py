"""Tables in LaTeX are cut out of the lines around them and become cells."""

from rag_assets.parsing.conventions.latex_cells import LatexTable
from rag_assets.parsing.conventions.latex_tables import latex_tables
from rag_assets.parsing.conventions.table_rows import table_lines

SALES = r"""\begin{tabular}{|l|r|r|r|r|}
\hline
\multirow[t]{2}{*}{(in millions)} & \multicolumn{4}{c|}{Year ended December 31,} \\
& & 2021 ${ }^{(1)}$ & & 2020 \\ \cline { 2 - 5 }
\multicolumn{5}{|l|}{By region:} \\
Europe ${ }^{(a)}$ & \$ & 4,280 & \$ & $(3,784)$ \\
Share & & $13 \%$ & & 12\% \\ \hline
\multicolumn{5}{|l|}{By product:} \\
Pumps & & 1 & & 2 \\
\end{tabular}"""


def pieces(source: str) -> list[str | LatexTable]:
    """Those of all tables in `source`."""
    return [piece for found in latex_tables(source.split("\n")).values() for piece in found.pieces]


def table(source: str) -> LatexTable:
    (found,) = pieces(source)
    assert isinstance(found, LatexTable)
    return found


def lines(source: str) -> list[str]:
    return table_lines(table(source).cells)


def header(source: str) -> list[str]:
    return [cell.text for cell in table(source).cells if cell.is_header]


def test_markup_is_taken_off_and_a_currency_stays_with_its_number() -> None:
    """A quoted row full of backslashes is not readable, and "$" in a column of its own parts label and value."""
    assert lines(SALES) == [
        "(in millions) | Year ended December 31,",
        "| 2021 (1) |  | 2020",
        "By region:",
        "Europe (a) |  | $ 4,280 |  | $ (3,784)",
        "Share |  | 13% |  | 12%",
        "By product:",
        "Pumps |  | 1 |  | 2",
    ]


def test_the_rows_above_the_first_heading_name_the_columns() -> None:
    """Without its year a number answers nothing; "By region:" names rows, not columns; "(1)" marks a footnote."""
    assert {cell.row for cell in table(SALES).cells if cell.is_header} == {0, 1}


def test_a_merged_header_spans_the_columns_it_names() -> None:
    """The number would stand below no year where the sign of its currency has a column."""
    source = r"\begin{tabular}{lrr} & \multicolumn{2}{|r|}{2015} \\ AWS & \$ & 7,880 \\ Other & & 5 \end{tabular}"

    (year,) = [cell for cell in table(source).cells if cell.is_header and cell.text]

    assert (year.text, year.col, year.col_span) == ("2015", 1, 2)


def test_a_merged_cell_covers_the_empty_ones_below() -> None:
    """The second row would have no name."""
    cells = table(r"\begin{tabular}{ll}\multirow{2}{*}{A} & x & 1 \\ & y & 2 \\ B & z & 3\end{tabular}").cells

    assert [(cell.row, cell.col, cell.text, cell.row_span) for cell in cells if cell.col == 0] == [
        (0, 0, "A", 2),
        (2, 0, "B", 1),
    ]


def test_a_list_of_names_and_texts_has_no_header() -> None:
    """Its first entry would be repeated before every other one as if it named a column."""
    entries = r"Pause & Press the middle button. \\ Next song & Press it twice. \\ Last song & Press it three times."

    assert header(rf"\begin{{tabular}}{{ll}}{entries}\end{{tabular}}") == []
    assert header(rf"\begin{{tabular}}{{ll}} Song & Key \\ {entries}\end{{tabular}}") == ["Song", "Key"]
    assert header(r"\begin{tabular}{lc} TYPE & DAYS \\ Bacon & 5 to 7 \\ Cold cuts & 3 to 5\end{tabular}") == [
        "TYPE",
        "DAYS",
    ]


def test_what_is_nested_in_a_cell_stays_in_it() -> None:
    """Its rows and cells would be taken for those of the table around it."""
    for nested in (
        r"\begin{tabular}{l} one \\ two \end{tabular}",
        r"$\begin{aligned} & \text{one} \\ & \text{two} \end{aligned}$",
        r"\makecell{one \\ two}",
    ):
        assert lines(rf"\begin{{tabular}}{{ll}} A & {nested} \\ B & 2 \end{{tabular}}") == ["A | one two", "B | 2"]


def test_a_brace_left_open_swallows_no_row() -> None:
    """All rows up to the next brace that closes would be one cell."""
    source = r"\begin{tabular}{ll} \textbf{A & 1 \\ B & 2 \\ C} & 3 \end{tabular}"

    assert lines(source) == ["A | 1", "B | 2", "C | 3"]


def test_symbols_and_raised_numbers_keep_their_meaning() -> None:
    """ "10^{3}" without its mark is 103, and a dose without its mu is a thousand times as large."""
    rows = r"Cells & $5 \times 10^{3}$ \\ Dose & 5 $\mu$g of $\mathrm{CO}_{2}$ at $4^{\circ}$C"
    source = rf"\begin{{tabular}}{{ll}} {rows} \end{{tabular}}"

    assert lines(source) == ["Cells | 5 × 10³", "Dose | 5 μg of CO₂ at 4°C"]


def test_formulas_and_bold_cells_lose_their_marks() -> None:
    """The best value of a column is printed in bold: with asterisks around it, it is found in no PDF."""
    source = r"\begin{tabular}{ll} Model & **BLEU** \\ \hline Big & \(\mathbf{28.4}\) \\ Small & 0.31** \end{tabular}"

    assert lines(source) == ["Model | BLEU", "Big | 28.4", "Small | 0.31**"]


def test_a_caption_and_the_text_around_the_tables_are_told_apart() -> None:
    """A caption names its table; as a paragraph it names none. A note is text, layout is nothing."""
    source = "\n".join([
        r"\begin{table}[h!]",
        r"\centering",
        r"\caption{Table 2. Share of {all} plots}\label{tab:plots}",
        r"\begin{tabularx}{\linewidth}{>{\columncolor[HTML]{ECF4FF}}m{0.4\linewidth}|l}",
        r"Plant & 2011 \\",
        r"Milkweed & 77.1\% \\",
        r"\end{tabularx}",
        r"\footnotesize{Seeded in 2010.}",
        r"\end{table}",
    ])  # fmt: skip

    found, note = pieces(source)

    assert isinstance(found, LatexTable)
    assert (found.caption, table_lines(found.cells)) == (
        "Table 2. Share of all plots",
        ["Plant | 2011", "Milkweed | 77.1%"],
    )
    assert note == "Seeded in 2010."


def test_a_caption_may_stand_above_the_table_or_be_its_first_row() -> None:
    """Programs leave `table` out, and printed tables have their title in a box of its own."""
    body = r"A & 1 \\ B & 2 \end{tabular}"

    assert table("\\caption{Doses}\n\\begin{tabular}{ll}" + body).caption == "Doses"
    assert table(r"\begin{tabular}{ll}\multicolumn{2}{c}{Doses} \\ " + body).caption == "Doses"
    assert lines(r"\begin{tabular}{ll}\multicolumn{2}{c}{Doses} \\ " + body) == ["A | 1", "B | 2"]


def test_tables_side_by_side_are_two() -> None:
    """Their rows would be mixed."""
    one, two = (rf"\begin{{tabular}}{{ll}} {name} & 1 \\ ?B & 2 \end{{tabular}}".replace("?", "\n") for name in "AC")

    found = pieces(rf"{one} \quad {two}")

    assert [table_lines(piece.cells) for piece in found if isinstance(piece, LatexTable)] == [
        ["A | 1", "B | 2"],
        ["C | 1", "B | 2"],
    ]


def test_a_table_ends_where_it_is_closed_or_its_rows_end() -> None:
    """One that was left open would swallow the rest of the paper."""
    text = [
        *SALES.split("\n"),
        "Sales rose.",
        r"\begin{tabular}{ll}",
        r"A & 1 \\",
        r"B & 2 \\",
        "",
        "Sales fell.",
        r"\begin{longtable}{ll} A & 1 \\ B & 2 \end{longtable} It ends here.",
    ]
    n_first = SALES.count("\n") + 1

    found = latex_tables(text)

    assert {start: lines.end for start, lines in found.items()} == {
        0: n_first,
        n_first + 1: n_first + 4,
        n_first + 6: n_first + 7,
    }
    assert found[n_first + 6].pieces[1] == " It ends here."


def test_a_table_left_open_takes_in_no_later_one() -> None:
    """An end too many, pages below, would make one table of all between."""
    text = [
        "\\begin{tabular}{ll}",
        "A & 1 \\\\",
        "Prose.",
        "\\begin{tabular}{ll} B & 2 \\end{tabular}",
        "More.",
        "\\end{tabular}",
    ]

    assert {start: lines.end for start, lines in latex_tables(text).items()} == {0: 2, 3: 4}


def test_what_has_no_cells_is_no_table() -> None:
    """A page laid out with tabular is text, and so is what talks about it."""
    assert pieces(r"\begin{tabular}{l} Only one column. \\ And prose. \end{tabular}") == []
    assert pieces(r"Write \begin{tabular}{ll} a & b \end{tabular} for a table.") == []
    assert pieces("\\begin{table}\nNothing closes it & no \\\\ rows") == []


def test_hostile_markup_is_read_and_never_raises() -> None:
    """Papers are untrusted: one of them must not stop the others."""
    n = 3_000
    for source in (
        "\\begin{tabular}{" + "{" * n + "a & b \\\\",
        "\\begin{tabular}{l}" * n + "a & b \\\\" + "\\end{tabular}" * n,
        "\\begin{tabular}{l}\n" * n,
        "\\begin{table}\n" * n + "\\end{table}\n" * n,
        "\\begin{tabular}{l}" + "\\text{" * n + " & b",
        "\\begin{tabular}{l}" + "{" * n + "&" * n + "}" * n + "\\end{tabular}",
        "\\begin{tabular}{l} a & " + "\\multicolumn{1}{l}{" * n + "b" + "}" * n + "\\end{tabular}",
        "\\begin{table}" + "\\caption{" * n + "\\end{table}",
        "\\end{tabular}" * n + "\\begin{tabular}{ll} a & \\multirow{0}{l}{b} \\\\ c & \\multicolumn{999}{l}{d}",
        "\\begin{tabular}{ll} a & b \\\\ \\end{table}\\end{tabular}\x00",
    ):
        latex_tables(source.split("\n"))
