"""Rows of tables in LaTeX become plain text."""

import time

import pytest

from rag_assets.parsing.shared.table_rows import plain_rows

SALES = r"""\begin{table}[h] \centering \caption{Sales} \label{tab:sales}
\begin{tabular}{|l|r|p{3cm}|}
\hline
\multirow[t]{2}{*}{(in millions)} & \multicolumn{4}{c|}{Year ended December 31,} \\
& & 2021 & & 2020 \\ \cline { 2 - 5 }
\multicolumn{5}{|l|}{By region:} \\
Europe & \$ & 4,280 $\pm$ 3 & \$ & $(3,784)$ \\
R\&D, share & & $13\%$ & & \textbf{12\%} \\ \hline
\end{tabular}
\end{table}"""


def test_markup_is_taken_off_and_values_stay_apart() -> None:
    """A quoted row full of backslashes is not readable; a lost "±" makes one value of two."""
    assert plain_rows(SALES) == [
        "Sales",
        "(in millions) | Year ended December 31,",
        "| | 2021 | | 2020",
        "By region:",
        "Europe | $ | 4,280 ± 3 | $ | (3,784)",
        "R&D, share | | 13% | | 12%",
    ]


@pytest.mark.parametrize(
    "text", ["", "Iron & zinc", r"5\% of {men} & $6$", r"A path: C:\\data", "a & b\nc\\\\"]
)
def test_prose_is_no_table(text: str) -> None:
    """Braces and signs of money would be lost."""
    assert plain_rows(text) is None


@pytest.mark.parametrize(
    "piece", [r"\begin{tabular}", r"\multicolumn{", "& ", r"\begin{array}{{", r"\hline[", "{"]
)
def test_hostile_text_takes_no_long_time(piece: str) -> None:
    """A file is read whole before any limit of time."""
    started = time.process_time()

    plain_rows(r"\hline" + piece * 20_000)

    assert time.process_time() - started < 5
