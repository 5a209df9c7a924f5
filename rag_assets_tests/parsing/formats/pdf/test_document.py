"""PDF files read without a model: text, order, structure, pages and boxes."""

import re

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Block, BlockKind, Document, Zone
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.pdf import (
    HEIGHT,
    WIDTH,
    Draw,
    heading,
    lines,
    overlaid,
    page_of,
    parsed,
    pdf_of,
    prose,
)


def block_with(document: Document, text: str) -> Block:
    [found] = [block for block in document.blocks if text in block.text]
    return found


def test_two_columns_are_read_one_after_the_other() -> None:
    """Read across, every sentence of a two-column paper is cut in half."""

    draw = overlaid(
        page_of(
            *["A wide introduction that runs over both of the columns from left to right."] * 2
        ),
        page_of(*prose("glacier", 12), left=60, top=160),
        page_of(*prose("desert", 12), left=320, top=160),
        page_of(
            "A wide closing remark that runs over both of the columns of this page from left to right.",
            top=330,
        ),
    )

    text = parsed(draw).text

    places = [
        text.index(part)
        for part in ("introduction", "glacier number 12", "desert number 1 ", "closing")
    ]
    assert places == sorted(places)


def test_words_cut_at_line_ends_are_joined_and_compounds_keep_their_hyphen() -> None:
    """A word in two halves is found by no search; "longterm" is found by none either."""

    draw = page_of(
        "The long-term results show that the meas-",
        "urement of the long-",
        "term trend was right, and that the meth-",
        "ods of COVID-",
        "19 trials were sound for short-",
        "and long-term outcomes of the patients.",
    )

    [block] = parsed(draw).blocks

    assert block.text == (
        "The long-term results show that the measurement of the long-term trend was right, and that the methods of "
        "COVID-19 trials were sound for short- and long-term outcomes of the patients."
    )


def raised(marked: str) -> Draw:
    """A line of text in which "^2^" is small and raised, and "_2_" small and lowered."""

    def draw(canvas: Canvas) -> None:
        text = canvas.beginText(60, HEIGHT - 100)
        for part in re.findall(r"[\^_][^^_]+[\^_]|[^^_]+", marked):
            text.setFont("Helvetica", 6 if part[0] in "^_" else 10)
            text.setRise({"^": 4, "_": -2}.get(part[0], 0))
            text.textOut(part.strip("^_"))
        canvas.drawText(text)

    return draw


@pytest.mark.parametrize(
    ("drawn", "shown"),
    [
        ("Colds were exacerbated.^29^ Iron fell.", "Colds were exacerbated.²⁹ Iron fell."),
        ("Colds were exacerbated. ^4,5^ Iron", "Colds were exacerbated.⁴,⁵ Iron"),
        ("Three reviews^54^ and one trial fell.", "Three reviews ⁵⁴ and one trial fell."),
        ("The sheep had 10^9^ cells per litre.", "The sheep had 10⁹ cells per litre."),
        ("The pasture of 3 km^2^ was dry.", "The pasture of 3 km² was dry."),
        ("On the 4^th^ of May CO_2_ fell.", "On the 4th of May CO2 fell."),
        ("^1^Institute of Sheep Science, Bergen.", "1 Institute of Sheep Science, Bergen."),
    ],
)
def test_raised_digits_are_superscripts_apart_from_words(drawn: str, shown: str) -> None:
    """ "exacerbated.29" glues two sentences together, "reviews54" is found by no search, and 109 is
    not 10⁹."""
    [block] = parsed(raised(drawn)).blocks

    assert block.text == shown


def test_a_paragraph_over_a_page_end_is_one_block_with_a_span_a_page() -> None:
    """A quote from its second half must be cited with the second page."""

    first = page_of(
        "The first page ends in the middle of a sentence that", "goes on where the reader", top=700
    )

    second = page_of("turns the page and finds the rest of it here.", top=80)

    [block] = parsed(first, second).blocks

    assert block.text.endswith("where the reader turns the page and finds the rest of it here.")
    assert [
        (span.page_start, block.text[span.start : span.end].strip()[:5]) for span in block.spans
    ] == [
        (1, "The f"),
        (2, "turns"),
    ]


def test_running_headers_and_page_numbers_are_dropped_and_counted() -> None:
    """What stands on every page says nothing about any of them, and cuts the sentences that cross a
    page end."""

    def page(number: int) -> Draw:
        return overlaid(
            page_of(f"Journal of Tests, vol. {number}", top=30),
            page_of(*prose("river" if number % 2 else "lake", 5), top=100),
            page_of(f"Page {number} of 4", top=780, left=280),
        )

    document = parsed(*(page(number) for number in range(1, 5)))

    assert "Journal of Tests" not in document.text
    assert "Page 2" not in document.text
    assert document.n_dropped_running == 8
    assert document.n_source_chars == sum(block.n_chars for block in document.blocks)


def test_headings_make_the_section_paths_and_zones_of_a_paper() -> None:
    """Sections become chunk boundaries, and what is in the reference list must not answer
    questions."""

    def first(canvas: Canvas) -> None:
        top = heading(canvas, "Ferritin in Small Rivers", top=50, size=20)
        top = heading(canvas, "Abstract", top=top)
        top = lines(canvas, prose("summary", 4), top=top)
        top = heading(canvas, "1 Introduction", top=top)
        lines(canvas, prose("reason", 4), top=top)

    def second(canvas: Canvas) -> None:
        top = heading(canvas, "References", top=50)
        top = lines(canvas, "[1] Author, A. (2019). On rivers. Journal of Tests 1, 1-2.", top=top)
        top = heading(canvas, "A Ponds and Lakes", top=top)
        lines(canvas, prose("pond", 4), top=top)

    document = parsed(first, second)

    assert document.title == "Ferritin in Small Rivers"
    placed = {
        word: block_with(document, f"{word} number 1 ") for word in ("summary", "reason", "pond")
    }
    assert [(block.zone, block.section_path) for block in placed.values()] == [
        (Zone.FRONT, ("Abstract",)),
        (Zone.BODY, ("1 Introduction",)),
        (Zone.ANNEX, ("A Ponds and Lakes",)),
    ]
    assert block_with(document, "On rivers").zone is Zone.BACK


def test_bullets_make_a_list_and_figure_captions_stay_captions() -> None:
    """Chunking cuts lists between items; a caption inside a sentence would tear it apart."""

    draw = overlaid(
        page_of("• one item that is long enough to", "  go on in a second line", "• another item"),
        page_of("Figure 2. A river in spring.", top=200),
    )

    blocks = parsed(draw).blocks

    assert [(block.kind, block.text) for block in blocks] == [
        (
            BlockKind.LIST,
            "• one item that is long enough to go on in a second line\n• another item",
        ),
        (BlockKind.FIGURE, "Figure 2. A river in spring."),
    ]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_are_fractions_of_the_page_as_it_is_shown(rotation: int) -> None:
    """A box in the wrong corner sends the reader of a citation to the wrong place of the page."""

    draw = page_of("words near the corner", left=60, top=80)

    content = pdf_of(draw).replace(b"/Rotate 0", b"/Rotate %d" % rotation)

    [block] = read_content(parse_pdf, "paper.pdf", content).blocks

    [box] = block.boxes
    left, top = {0: (60, 70), 90: (None, 60), 180: (None, None), 270: (70, None)}[rotation]
    width, height = (WIDTH, HEIGHT) if rotation % 180 == 0 else (HEIGHT, WIDTH)
    assert 0 <= box.left < box.right <= 1
    assert 0 <= box.top < box.bottom <= 1
    assert left is None or box.left == pytest.approx(left / width, abs=0.01)
    assert top is None or box.top == pytest.approx(top / height, abs=0.01)
    is_upright = box.right - box.left > box.bottom - box.top
    assert is_upright is (rotation % 180 == 0)


def test_spans_cover_every_block_of_a_whole_report() -> None:
    """A gap between spans is text that cannot be cited; a page beyond the document cannot be
    opened."""

    def page(subject: str) -> Draw:
        def draw(canvas: Canvas) -> None:
            top = heading(canvas, f"On {subject}", top=60)
            below = lines(canvas, prose(subject, 20), top=top + 10)
            for row, texts in enumerate([("Item", "2023"), ("Cash", "766.6"), ("Total", "5,707")]):
                for left, text in zip((60, 200), texts, strict=True):
                    lines(canvas, text, left=left, top=below + 30 + 14 * row)
            lines(canvas, prose(f"{subject} fund", 25), left=310, top=top + 10)

        return draw

    document = parsed(*(page(subject) for subject in ("glacier", "desert", "forest")))

    assert document.n_pages == 3
    for block in document.blocks:
        edges = [0, *(span.end for span in block.spans)]
        assert [span.start for span in block.spans] == edges[:-1]
        assert edges[-1] == len(block.text)
        assert all(1 <= (span.page_start or 0) <= 3 for span in block.spans)
    for words in ("glacier number 20", "forest fund number 25", "Total"):
        assert words in document.text
