"""Pages for a document without pages, from the PDF of the same paper."""

from dataclasses import replace
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from rag_assets.core.domain import Block, BlockKind, Document, PageSource, SourceFormat, Span
from rag_assets.core.errors import UnreadableDocument
from rag_assets.core.settings import ParsingSettings
from rag_assets.parsing.formats.tei.document import parse_tei
from rag_assets.parsing.places.document import align_to_pdf, fill_from_pdf
from rag_assets.parsing.shared.files import RawFile
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.pdf import lines, pdf_of, picture, prose
from rag_assets_testing.papers.tei import pages
from rag_assets_tests.demo_papers import texts
from rag_assets_tests.parsing.drawn_paper import REFERENCE, draw_paper

SETTINGS = ParsingSettings()
REPEATED = ["This very sentence stands on two pages of the paper."]


def document_of(*texts: str | tuple[BlockKind, str]) -> Document:
    """A document without pages, as a text file gives it."""
    blocks = [
        Block(BlockKind.PARAGRAPH, text) if isinstance(text, str) else Block(*text)
        for text in texts
    ]
    blocks = [replace(block, spans=(Span(0, len(block.text), None, None),)) for block in blocks]
    return Document("paper", "A title", SourceFormat.TEXT, "paper.txt", tuple(blocks))


@pytest.fixture(scope="module")
def pdf() -> RawFile:
    """Three pages; a paragraph runs from the first to the second, one sentence stands on the first
    and the third."""

    def first(canvas: Canvas) -> None:
        top = lines(canvas, "Results", top=60, font="Helvetica-Bold", size=14)
        top = lines(canvas, prose("glacier", 8), top=top + 20)
        top = lines(canvas, REPEATED, top=top + 20)
        lines(canvas, "The crossing paragraph begins on the first page and its meas-", top=740)

    def second(canvas: Canvas) -> None:
        top = lines(canvas, "urements go on over here until the very last word of it.", top=60)
        lines(canvas, prose("desert", 8), top=top + 20)

    def third(canvas: Canvas) -> None:
        top = lines(canvas, prose("forest", 8), top=60)
        lines(canvas, REPEATED, top=top + 20)

    return RawFile("paper", "paper.pdf", pdf_of(first, second, third))


def test_blocks_get_the_pages_their_words_stand_on(pdf: RawFile) -> None:
    """A citation without a page cannot be looked up; one with a wrong page is worse."""
    document = document_of(
        (BlockKind.HEADING, "Results"),
        " ".join(prose("glacier", 8)),
        " ".join(prose("desert", 8)),
        " ".join(prose("forest", 8)),
    )

    aligned = align_to_pdf(document, pdf, SETTINGS)

    assert [(block.page_start, block.page_end) for block in aligned.blocks] == [
        (1, 1),
        (1, 1),
        (2, 2),
        (3, 3),
    ]
    assert (aligned.page_source, aligned.n_pages, aligned.notes) == (PageSource.ALIGNED, 3, ())
    assert [span.page_confidence for block in aligned.blocks for span in block.spans] == [1.0] * 4
    [box] = aligned.blocks[1].boxes
    assert (box.page, box.left, box.top) == (
        1,
        pytest.approx(0.1, abs=0.01),
        pytest.approx(0.11, abs=0.02),
    )
    assert aligned.text == document.text


def test_a_paragraph_over_a_page_end_is_cut_where_the_page_turns(pdf: RawFile) -> None:
    """A quote from its second half stands on the second page."""
    text = (
        "The crossing paragraph begins on the first page and its measurements go on over here until the very last "
        "word of it."
    )

    [block] = align_to_pdf(document_of(text), pdf, SETTINGS).blocks

    assert pages(block) == [
        (text[: text.index("go on")], 1, 1),
        (text[text.index("go on") :], 2, 2),
    ]


def test_a_text_on_two_pages_gets_one_only_from_its_neighbours(pdf: RawFile) -> None:
    """Choosing one of two pages would be right half of the time."""
    alone = align_to_pdf(document_of(" ".join(prose("desert", 8)), *REPEATED), pdf, SETTINGS)
    between = align_to_pdf(
        document_of(" ".join(prose("glacier", 8)), *REPEATED, " ".join(prose("desert", 8))),
        pdf,
        SETTINGS,
    )
    unplaced = align_to_pdf(
        document_of(" ".join(prose("forest", 8)), *REPEATED, " ".join(prose("glacier", 8))),
        pdf,
        SETTINGS,
    )

    assert alone.blocks[1].page_start == 3, "only the page after the desert is left"
    assert between.blocks[1].page_start == 1
    assert unplaced.blocks[1].page_start is None


def test_what_is_not_in_the_pdf_has_no_page_and_is_named(pdf: RawFile) -> None:
    """An invented page is worse than none; a silent null cannot be looked into."""
    foreign = "Nothing of what is said in these words was ever printed anywhere."
    document = document_of(" ".join(prose("glacier", 8)), foreign, " ".join(prose("desert", 8)))

    aligned = align_to_pdf(document, pdf, SETTINGS)

    assert aligned.blocks[1].spans == (Span(0, len(foreign), None, None),)
    assert aligned.notes == (
        "1 of 3 blocks have no page: fewer than 50% of their words were found in paper.pdf, or on two pages alike: "
        '"Nothing of what is said in these words was ever pr".',
    )


def test_the_pdf_of_another_paper_changes_nothing(pdf: RawFile) -> None:
    """Pages of another paper would all be wrong."""
    document = document_of(
        "Words about something else entirely, with no run in common with it.", "And more of them."
    )

    aligned = align_to_pdf(document, pdf, SETTINGS)

    assert replace(aligned, notes=()) == document
    assert aligned.notes[0].startswith("No pages from paper.pdf: only ")


def test_a_scan_gives_no_pages_and_a_broken_pdf_is_refused() -> None:
    """The text is still good: it is kept, and the note says how to get pages."""
    document = document_of("Some words.")
    scan = RawFile("paper", "scan.pdf", pdf_of(picture))

    aligned = align_to_pdf(document, scan, SETTINGS)

    assert aligned.blocks == document.blocks
    assert aligned.notes == ("No pages from scan.pdf: it has no text layer. Run OCR on it first.",)
    with pytest.raises(UnreadableDocument, match="is broken"):
        align_to_pdf(document, replace(scan, content=b"%PDF-1.4 and no more"), SETTINGS)


def partly_placed(*blocks: tuple[str, tuple[tuple[int, int | None, int | None], ...]]) -> Document:
    """A document as TEI with coordinates on references alone gives it: (text, runs of (end, first
    page, last page))."""
    made = []
    for text, runs in blocks:
        starts = [0, *(end for end, _, _ in runs)]
        spans = tuple(Span(start, *run) for start, run in zip(starts, runs, strict=False))
        made.append(Block(BlockKind.PARAGRAPH, text, spans=spans))
    return Document(
        "paper", "A title", SourceFormat.TEI, "paper.tei.xml", tuple(made), 3, PageSource.COORDS
    )


def test_only_what_is_not_proved_gets_its_page_from_the_pdf(pdf: RawFile) -> None:
    """Coordinates on references alone leave half of a paper on "page 4 to 5"; the PDF beside it
    knows better."""
    crossing = (
        "The crossing paragraph begins on the first page and its measurements go on over here until the very last "
        "word of it."
    )
    desert = " ".join(prose("desert", 8))
    document = partly_placed(
        (crossing, ((12, 1, 1), (len(crossing), 1, 2))), (desert, ((len(desert), None, None),))
    )

    found = fill_from_pdf(document, pdf, SETTINGS)

    assert pages(found.blocks[0]) == [
        (crossing[:12], 1, 1),
        (crossing[12 : crossing.index("go on")], 1, 1),
        (crossing[crossing.index("go on") :], 2, 2),
    ]
    assert pages(found.blocks[1]) == [(desert, 2, 2)]
    assert found.page_source is PageSource.COORDS
    assert [span.page_confidence is None for block in found.blocks for span in block.spans] == [
        True,
        False,
        False,
        False,
    ]
    assert found.notes == (
        f"{len(crossing) - 12 + len(desert)} characters without one proven page have it from paper.pdf.",
    )


def test_a_proven_page_stands_against_the_pdf(pdf: RawFile) -> None:
    """Alignment is a guess, if a good one; coordinates are not."""
    desert, forest, glacier = (
        " ".join(prose(subject, 8)) for subject in ("desert", "forest", "glacier")
    )
    document = partly_placed(
        (forest, ((len(forest), 3, 3),)),
        (glacier, ((len(glacier) - 20, 1, 1), (len(glacier), 2, 3))),
        (desert, ((40, 1, 1), (len(desert), None, None))),
    )

    found = fill_from_pdf(document, pdf, SETTINGS)

    assert found.blocks[1].spans == document.blocks[1].spans, (
        "the PDF says page 1, which is neither 2 nor 3"
    )
    assert pages(found.blocks[2]) == [(desert[:40], 1, 1), (desert[40:], 2, 2)]
    assert (
        "40 characters of 1 blocks on another page than is proved; the proven pages stand."
        in found.notes[-1]
    )


def test_a_filled_run_has_a_box_around_its_own_words(pdf: RawFile) -> None:
    """A box around the proven words as well shows the reader more than is meant."""
    desert = " ".join(prose("desert", 8))
    second_line = len(prose("desert", 8)[0]) + 1
    whole = partly_placed((desert, ((len(desert), None, None),)))
    partly = partly_placed((desert, ((second_line, 2, 2), (len(desert), None, None))))

    [everything], [_, filled] = (
        fill_from_pdf(document, pdf, SETTINGS).blocks[0].spans for document in (whole, partly)
    )

    assert filled.boxes[0].top > everything.boxes[0].top + 0.01
    assert filled.boxes[0].bottom == everything.boxes[0].bottom


def test_coordinates_on_references_alone_are_completed_from_the_pdf(tmp_path: Path) -> None:
    """GROBID is often asked for the places of references only: half of such a paper is on "page 1
    to 2"."""
    parts = [part for text in texts().values() for part in text.split("\n\n")]
    parts = [part if number % 5 else f"{part} {REFERENCE}" for number, part in enumerate(parts)]
    tei, pdf = draw_paper(tmp_path, parts, "references")
    document = read_content(parse_tei, tei.name, tei.read_bytes())

    found = fill_from_pdf(document, RawFile("paper", pdf.name, pdf.read_bytes()), SETTINGS)

    assert share_on_one_page(document) < 0.8
    assert share_on_one_page(found) > 0.95
    for before, after in zip(document.blocks, found.blocks, strict=True):
        proved = {
            span
            for span in before.spans
            if span.page_start is not None and span.page_start == span.page_end
        }
        assert proved <= set(after.spans)


def share_on_one_page(document: Document) -> float:
    spans = [span for block in document.blocks for span in block.spans]
    n_sure = sum(
        span.end - span.start
        for span in spans
        if span.page_start and span.page_start == span.page_end
    )
    return n_sure / sum(span.end - span.start for span in spans)
