from dataclasses import replace

import pytest

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Span
from rag_assets.parsing.shared.table_rows import table_block
from rag_assets_tests.corpus.chunking.papers import box, cells_of, chunked, document_text, paragraph


def table(*cells: str | Cell, title: str = "Table 1. Iron by group.") -> Block:
    """A table of these cells, or of lines of cells."""
    lines = [line for line in cells if isinstance(line, str)]
    block = table_block(cells_of("\n".join(lines)) if lines else cells, title)
    return replace(block, section_path=("Results",), spans=(Span(0, len(block.text), 5, 5),))


def test_rows_without_cells_are_kept_as_they_are() -> None:
    """A PDF tells no columns apart: a label put to the wrong number would be an invented fact."""
    text = "Group | Ferritin | Dose\nA | 12\nB | 15 | 4"

    (chunk,) = chunked([Block(BlockKind.TABLE, text, ("Results",), title="Table 1.")])

    assert chunk.text == f"Table 1.\n{text}"


def test_every_row_names_its_columns() -> None:
    """A row of bare numbers is found by no question and understood by no reader."""
    block = table("Group | Ferritin | Dose", "A | 12 | 3", "B | 15 | 4")

    (chunk,) = chunked([block])

    assert chunk.text == (
        "Table 1. Iron by group.\nGroup: A | Ferritin: 12 | Dose: 3\nGroup: B | Ferritin: 15 | Dose: 4"
    )
    assert chunk.chunk_type == "table"


def test_the_label_of_a_column_without_values_is_kept() -> None:
    """That something was not reported is found by its name, which stands nowhere else."""
    block = table("Group | Ferritin | Hepcidin", "A | 12 | ", "B | 15 | ")

    (chunk,) = chunked([block])

    lines = ["Group | Ferritin | Hepcidin", "Group: A | Ferritin: 12", "Group: B | Ferritin: 15"]
    assert chunk.text.split("\n")[1:] == lines
    units = [unit for unit in chunk.units if chunk.text[unit.start : unit.end] in lines]
    assert [
        document_text([block])[unit.char_start : unit.char_end] for unit in units
    ] == block.text.split("\n")


def test_a_repeated_title_has_the_page_of_the_caption_and_the_chunk_that_of_its_rows() -> None:
    """A quote from the title was cited without a page; the chunk's own page must not be that of its
    repeated title."""
    block = table("Group | Ferritin", *(f"Group {n} | {n}" for n in range(40)))
    above = (Span(0, len(block.title), 4, 4, (box(4, 0.9),)),)

    chunks = chunked(
        [paragraph("Iron fell in all groups.", "Other"), replace(block, title_spans=above)]
    )

    first, last = chunks[1].spans[0], chunks[-1].spans[0]
    assert len(chunks) > 2
    assert chunks[-1].text[last.start : last.end] == block.title
    assert (last.source_start, last.page_start, last.boxes) == (None, 4, (box(4, 0.9),))
    assert (first.page_start, chunks[1].page_start) == (4, 4), "the caption itself stands on page 4"
    assert (chunks[-1].page_start, chunks[-1].page_end) == (5, 5)


def test_a_rows_span_has_its_own_cells_boxes_and_place() -> None:
    """A highlighted citation must show the row, not the whole table or the one above."""
    cells = (
        replace(cell, is_header=cell.row == 0, boxes=(box(5 + cell.row, 0.1 * cell.col),))
        for cell in cells_of("Group | Ferritin\nA | 12\nB | 15")
    )
    blocks = [table(*cells)]

    (chunk,) = chunked(blocks)

    found = {chunk.text[span.start : span.end]: span for span in chunk.spans}
    row = found["Group: B | Ferritin: 15"]
    assert row.boxes == (box(7, 0.0), box(7, 0.1))
    assert (row.page_start, row.page_end) == (7, 7)
    assert row.source_start is not None
    assert document_text(blocks)[row.source_start :] == "B | 15"


def test_the_box_of_a_cell_that_spans_rows_is_marked_in_its_first_row_only() -> None:
    """A quote of the last row of a long group would be marked from the group's first row on, or on
    the page before."""
    sex, ages = box(4, 0.1), (box(4, 0.1), box(5, 0.2))
    block = table(
        *(Cell(0, col, text, is_header=True) for col, text in enumerate(("Sex", "Age"))),
        Cell(1, 0, "Men", row_span=2, boxes=(sex,)),
        Cell(1, 1, "40", boxes=ages[:1]),
        Cell(2, 1, "60", boxes=ages[1:]),
        title="",
    )

    (chunk,) = chunked([block])

    found = {chunk.text[span.start : span.end]: span for span in chunk.spans}
    assert found["Sex: Men | Age: 40"].boxes == tuple(dict.fromkeys((sex, ages[0])))
    last = found["Sex: Men | Age: 60"]
    assert (last.boxes, last.page_start, last.page_end) == (ages[1:], 5, 5)


@pytest.mark.parametrize("boxes", [(), (box(5, 0.1),)])
def test_a_row_that_ocr_read_says_so(boxes: tuple[Box, ...]) -> None:
    """A wrong digit in a table looks like any other."""
    block = table(*(replace(cell, boxes=boxes) for cell in cells_of("Group | Ferritin\nA | 12")))

    (chunk,) = chunked(
        [replace(block, spans=tuple(replace(span, is_by_ocr=True) for span in block.spans))]
    )

    assert [
        span.is_by_ocr
        for span in chunk.spans
        if chunk.text[span.start : span.end] == "Group: A | Ferritin: 12"
    ] == [True]


def test_merged_cells_count_for_every_row_and_column_they_cover() -> None:
    """ "Iron | week 1" and "Iron | week 8" are two columns, and both rows below "Men" are men's."""
    block = table(
        Cell(0, 0, "Sex", row_span=2),
        Cell(0, 1, "Age", row_span=2),
        Cell(0, 2, "Ferritin", col_span=2),
        Cell(1, 2, "week 1"),
        Cell(1, 3, "week 8"),
        Cell(2, 0, "Men", row_span=2),
        Cell(2, 1, "40"),
        Cell(2, 2, "12"),
        Cell(2, 3, "15"),
        Cell(3, 1, "60"),
        Cell(3, 2, "13"),
        Cell(3, 3, "16"),
        title="",
    )

    (chunk,) = chunked([block])

    assert chunk.text == (
        "Sex: Men | Age: 40 | Ferritin week 1: 12 | Ferritin week 8: 15\n"
        "Sex: Men | Age: 60 | Ferritin week 1: 13 | Ferritin week 8: 16"
    )


def test_a_table_without_a_header_keeps_its_lines() -> None:
    """Taking the first row of values for a header would label every other row wrongly."""
    lines = ["Age | 45 | 12", "Weight | 80 | 3", "Height | 178 | 9"]

    (chunk,) = chunked([table(*lines)])

    assert chunk.text == "\n".join(["Table 1. Iron by group.", *lines])


def test_ragged_rows_and_rows_of_one_cell_are_kept() -> None:
    """Most tables of papers have a section line or a row that ends early."""
    block = table("Group | Ferritin | Dose", "Women", "A | 12", "B | 15 | 4 | late", title="")

    (chunk,) = chunked([block])

    assert chunk.text == (
        "Group: Women / A | Ferritin: 12\nGroup: Women / B | Ferritin: 15 | Dose: 4 | late"
    )


def test_a_row_of_words_below_a_complete_header_is_no_header() -> None:
    """In a table of words every row looks like a header; the first row of findings would be lost in
    labels."""
    block = table("Group | Drug | Outcome", "A | iron | fell", "B | none | rose", title="")

    (chunk,) = chunked([block])

    assert (
        chunk.text == "Group: A | Drug: iron | Outcome: fell\nGroup: B | Drug: none | Outcome: rose"
    )


def test_years_and_confidence_intervals_are_column_names() -> None:
    """Headers hold digits too; only values do not."""
    block = table("Country | 2019 | 95% CI", "Chile | 12 | [3, 4]", title="")

    (chunk,) = chunked([block])

    assert chunk.text == "Country: Chile | 2019: 12 | 95% CI: [3, 4]"


def test_cells_that_do_not_go_with_the_lines_are_not_used() -> None:
    """Offsets come from the lines; cells of another shape would point at the wrong ones."""
    lines = ["Group | Ferritin", "A | 12", "B | 15"]

    cells = (Cell(0, 0, "Group", is_header=True), Cell(1, 0, "A"))
    (chunk,) = chunked([Block(BlockKind.TABLE, "\n".join(lines), cells=cells)])

    assert chunk.text == "\n".join(lines)


def test_a_row_that_is_cut_stands_where_its_whole_line_stands() -> None:
    """Its words are in another order than in the paper: offsets inside it would point at other
    words."""
    cells = cells_of("Group | Finding\nA | " + ("iron and " * 120).strip())
    block = table(*(replace(cell, is_header=cell.row == 0) for cell in cells))

    chunks = chunked([block])

    assert len(chunks) > 2
    assert {(chunk.char_start, chunk.char_end) for chunk in chunks[1:]} <= {
        (0, len(block.text)),
        (len(block.text), len(block.text)),
    }


def labelled(*lines: str) -> list[str]:
    """The lines below the caption of a table with these lines, whose source marks no header."""
    return lines_of(*(replace(cell, is_header=False) for cell in cells_of("\n".join(lines))))


def lines_of(*cells: Cell) -> list[str]:
    return [line for chunk in chunked([table(*cells)]) for line in chunk.text.split("\n")[1:]]


def test_a_matrix_names_its_columns_by_its_rows() -> None:
    """ "3: .31" says that something goes with something; the question names both."""
    lines = labelled(
        "Variable | M | 1 | 2",
        "1. Iron | 4.2 | - | ",
        "2. Ferritin | 3.1 | .31* | -",
        "3. Age | 9.0 | .02 | .11",
    )

    assert lines[-1] == "Variable: 3. Age | M: 9.0 | 1. Iron: .02 | 2. Ferritin: .11"
    assert labelled("Layer | 1 | 2", "Iron | 4.2 | 3.9")[-1] == "Iron | 4.2 | 3.9", (
        "its rows have no numbers"
    )


def test_what_is_printed_below_a_value_belongs_to_it() -> None:
    """A standard error in a line of its own is a number without a name."""
    lines = labelled(
        "Effect | Model 1: | Model 2:",
        "Iron and the | -0.89*** | -0.33",
        "rest of its name | (0.26) | (0.25)",
        "Age | 0.44 | ",
        " | [0.1, 0.7] | ",
        "(years) |  | ",
        "Sex | 1 | 2",
    )

    assert lines == [
        "Effect: Iron and the rest of its name | Model 1: -0.89*** (0.26) | Model 2: -0.33 (0.25)",
        "Effect: Age (years) | Model 1: 0.44 [0.1, 0.7]",
        "Effect: Sex | Model 1: 1 | Model 2: 2",
    ]


def test_values_that_were_read_as_one_cell_stand_in_their_columns() -> None:
    """Layout tools join the values of a row; whose value is whose is told by their number alone."""
    assert lines_of(
        *(Cell(0, col, text) for col, text in enumerate(("Trait", "Age 7", "Age 9", "Age 11"))),
        Cell(1, 0, "Iron"), Cell(1, 1, "2.8 (2.2) 2.6 (2.1)", col_span=2), Cell(1, 3, "2.9 (2.0)"),
        Cell(2, 0, "Self control 12 (1) 14 (2)", col_span=3), Cell(2, 3, "15 (3)"),
        Cell(3, 0, "Sex"), Cell(3, 1, "12 of 14 boys", col_span=2), Cell(3, 3, "15"),
    ) == [
        "Trait: Iron | Age 7: 2.8 (2.2) | Age 9: 2.6 (2.1) | Age 11: 2.9 (2.0)",
        "Trait: Self control | Age 7: 12 (1) | Age 9: 14 (2) | Age 11: 15 (3)",
        "Trait: Sex | Age 7: 12 of 14 boys | Age 9: 12 of 14 boys | Age 11: 15",
    ]  # fmt: skip


def test_labels_that_were_read_as_one_cell_stand_above_their_columns() -> None:
    """Only labels that differ in nothing but their numbers are told apart: words may be one
    heading."""
    lines = lines_of(
        Cell(0, 0, "Trait"), Cell(0, 1, "Age 7 (n = 12) Age 9 (n = 1,014)", col_span=2),
        Cell(0, 3, "Both sexes", col_span=2),
        *(Cell(1, col, text) for col, text in enumerate(("Iron", "2.8", "2.6", "1.1", "1.2"))),
        *(Cell(2, col, text) for col, text in enumerate(("Zinc", "3.8", "3.6", "2.1", "2.2"))),
    )  # fmt: skip

    assert lines[0] == (
        "Trait: Iron | Age 7 (n = 12): 2.8 | Age 9 (n = 1,014): 2.6 | Both sexes: 1.1 | Both sexes: 1.2"
    )
