from dataclasses import replace

from rag_assets.domain import Block, BlockKind, Cell, Span
from rag_assets_tests.chunking.papers import box, cells_of, chunked, document_text, paragraph


def table(lines: list[str], cells: tuple[Cell, ...] = (), title: str = "Table 1. Iron by group.") -> Block:
    text = "\n".join(lines)
    spans = (Span(0, len(text), 5, 5),)
    return Block(BlockKind.TABLE, text, ("Results",), spans=spans, title=title, cells=cells or cells_of(text))


def test_rows_without_cells_are_kept_as_they_are() -> None:
    """A PDF tells no columns apart: a label put to the wrong number would be an invented fact."""
    text = "Group | Ferritin | Dose\nA | 12\nB | 15 | 4"

    (chunk,) = chunked([Block(BlockKind.TABLE, text, ("Results",), title="Table 1.")])

    assert chunk.text == f"Table 1.\n{text}"


def test_every_row_names_its_columns() -> None:
    """A row of bare numbers is found by no question and understood by no reader."""
    block = table(["Group | Ferritin | Dose", "A | 12 | 3", "B | 15 | 4"])

    (chunk,) = chunked([block])

    assert chunk.text == (
        "Table 1. Iron by group.\nGroup: A | Ferritin: 12 | Dose: 3\nGroup: B | Ferritin: 15 | Dose: 4"
    )
    assert chunk.chunk_type == "table"


def test_the_label_of_a_column_without_values_is_kept() -> None:
    """That something was not reported is found by its name, which stands nowhere else."""
    cells = cells_of("Group | Ferritin | Hepcidin\nA | 12 | \nB | 15 | ")
    block = table(["Group | Ferritin | Hepcidin", "A | 12 | ", "B | 15 | "], cells)

    (chunk,) = chunked([block])

    lines = ["Group | Ferritin | Hepcidin", "Group: A | Ferritin: 12", "Group: B | Ferritin: 15"]
    assert chunk.text.split("\n")[1:] == lines
    units = [unit for unit in chunk.units if chunk.text[unit.start : unit.end] in lines]
    assert [document_text([block])[unit.char_start : unit.char_end] for unit in units] == block.text.split("\n")


def test_a_chunk_that_begins_inside_a_table_repeats_its_title() -> None:
    """Rows of the second page of a table are worthless without knowing which table they are from."""
    block = table(["Group | Ferritin | Dose", *(f"G{n} | {n} | {2 * n}" for n in range(40))])

    chunks = chunked([block])

    assert len(chunks) > 1
    assert all(chunk.text.startswith("Table 1. Iron by group.\nGroup: G") for chunk in chunks)
    assert [line for chunk in chunks for line in chunk.text.split("\n")[1:]] == [
        f"Group: G{n} | Ferritin: {n} | Dose: {2 * n}" for n in range(40)
    ]


def test_a_repeated_title_has_the_page_of_the_caption_and_the_chunk_that_of_its_rows() -> None:
    """A quote from the title was cited without a page; the chunk's own page must not be that of its repeated title."""
    block = table(["Group | Ferritin", *(f"Group {n} | {n}" for n in range(40))])
    above = (Span(0, len(block.title), 4, 4, (box(4, 0.9),)),)

    chunks = chunked([paragraph("Iron fell in all groups.", "Other"), replace(block, title_spans=above)])

    first, last = chunks[1].spans[0], chunks[-1].spans[0]
    assert len(chunks) > 2
    assert chunks[-1].text[last.start : last.end] == block.title
    assert (last.source_start, last.page_start, last.boxes) == (None, 4, (box(4, 0.9),))
    assert (first.page_start, chunks[1].page_start) == (4, 4), "the caption itself stands on page 4"
    assert (chunks[-1].page_start, chunks[-1].page_end) == (5, 5)


def test_a_rows_span_has_its_own_cells_boxes_and_place() -> None:
    """A highlighted citation must show the row, not the whole table or the one above."""
    rows = ["Group | Ferritin", "A | 12", "B | 15"]
    cells = tuple(
        Cell(r, c, text, is_header=r == 0, boxes=(box(5 + r, 0.1 * c),))
        for r, row in enumerate(rows)
        for c, text in enumerate(row.split(" | "))
    )
    blocks = [table(rows, cells)]

    (chunk,) = chunked(blocks)

    found = {chunk.text[span.start : span.end]: span for span in chunk.spans}
    row = found["Group: B | Ferritin: 15"]
    assert row.boxes == (box(7, 0.0), box(7, 0.1))
    assert (row.page_start, row.page_end) == (7, 7)
    assert row.source_start is not None
    assert document_text(blocks)[row.source_start :] == "B | 15"


def test_merged_cells_count_for_every_row_and_column_they_cover() -> None:
    """ "Iron | week 1" and "Iron | week 8" are two columns, and both rows below "Men" are men's."""
    cells = (
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
    )
    block = table(["Sex | Age | Ferritin", "week 1 | week 8", "Men | 40 | 12 | 15", "60 | 13 | 16"], cells, title="")

    (chunk,) = chunked([block])

    assert chunk.text == (
        "Sex: Men | Age: 40 | Ferritin week 1: 12 | Ferritin week 8: 15\n"
        "Sex: Men | Age: 60 | Ferritin week 1: 13 | Ferritin week 8: 16"
    )


def test_a_table_without_a_header_keeps_its_lines() -> None:
    """Taking the first row of values for a header would label every other row wrongly."""
    lines = ["Age | 45 | 12", "Weight | 80 | 3", "Height | 178 | 9"]

    (chunk,) = chunked([table(lines)])

    assert chunk.text == "\n".join(["Table 1. Iron by group.", *lines])


def test_ragged_rows_and_rows_of_one_cell_are_kept() -> None:
    """Most tables of papers have a section line or a row that ends early."""
    block = table(["Group | Ferritin | Dose", "Women", "A | 12", "B | 15 | 4 | late"], title="")

    (chunk,) = chunked([block])

    assert chunk.text == "Women\nGroup: A | Ferritin: 12\nGroup: B | Ferritin: 15 | Dose: 4 | late"


def test_a_row_of_words_below_a_complete_header_is_no_header() -> None:
    """In a table of words every row looks like a header; the first row of findings would be lost in labels."""
    block = table(["Group | Drug | Outcome", "A | iron | fell", "B | none | rose"], title="")

    (chunk,) = chunked([block])

    assert chunk.text == "Group: A | Drug: iron | Outcome: fell\nGroup: B | Drug: none | Outcome: rose"


def test_years_and_confidence_intervals_are_column_names() -> None:
    """Headers hold digits too; only values do not."""
    block = table(["Country | 2019 | 95% CI", "Chile | 12 | [3, 4]"], title="")

    (chunk,) = chunked([block])

    assert chunk.text == "Country: Chile | 2019: 12 | 95% CI: [3, 4]"


def test_cells_that_do_not_go_with_the_lines_are_not_used() -> None:
    """Offsets come from the lines; cells of another shape would point at the wrong ones."""
    lines = ["Group | Ferritin", "A | 12", "B | 15"]

    (chunk,) = chunked([table(lines, (Cell(0, 0, "Group", is_header=True), Cell(1, 0, "A")), title="")])

    assert chunk.text == "\n".join(lines)


def test_a_row_longer_than_a_chunk_is_cut_between_words() -> None:
    """A cell may hold a whole paragraph; the bound holds all the same."""
    long = " ".join(f"word{n}" for n in range(150))
    block = table(["Group | Finding | Dose", f"A | {long} | 3"])

    chunks = chunked([block])

    assert all(chunk.n_tokens <= 50 for chunk in chunks)
    assert " ".join(" ".join(chunk.text.split("\n")[1:]) for chunk in chunks) == f"Group: A | Finding: {long} | Dose: 3"


def test_a_header_above_blank_rows_is_kept() -> None:
    """A form nobody filled in still says what it asks for."""
    cells = (
        Cell(0, 0, "Group", is_header=True),
        Cell(0, 1, "Ferritin", is_header=True),
        Cell(1, 0, ""),
        Cell(1, 1, ""),
    )

    (chunk,) = chunked([table(["Group | Ferritin", "|"], cells)])

    assert "Group | Ferritin" in chunk.text


def test_a_row_that_is_cut_stands_where_its_whole_line_stands() -> None:
    """Its words are in another order than in the paper: offsets inside it would point at other words."""
    rows = ["Group | Finding", "A | " + "iron and " * 120]
    cells = tuple(
        Cell(r, c, text.strip(), is_header=r == 0)
        for r, row in enumerate(rows)
        for c, text in enumerate(row.split(" | "))
    )
    block = table(rows, cells)

    chunks = chunked([block])

    assert len(chunks) > 2
    assert {(chunk.char_start, chunk.char_end) for chunk in chunks[1:]} <= {
        (0, len(block.text)),
        (len(block.text), len(block.text)),
    }
