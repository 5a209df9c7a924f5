"""Tables of one reading in the text of another."""

from dataclasses import replace

import pytest

from rag_assets.core.domain import Block, BlockKind, Box, Cell, Document, Source, Span, Zone
from rag_assets.core.errors import UnreadableDocument
from rag_assets.parsing.places.taken_tables import with_tables_of
from rag_assets.parsing.shared.table_rows import table_block


def at(page: int, top: float, bottom: float, left: float = 0.1, right: float = 0.9) -> Box:
    return Box(page, left, top, right, bottom)


def text(words: str, *boxes: Box, section: str = "Results", kind: BlockKind = BlockKind.PARAGRAPH) -> Block:
    return Block(kind, words, (section,), spans=(Span(0, len(words), boxes[0].page, boxes[-1].page, boxes),))


def table(value: str, box: Box, title: str = "", title_box: Box | None = None, section: str = "") -> Block:
    """A table of two cells that lie in the left and right half of a box."""
    middle = (box.left + box.right) / 2
    cells = [
        Cell(0, 0, "Iron", boxes=(replace(box, right=middle),)),
        Cell(0, 1, value, boxes=(replace(box, left=middle),)),
    ]
    block = table_block(cells, title, title_boxes=[title_box] if title_box else [])
    return replace(block, section_path=(section,) if section else ())


def document(*blocks: Block, n_pages: int = 3) -> Document:
    n_chars = sum(len(block.text) + len(block.title) + 1 for block in blocks)
    return Document("a", "A", Source.PDF, "a.pdf", blocks, n_pages=n_pages, n_source_chars=n_chars)


def texts(found: Document) -> list[str]:
    return [block.text for block in found.blocks]


def test_a_table_takes_the_place_of_what_lies_in_it() -> None:
    """Left beside it, the own table would be found too, with its values in the wrong columns."""
    own = document(
        text("It is told before.", at(1, 0.1, 0.2)),
        text("Table 1. Iron.", at(1, 0.28, 0.3)),
        table("1|2", at(1, 0.3, 0.36), title="Own title", section="Results"),
        text("Iron 12 and a row that was read as prose", at(1, 0.36, 0.45)),
        text("It is told beside it.", at(1, 0.3, 0.45, left=0.95, right=0.99)),
        text("It is told after.", at(1, 0.5, 0.6), section="Discussion"),
    )
    read = document(table("12", at(1, 0.3, 0.45), "Table 1. Iron.", at(1, 0.28, 0.3)))

    found = with_tables_of(read, own)

    assert texts(found) == ["It is told before.", "Iron | 12", "It is told beside it.", "It is told after."]
    assert (found.blocks[1].title, found.blocks[1].section_path) == ("Table 1. Iron.", ("Results",))
    assert found.n_source_chars == sum(len(block.text) + len(block.title) + 1 for block in found.blocks)
    assert found.notes == ("Tables by Docling: 1.",)


def test_one_large_table_gives_way_to_the_two_that_it_was_joined_from() -> None:
    """Two tables side by side were read as one."""
    own = document(table("1 2 3 4", at(2, 0.3, 0.5), title="Table 2.", section="Results"))
    halves = [table("1", at(2, 0.3, 0.5, right=0.48)), table("3", at(2, 0.3, 0.5, left=0.52))]

    found = with_tables_of(document(*halves), own)

    assert [(block.text, block.title) for block in found.blocks] == [("Iron | 1", "Table 2."), ("Iron | 3", "")]


def test_a_table_that_lies_on_nothing_follows_what_stands_above_it_in_its_columns() -> None:
    """At the end of the paper it would be in the wrong section."""
    left, right = (0.1, 0.45), (0.55, 0.9)
    own = document(
        text("Left column.", at(1, 0.1, 0.3, *left), section="Methods"),
        text("Left column, below.", at(1, 0.6, 0.9, *left), section="Methods"),
        text("Right column.", at(1, 0.1, 0.9, *right)),
        text("The next page.", at(2, 0.5, 0.9)),
    )
    read = document(table("1", at(1, 0.4, 0.5, *left)), table("2", at(2, 0.1, 0.2)), table("3", at(3, 0.1, 0.2)))

    found = with_tables_of(read, own)

    assert [(block.text, block.section_path) for block in found.blocks if block.kind is BlockKind.TABLE] == [
        ("Iron | 1", ("Methods",)), ("Iron | 2", ("Results",)), ("Iron | 3", ("Results",)),
    ]  # fmt: skip
    assert texts(found)[1::2] == ["Iron | 1", "Right column.", "The next page."]


def test_what_the_other_reading_lacks_is_kept() -> None:
    """A table that one of the two did not find, a heading, a note below the table."""
    own = document(
        table("1", at(1, 0.3, 0.4), section="Results"),
        text("Discussion", at(2, 0.3, 0.32), kind=BlockKind.HEADING),
        text("a: fasting.", at(2, 0.38, 0.4), kind=BlockKind.FOOTNOTE),
    )
    beyond = table("9", at(4, 0.3, 0.4))

    found = with_tables_of(document(table("2", at(2, 0.3, 0.4)), beyond, n_pages=4), own)

    assert sorted(texts(found)) == ["Discussion", "Iron | 1", "Iron | 2", "a: fasting."]


def test_of_the_reference_list_no_words_are_counted() -> None:
    """What a paper lost is told by the words of its text alone."""
    entry = replace(text("Moe, 2019.", at(1, 0.3, 0.4)), zone=Zone.BACK)

    found = with_tables_of(document(table("2", at(1, 0.3, 0.4))), replace(document(entry), n_source_chars=100))

    assert (texts(found), found.n_source_chars) == (["Iron | 2"], 100)


def test_a_text_without_places_keeps_its_own_tables() -> None:
    """All tables of the other reading at its end would be there twice."""
    own = document(replace(table("1", at(1, 0.3, 0.4)), spans=(Span(0, 8, None, None),)))

    with pytest.raises(UnreadableDocument):
        with_tables_of(document(table("2", at(1, 0.3, 0.4))), own)
