"""Pages that are pictures of text: what OCR reads there, where it stands, and what is said when it
cannot read."""

import itertools
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import BlockKind
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParseLimits
from rag_assets.parsing.formats.pdf.document import parse_pdf
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.pdf import HEIGHT, WIDTH, page_of, parsed, pdf_of, picture

SENTENCE = "Ferritin fell by 12 percent within four weeks."


def scanned(canvas: Canvas) -> None:
    """A picture of one sentence on two lines, laid in a little askew."""
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("L", (int(WIDTH * 2), int(HEIGHT * 2)), color=255)
    words = SENTENCE.split()
    for n, line in enumerate((words[:5], words[5:])):
        ImageDraw.Draw(page).text(
            (160, 800 + 50 * n), " ".join(line), fill=0, font=ImageFont.load_default(size=36)
        )
    canvas.drawImage(ImageReader(page.rotate(0.7, fillcolor=255)), 0, 0, WIDTH, HEIGHT)


def test_a_scanned_page_among_others_is_read_with_the_places_of_its_words() -> None:
    """Everything after the parser (quotes, pages, marks on the page) rests on words with boxes."""
    document = parsed(page_of("A page with text of its own."), scanned)

    read = next(block for block in document.blocks if "Ferritin" in block.text)
    assert (read.text, read.kind, read.spans[0].page_start) == (SENTENCE, BlockKind.PARAGRAPH, 2)
    lines = [read.text[span.start : span.end] for span in read.spans]
    assert [line.strip() for line in lines] == ["Ferritin fell by 12 percent", "within four weeks."]
    for n, span in enumerate(read.spans):
        (box,) = span.boxes
        assert (box.left, box.top) == pytest.approx((160 / 1200, (800 + 50 * n) / 1600), abs=0.02)
    assert [span.is_by_ocr for block in document.blocks for span in block.spans] == [
        False,
        True,
        True,
    ]
    assert document.notes == (
        "Read by OCR: page 2. Letters and digits may be wrong: compare with the page.",
    )
    assert document.n_pages_unread == 0


def test_a_page_that_ocr_cannot_read_costs_no_other() -> None:
    """A strip with a picture, of no height that could be looked at, ended the whole paper."""

    def strip(canvas: Canvas) -> None:
        canvas.setPageSize((14_400, 1))
        picture(canvas)

    document = parsed(page_of("A page with text of its own."), strip)

    assert [block.text for block in document.blocks] == ["A page with text of its own."]
    assert document.n_pages_unread == 1


def test_pages_that_ocr_has_no_time_for_are_named() -> None:
    """A file that takes longer than its limit is stopped and lost; its other pages need not be."""
    document = read_content(
        parse_pdf,
        "mixed.pdf",
        pdf_of(page_of("A page with text of its own."), scanned),
        ParseLimits(timeout_s=1e-9),
    )

    assert document.n_pages_unread == 1
    assert document.notes == (
        "No text layer on page 2: what stands there is missing. OCR had no time left: raise parsing.limits.timeout_s.",
    )


def test_without_the_extra_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has scans must learn from the refusal alone what to do."""
    monkeypatch.setitem(sys.modules, "rapidocr", None)

    with pytest.raises(UnreadableDocument) as caught:
        parsed(picture, picture)

    assert str(caught.value) == (
        "has no text layer (2 pages of images). To have such pages read by OCR: pip install 'rag_assets[ocr]'"
    )


def ocr_reads(line: str, words: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every page read so: a line, and its words as rapidocr cuts them."""
    import rapidocr

    def box(left: int) -> list[list[int]]:
        return [[left, 100], [left + 40, 100], [left + 40, 140], [left, 140]]

    class Engine:
        def __init__(self, params: dict[str, object]) -> None: ...

        def __call__(self, picture: object) -> SimpleNamespace:
            found = tuple((word, 1.0, box(100 + 50 * n)) for n, word in enumerate(words))
            return SimpleNamespace(txts=(line,), word_results=(found,))

    monkeypatch.setattr(rapidocr, "RapidOCR", Engine)


def test_a_busy_machine_takes_no_time_from_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the clock, the same scan was read on one day and left out on another."""
    ocr_reads("It fits.", ("It", "fits."), monkeypatch)
    hours = itertools.count(step=3600)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(hours)))

    assert parsed(page_of("It has text."), picture).n_pages_unread == 0


CUT = "The shippin g compan y sent a containe r over the ocea n."


@pytest.mark.parametrize(
    ("read", "kept"),
    [
        ("The shipping company sent it.", "The shipping company sent it."),
        (CUT.replace("n.", "n"), CUT),
    ],
)
def test_a_text_layer_that_cuts_words_gives_way_to_better_words_by_ocr(
    monkeypatch: pytest.MonkeyPatch, read: str, kept: str
) -> None:
    """No search finds "shippin g", and scanners write such words below the pictures of pages."""
    ocr_reads(read, read.split(), monkeypatch)

    document = parsed(page_of(CUT))

    assert ([block.text for block in document.blocks], document.n_pages_cut) == ([kept], 0)


def test_a_text_layer_that_cuts_words_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The paper looks like any other, and half of what it says is not found."""
    monkeypatch.setitem(sys.modules, "rapidocr", None)

    document = parsed(page_of("A page that was read well."), page_of(CUT))

    assert document.n_pages_cut == 1
    assert document.notes == (
        "The text layer of page 2 cuts words in two, so they are not found. To have such pages read by OCR: "
        "pip install 'rag_assets[ocr]'",
    )
