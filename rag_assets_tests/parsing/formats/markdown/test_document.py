"""A Markdown file becomes plain text blocks under its headings."""

import re
from pathlib import Path

import pytest

from rag_assets.core.domain import BlockKind, Document
from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.formats.markdown.document import parse_markdown
from rag_assets_testing.papers.contents import read_content

PROJECT = Path(__file__).parents[4]
MARKDOWN_FILES = [PROJECT / "README.md", *sorted((PROJECT / "docs" / "adr").glob("*.md"))]


def parsed(text: str | bytes) -> Document:
    return read_content(parse_markdown, "paper.md", text)


def test_headings_make_the_section_tree_without_the_title() -> None:
    """A title at the head of every path would make all sections of a paper look alike."""
    text = "# Iron in pregnancy\n\n## Methods\n\n### Women\n\nForty women.\n\nResults\n-------\n\nFerritin fell.\n"

    document = parsed(text)

    assert document.title == "Iron in pregnancy"
    assert [(b.text, b.section_path) for b in document.blocks if b.kind is BlockKind.PARAGRAPH] == [
        ("Forty women.", ("Methods", "Women")),
        ("Ferritin fell.", ("Results",)),
    ]


@pytest.mark.parametrize(
    "line", ["#5 mesh of brass was used.", "#hashtag of the season.", "##2 too."]
)
def test_a_number_sign_without_a_blank_is_text(line: str) -> None:
    """Half of a sentence became the heading of all that followed."""
    document = parsed(f"# Hives\n\n## Doors\n\nOver each door a\n{line}\n\nIt held.\n")

    assert [(block.text, block.section_path) for block in document.blocks][-2:] == [
        (f"Over each door a {line}", ("Doors",)),
        ("It held.", ("Doors",)),
    ]


def test_inline_marks_are_removed_and_links_keep_their_text() -> None:
    """A quote with asterisks in it is found in no PDF."""
    text = "Iron *fell* in **all** `groups` of [the trial](http://x.org/y), see ![the chart](c.png) and 10<sup>9</sup>\\*."

    block = parsed(text).blocks[0]

    assert block.text == "Iron fell in all groups of the trial, see the chart and 10⁹*."


def test_a_table_has_cells_with_its_header_marked() -> None:
    """Rows are read with their headers, so these must be known."""
    table = parsed("| Arm | n |\n|---|---|\n| *Iron* | 12 \\| 13 |\n").blocks[0]

    assert (table.kind, table.text) == (BlockKind.TABLE, "Arm | n\nIron | 12|13"), (
        "a bar in a cell parts no cells"
    )
    assert [(cell.row, cell.col, cell.is_header) for cell in table.cells] == [
        (0, 0, True),
        (0, 1, True),
        (1, 0, False),
        (1, 1, False),
    ]


def test_code_keeps_its_lines_and_names_its_language() -> None:
    """Joined to one line, Python no longer means anything."""
    block = parsed("```python linenums\ndef f():\n    return 1\n```\n").blocks[0]

    assert (block.kind, block.title, block.text) == (
        BlockKind.CODE,
        "python",
        "def f():\n    return 1",
    )


def test_a_list_has_one_item_a_line_with_nested_items_indented() -> None:
    """Chunks are cut between items, so an item must be a line."""
    block = parsed("- iron\n  tablets\n  1. daily\n  2. weekly\n- zinc\n").blocks[0]

    assert block.text == "- iron tablets\n  1. daily\n  2. weekly\n- zinc"


def test_quotes_html_and_footnotes_keep_their_text() -> None:
    """What is not a plain paragraph is text all the same."""
    text = (
        "> Colds are common.\n\n<div>Raw <b>words</b><script>run()</script></div>\n\n"
        "Iron[^1] fell.\n\n[^1]: ferritin\n    in serum\n"
    )

    blocks = parsed(text).blocks

    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.PARAGRAPH, "Colds are common."),
        (BlockKind.PARAGRAPH, "Raw words"),
        (BlockKind.PARAGRAPH, "Iron[1] fell."),
        (BlockKind.FOOTNOTE, "[1] ferritin in serum"),
    ]


@pytest.mark.parametrize(
    ("below", "is_header"),
    [
        ("| | 0 to 12 | over 12 | dry |", True),
        ("| | 0–12 mo | 12-AI mo | dry |", True),
        ("| Flock | young | old | dry |", True),
        ("| | 3.1 | 4.2 | dry |", False),
        ("| Hill | young | old | dry |", False),
    ],
)
def test_a_row_that_tells_repeated_headings_apart_is_header(below: str, is_header: bool) -> None:
    """Pipe tables have one header row, and a value would stand under "Lamb" three times."""
    table = parsed(
        f"| Flock | Lamb | Lamb | Ewe |\n|---|---|---|---|\n{below}\n| Iron | 1 | 2 | 3 |\n",
    ).blocks[0]

    assert {cell.is_header for cell in table.cells if cell.row == 1} == {is_header}
    assert not any(cell.is_header for cell in table.cells if cell.row == 2)


ROWS = "| Arm | n |\n|---|---|\n| Iron | 12 |\n"


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        (
            f"**Table 1.** Arms\n\n(in thousands)\n\n{ROWS}\nIron fell.\n",
            ["Table 1. Arms (in thousands)"],
        ),
        (
            f"### Table 1. Arms\n\n{ROWS}\nTable 2. Doses\n\n{ROWS}",
            ["Table 1. Arms", "Table 2. Doses"],
        ),
        (f"{ROWS}\nTable 1. Arms\n\n{ROWS}\nTable 2. Doses\n", ["Table 1. Arms", "Table 2. Doses"]),
        (f"Table 1 shows that iron fell.\n\n{ROWS}", [""]),
        (
            f"{ROWS}\nTable 2. Doses\n\n{ROWS}\nIron fell.\n\nTable 3. Ages\n\n{ROWS}",
            ["", "Table 2. Doses", "Table 3. Ages"],
        ),
    ],
)
def test_the_title_and_the_unit_of_a_table_are_the_lines_around_it(
    text: str, titles: list[str]
) -> None:
    """A row is found and understood by its title; that of a neighbour gives its values to something
    else."""
    blocks = parsed(text).blocks

    assert [block.title for block in blocks if block.kind is BlockKind.TABLE] == titles
    assert not any(block.kind is BlockKind.HEADING for block in blocks)


def test_words_that_an_export_repeats_over_all_columns_are_one_cell() -> None:
    """A title within the table was a row of equal values."""
    text = "| Diet | Calf | Calf | Cow |\n|---|---|---|---|\n| Feed | Feed | Feed | Feed |\n| Corn | 1 | 1 | 3 |\n"

    cells = parsed(text).blocks[0].cells

    assert [(cell.text, cell.col, cell.col_span) for cell in cells if cell.row == 0] == [
        ("Diet", 0, 1), ("Calf", 1, 2), ("Cow", 3, 1),
    ]  # fmt: skip
    assert [(cell.text, cell.col_span) for cell in cells if cell.is_group] == [("Feed", 4)]
    assert [cell.text for cell in cells if cell.row == 2] == ["Corn", "1", "1", "3"]


def test_an_html_table_has_cells() -> None:
    """Exports write merged tables as HTML inside Markdown."""
    table = parsed(
        '<table><tr><td colspan="2">Ferritin</td></tr><tr><td>a</td><td>1</td></tr></table>',
    ).blocks[0]

    assert (table.kind, table.cells[0].col_span) == (BlockKind.TABLE, 2)


LATEX_TABLE = r"""\begin{table}[h]
\caption{Table 1. Ferritin}
\begin{tabular}{lr}

Arm & Ferritin \\

1. Iron & \$ 12 \\
2. Placebo & $9 \%$ \\

Results

& 3 \\
\end{tabular}
\end{table}"""


def test_rows_of_a_table_in_latex_are_paragraphs_without_markup() -> None:
    """A quote full of backslashes cannot be read, and all rows in one paragraph are one long
    sentence."""
    document = parsed(f"Ferritin *fell*:\n\n{LATEX_TABLE}\n# Discussion\n\nIt rose again.\n")

    assert [block.text for block in document.blocks] == [
        "Ferritin fell:",
        "Table 1. Ferritin",
        "Arm | Ferritin",
        "1. Iron | $ 12\n2. Placebo | 9 %",
        "Results",
        "| 3",
        "Discussion",
        "It rose again.",
    ]


def test_front_matter_is_skipped_but_may_give_the_title() -> None:
    """Tags and dates are no text of the paper."""
    document = parsed('---\ntitle: "Iron in pregnancy"\ntags: [x]\n---\nFerritin fell.\n')

    assert (document.title, document.text) == ("Iron in pregnancy", "Ferritin fell.")


def test_a_stated_title_wins_over_first_level_headings() -> None:
    """Notes with `#` for every section would be listed and cited as "Introduction"."""
    text = "---\ntitle: Iron in pregnancy\n---\n# Introduction\n\na\n\n# Methods\n\nb\n"

    document = parsed(text)

    assert document.title == "Iron in pregnancy"
    assert [b.section_path for b in document.blocks if b.kind is BlockKind.PARAGRAPH] == [
        ("Introduction",),
        ("Methods",),
    ]


@pytest.mark.parametrize(
    "front_matter",
    [
        "---\ntitle: Iron: a review\n---",
        '---\ntitle: "Iron: a review"   # draft\n---',
        "---\nTitle: >-\n  Iron:\n  a review\ntags: [x]\n---",
        "---\ntitle: Iron:\n  a review\n---",
        "---\nauthors:\n  - title: Dr\ntitle: Iron: a review  # draft\n...",
        '+++\ntitle = "Iron: a review"\n+++',
    ],
)
def test_the_title_is_read_however_it_is_written(front_matter: str) -> None:
    """Front matter comes from many tools; a title of ">-" or with half of its quotes is shown to
    every reader."""
    assert parsed(f"{front_matter}\nFerritin fell.\n").title == "Iron: a review"


@pytest.mark.parametrize(
    ("content", "problem"),
    [(b"", "no text"), (b"---\na: 1\n---\n", "no text"), (b"\x00\x01\x02\x00" * 99, "binary")],
)
def test_what_holds_no_text_is_refused(content: bytes, problem: str) -> None:
    """An empty document would look like a paper that says nothing."""
    with pytest.raises(UnreadableDocument, match=problem):
        parsed(content)


def test_deep_nesting_does_not_crash() -> None:
    """Ten thousand quotation marks are one bad file, not the end of the run."""
    document = parsed(">" * 10_000 + " deep\n\nshallow\n")

    assert "shallow" in document.text


@pytest.mark.parametrize("path", MARKDOWN_FILES, ids=lambda path: path.stem)
def test_files_written_for_readers_are_read_to_the_last_word(path: Path) -> None:
    """Small files prove rules; these have tables, code, links and lists as people write them."""
    document = parsed(path.read_bytes())

    found = set(
        re.findall(
            r"[A-Za-z]{5,}", " ".join([document.title, *(block.text for block in document.blocks)])
        )
    )
    without_addresses = re.sub(r"\]\([^)\s]*\)", "]", path.read_text("utf-8"))
    missing = set(re.findall(r"[A-Za-z]{5,}", without_addresses)) - found
    assert document.blocks
    assert len(missing) <= 1, f"{missing} stood in the file and are in no block"


def test_what_is_struck_out_is_not_read() -> None:
    """A deleted value that is quoted as the result is the opposite of what the author says."""
    text = (
        "The tide was ~~4.9 m~~ 5.3 m. It took <DEL class='x'>7 *long* hours</DEL><ins>6 hours</ins>, <s>or 8</s>. "
        "{~~Two~>Six~~} {--old --}men{++ rowed++}.\n\n"
        "<del>\n\nA paragraph that went.\n\n- with a list\n\n</del>\n\n"
        "<p>In HTML <strike>21</strike>22 boats.</p>\n\n- one\n- ~~two~~\n\n"
        "| Boat | n |\n|---|---|\n| ~~Ada~~ Bo | 3 |\n\n`a ~~b~~ <del>c</del>` and <s>never closed.\n"
    )

    blocks = parsed(text).blocks

    assert [block.text for block in blocks] == [
        "The tide was 5.3 m. It took 6 hours, . Six men rowed.",
        "In HTML 22 boats.",
        "- one",
        "Boat | n\nBo | 3",
        "a ~~b~~ <del>c</del> and never closed.",
    ]


def test_links_to_the_sections_are_not_read() -> None:
    """A list of links repeats the headings, and is nearest to every question that has their
    words."""
    links = "- [Flock](#flock)\n- [Diet](#diet)\n  - [Snow](#snow)\n"
    sections = "## Flock\n\nSheep.\n\n## Diet\n\nIron.\n\n## Snow\n\n- [Ice](#diet)\n"

    blocks = parsed(f"# Sheep\n\n{links}\n{sections}").blocks

    assert [block.text for block in blocks if block.kind is not BlockKind.HEADING] == [
        "Sheep.",
        "Iron.",
        "- Ice",
    ]


def test_each_turn_of_an_interview_is_a_paragraph() -> None:
    """With the next question behind it, an answer was read as that of the wrong question."""
    turns = ["Q: How many steps?", "A: It has 214 steps.", "Q: Is it old?", "A: Yes."]

    text = "\n".join(turns).replace("Q:", "**Q:**")

    assert [block.text for block in parsed(text).blocks] == turns


def test_circled_numbers_above_values_name_columns() -> None:
    """As values they were a row of the table, and no value had the name of its column."""
    text = "| Kind | ① Sand | ② |\n|---|---|---|\n| Oats | 7.1 | 7.2 |\n| Rye | 6.1 | 6.2 |\n"

    cells = parsed(text).blocks[0].cells

    assert {cell.row for cell in cells if cell.is_header} == {0}
