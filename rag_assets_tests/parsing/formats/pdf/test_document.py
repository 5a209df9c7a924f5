"""PDF files read without a model: text, order, structure, pages and boxes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Block, BlockKind, Document, Zone
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.pdf import HEIGHT, WIDTH, heading, lines, prose, write_pdf

BALANCE = [
    ("Cash", "766.6", "737.9"),
    ("Inventories", "1,742.1", "1,603.5"),
    ("Total assets", "5,707.0", "5,370.4"),
]


def parse(path: Path) -> Document:
    return parse_pdf(RawFile(path.stem, path.name, path.read_bytes()), ParsingSettings())


def block_with(document: Document, text: str) -> Block:
    [found] = [block for block in document.blocks if text in block.text]
    return found


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Read across, every sentence of a two-column paper is cut in half."""

    def draw(canvas: Canvas) -> None:
        lines(
            canvas,
            [
                "A wide introduction that runs over both of the columns of this page from left to right."
            ]
            * 2,
        )
        lines(canvas, prose("glacier", 12), left=60, top=160)
        lines(canvas, prose("desert", 12), left=320, top=160)
        lines(
            canvas,
            [
                "A wide closing remark that runs over both of the columns of this page from left to right."
            ],
            top=330,
        )

    text = parse(write_pdf(tmp_path / "paper.pdf", [draw])).text

    places = [
        text.index(part)
        for part in ("introduction", "glacier number 12", "desert number 1 ", "closing")
    ]
    assert places == sorted(places)


def test_words_cut_at_line_ends_are_joined_and_compounds_keep_their_hyphen(tmp_path: Path) -> None:
    """A word in two halves is found by no search; "longterm" is found by none either."""

    def draw(canvas: Canvas) -> None:
        lines(
            canvas,
            [
                "The long-term results show that the meas-",
                "urement of the long-",
                "term trend was right, and that the meth-",
                "ods of COVID-",
                "19 trials were sound for short-",
                "and long-term outcomes of the patients.",
            ],
        )

    [block] = parse(write_pdf(tmp_path / "paper.pdf", [draw])).blocks

    assert block.text == (
        "The long-term results show that the measurement of the long-term trend was right, and that the methods of "
        "COVID-19 trials were sound for short- and long-term outcomes of the patients."
    )


Run = tuple[str, float, float]
"""Text, font size and how far it is raised, in points."""


def draw_runs(canvas: Canvas, runs: list[Run], top: float = 100) -> None:
    text = canvas.beginText(60, HEIGHT - top)
    for words, size, rise in runs:
        text.setFont("Helvetica", size)
        text.setRise(rise)
        text.textOut(words)
    canvas.drawText(text)


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        (
            [("Colds were exacerbated.", 10, 0), ("29", 6, 4), (" Iron fell.", 10, 0)],
            "Colds were exacerbated.²⁹ Iron fell.",
        ),
        (
            [("Colds were exacerbated. ", 10, 0), ("4,5", 6, 4), (" Iron", 10, 0)],
            "Colds were exacerbated.⁴,⁵ Iron",
        ),
        (
            [("Three reviews", 10, 0), ("54", 6, 4), (" and one trial fell.", 10, 0)],
            "Three reviews ⁵⁴ and one trial fell.",
        ),
        (
            [("The sheep had 10", 10, 0), ("9", 6, 4), (" cells per litre.", 10, 0)],
            "The sheep had 10⁹ cells per litre.",
        ),
        (
            [("The pasture of 3 km", 10, 0), ("2", 6, 4), (" was dry.", 10, 0)],
            "The pasture of 3 km² was dry.",
        ),
        (
            [
                ("On the 4", 10, 0),
                ("th", 6, 4),
                (" of May CO", 10, 0),
                ("2", 6, -2),
                (" fell.", 10, 0),
            ],
            "On the 4th of May CO2 fell.",
        ),
        (
            [("1", 6, 4), ("Institute of Sheep Science, Bergen.", 10, 0)],
            "1 Institute of Sheep Science, Bergen.",
        ),
    ],
)
def test_raised_digits_are_superscripts_apart_from_words(
    tmp_path: Path, runs: list[Run], shown: str
) -> None:
    """ "exacerbated.29" glues two sentences together, "reviews54" is found by no search, and 109 is
    not 10⁹."""

    def draw(canvas: Canvas) -> None:
        draw_runs(canvas, runs)

    [block] = parse(write_pdf(tmp_path / "paper.pdf", [draw])).blocks

    assert block.text == shown


def test_a_paragraph_over_a_page_end_is_one_block_with_a_span_a_page(tmp_path: Path) -> None:
    """A quote from its second half must be cited with the second page."""

    def first(canvas: Canvas) -> None:
        lines(
            canvas,
            ["The first page ends in the middle of a sentence that", "goes on where the reader"],
            top=700,
        )

    def second(canvas: Canvas) -> None:
        lines(canvas, ["turns the page and finds the rest of it here."], top=80)

    [block] = parse(write_pdf(tmp_path / "paper.pdf", [first, second])).blocks

    assert block.text.endswith("where the reader turns the page and finds the rest of it here.")
    assert [
        (span.page_start, block.text[span.start : span.end].strip()[:5]) for span in block.spans
    ] == [
        (1, "The f"),
        (2, "turns"),
    ]


def test_running_headers_and_page_numbers_are_dropped_and_counted(tmp_path: Path) -> None:
    """What stands on every page says nothing about any of them, and cuts the sentences that cross a
    page end."""

    def page(number: int) -> None:
        def draw(canvas: Canvas) -> None:
            lines(canvas, [f"Journal of Tests, vol. {number}"], top=30)
            lines(canvas, prose("river" if number % 2 else "lake", 5), top=100)
            lines(canvas, [f"Page {number} of 4"], top=780, left=280)

        return draw

    document = parse(write_pdf(tmp_path / "paper.pdf", [page(number) for number in range(1, 5)]))

    assert "Journal of Tests" not in document.text
    assert "Page 2" not in document.text
    assert document.n_dropped_running == 8
    assert document.n_source_chars == sum(block.n_chars for block in document.blocks)


def test_headings_make_the_section_paths_and_zones_of_a_paper(tmp_path: Path) -> None:
    """Sections become chunk boundaries, and what is in the reference list must not answer
    questions."""

    def first(canvas: Canvas) -> None:
        top = heading(canvas, "Ferritin in Small Rivers", top=50, size=20)
        top = lines(canvas, ["Ada Author and Bert Writer, Institute of Tests"], top=top + 10)
        top = heading(canvas, "Abstract", top=top)
        top = lines(canvas, prose("summary", 4), top=top)
        top = heading(canvas, "1 Introduction", top=top)
        top = lines(canvas, prose("reason", 4), top=top)
        top = heading(canvas, "2 Methods", top=top)
        top = heading(canvas, "2.1 Samples", top=top, size=12)
        lines(canvas, prose("sample", 4), top=top)

    def second(canvas: Canvas) -> None:
        top = heading(canvas, "References", top=50)
        top = lines(canvas, ["[1] Author, A. (2019). On rivers. Journal of Tests 1, 1-2."], top=top)
        top = heading(canvas, "A Ponds and Lakes", top=top)
        top = lines(canvas, prose("pond", 4), top=top)
        top = heading(canvas, "Appendix B Details", top=top)
        lines(canvas, prose("detail", 4), top=top)

    document = parse(write_pdf(tmp_path / "paper.pdf", [first, second]))

    assert document.title == "Ferritin in Small Rivers"
    placed = {
        word: block_with(document, f"{word} number 1 ")
        for word in ("summary", "reason", "sample", "pond", "detail")
    }
    assert [(block.zone, block.section_path) for block in placed.values()] == [
        (Zone.FRONT, ("Abstract",)),
        (Zone.BODY, ("1 Introduction",)),
        (Zone.BODY, ("2 Methods", "2.1 Samples")),
        (Zone.ANNEX, ("A Ponds and Lakes",)),
        (Zone.ANNEX, ("Appendix B Details",)),
    ]
    assert block_with(document, "On rivers").zone is Zone.BACK
    assert block_with(document, "2.1 Samples").kind is BlockKind.HEADING


def test_bullets_make_a_list_and_figure_captions_stay_captions(tmp_path: Path) -> None:
    """Chunking cuts lists between items; a caption inside a sentence would tear it apart."""

    def draw(canvas: Canvas) -> None:
        lines(
            canvas,
            ["• one item that is long enough to", "  go on in a second line", "• another item"],
        )
        lines(canvas, ["Figure 2. A river in spring."], top=200)

    blocks = parse(write_pdf(tmp_path / "paper.pdf", [draw])).blocks

    assert [(block.kind, block.text) for block in blocks] == [
        (
            BlockKind.LIST,
            "• one item that is long enough to go on in a second line\n• another item",
        ),
        (BlockKind.FIGURE, "Figure 2. A river in spring."),
    ]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_boxes_are_fractions_of_the_page_as_it_is_shown(tmp_path: Path, rotation: int) -> None:
    """A box in the wrong corner sends the reader of a citation to the wrong place of the page."""

    def draw(canvas: Canvas) -> None:
        lines(canvas, ["words near the corner"], left=60, top=80)

    path = write_pdf(tmp_path / "paper.pdf", [draw])
    path.write_bytes(path.read_bytes().replace(b"/Rotate 0", b"/Rotate %d" % rotation))

    [block] = parse(path).blocks

    [box] = block.boxes
    left, top = {0: (60, 70), 90: (None, 60), 180: (None, None), 270: (70, None)}[rotation]
    width, height = (WIDTH, HEIGHT) if rotation % 180 == 0 else (HEIGHT, WIDTH)
    assert 0 <= box.left < box.right <= 1
    assert 0 <= box.top < box.bottom <= 1
    assert left is None or box.left == pytest.approx(left / width, abs=0.01)
    assert top is None or box.top == pytest.approx(top / height, abs=0.01)
    is_upright = box.right - box.left > box.bottom - box.top
    assert is_upright is (rotation % 180 == 0)


def test_spans_cover_every_block_of_a_whole_report(tmp_path: Path) -> None:
    """A gap between spans is text that cannot be cited; a page beyond the document cannot be
    opened."""

    def page(subject: str) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            top = heading(canvas, f"On {subject}", top=60)
            below = lines(canvas, prose(subject, 20), top=top + 10)
            for row, (name, *values) in enumerate([("Item", "2023", "2022"), *BALANCE]):
                for left, text in zip((60, 300, 400), (name, *values), strict=True):
                    lines(canvas, [text], left=left, top=below + 30 + 14 * row)
            lines(canvas, prose(f"{subject} fund", 25), left=310, top=top + 10)
            lines(canvas, [f"{subject} annual report"], top=780)

        return draw

    path = write_pdf(
        tmp_path / "report.pdf", [page(subject) for subject in ("glacier", "desert", "forest")]
    )

    document = parse(path)

    assert document.n_pages == 3
    for block in document.blocks:
        edges = [0, *(span.end for span in block.spans)]
        assert [span.start for span in block.spans] == edges[:-1]
        assert edges[-1] == len(block.text)
        assert all(1 <= (span.page_start or 0) <= 3 for span in block.spans)
    text = " ".join(block.text for block in document.blocks)
    assert [
        word
        for word in ("glacier number 20", "forest fund number 25", "Total assets")
        if word not in text
    ] == []
