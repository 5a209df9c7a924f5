"""Untrusted text on a terminal, on a page of Markdown and in a spreadsheet."""

import codecs
from pathlib import Path

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from rag_assets.core.text.display import csv_bytes, legible, markdown_text

HOSTILE = [
    "# not a heading",
    "- no list",
    "+ no list",
    "1. no list",
    "1994) no list",
    "> no quote",
    "=== no underline",
    "*no* _emphasis_ **at** all, `code` or ~~strike~~",
    "![x](http://a.example/p.png) and [link](javascript:alert(1))",
    "<script>alert(1)</script> <img src=x onerror=alert(1)> &lt;b&gt; &amp;",
    "<https://a.example>",
    "a | b | c",
    "p < 0.05 and n > 3, 100 % & more; \\*already escaped\\*",
    "$x^2$ and $$y$$",
    "[red]no colour[/red]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_untrusted_text_is_shown_as_it_is_and_does_nothing(text: str) -> None:
    """A paper's text must not load an image, run a script or draw a link in the UI, nor lose a
    character there."""
    tokens = MarkdownIt("gfm-like", {"html": True, "linkify": False}).parse(markdown_text(text))

    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {child.type for child in tokens[1].children or []} <= {"text", "text_special"}
    assert "".join(child.content for child in tokens[1].children or []) == text


def test_text_of_several_lines_stays_one_paragraph() -> None:
    """A line that begins with four blanks, or an empty one, would begin a block of its own."""
    assert markdown_text("one\n\n    two\r\n# three") == "one two \\# three"


@pytest.mark.parametrize(
    "text", ["a\x1b[31mred", "a\x9b31m", "a\u202egnp.exe", "a\u2066b", "a\x00b"]
)
def test_what_would_act_on_a_terminal_is_replaced(text: str) -> None:
    """Escape sequences move the cursor and colour what follows; direction marks show another text
    than there is."""
    assert legible(text) == f"a\N{REPLACEMENT CHARACTER}{text[2:]}"
    assert legible("two\nlines\tand tabs") == "two\nlines\tand tabs"


CELLS = [
    "=1+1",
    "a;=cmd()",
    'b,"+1',
    "c\t-1",
    "d|@x",
    "e\n=1",
    "\t=1",
    "from -3 to -5; see p. 4",
    "Åkesson – Müller",
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_of_a_csv_begins_a_formula_whatever_parts_the_cells_in_a_spreadsheet(
    delimiter: str,
) -> None:
    """A quote of a stranger's paper would run on the reader's machine, where the language takes ";"
    for a separator."""
    text = csv_bytes([CELLS]).decode("utf-8-sig")

    for line in text.splitlines():
        for cell in line.split(delimiter):
            assert not cell.replace('"', "").startswith(("=", "+", "-", "@", "\t")), cell


def test_a_csv_keeps_its_letters_in_spreadsheets_and_in_pandas(tmp_path: Path) -> None:
    """Umlauts garble in a spreadsheet that is not told the encoding; readers of today must go on
    reading."""
    (tmp_path / "a.csv").write_bytes(csv_bytes([["name", "n"], ["Åkesson, Müller", "12"]]))

    assert (tmp_path / "a.csv").read_bytes().startswith(codecs.BOM_UTF8)
    assert pd.read_csv(tmp_path / "a.csv").to_dict("records") == [
        {"name": "Åkesson, Müller", "n": 12}
    ]
