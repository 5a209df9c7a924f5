"""Printed tables: each value with its row, its group and every level of its column, and nothing
else called a table."""

from collections.abc import Sequence

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Block, BlockKind, Document, StatementKind
from rag_assets.corpus.statements.pieces import PlacedBlock
from rag_assets.corpus.statements.rows import rows as statements_of_rows
from rag_assets_testing.papers.pdf import (
    HEIGHT,
    Draw,
    lines,
    overlaid,
    page_of,
    parsed,
    prose,
)

Placed = tuple[float, str]
"""Left edge in points, and what is printed there."""
Rule = tuple[float, float, float]
"""From, to, and after how many rows a line is drawn; 0.5 stands for the middle of the first row."""
FIRST_ROW, PITCH = 200.0, 14.0


def table_rows(
    rows: Sequence[Sequence[Placed]], rules: Sequence[Rule] = (), *, top: float = FIRST_ROW
) -> Draw:
    """Draws rows of cells, and rules below so many of them."""

    def draw(canvas: Canvas) -> None:
        for nth, row in enumerate(rows):
            for left, text in row:
                lines(canvas, text, left=left, top=top + PITCH * nth)
        for left, right, after in rules:
            y = HEIGHT - (top - 10.5 + PITCH * after)
            canvas.line(left, y, right, y)

    return draw


def grid(lefts: Sequence[float], *lines: str) -> list[list[Placed]]:
    """Rows written as "a | b", a cell at each of these left edges; nothing is drawn for an empty
    one."""
    return [
        [(left, text) for left, text in zip(lefts, line.split(" | "), strict=False) if text]
        for line in lines
    ]


def across(left: float, right: float, *after: float) -> list[Rule]:
    return [(left, right, one) for one in after]


def page(*draws: Draw | tuple[float, str | Sequence[str]]) -> Draw:
    """A page that begins with prose; a pair is text and its top."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, prose("rope", 4))
        for one in draws:
            lines(canvas, one[1], top=one[0]) if isinstance(one, tuple) else one(canvas)

    return draw


def tables(document: Document) -> list[Block]:
    return [block for block in document.blocks if block.kind is BlockKind.TABLE]


def written_in(rows: Sequence[Sequence[Placed]], rules: Sequence[Rule] = ()) -> list[str]:
    """The rows of a captioned table as they are searched and quoted."""
    return written(parsed(page((180, "Table 1: Yields."), table_rows(rows, rules))))


def written(document: Document) -> list[str]:
    """The rows of all tables as they are searched and quoted."""
    statements = [
        one for block in tables(document) for one in statements_of_rows(PlacedBlock(block, 0, 0))
    ]
    return [one.text for one in statements if one.kind is not StatementKind.CAPTION]


SPANNED = [
    *grid((230, 390), "Sandy soil | Clay soil"),
    *grid(
        (60, 210, 280, 370, 440),
        "Kind | Yield | Protein | Yield | Protein",
        "Barley | 76.4 | 91.5 | 73.1 | 94.2",
        "Oats | 68.5 | 62.9 | 20.5 | 50.4",
    ),
]


@pytest.mark.parametrize(
    "short",
    [[(200, 320, 1), (360, 480, 1)], [], [(200, 480, 1)]],
    ids=["short rules below", "centred", "one rule below both"],
)
def test_a_name_over_two_columns_names_both(short: list[Rule]) -> None:
    """Without it, "Yield: 73.1" may be that of the other soil."""
    assert written_in(SPANNED, [*across(60, 500, 0, 2, 4), *short])[0] == (
        "Kind: Barley | Sandy soil Yield: 76.4 | Sandy soil Protein: 91.5 | Clay soil Yield: 73.1 | "
        "Clay soil Protein: 94.2"
    )


@pytest.mark.parametrize(
    ("font", "stub", "wanted"),
    [
        ("Helvetica-Oblique", [], "Sandy Yield: 76.4 | Sandy Protein: 91.5 | Clay Yield: 73.1 | C"),
        ("Helvetica-Oblique", [(60, "Kind")], "Sandy Yield: 76.4 | Sandy Protein: 91.5 | Clay"),
        ("Helvetica", [], "Sandy Yield: 76.4 | Protein: 91.5 | Clay Yield: 73.1 | Protein: 94.2"),
    ],
    ids=["italics", "beside the name of rows", "first half of a name"],
)
def test_names_in_italics_above_upright_ones_reach_to_each_other(
    font: str, stub: list[Placed], wanted: str
) -> None:
    """ "Protein: 91.5" is printed twice in the row, and nothing would say for which soil."""

    def draw(canvas: Canvas) -> None:
        for left, text in [*stub, (210, "Sandy"), (370, "Clay")]:
            lines(canvas, text, left=left, top=FIRST_ROW, font=font)

    below = [SPANNED[1][1:] if stub else SPANNED[1], *SPANNED[2:]]
    table = table_rows(below, across(60, 500, -1, 1, 3), top=FIRST_ROW + PITCH)

    document = parsed(page((180, "Table 1: Two measures."), draw, table))

    assert wanted in written(document)[0]


@pytest.mark.parametrize("mark", ["", "•"])
def test_a_captioned_list_in_a_tinted_box_with_a_bar_is_a_table_of_one_column(mark: str) -> None:
    """As prose, the items run into each other, and none comes with the title of its table."""
    items = ["Graze the sheep no more than two hours before", "the noon bell", "Rest them at noon"]

    def draw(canvas: Canvas) -> None:
        for gray, height in ((0.9, 80), (0.4, 18)):
            canvas.setFillGray(gray)
            canvas.rect(60, HEIGHT - 190 - height, 240, height, stroke=0, fill=1)
        canvas.setFillGray(0)
        lines(canvas, "Advice for keepers", left=66, top=203, font="Helvetica-Bold")
        for nth, item in enumerate(items):
            lines(canvas, mark if nth != 1 else "", left=66, top=222 + 14 * nth)
            lines(canvas, item, left=78 if mark else 66, top=222 + 14 * nth)

    document = parsed(page((180, "Table 1: Care."), draw, (300, prose("rain", 4))))

    [table] = tables(document)
    assert table.title == "Table 1: Care."
    assert [(cell.text.replace("\n", " "), cell.is_header) for cell in table.cells] == [
        ("Advice for keepers", True),
        ("Graze the sheep no more than two hours before the noon bell", False),
        ("Rest them at noon", False),
    ]


def test_a_group_ends_where_the_indentation_returns() -> None:
    """ "Spring sown: All sites" would be a false statement, published as exact."""
    rows = grid(
        (60, 72, 200, 300),
        " |  | 2016 | 2017",
        "Spring sown",
        " | Barley | 75.4 | 33.9",
        " | Oats | 22.8 | 48.3",
        "All sites |  | 98.1 | 86.7",
    )

    assert [row for row in written_in(rows, across(60, 400, 0, 1, 5)) if "|" in row] == [
        "Spring sown / Barley | 2016: 75.4 | 2017: 33.9",
        "Spring sown / Oats | 2016: 22.8 | 2017: 48.3",
        "All sites | 2016: 98.1 | 2017: 86.7",
    ]


def test_a_label_over_two_lines_is_one_label() -> None:
    """Half a label is another label: "came from the east" says nothing of barley."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, "Table 1: Means.", top=180)
        for nth, name in enumerate(["Barley", "Oats", "Rye"]):
            lines(
                canvas,
                [f"{name}, with those that", "came from the east"],
                top=215 + 26 * nth,
                size=9,
            )
            lines(canvas, f"{nth}7.8", left=250, top=225.8 + 26 * nth, size=9)
        lines(canvas, "Mean", left=250, top=200, size=9)
        for y in (190, 205, 290):
            canvas.line(60, HEIGHT - y, 330, HEIGHT - y)

    assert written(parsed(page(draw)))[1] == "Oats, with those that came from the east | Mean: 17.8"


@pytest.mark.parametrize("side", ["upright in the middle", "at a right angle"])
def test_a_label_printed_once_in_a_band_names_all_its_rows(side: str) -> None:
    """The rows of another place have the same names: without the label, each value has two
    owners."""
    bands = "Oats | 1.1", "Rye | 1.2", "Spelt | 1.3", "Oats | 2.1", "Rye | 2.2", "Spelt | 2.3"

    def labels(canvas: Canvas) -> None:
        for nth, label in enumerate(["Sand", "Clay"]):
            middle = FIRST_ROW + PITCH * (2 + 3 * nth)
            if side == "at a right angle":
                canvas.saveState()
                canvas.translate(75, HEIGHT - middle - 12)
                canvas.rotate(90)
                canvas.drawString(0, 0, label)
                canvas.restoreState()
            else:
                lines(canvas, label, left=60, top=middle)

    drawn = table_rows(grid((120, 200), " | Yield", *bands), across(60, 300, 0, 1, 4, 7))

    text = written(parsed(page((180, "Table 1: Places."), drawn, labels)))

    assert ["Sand" in row for row in text] == [True] * 3 + [False] * 3
    assert ["Clay" in row for row in text] == [False] * 3 + [True] * 3


SMALL = grid((60, 160), "Kind | 2016", "Oats | 7.1", "Rye | 7.2")
FRAME = across(60, 200, 0, 1, 3)


def test_rules_of_both_directions_bound_the_cells() -> None:
    """In a full grid a cell belongs to all rows beside it, and no rule has to run over the whole
    table."""
    rows = grid(
        (60, 160, 230, 330),
        "Soil | Code | Kind | Sown",
        "Sandy soil | K1 | Oats",
        " | K2 | Rye | spring",
        "Clay soil | K3 | Barley",
    )

    def draw(canvas: Canvas) -> None:
        table_rows(rows, [*across(55, 420, 0, 1, 4), (150, 320, 2), (55, 320, 3)])(canvas)
        for x in (55, 150, 220, 320, 420):
            canvas.line(x, HEIGHT - 189.5, x, HEIGHT - 245.5)

    assert written(parsed(page((180, "Table 1: Fields."), draw))) == [
        "Soil: Sandy soil | Code: K1 | Kind: Oats | Sown: spring",
        "Soil: Sandy soil | Code: K2 | Kind: Rye | Sown: spring",
        "Soil: Clay soil | Code: K3 | Kind: Barley | Sown: spring",
    ]


def test_wrapped_texts_in_all_columns_are_one_row() -> None:
    """A row a line would give the first half of each text to nobody."""
    rows = grid(
        (60, 160, 300),
        "Kind | Sown | Aggregates",
        "Winter | In autumn, after the | Large ones (more",
        "barley | last rain | than half)",
        "Vendor- | Field- | Pull",
        "Bred oats | Dependent | Only",
    )

    assert written_in(rows, across(55, 420, 0, 1, 3, 5)) == [
        "Kind: Winter barley | Sown: In autumn, after the last rain | Aggregates: Large ones (more than half)",
        "Kind: Vendor-Bred oats | Sown: Field-Dependent | Aggregates: Pull Only",
    ]


def test_a_caption_right_below_a_paragraph_is_that_of_its_table() -> None:
    """As the last line of the paragraph it was lost, and the table got the caption of the next."""

    def draw(canvas: Canvas) -> None:
        full = "All of these ropes hang in a tower by the sea."
        lines(canvas, [*prose("rope", 6)[:-1], full, "Table 1. Rain by village."])
        table_rows(SMALL, FRAME, top=205)(canvas)
        lines(canvas, "Table 2. Wells by village.", top=250)
        table_rows(SMALL, FRAME, top=290)(canvas)

    document = parsed(draw)

    assert [block.title for block in tables(document)] == [
        "Table 1. Rain by village.",
        "Table 2. Wells by village.",
    ]


@pytest.mark.parametrize("has_others", [True, False])
def test_a_table_without_a_caption_gets_none_of_its_neighbour(has_others: bool) -> None:
    """A false caption is read as a header: every value of the table was said of something else."""

    def neighbours(canvas: Canvas) -> None:
        table_rows(SMALL, FRAME)(canvas)
        lines(canvas, "Table 2. Wells by village.", top=250)
        table_rows(SMALL, FRAME, top=290)(canvas)

    alone = page((172, "Table 1. Rain by village."), table_rows(SMALL, FRAME))

    document = parsed(*([alone] if has_others else []), page(neighbours))

    titles = [block.title for block in tables(document)]
    expected = ["Table 1. Rain by village.", "", "Table 2. Wells by village."]
    assert titles == (expected if has_others else ["", ""])


def test_tables_side_by_side_are_two() -> None:
    """Read as one, the rows of the right table get the names of the left one."""
    right = [[(left + 260, text) for left, text in row] for row in SMALL]
    rules = [(left + 260, end + 260, after) for left, end, after in FRAME]

    captions = overlaid(
        page_of("Table 1: Yield.", top=250), page_of("Table 2: Protein.", top=250, left=320)
    )

    document = parsed(page(table_rows(SMALL, FRAME), table_rows(right, rules), captions))

    assert written(document) == ["Kind: Oats | 2016: 7.1", "Kind: Rye | 2016: 7.2"] * 2
    assert [block.title for block in tables(document)] == ["Table 1: Yield.", "Table 2: Protein."]


def test_title_and_unit_above_a_table_without_a_caption_are_its_title() -> None:
    """A financial statement is found by its title, and read in its unit."""

    titles = overlaid(
        page_of("STATEMENT OF CEREALS", left=160, top=165, font="Helvetica-Bold", size=11),
        page_of("(in kilograms per hectare)", left=170, top=180, size=8),
    )

    rows = grid((60, 300, 380), " | 2016 | 2017", "Barley | $ 19.2 | $ 67.9", "Oats | 26.6 | 55.2")

    document = parsed(page(titles, table_rows(rows, [(300, 330, 2), (380, 410, 2)])))

    [table] = tables(document)
    assert table.title == "STATEMENT OF CEREALS (in kilograms per hectare)"
    assert all(not block.section_path for block in document.blocks)


def test_tables_with_a_rule_below_their_headers_only_are_two() -> None:
    """The rule of the second header would end the first table, and the second have values of
    nothing."""

    def draw(canvas: Canvas) -> None:
        for at, year in ((180.0, 2015), (290.0, 2016)):
            herds = (f"Herd {n} | {n}.1 | {n}.2 | {year - n}.5" for n in range(1, 5))
            rows = grid((60, 240, 340, 440), " | Milk | Hay | Straw", *herds)
            table_rows(rows, [(55, 480, 1)], top=at)(canvas)

    document = parsed(draw)

    row = "Herd 1 | Milk: 1.1 | Hay: 1.2 | Straw: "
    assert [written(document)[at] for at in (0, 4)] == [row + "2014.5", row + "2015.5"]


def test_the_sentence_that_leads_to_a_table_is_its_title() -> None:
    """The rows of the notes of a report name segments only: what is counted stands in the sentence
    above."""
    sentence = "Cattle by kind of soil are as follows (in thousands):"

    document = parsed(page((175, [sentence]), table_rows(SMALL, FRAME)))

    assert [table.title for table in tables(document)] == [sentence]


def _bars(canvas: Canvas) -> None:
    for nth in range(6):
        lines(canvas, f"{40 + nth}", left=100 + 50 * nth, top=240 - 4 * nth)
        lines(canvas, f"Kind {nth}", left=95 + 50 * nth, top=330)
        canvas.rect(98 + 50 * nth, HEIGHT - 318, 20, 70 + 4 * nth)
    lines(canvas, "Figure 1: Shares in percent.", top=360)


def _prompt(canvas: Canvas) -> None:
    lines(
        canvas,
        [
            f"Answer the question number {n} in the words of the text and say where."
            for n in range(6)
        ],
        top=220,
    )
    canvas.rect(55, HEIGHT - 300, 400, 100)
    canvas.line(55, HEIGHT - 290, 455, HEIGHT - 290)


def _names(canvas: Canvas) -> None:
    rows = "Ana Sun | Bo Moe", "Harbour College | Rope Works", "Bergen | Oslo"
    table_rows(grid((60, 260), *rows))(canvas)


def _formula(canvas: Canvas) -> None:
    for nth, row in enumerate(grid((150, 400), "a = b + c | (1)", "d = e + f | (2)")):
        table_rows([row], top=200 + 20 * nth)(canvas)


def _drawing(canvas: Canvas) -> None:
    canvas.beginForm("plot")
    table_rows(SMALL, FRAME)(canvas)
    canvas.endForm()
    canvas.doForm("plot")
    lines(canvas, "Table 1 shows no such thing.", top=280)


@pytest.mark.parametrize("draw", [_bars, _prompt, _names, _formula, _drawing])
def test_what_only_looks_like_a_table_stays_text(draw: Draw) -> None:
    """Axis labels and lines of prose cut into cells answer questions with nonsense."""
    assert not tables(parsed(page(draw)))


def test_a_row_with_a_gap_keeps_its_values_below_their_headers() -> None:
    """Counted from the left, the load of the second rope would be read as its length."""
    rows = grid(
        (60, 200, 300, 400),
        "Rope | Length | Load | Price",
        "hemp | 20 | 150 | 7",
        "nylon |  | 480 | 9",
    )

    assert written(parsed(page(table_rows(rows))))[1] == "Rope: nylon | Load: 480 | Price: 9"


def test_a_table_over_a_page_end_is_one_under_its_header() -> None:
    """Without its header, the second half has values of nothing."""
    head, *herds = grid((60, 200), "Kind | Litres", *(f"Herd {n} | {n}0.5" for n in range(1, 9)))
    rows, more = [head, *herds[:4]], herds[4:]

    document = parsed(page((180, "Table 1: Milk."), table_rows(rows)), table_rows(more, top=60))

    assert len(tables(document)) == 1
    assert written(document)[-1] == "Kind: Herd 8 | Litres: 80.5"
    assert {span.page_start for span in tables(document)[0].spans} == {1, 2}


def test_a_table_two_pages_on_is_another() -> None:
    """A plate stands between: its rows would be read below names that are printed for others."""
    head, *herds = grid((60, 200), "Kind | Litres", *(f"Herd {n} | {n}0.5" for n in range(1, 9)))
    first = page((180, "Table 1: Milk."), table_rows([head, *herds[:4]]))
    far = table_rows(herds[4:], top=60)

    document = parsed(first, lambda _canvas: None, far)

    assert written(parsed(first, far))[-1] == "Kind: Herd 8 | Litres: 80.5", "on the next page"
    assert {span.page_start for span in tables(document)[0].spans} == {1}
    assert not any("Kind: Herd 8" in one for one in written(document))


def test_a_table_that_repeats_caption_and_header_is_one() -> None:
    """Two tables of one name share the rows out, and a note about the next page would be a group of
    what follows."""
    head, *herds, note = grid(
        (60, 200),
        "Kind | Litres",
        *(f"Herd {n} | {n}0.5" for n in range(1, 7)),
        "Continued on next page",
    )
    rules = across(55, 340, 0, 1, 5)
    rows = table_rows([head, *herds[:3], note], rules)
    first = page((180, "Table 2: Milk."), rows, (300, prose("rope", 4)))

    def second(canvas: Canvas) -> None:
        lines(canvas, "Table 2 (continued)", top=60)
        table_rows([head, *herds[3:]], rules, top=80)(canvas)

    document = parsed(first, second)

    [table] = tables(document)
    assert table.title == "Table 2: Milk."
    assert written(document) == [f"Kind: Herd {n} | Litres: {n}0.5" for n in range(1, 7)]


def test_a_page_with_more_lines_than_a_table_has_is_read_without_rules() -> None:
    """A map of ten thousand strokes must not be compared stroke by stroke."""

    def draw(canvas: Canvas) -> None:
        table_rows(SMALL, FRAME)(canvas)
        for nth in range(3_100):
            canvas.line(60, 10 + nth / 5, 200, 10 + nth / 5 + 0.01)

    assert "Oats" in parsed(draw).text


def test_names_of_columns_that_are_wider_than_the_line_below_are_part_of_the_header() -> None:
    """Two tables of weeks and of years had the same columns "2023" and "2022", and a value of one
    answered for both."""
    rows = [
        [(410, "9 Weeks Ended")],
        [(390, "January 28, January 29,")],
        [(402, "2023"), (460, "2022")],
        *grid((60, 405, 463), *(f"{kind} | 40% | 41%" for kind in ("Wool", "Milk", "Cheese"))),
    ]

    text = written(parsed(page(table_rows(rows), (400, prose("sheep", 12)))))

    assert (
        text[0]
        == "Wool | 9 Weeks Ended January 28, 2023: 40% | 9 Weeks Ended January 29, 2022: 41%"
    )


def sales(*header: str) -> list[list[Placed]]:
    """A header and two rows of values below it."""
    return grid((60, 250, 350, 450), *header, "Tea | 4.2 | 5.1 | 7", "Rice | 6.2 | 3.1 | 9")


OF_2019 = "Sales | 2019 | 2018 | Change"
TEA_IN_2019 = "Sales: Tea | 2019: 4.2 | 2018: 5.1 | Change: 7"


@pytest.mark.parametrize(
    ("second", "rules", "tea"),
    [
        (
            "Rates | Low | High | Mean",
            (0, 1, 3, 4, 6),
            "Rates: Tea | Low: 4.2 | High: 5.1 | Mean: 7",
        ),
        ("Sales | 2018 | 2017 | Change", (0, 6), "Sales: Tea | 2018: 4.2 | 2017: 5.1 | Change: 7"),
    ],
    ids=["a header between rules", "the same header with other years"],
)
def test_a_header_below_values_begins_another_table(
    second: str, rules: Sequence[float], tea: str
) -> None:
    """Its values had the names of the table above."""
    found = written_in([*sales(OF_2019), *sales(second)], across(60, 500, *rules))

    assert (len(found), found[::2]) == (4, [TEA_IN_2019, tea])


def test_a_second_banner_ends_the_first() -> None:
    """ "Year ended 2018 / Tea" stood beside a column "Year ended 2019"."""
    first, second = ([(330, f"Year ended {year}")] for year in (2019, 2018))
    rows = [first, *sales(" | Reported | Organic | Change"), second, *sales()]

    assert written_in(rows, across(60, 500, 0, 2, 4, 5, 7))[::2] == [
        f"Year ended {year} / Tea | Reported: 4.2 | Organic: 5.1 | Change: 7"
        for year in (2019, 2018)
    ]


def test_rules_below_the_names_show_the_columns() -> None:
    """The words of a date stood above one column each, and the values of two columns in one."""
    rows = [
        [(255, "May 31, 2018")],
        *grid((60, 230, 275, 320), "Unit | Sold | Part | Left"),
        *grid((60, 240, 268, 318), "Farm 1 | 11 | 37.2 % | 0.6", "Farm 2 | 12 | 37.2 % | 0.6"),
    ]
    short: list[Rule] = [(228, 345, 1), (60, 200, 2), (228, 262, 2), (266, 303, 2), (312, 345, 2)]

    document = parsed(page(table_rows(rows, short)))

    assert written(document)[0] == (
        "Unit: Farm 1 | May 31, 2018 Sold: 11 | May 31, 2018 Part: 37.2 % | May 31, 2018 Left: 0.6"
    )


@pytest.mark.parametrize("is_grid", [True, False])
def test_a_label_in_the_middle_names_the_rows_beside_it(is_grid: bool) -> None:
    """The first row had no site, and the second carried two."""
    depths = ["1 m", "3 m", "5 m", "1 m", "5 m"]

    def draw(canvas: Canvas) -> None:
        values = (f" | {one} | 0.{n}1 | 0.{n}2" for n, one in enumerate(depths))
        for nth, row in enumerate(grid((60, 160, 260, 360), "Site | Depth | June | July", *values)):
            for left, text in row:
                middle = 15 if is_grid and nth == 0 and left >= 260 else 9
                lines(canvas, text, left=left, top=200 + 18 * nth + middle)
        for middle, name in ((245, "Kolbu"), (290, "Lena")):
            lines(canvas, name, left=60, top=middle)
        if is_grid:
            lines(canvas, "Iron", left=260, top=199)
        short = [(255, 1), (155, 2.5), (155, 3.5), (155, 5.5), (55, 4.5)] if is_grid else []
        for left, after in [(55, 0), (55, 1.5), (55, 6.5), *short]:
            canvas.line(left, HEIGHT - (188 + 18 * after), 420, HEIGHT - (188 + 18 * after))
        for x in (55, 155, 255, 355, 420) if is_grid else ():
            canvas.line(x, HEIGHT - (206 if x == 355 else 188), x, HEIGHT - 305)

    document = parsed(page((165, "Table 1: Iron."), draw))

    assert [row.split(" | ")[:2] for row in written(document)] == [
        [f"Site: {site}", f"Depth: {depth}"]
        for site, depth in zip(["Kolbu"] * 3 + ["Lena"] * 2, depths, strict=True)
    ]


def test_a_rule_drawn_cell_by_cell_is_one_rule() -> None:
    """The columns behind the first piece were lost: small squares join the pieces of each rule."""

    def draw(canvas: Canvas) -> None:
        for after in (0, 1, 3):
            y = HEIGHT - (FIRST_ROW - 10.5 + PITCH * after)
            for left, right in ((60, 400), (406, 500)):
                canvas.rect(left, y, right - left, 0.7, stroke=0, fill=1)
            for left in (400, 403):
                canvas.rect(left, y, 3, 0.7, stroke=0, fill=1)

    assert written(parsed(page(table_rows(sales(OF_2019)), draw)))[0] == TEA_IN_2019


def test_text_over_a_picture_of_a_grid_is_a_table() -> None:
    """A grid put into the page as a picture was taken for a figure, and its table for prose."""

    def draw(canvas: Canvas) -> None:
        canvas.drawImage(ImageReader(Image.new("RGB", (40, 8), "white")), 55, HEIGHT - 245, 450, 60)

    document = parsed(page((170, "Table 1: Sales."), draw, table_rows(sales(OF_2019))))

    assert written(document)[0] == TEA_IN_2019


@pytest.mark.parametrize(
    "titles",
    [
        [(246, "Hill Farms"), (238, "Count of herds")],
        [(60, "The herds that were counted in each county are:")],
    ],
    ids=["in the middle", "a sentence"],
)
def test_a_title_drawn_into_the_frame_of_a_table_names_no_column(titles: list[Placed]) -> None:
    """ "Count of herds Sold: 2" was a name that no column has."""
    rows = grid(
        (60, 160, 250, 330, 420),
        "County | At first | Sold | Born | At last",
        *(f"Hill {n} | {n}.5 | {n}.5 | {n}.5 | {n}.5" for n in (1, 2, 3)),
    )
    rules = across(60, 480, 0, len(titles) + 4)
    drawn = table_rows([*([one] for one in titles), *rows], rules)

    document = parsed(page(drawn))

    assert written(document)[0] == (
        "County: Hill 1 | At first: 1.5 | Sold: 1.5 | Born: 1.5 | At last: 1.5"
    )
    assert "".join(text for _, text in titles)[:10] not in tables(document)[0].text


def test_columns_of_prose_below_a_running_head_take_no_caption() -> None:
    """The rule below the head and the first one of the table bound two columns of prose, and the
    caption is theirs."""

    def draw(canvas: Canvas) -> None:
        for left, word in ((60, "rope"), (310, "dome")):
            lines(canvas, prose(word, 8), left=left, top=70, size=7)
        lines(canvas, "Table 1. Yield.", top=190)
        table_rows(SMALL, across(55, 540, -10, 0, 1, 3))(canvas)

    document = parsed(draw)

    assert [table.title for table in tables(document)] == ["Table 1. Yield."]
    assert written(document) == ["Kind: Oats | 2016: 7.1", "Kind: Rye | 2016: 7.2"]
