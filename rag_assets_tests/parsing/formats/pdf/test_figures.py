"""Figures of PDFs: their words are no text of the paper, and their caption knows where they are."""

from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import BlockKind
from rag_assets_testing.papers.pdf import HEIGHT, WIDTH, lines, parsed, prose

CAPTION = (
    "Figure 2: Yield of the mills of the lower river (left) and of the upper river (right) by year."
)


def plot(canvas: Canvas) -> None:
    """Two panels with frames, bars, labels at their axes (one turned), between prose."""
    lines(canvas, prose("moss", 6), top=60)
    for left in (120, 340):
        canvas.rect(left, HEIGHT - 320, 150, 120)
        for nth in range(4):
            canvas.rect(left + 10 + 35 * nth, HEIGHT - 320, 20, 30 + 20 * nth, fill=1)
            lines(canvas, f"{1990 + nth}", left=left + 10 + 35 * nth, top=332, size=7)
        lines(canvas, "Year of harvest", left=left + 40, top=344, size=8)
        lines(canvas, "90", left=left - 14, top=210, size=7)
    canvas.saveState()
    canvas.translate(102, HEIGHT - 290)
    canvas.rotate(90)
    canvas.setFont("Helvetica", 8)
    canvas.drawString(0, 0, "Tonnes per mill")
    canvas.restoreState()
    lines(canvas, CAPTION, top=370)
    lines(canvas, prose("slate", 8), top=410)


def test_words_in_a_figure_are_no_text_of_the_paper() -> None:
    """Labels of axes stood between the sentences and were quoted as if the authors had said
    them."""
    found = parsed(plot).blocks

    texts = " ".join(block.text for block in found)
    assert not [label for label in ("Year of harvest", "1991", "90", "Tonnes") if label in texts]
    assert [block.text for block in found if block.kind is BlockKind.FIGURE] == [CAPTION]
    assert all(line in texts for word in ("moss", "slate") for line in prose(word, 6)[:2])


def test_a_caption_has_the_box_of_its_figure() -> None:
    """Who quotes the caption is shown the picture: both panels with their labels, and no prose."""
    (figure,) = (block for block in parsed(plot).blocks if block.kind is BlockKind.FIGURE)

    (span,) = figure.spans
    caption, picture = span.boxes

    assert picture.page == caption.page == 1
    assert picture.bottom <= caption.top
    assert 90 < picture.left * WIDTH < 102
    assert 480 < picture.right * WIDTH < 500
    assert 190 < picture.top * HEIGHT < 210
    assert 345 < picture.bottom * HEIGHT < 365


def test_prose_in_a_frame_is_no_label_of_a_figure() -> None:
    """Sentences are what the authors say, even in a box with a caption."""
    framed = [
        "The mills of the river stand still in every spring of the year.",
        "They grind no flour then.",
    ]

    def draw(canvas: Canvas) -> None:
        canvas.rect(90, HEIGHT - 120, 400, 70)
        lines(canvas, framed, top=70)
        lines(canvas, "Figure 1: What the millers were asked.", top=130)
        lines(canvas, prose("moss", 8), top=170)

    texts = " ".join(block.text for block in parsed(draw).blocks)

    assert all(line in texts for line in framed)
