"""A DoclingDocument becomes blocks in the order of its body tree, with the pages its `prov`
states."""

import pytest

from rag_assets.core.domain import Block, BlockKind, Box, PageSource, Zone
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.formats.docling.document import parse_docling
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.docling import DoclingWriter, cell, prov
from rag_assets_tests.corpora import corpus_path


def texts(blocks: tuple[Block, ...]) -> list[str]:
    return [block.text for block in blocks]


HEADER = prov(2, 20, 390, 180, 385)


def test_boxes_from_either_corner_become_fractions_from_the_top() -> None:
    """Measured from the wrong corner, the highlight lies at the other end of the page."""
    writer = DoclingWriter()
    writer.text("text", "From the bottom.", prov=[prov(2, 20, 380, 100, 360)])
    top_left = {"l": 20, "t": 20, "r": 100, "b": 40, "coord_origin": "TOPLEFT"}
    writer.text(
        "text", "From the top.", prov=[{"page_no": 2, "bbox": top_left, "charspan": [0, 9]}]
    )

    document = writer.parsed()

    assert [block.boxes for block in document.blocks] == [(Box(2, 0.1, 0.05, 0.5, 0.1),)] * 2
    assert (document.n_pages, document.page_source) == (2, PageSource.PARSER)


def test_a_paragraph_over_two_pages_is_cut_where_docling_says() -> None:
    """A quote from its second half is on the second page only."""
    writer = DoclingWriter()
    places = [prov(1, 0, 40, 200, 0, (0, 12)), prov(2, 0, 400, 200, 360, (13, 25))]
    writer.text("text", "Ferritin was low in women.", prov=places)

    block = writer.parsed().blocks[0]

    assert [(span.page_start, block.text[span.start : span.end]) for span in block.spans] == [
        (1, "Ferritin was "),
        (2, "low in women."),
    ]


def test_the_body_tree_gives_the_order() -> None:
    """The arrays are in the order of recognition, not of reading."""
    writer = DoclingWriter()
    writer.text("text", "second")
    writer.text("text", "first")
    writer.json["body"]["children"].reverse()

    assert texts(writer.parsed().blocks) == ["first", "second"]


def test_page_furniture_is_left_out_and_counted() -> None:
    """Headers, footers and reviewers' comments are not the paper."""
    writer = DoclingWriter()
    writer.text("page_header", "Journal of Iron", content_layer="furniture")
    writer.text("page_footer", "Page 3")
    writer.text("text", "A reviewer's note.", content_layer="notes")
    writer.text("text", "Ferritin fell.")

    document = writer.parsed()

    assert texts(document.blocks) == ["Ferritin fell."]
    assert document.n_dropped_running == 3


def test_lists_are_one_block_with_their_nesting() -> None:
    """An item apart from its list is a line without context."""
    writer = DoclingWriter()
    outer = writer.add("groups", label="list")
    first = writer.text("list_item", "iron", outer, enumerated=True, marker="1.")
    inner = writer.add("groups", first, label="list")
    writer.text("list_item", "daily", inner, enumerated=False, marker="·")
    formatted = writer.text("list_item", "", outer, enumerated=True, marker="2.")
    runs = writer.add("groups", formatted, label="inline")
    writer.text("text", "zinc", runs)
    writer.text("text", ", weekly", runs)

    (block,) = writer.parsed().blocks

    assert (block.kind, block.text) == (BlockKind.LIST, "1. iron\n  · daily\n2. zinc, weekly")
    assert len(block.spans) == 3


def test_formatted_runs_are_one_paragraph() -> None:
    """Cut at every bold word, a sentence is in no chunk whole."""
    writer = DoclingWriter()
    group = writer.add("groups", label="inline")
    writer.text("text", "Ferritin", group)
    writer.text("text", "fell", group, formatting={"bold": True})
    writer.text("text", "to 10", group)
    writer.text("text", "9", group, formatting={"script": "super"})
    writer.text("text", ".", group)

    assert texts(writer.parsed().blocks) == ["Ferritin fell to 10⁹."]


def test_a_table_has_title_cells_boxes_and_notes() -> None:
    """The caption is its title and not said twice; each cell is cited where it stands."""
    writer = DoclingWriter()
    caption = writer.text("caption", "Table 1. Ferritin")
    note = writer.text("footnote", "in µg/l")
    bbox = {"l": 20, "t": 40, "r": 40, "b": 80, "coord_origin": "TOPLEFT"}
    cells = [
        cell(0, 0, "Arm", column_header=True),
        cell(0, 1, "Ferritin", column_header=True, col_span=2),
        cell(1, 0, "Iron"),
        cell(1, 1, "21.4", bbox=bbox),
        cell(1, 2, "20.1"),
    ]
    writer.add(
        "tables",
        label="table",
        prov=[prov(1, 0, 400, 200, 200)],
        captions=[{"$ref": caption["self_ref"]}],
        footnotes=[{"$ref": note["self_ref"]}],
        data={"table_cells": cells},
    )

    table, footnote = writer.parsed().blocks

    assert (table.title, table.text) == ("Table 1. Ferritin", "Arm | Ferritin\nIron | 21.4 | 20.1")
    assert table.cells[3].boxes == (Box(1, 0.1, 0.1, 0.2, 0.2),)
    assert [header.is_header for header in table.cells] == [True, True, False, False, False]
    assert table.cells[1].col_span == 2
    assert (footnote.kind, footnote.text) == (BlockKind.FOOTNOTE, "in µg/l")


def test_a_description_is_told_from_the_caption() -> None:
    """The caption is the authors', the description a model's; newer files state it twice."""
    writer = DoclingWriter()
    caption = writer.text("caption", "Figure 1. Ferritin by arm")
    picture = writer.add(
        "pictures",
        label="picture",
        captions=[{"$ref": caption["self_ref"]}],
        annotations=[{"kind": "description", "text": "Two bars.", "provenance": "a-model"}],
        meta={"description": {"text": "Two bars.", "created_by": "a-model"}},
    )
    writer.text("text", "0 10 20", picture)

    document = writer.parsed()

    assert [(block.kind, block.text, block.is_generated) for block in document.blocks] == [
        (BlockKind.FIGURE, "Figure 1. Ferritin by arm", False),
        (BlockKind.FIGURE, "Two bars.", True),
    ]
    assert document.notes == ("1 texts inside pictures left out",)


def test_code_formulas_footnotes_and_checkboxes_keep_their_kind() -> None:
    """Each kind is cut by its own rule."""
    writer = DoclingWriter()
    writer.text("code", "x = 1\ny = 2", code_language="Python")
    writer.text("formula", "", orig="E = mc 2")
    writer.text("footnote", "1 See above.")
    writer.text("checkbox_selected", "Yes")

    blocks = writer.parsed().blocks

    assert [(block.kind, block.text, block.title) for block in blocks] == [
        (BlockKind.CODE, "x = 1\ny = 2", "Python"),
        (BlockKind.FORMULA, "E = mc 2", ""),
        (BlockKind.FOOTNOTE, "1 See above.", ""),
        (BlockKind.PARAGRAPH, "[x] Yes", ""),
    ]


def test_sections_follow_stated_levels_and_flat_ones_are_put_in_order() -> None:
    """From a PDF docling gives every heading level 1; numbers and names say more."""
    writer = DoclingWriter()
    for heading in ("1 Introduction", "2 Methods", "2.1 Women", "Learning Curve", "References"):
        writer.text("section_header", heading, level=1)
        writer.text("text", f"Text of {heading}.")

    document = writer.parsed()

    assert [
        block.section_path for block in document.blocks if block.kind is BlockKind.PARAGRAPH
    ] == [
        ("1 Introduction",),
        ("2 Methods",),
        ("2 Methods", "2.1 Women"),
        ("2 Methods", "Learning Curve"),
        ("References",),
    ]
    assert document.blocks[-1].zone is Zone.BACK


def test_items_nested_beyond_the_limit_are_refused() -> None:
    """The tree is flat in the file and deep in its references: JSON depth alone does not bound
    it."""
    writer = DoclingWriter()
    parent = None
    for _ in range(3000):
        parent = writer.add("groups", parent, label="section")
    writer.text("text", "deep", parent)

    with pytest.raises(DocumentLimit, match="more than 200 deep"):
        writer.parsed()


@pytest.mark.parametrize("content", ['{"schema_name": "Other"}', '{"chunks": []}'])
def test_what_is_no_docling_document_is_refused(content: str) -> None:
    """The reason is what a person acts on."""
    with pytest.raises(UnreadableDocument, match="no DoclingDocument"):
        read_content(parse_docling, "paper.json", content)


def test_real_documents_are_read_with_pages_only_where_they_have_them() -> None:
    """Forty documents from fifteen formats, converted by docling itself."""
    folder = corpus_path("docling")

    for path in sorted(folder.glob("*/*.json")):
        document = read_content(parse_docling, path.name, path.read_bytes())
        is_paged = path.parent.name in ("pdf", "ocr", "pptx")

        assert all((block.page_start is not None) == is_paged for block in document.blocks), (
            path.name
        )
        assert all(
            span.end <= len(block.text) for block in document.blocks for span in block.spans
        ), path.name


def test_what_is_struck_out_is_left_out_of_texts_lists_and_cells() -> None:
    """Docling marks the deleted text of a tracked change, it does not take it away."""
    struck = {"formatting": {"strikethrough": True}}
    writer = DoclingWriter()
    line = writer.add("groups", label="inline")
    for text, marks in (("The tide was", {}), ("4.9 m", struck), ("5.3 m.", {})):
        writer.text("text", text, line, **marks)
    writer.text("text", "A paragraph that went.", **struck)
    writer.text("list_item", "one")
    writer.text("list_item", "two", **struck)
    rich = writer.add("groups", {"children": []}, label="inline")
    writer.text("text", "19", rich, **struck)
    writer.text("text", "9", rich)
    cells = [cell(0, 0, "Boats"), cell(0, 1, "19 9", ref={"$ref": rich["self_ref"]})]
    writer.add("tables", data={"table_cells": cells, "num_rows": 1, "num_cols": 2})

    document = writer.parsed()

    assert texts(document.blocks) == ["The tide was 5.3 m.", "- one", "Boats | 9"]


@pytest.mark.parametrize("label", ["text", "list_item", "section_header", "footnote"])
def test_a_header_with_another_label_is_left_out_where_headers_stand(label: str) -> None:
    """Docling labels the header of a page as text now and then; it is then quoted as a sentence of
    the paper."""
    writer = DoclingWriter(n_pages=3)
    writer.text("page_header", "Iron 12, 2019", prov=[HEADER | {"page_no": 1}])
    writer.text("page_header", "Journal of Iron 12", prov=[HEADER])
    writer.text(label, "JOURNAL OF IRON 13", prov=[HEADER | {"page_no": 3}])
    writer.text("text", "Ferritin fell.", prov=[prov(3, 20, 300, 180, 290)])

    document = writer.parsed()

    assert texts(document.blocks) == ["Ferritin fell."]
    assert document.n_dropped_running == 3
    assert document.n_source_chars == len("Ferritinfell.")
    assert document.margins == ("Iron 12, 2019",), (
        "the margin of the first page tells journal and year"
    )


def test_text_that_recurs_at_the_edge_of_most_pages_is_left_out() -> None:
    """Where docling knows none of the headers, their recurrence tells."""
    writer = DoclingWriter(n_pages=5)
    for page, season in enumerate(["spring", "summer", "autumn", "winter"], start=1):
        writer.text("text", f"Downloaded on May {page}", prov=[prov(page, 20, 10, 180, 5)])
        writer.text("text", f"Ferritin fell in {season}.", prov=[prov(page, 20, 300, 180, 290)])

    document = writer.parsed()

    assert "Downloaded" not in document.text
    assert len(document.blocks) == 4
