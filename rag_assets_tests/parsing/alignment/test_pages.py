"""Pages for a document without pages, from the PDF of the same paper."""

from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.errors import UnreadableDocument
from rag_assets.model import Block, BlockKind, Document, PageSource, Source, Span
from rag_assets.parsing.alignment.pages import align_to_pdf
from rag_assets.settings import ParseLimits
from rag_assets_tests.parsing.pdf.samples import lines, picture, prose, write_pdf

REPEATED = ["This very sentence stands on two pages of the paper."]


def document_of(*texts: str | tuple[BlockKind, str]) -> Document:
    """A document without pages, as a text file gives it."""
    blocks = [Block(BlockKind.PARAGRAPH, text) if isinstance(text, str) else Block(*text) for text in texts]
    blocks = [replace(block, spans=(Span(0, len(block.text), None, None),)) for block in blocks]
    return Document("paper", "A title", Source.TEXT, "paper.txt", tuple(blocks))


def paper(path: Path) -> Path:
    """Three pages; a paragraph runs from the first to the second, one sentence stands on the first and the third."""

    def first(canvas: Canvas) -> None:
        top = lines(canvas, ["Results"], top=60, font="Helvetica-Bold", size=14)
        top = lines(canvas, prose("glacier", 8), top=top + 20)
        top = lines(canvas, REPEATED, top=top + 20)
        lines(canvas, ["The crossing paragraph begins on the first page and its meas-"], top=740)

    def second(canvas: Canvas) -> None:
        top = lines(canvas, ["urements go on over here until the very last word of it."], top=60)
        lines(canvas, prose("desert", 8), top=top + 20)

    def third(canvas: Canvas) -> None:
        top = lines(canvas, prose("forest", 8), top=60)
        lines(canvas, REPEATED, top=top + 20)

    return write_pdf(path, [first, second, third])


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return paper(tmp_path / "paper.pdf")


def test_blocks_get_the_pages_their_words_stand_on(pdf: Path) -> None:
    """A citation without a page cannot be looked up; one with a wrong page is worse."""
    document = document_of(
        (BlockKind.HEADING, "Results"),
        " ".join(prose("glacier", 8)),
        " ".join(prose("desert", 8)),
        " ".join(prose("forest", 8)),
    )

    aligned = align_to_pdf(document, pdf, ParseLimits())

    assert [(block.page_start, block.page_end) for block in aligned.blocks] == [(1, 1), (1, 1), (2, 2), (3, 3)]
    assert (aligned.page_source, aligned.n_pages, aligned.notes) == (PageSource.ALIGNED, 3, ())
    assert [span.page_confidence for block in aligned.blocks for span in block.spans] == [1.0] * 4
    [box] = aligned.blocks[1].boxes
    assert (box.page, box.left, box.top) == (1, pytest.approx(0.1, abs=0.01), pytest.approx(0.11, abs=0.02))
    assert aligned.text == document.text


def test_a_paragraph_over_a_page_end_is_cut_where_the_page_turns(pdf: Path) -> None:
    """A quote from its second half stands on the second page."""
    text = (
        "The crossing paragraph begins on the first page and its measurements go on over here until the very last "
        "word of it."
    )

    [block] = align_to_pdf(document_of(text), pdf, ParseLimits()).blocks

    assert [(span.page_start, span.page_end, text[span.start : span.end]) for span in block.spans] == [
        (1, 1, text[: text.index("go on")]),
        (2, 2, text[text.index("go on") :]),
    ]


def test_a_text_on_two_pages_gets_one_only_from_its_neighbours(pdf: Path) -> None:
    """Choosing one of two pages would be right half of the time."""
    alone = align_to_pdf(document_of(" ".join(prose("desert", 8)), *REPEATED), pdf, ParseLimits())
    between = align_to_pdf(
        document_of(" ".join(prose("glacier", 8)), *REPEATED, " ".join(prose("desert", 8))), pdf, ParseLimits()
    )
    unplaced = align_to_pdf(
        document_of(" ".join(prose("forest", 8)), *REPEATED, " ".join(prose("glacier", 8))), pdf, ParseLimits()
    )

    assert alone.blocks[1].page_start == 3, "only the page after the desert is left"
    assert between.blocks[1].page_start == 1
    assert unplaced.blocks[1].page_start is None


def test_what_is_not_in_the_pdf_has_no_page_and_is_named(pdf: Path) -> None:
    """An invented page is worse than none; a silent null cannot be looked into."""
    foreign = "Nothing of what is said in these words was ever printed anywhere."
    document = document_of(" ".join(prose("glacier", 8)), foreign, " ".join(prose("desert", 8)))

    aligned = align_to_pdf(document, pdf, ParseLimits())

    assert aligned.blocks[1].spans == (Span(0, len(foreign), None, None),)
    assert aligned.notes == (
        "1 of 3 blocks have no page: fewer than 50% of their words were found in paper.pdf, or on two pages alike: "
        '"Nothing of what is said in these words was ever pr".',
    )


def test_a_long_stretch_from_elsewhere_has_no_page_of_its_own(pdf: Path) -> None:
    """Programs that mix up columns put foreign lines into a paragraph; its page is not theirs."""
    foreign = "foreign words that nobody printed anywhere in this little paper of three pages"
    text = f"{' '.join(prose('glacier', 8)[:4])} {foreign} {' '.join(prose('glacier', 8)[4:])}"

    [block] = align_to_pdf(document_of(text), pdf, ParseLimits()).blocks

    assert [(span.page_start, text[span.start : span.end].strip()) for span in block.spans][1] == (None, foreign)


def test_the_pdf_of_another_paper_changes_nothing(pdf: Path) -> None:
    """Pages of another paper would all be wrong."""
    document = document_of("Words about something else entirely, with no run in common with it.", "And more of them.")

    aligned = align_to_pdf(document, pdf, ParseLimits())

    assert replace(aligned, notes=()) == document
    assert aligned.notes[0].startswith("No pages from paper.pdf: only ")


def test_a_scan_gives_no_pages_and_a_broken_pdf_is_refused(tmp_path: Path) -> None:
    """The text is still good: it is kept, and the note says how to get pages."""
    document = document_of("Some words.")
    scan = write_pdf(tmp_path / "scan.pdf", [picture])
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 and no more")

    aligned = align_to_pdf(document, scan, ParseLimits())

    assert aligned.blocks == document.blocks
    assert aligned.notes == ("No pages from scan.pdf: it has no text layer. Run OCR on it first.",)
    with pytest.raises(UnreadableDocument, match="is broken"):
        align_to_pdf(document, broken, ParseLimits())
