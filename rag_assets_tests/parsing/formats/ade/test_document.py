"""ADE's JSON becomes blocks with the pages and boxes it states, and without the page's
furniture."""

import pytest

from rag_assets.core.domain import BlockKind, Box, Document, PageSource, Zone
from rag_assets.core.errors import DocumentLimit, UnreadableDocument
from rag_assets.parsing.formats.ade.document import parse_ade
from rag_assets_testing.papers.ade import (
    Json,
    V2Writer,
    legacy_file,
    parsed,
    v1_cell,
    v1_chunk,
    v1_file,
)
from rag_assets_testing.papers.contents import read_content
from rag_assets_tests.corpora import corpus_path

PROSE = "Ferritin fell in both arms of the trial over the whole period of observation."
ENTRIES = "\n".join(
    f"{number}. Lund A. Sheep and iron. 200{number % 10}." for number in range(1, 35)
)


def read(*chunks: Json, cells: Json | None = None) -> Document:
    """An export of version 1."""
    return parsed(v1_file([*chunks], cells))


def said(text: str, top: float = 0.3, page: int = 0, height: float = 0.03) -> Json:
    return v1_chunk("text", text, page, top, height)


def test_a_chunk_of_the_legacy_family_keeps_all_its_pages_and_boxes() -> None:
    """A paragraph over two pages cited with one of them sends the reader to half of it."""
    document = parsed(legacy_file())

    paragraph = document.blocks[0]
    assert (paragraph.page_start, paragraph.page_end) == (1, 2)
    assert paragraph.boxes == (Box(1, 0.1, 0.8, 0.4, 0.9), Box(2, 0.1, 0.1, 0.4, 0.2))
    assert document.n_pages == 2


def test_pages_of_version_2_are_taken_as_they_are() -> None:
    """Version 2 counts from 1: shifted like version 1, every citation is one page late."""
    writer = V2Writer()
    writer.page()
    writer.element("text", "# Iron in pregnancy and its outcome")
    writer.page()
    writer.element("text", PROSE)

    document = parsed(writer.file())

    assert [block.page_start for block in document.blocks] == [1, 2]
    assert document.blocks[1].text == PROSE
    assert document.blocks[1].boxes == (Box(2, 0.1, 0.2, 0.2, 0.3),)


def test_a_table_of_version_2_takes_its_cells_from_the_structure() -> None:
    """The structure states each cell's place; read as text, a table has no boxes to cite."""
    writer = V2Writer()
    writer.page()
    writer.table([["Arm", "Ferritin"], ["Iron", "**21.4**"]])

    table = parsed(writer.file()).blocks[0]

    assert table.text == "Arm | Ferritin\nIron | 21.4"
    assert [cell.boxes[0].left for cell in table.cells] == pytest.approx([0.1, 0.3, 0.1, 0.3])
    assert [cell.is_header for cell in table.cells] == [True, True, False, False]


def test_the_preview_of_version_2_is_refused_with_the_remedy() -> None:
    """Nothing says from where the preview counts its pages, and a page is never guessed."""
    preview = {
        "markdown": "text",
        "structure": {
            "type": "document",
            "children": [{"type": "page", "page": 0, "span": [0, 4], "children": []}],
        },
    }

    with pytest.raises(UnreadableDocument, match=r"preview form of ADE v2.*Parse the paper again"):
        parsed(preview)


def test_each_cell_stands_where_its_id_resolves() -> None:
    """A cell with its neighbour's box highlights the wrong number."""
    html = (
        '<table id="0-1"><tr><td id="0-2">Arm</td><td id="0-3">p</td></tr>'
        '<tr><td id="0-4">Iron</td><td id="0-5"><0.05</td></tr></table>'
    )
    boxes = {f"0-{number}": v1_cell(0, 0.1 * number, 0.5) for number in range(2, 6)}

    table = read(v1_chunk("table", html), cells=boxes).blocks[0]

    assert [(cell.text, round(cell.boxes[0].left, 2)) for cell in table.cells] == [
        ("Arm", 0.2),
        ("p", 0.3),
        ("Iron", 0.4),
        ("<0.05", 0.5),
    ]
    assert [round(box.left, 2) for box in table.spans[1].boxes] == [0.4, 0.5]
    assert table.text[table.spans[1].start : table.spans[1].end] == "Iron | <0.05"


def test_stated_positions_win_over_the_html_grid() -> None:
    """Where the HTML lost a cell, all that follow it would slide under the wrong header."""
    html = (
        '<table><tr><td id="a">Arm</td><td id="b">2001</td></tr><tr><td id="c">12</td></tr></table>'
    )
    positions = {"a": (0, 0), "b": (0, 1), "c": (1, 1)}
    cells = {
        name: v1_cell(0, 0.1, 0.5)
        | {"position": {"row": row, "col": col, "rowspan": 1, "colspan": 1}}
        for name, (row, col) in positions.items()
    }

    table = read(v1_chunk("table", html), cells=cells).blocks[0]

    assert [(cell.row, cell.col) for cell in table.cells] == [(0, 0), (0, 1), (1, 1)]


def test_title_and_notes_of_a_table_are_taken_out_of_its_rows() -> None:
    """A title read as a row is repeated nowhere, and a note reads as the value of the first
    column."""
    html = (
        "<table><tr><td>Arm</td><td>Ferritin</td></tr><tr><td>Iron</td><td>21.4</td></tr>"
        '<tr><td colspan="2">NA=not applicable.</td></tr><tr><td colspan="2">Table 2: Ferritin by arm</td></tr></table>'
    )

    table, note = read(v1_chunk("table", html)).blocks

    assert (table.title, table.text) == ("Table 2: Ferritin by arm", "Arm | Ferritin\nIron | 21.4")
    assert (note.kind, note.text) == (BlockKind.FOOTNOTE, "NA=not applicable.")


def test_a_paragraph_that_titles_a_table_is_not_repeated() -> None:
    """Twice in the chunks, the title would fill the context and win the search over the data."""
    html = "<table><tr><td>Arm</td><td>n</td></tr><tr><td>Iron</td><td>12</td></tr></table>"
    document = read(said("Table 1. Women by arm", 0.3), v1_chunk("table", html, top=0.4))

    assert [(block.kind, block.title) for block in document.blocks] == [
        (BlockKind.TABLE, "Table 1. Women by arm")
    ]


def test_what_a_model_wrote_about_a_figure_is_told_from_the_caption() -> None:
    """Quoted as the authors' words, a description is a false citation."""
    figure = "<::A bar chart with two bars.\n: figure::>"
    caption = "Figure 1. Ferritin by arm at the end of the trial."
    described, authored = read(v1_chunk("figure", figure, top=0.4), said(caption, 0.6)).blocks

    assert (described.text, described.is_generated) == ("A bar chart with two bars.", True)
    assert (authored.text, authored.is_generated) == (caption, False)


@pytest.mark.parametrize("kind", ["text", "figure"])
@pytest.mark.parametrize(
    "written",
    [
        "<::A bar chart of {}::>",
        "<:: A bar chart of {} : chart ::>",
        "<::figure: A bar chart of {}::>",
        "<::A bar chart\n\nof {}\n\nin two arms.\n: figure::>",
        "<::transcription of the content : chart (p<0.05)::>A bar chart of {}<::>",
        "<::transcription of content::>\n\nA bar chart of {}\n\n<:: >",
        "<::transcription of the content: chart::>A bar chart of {}",
        "<::transcription of the content: chart::>Two bars <::an arrow::> for {}<::>",
        "<::flow chart::>A bar chart of {}<::>",
        "<::Two panels <::A: a bar chart::> of {}::>",
        "<::A bar chart of {}",
        "A bar chart of {}::>",
        "<::A bar chart.\nFigure 1. A bar chart of {}\n: figure::>",
    ],
)
def test_a_model_wrote_whatever_ade_marks(kind: str, written: str) -> None:
    """ADE writes the mark in many forms; in one that is not known, the model's words pass for the
    authors'."""
    words, caption = "ferritin in both arms", "Figure 2. Ferritin by arm at the end of the trial."
    marked = written.format(words)
    text = f"{marked}\n\n{caption}" if marked.endswith(">") else marked

    authored, *blocks = read(said(PROSE), v1_chunk(kind, text, top=0.4)).blocks

    generated = " ".join(block.text for block in blocks if block.is_generated)
    assert (authored.text, authored.is_generated) == (PROSE, False)
    assert words in generated
    assert "::" not in generated
    assert "transcription" not in generated
    assert [block.text for block in blocks if not block.is_generated] == (
        [caption] if marked.endswith(">") else []
    )


@pytest.mark.parametrize(
    "kind", ["marginalia", "logo", "page_header", "page_number", "scan_code", "attestation"]
)
def test_furniture_is_dropped_and_counted(kind: str) -> None:
    """Journal names in every chunk cost tokens and make unlike chunks alike."""
    document = read(v1_chunk(kind, "Journal of Iron", top=0.02), said(PROSE))

    assert [block.text for block in document.blocks] == [PROSE]
    assert document.n_dropped_running == 1


def test_headings_open_sections_that_names_and_numbers_put_in_order() -> None:
    """ADE's own levels differ from page to page: Results would end up inside Methods."""
    document = read(
        said(f"# METHODS\n\n{PROSE}", 0.1),
        said(f"# Statistical analysis\n\n{PROSE}", 0.2),
        said(f"## RESULTS\n\n{PROSE}", 0.3),
        said(f"**Subgroups of women**\n{PROSE}", 0.4),
        said("## References\n\n1. Smith J. Iron. 2001.\n2. Jones A. Zinc. 2002.", 0.5),
    )

    paths = [block.section_path for block in document.blocks if block.kind is BlockKind.PARAGRAPH]
    assert paths == [
        ("METHODS",),
        ("METHODS", "Statistical analysis"),
        ("RESULTS",),
        ("RESULTS", "Subgroups of women"),
    ]
    assert document.blocks[-1].zone is Zone.BACK


def test_a_box_of_competing_interests_on_page_1_does_not_end_the_paper() -> None:
    """Back matter is not indexed: the whole paper would be lost to the search."""
    chunks = [said("# Competing interests\n\nNone declared.", 0.1)]
    chunks += [said(f"{PROSE} Part {part}.", 0.2 + part / 10) for part in range(5)]

    document = read(*chunks)

    assert {block.zone for block in document.blocks} == {Zone.BODY}


def test_a_paragraph_cut_by_the_page_is_joined_with_both_pages() -> None:
    """A sentence in two pieces is found by neither half of its words."""
    block = read(
        said("The women were randomised to iron and were ob-", 0.9),
        said("served for a year.", 0.1, page=1),
    ).blocks[0]

    assert block.text == "The women were randomised to iron and were observed for a year."
    assert [(span.page_start, block.text[span.start : span.end]) for span in block.spans] == [
        (1, "The women were randomised to iron and were ob"),
        (2, "served for a year."),
    ]


CUT_BY_BOXES = [
    said("Iron and Sheep in Bergen", 0.05, height=0.1),
    said("The quality of the trials in these analyses was", 0.6),
    said("Citation: Lund A (2005) Iron and sheep. J Sheep 2(6):e168.", 0.66),
    said("Ada Lund is at the Institute of Sheep Science, Bergen.", 0.72),
    said("Competing Interests: AL owns sheep.", 0.78),
    said("Hepcidin was measured in all of the women.", 0.84),
    said("variable, but the conclusions stayed the same.", 0.1, page=1),
]


def test_a_sentence_that_boxes_interrupt_goes_on_behind_them() -> None:
    """ "... in these analyses was Citation: Lund A" is published as an exact quote."""
    _, *blocks = read(*CUT_BY_BOXES).blocks

    assert [block.text for block in blocks] == [
        "The quality of the trials in these analyses was variable, but the conclusions stayed the same.",
        "Citation: Lund A (2005) Iron and sheep. J Sheep 2(6):e168.",
        "Ada Lund is at the Institute of Sheep Science, Bergen.",
        "Competing Interests: AL owns sheep.",
        "Hepcidin was measured in all of the women.",
    ]
    assert [span.page_start for span in blocks[0].spans] == [1, 2]


@pytest.mark.parametrize(
    "box", ["Citation: Lund A (2005).", "Ada Lund is at the Institute.", "Received 3 May 2005"]
)
def test_an_open_sentence_does_not_go_on_in_the_box_below_it(box: str) -> None:
    """Body and box in one sentence say what the authors did not write."""
    assert [block.text for block in read(*CUT_BY_BOXES[:2], said(box, 0.66)).blocks][-1] == box


def test_an_open_sentence_goes_on_with_a_name_on_the_next_page() -> None:
    """A name in capitals is no box."""
    [block] = read(
        said("The trials were approved by the board of the", 0.9),
        said("National Institute of Sheep Science in Bergen.", 0.1, page=1),
    ).blocks

    assert block.text.endswith("by the board of the National Institute of Sheep Science in Bergen.")


def test_the_title_is_the_line_in_the_largest_type() -> None:
    """Papers are listed and cited by it; the first text of a page is often the journal's rubric."""
    assert (
        read(
            said("Original research article", 0.05, height=0.02),
            said("Iron in pregnancy and its outcome", 0.1, height=0.1),
            said(PROSE, 0.3),
        ).title
        == "Iron in pregnancy and its outcome"
    )


def test_printed_page_numbers_are_kept_as_labels() -> None:
    """A label is what a reader of the print sees; it is not the page."""
    document = read(
        v1_chunk("marginalia", "473", page=0, top=0.97),
        said(PROSE, page=0),
        said(PROSE.replace("Ferritin", "Zinc"), page=1),
    )

    assert document.page_labels == ("473", None)
    assert (document.blocks[0].page_start, document.page_source) == (1, PageSource.PARSER)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "not valid JSON"),
        ("[1, 2]", "holds a JSON list"),
        ('{"chunks": []}', "no chunks and no structure"),
        ('{"chunks": [{"text": "x"}]}', "no chunks and no structure"),
    ],
)
def test_what_is_no_ade_export_is_refused_with_the_reason(content: str, problem: str) -> None:
    """Quarantined files are mended by people who read this line."""
    with pytest.raises(UnreadableDocument, match=problem):
        read_content(parse_ade, "paper.json", content)


def test_json_nested_beyond_the_limit_is_refused() -> None:
    """A bomb of brackets must neither exhaust the stack nor kill the worker."""
    for depth in (300, 200_000):
        content = '{"chunks": ' + "[" * depth + "]" * depth + "}"

        with pytest.raises(DocumentLimit, match="more than 200 deep"):
            read_content(parse_ade, "deep.json", content)


def test_real_papers_keep_pages_boxes_and_cells() -> None:
    """Small fixtures prove rules; only real exports prove that the rules are the right ones."""
    folder = corpus_path("ade/papers")

    for path in sorted(folder.glob("*.json")):
        document = read_content(parse_ade, path.name, path.read_bytes())
        cells = [cell for block in document.blocks for cell in block.cells if cell.text]

        assert all(block.page_start and block.boxes for block in document.blocks), path.name
        assert all(cell.boxes for cell in cells), path.name
        assert "::>" not in document.text
        assert "<a id" not in document.text
        assert any(block.zone is Zone.BACK for block in document.blocks), path.name
        assert (
            document.title.lower().split()[0] in path.stem.lower() or "COMPUTED" in document.title
        )


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            "Colds were exacerbated.29 Oral iron helps.",
            "Colds were exacerbated.²⁹ Oral iron helps.",
        ),
        (
            "In one trial32 and another trial33,34 it fell.",
            "In one trial ³² and another trial ³³,³⁴ it fell.",
        ),
        ("Against colds,21 trial medicine helps.", "Against colds,²¹ trial medicine helps."),
        ("In the trial³² it fell in a trial<sup>3</sup>.", "In the trial ³² it fell in a trial ³."),
        ("A trial of detectron2 and minimap2.", "A trial of detectron2 and minimap2."),
        (
            "The trial99 is no reference.99 There are fewer.",
            "The trial99 is no reference.99 There are fewer.",
        ),
        (
            "The trial of CO2 on 3.5 km2 at p.29 by x.y1.",
            "The trial of CO2 on 3.5 km2 at p.29 by x.y1.",
        ),
    ],
)
def test_numbers_of_references_are_set_apart_from_words(written: str, shown: str) -> None:
    """ "exacerbated.29" glues two sentences together, and "trial32" is found by no search for
    "trial"."""
    assert shown in [
        block.text
        for block in read(
            said("Iron and Sheep in Bergen", 0.05, height=0.1),
            said(f"{PROSE} It was a trial of colds with oral iron.", 0.2),
            said(written, 0.4),
            said(f"## References\n\n{ENTRIES}", 0.7),
        ).blocks
    ]
