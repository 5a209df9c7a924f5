"""Each row of a table is written with its own name, its groups and all levels of its header,
whatever the format."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rag_assets.core.domain import Block, BlockKind, Cell
from rag_assets.parsing.tables import read_table
from rag_assets_tests.corpus.chunking.papers import cells_of, chunked


def written(*lines: str, rows_are_lines: bool = False) -> list[str]:
    """The rows of a table with these lines, none of whose cells is marked."""
    return rows_of(cells_of("\n".join(lines)), rows_are_lines=rows_are_lines)


def rows_of(cells: Sequence[Cell], *, rows_are_lines: bool = False) -> list[str]:
    read = read_table(
        [replace(cell, text=cell.text.strip()) for cell in cells], rows_are_lines=rows_are_lines
    )
    text = "\n".join("-" for _ in {cell.row for cell in read})
    return [
        line
        for chunk in chunked([Block(BlockKind.TABLE, text, cells=tuple(read))])
        for line in chunk.text.split("\n")
    ]


def test_a_lone_name_is_part_of_the_names_of_the_rows_below() -> None:
    """ "Right: 7" stands in a table as often as it has groups, each time with another value."""
    assert written(
        "Site | n", "Nasal wall: | ", "Right | 7", "Left | 8", "Turbinate | ", "Right | 9"
    ) == [
        "Site: Nasal wall / Right | n: 7",
        "Site: Nasal wall / Left | n: 8",
        "Site: Turbinate / Right | n: 9",
    ]


def test_a_lone_name_below_the_header_is_a_group_even_where_the_source_marks_it_as_a_header() -> (
    None
):
    """Taken for a part of the header, "Men" would stand above the rows of women too."""
    table = cells_of("Measure | n\nMen | \nAge | 45\nWomen | \nAge | 52")
    cells = [replace(cell, is_header=cell.row in (0, 1, 3)) for cell in table]

    assert rows_of(cells) == ["Measure: Men / Age | n: 45", "Measure: Women / Age | n: 52"]


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        (["Men | 12 (40%)", "Women | 18 (60%)"], "Age | 45.2"),
        (["Ships | 10", "Trains | 32", "All | 42"], "Profit | 7"),
    ],
)
def test_a_row_that_may_stand_outside_of_a_group_is_not_written_under_it(
    inside: list[str], outside: str
) -> None:
    """ "Sex: Age" is false: values of another kind follow, or the total has been before."""
    lines = written("Measure | n", "Group | ", *inside, outside)

    name, value = outside.split(" | ")
    assert lines[0] == "Group", "the rows below are not all written with its name"
    assert [line.startswith("Measure: Group / ") for line in lines[1:]] == [
        *(True for _ in inside),
        False,
    ]
    assert lines[-1] == f"Measure: {name} | n: {value}"


def test_a_number_in_brackets_is_negative_in_the_total_of_its_group() -> None:
    """Accounts write losses so: what follows the total would be told as one of the group's rows."""
    rows = ["Sales | 10 | 12 | 14", "Costs | (3) | 1 | 1", "All | 7 | 13 | 15", "Ships | 8 | 9 | 9"]

    lines = written("Firm | North | South | West", "Mills |  |  | ", *rows)

    assert [line.split(" | ")[0] for line in lines] == [
        "Mills",
        *(f"Firm: Mills / {name}" for name in ("Sales", "Costs", "All")),
        "Firm: Ships",
    ]


def test_a_row_below_a_group_that_has_all_the_names_of_others_is_not_written_under_it() -> None:
    """Each part of a skull has a right and a left side; the chin below them is a part of its
    own."""
    parts = [f"{part} | \nRight | 1\nLeft | 2" for part in ("Nose", "Ear", "Eye")]

    lines = written("Site | n", *"\n".join(parts).split("\n"), "Chin | 7")

    assert lines[-3:] == [
        "Site: Eye / Right | n: 1",
        "Site: Eye / Left | n: 2",
        "Site: Chin | n: 7",
    ]


def test_groups_within_groups_end_with_the_outer_one() -> None:
    """The models of twins are not those of musicians."""
    lines = written(
        "Sample | b", "Musicians | ", "Aptitude | ", "Model 1 | 1", "Achievement | ", "Model 1 | 2", "Twins | ",
        "Aptitude | ", "Model 1 | 3",
    )  # fmt: skip

    assert [line.split(" | ")[0] for line in lines] == [
        "Sample: Musicians / Aptitude / Model 1",
        "Sample: Musicians / Achievement / Model 1",
        "Sample: Twins / Aptitude / Model 1",
    ]


def test_a_title_inside_a_table_stands_above_the_groups_of_the_first_column() -> None:
    """Both studies have the same scales."""
    rows = ["Domains |  | ", "Openness | .1 | .2", "Facets |  | ", "Trust | .3 | .4"]

    lines = written("Scale | r | p", " | Study 1 | ", *rows, " | Study 2 | ", *rows)

    assert [line.split(" | ")[0] for line in lines] == [
        f"Scale: {study} / {name}"
        for study in ("Study 1", "Study 2")
        for name in ("Domains / Openness", "Facets / Trust")
    ]


def test_a_title_of_a_part_of_a_table_names_no_column() -> None:
    """Two tables are printed as one, each below its title and with a header of its own."""
    lines = [
        " | Intercepts | ", "Effect | Symbol | Mean", "Alpha | a | 1.2", "Beta | b | 2.3",
        " | Paths | ", "Path | Outcome | Median", "Gamma | c | 3.4",
    ]  # fmt: skip
    cells = [
        replace(cell, col_span=1 + (cell.text in ("Intercepts", "Paths")))
        for cell in cells_of("\n".join(lines))
    ]

    read = rows_of([cell for cell in cells if cell.text or cell.col < 2], rows_are_lines=True)

    assert read == [
        "Effect: Intercepts / Alpha | Symbol: a | Mean: 1.2",
        "Effect: Intercepts / Beta | Symbol: b | Mean: 2.3",
        "Path: Paths / Gamma | Outcome: c | Median: 3.4",
    ]


def test_a_name_over_two_lines_is_one_name() -> None:
    """GROBID and PDFs have a row for each printed line."""
    assert written(
        "Predictor | b",
        "Response time (all",
        "responses included) | ",
        "Age | 1",
        "Years since the | 2",
        "first symptom | ",
        rows_are_lines=True,
    ) == [
        "Predictor: Response time (all responses included) / Age | b: 1",
        "Predictor: Response time (all responses included) / Years since the first symptom | b: 2",
    ]


def test_further_lines_of_a_text_belong_to_the_row_above() -> None:
    """The end of a sentence stood in a row of its own, below the name of no one."""
    lines = written(
        "Study | N | Question",
        "Study 1 | 233 | Do people prefer seekers",
        " |  | when they disagree?",
        "Study 2 | 829 | Who avoids?",
        rows_are_lines=True,
    )

    assert (
        lines[0]
        == "Study: Study 1 | N: 233 | Question: Do people prefer seekers when they disagree?"
    )
    assert len(lines) == 2


@pytest.mark.parametrize(
    ("header", "label"),
    [
        (["Source | F(1, 194) | p"], "F(1, 194)"),
        ([" | Age 21 | Age 26", "Characteristic | (n = 759) | (n = 4,339)"], "Age 21 (n = 759)"),
        ([" | 20-29 | 30-39"], "20-29"),
        (["Item | 1 | 2 | 3"], "1"),
        (
            [
                " | Model 1: | Model 2:",
                " | 3,806.93 (df = 4) | 3,787.82 (df = 6)",
                "Predictor | b | b",
            ],
            "3,806.93 (df = 4) b",
        ),
    ],
)
def test_numbers_in_a_header_are_names(header: list[str], label: str) -> None:
    """A row of statistics or ages taken for values leaves all columns without names."""
    n_columns = header[0].count("|")
    lines = written(
        *header,
        *(" | ".join([name, *["0.5", "1.5", "2.5"][:n_columns]]) for name in ("Iron", "Zinc")),
    )

    assert f"{label}: 0.5" in lines[0]
    assert len(lines) == 2


def test_the_source_marks_the_header_but_not_its_corner_or_its_second_row() -> None:
    """A blank corner undid the marks of all other cells; then values had no names."""
    cells = (
        Cell(0, 0, "Region"),
        *(Cell(0, col, name, col_span=2, is_header=True) for col, name in ((1, "1.5"), (3, "2.5"))),
        *(Cell(1, col, text) for col, text in enumerate(["", "A", "B", "A", "B"])),
        *(Cell(2, col, text) for col, text in enumerate(["R1", "yes", "no", "yes", "no"])),
    )  # fmt: skip

    assert rows_of(cells) == ["Region: R1 | 1.5 A: yes | 1.5 B: no | 2.5 A: yes | 2.5 B: no"]


@pytest.mark.parametrize(
    ("upper", "lower", "labels"),
    [
        (
            ["", "Sandy", "", "Clay", ""],
            ["t", "%", "t", "%"],
            ["Sandy t", "Sandy %", "Clay t", "Clay %"],
        ),
        (
            ["", "", "Age", "", "All"],
            ["1 wk", "2 wk", "3 wk", "ages"],
            ["Age 1 wk", "Age 2 wk", "Age 3 wk", "All ages"],
        ),
        (["", "", "", "", "General"], ["t", "p", "F", "size"], ["t", "p", "F", "General size"]),
    ],
)
def test_a_name_found_above_one_of_its_columns_is_above_all_of_them(
    upper: list[str], lower: list[str], labels: list[str]
) -> None:
    """Layout tools put a centred name on the column below its middle; the first line of a name has
    one column only."""
    header = " | ".join(upper), " | ".join(["Crop", *lower])

    lines = written(*header, "Rye | 7 | 2 | 3 | 4", "Oats | 5 | 6 | 7 | 8", rows_are_lines=True)

    assert [piece.rpartition(": ")[0] for piece in lines[0].split(" | ")[1:]] == labels


def test_a_second_header_begins_anew() -> None:
    """Millimetres stood below "NO. OF PATIENTS"."""
    assert written(
        "SITE | NO. OF PATIENTS", "Septum | 6", "SINUS | MM (MEAN)", "Frontal | 2.7"
    ) == [
        "SITE: Septum | NO. OF PATIENTS: 6",
        "SINUS: Frontal | MM (MEAN): 2.7",
    ]


@pytest.mark.parametrize(
    ("header", "rows", "label"),
    [
        (
            "(in millions) | 2018 | 2017",
            ["Rent | 3 | 4"],
            "(in millions): Rent | 2018: 3 | 2017: 4",
        ),
        ("Debts | 2018 | 2017", ["Revenue | 3 | 4"], "Debts: Revenue | 2018: 3 | 2017: 4"),
        ("Other | 2019 | 2018", ["Rent | 3 | 4"], "(in millions): Rent | 2019: 3 | 2018: 4"),
        ("Year reached | 2028 | 2027", ["Rent | 3 | 4"], "(in millions): Rent | 2019: 3 | 2018: 4"),
        (
            "Rent | Not known | Not known",
            ["Fees | 3 | 4"],
            "(in millions): Fees | 2019: 3 | 2018: 4",
        ),
    ],
    ids=[
        "other years",
        "rows of the same names",
        "the same years",
        "years as values",
        "words",
    ],
)
def test_a_table_below_another_has_its_own_header(header: str, rows: list[str], label: str) -> None:
    """All values of 2018 went out as those of 2019."""
    assert (
        written("(in millions) | 2019 | 2018", "Revenue | 5 | 6", "Costs | 1 | 2", header, *rows)[
            -1
        ]
        == label
    )


def test_a_row_that_repeats_its_headers_is_a_header() -> None:
    """ "Effective tax rate (a): Effective tax rate (a)" was published as a finding."""
    lines = written(
        "Firm | Tax rate (a) | Sales",
        "Rent | 5 | 6",
        "Branch | Tax rate (a) | Sales",
        "Fees | 3 | 4",
    )

    assert lines == [
        "Firm: Rent | Tax rate (a): 5 | Sales: 6",
        "Branch: Fees | Tax rate (a): 3 | Sales: 4",
    ]


def test_a_name_in_the_middle_of_its_rows_is_not_that_of_the_rows_below() -> None:
    """The iron of one well at 1 m was read as that of the well above it."""
    lines = written(
        "Site | Depth | Iron",
        " | 1 m | 0.4",
        "Kolbu | 5 m | 0.7",
        " | 1 m | 0.1",
        "Lena | 5 m | 0.2",
    )

    assert lines[2] == "Depth: 1 m | Iron: 0.1"


def test_a_name_stands_for_all_rows_of_its_subject() -> None:
    """The names of the first columns are printed once; a total has no subject."""
    rows = ["15 Mar | early | Transfer | 2", " |  | Fee | 3", " | late | Sleep | 4", " |  |  | 9"]

    assert written("Day | Shift | Task | h", *rows) == [
        "Day: 15 Mar | Shift: early | Task: Transfer | h: 2",
        "Day: 15 Mar | Shift: early | Task: Fee | h: 3",
        "Day: 15 Mar | Shift: late | Task: Sleep | h: 4",
        "9",
    ]


def test_a_sum_without_a_name_is_not_that_of_the_row_above() -> None:
    """ "Accessories and other: 100%" was written where all parts are 100%; a subject has rows below
    more than one."""
    parts = ["Wool | 40% | 41%", "Milk | 57% | 56%", "Other | 3% | 3%", " | 100% | 100%"]

    assert written("Part | 2022 | 2023", *parts)[-1] == "2022: 100% | 2023: 100%"


def test_bars_in_cells_part_no_cells_and_empty_cells_keep_their_place() -> None:
    """ "P(A | B)" is one text; a value that moves to the left has another name."""
    cells = (
        Cell(0, 0, "P(A | B)"),
        Cell(0, 1, ""),
        Cell(0, 2, "3"),
        Cell(1, 0, "C"),
        Cell(1, 1, "1"),
        Cell(1, 2, "2"),
    )

    assert [cell.text for cell in read_table(cells) if cell.row == 0] == ["P(A|B)", "", "3"]
