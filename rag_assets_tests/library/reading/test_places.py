"""The marks on a page lie on the quoted sentence."""

from dataclasses import replace
from pathlib import Path

import pytest
from pypdfium2 import PdfDocument

from rag_assets.core.domain import Box, SourceFormat, Span, StatementKind
from rag_assets.core.incremental import file_sha256
from rag_assets.library.reading.pages import PdfFile, QuoteSearch, find_on_pages
from rag_assets.library.reading.reader import Reader
from rag_assets_testing.papers.pdf import HEIGHT, WIDTH, page_of, picture, write_pdf
from rag_assets_testing.reading_back import letters, words_under
from rag_assets_testing.world import World
from rag_assets_tests.library.reading.conftest import DRAWN, opened

REPEATED = "The samples were frozen at once."


def search(
    path: Path, quote: str, pages: tuple[int, ...] = (1,), before: str = "", after: str = ""
) -> QuoteSearch:
    return QuoteSearch(
        PdfFile(path, path.name, file_sha256(path), 100), (quote,), before, after, pages
    )


def test_the_marks_of_every_sentence_lie_on_its_words(reader: Reader, built: World) -> None:
    """A reader who clicks a citation is shown this very sentence, in either column and over the end
    of a page."""
    sentences = [
        (chunk_id, unit.start, unit.end)
        for section in reader.paper(DRAWN).sections
        for chunk_id in section.chunk_ids
        for unit in reader.chunk(chunk_id).units
        if unit.kind is StatementKind.SENTENCE
    ]
    pdf = built.paths.papers / f"{DRAWN}.pdf"

    places = [reader.place(*sentence) for sentence in sentences]

    assert len(sentences) > 60
    for (chunk_id, start, end), pages in zip(sentences, places, strict=True):
        quote = reader.chunk(chunk_id).text[start:end]
        assert all(page.is_exact for page in pages), quote
        assert letters(words_under(pdf, [box for page in pages for box in page.boxes])) == letters(
            quote
        )
    assert any(len(pages) == 2 for pages in places), (
        "no sentence over the end of a page would prove less"
    )


def test_a_sentence_without_a_pdf_has_the_pages_its_source_proves(reader: Reader) -> None:
    """A page from the source is still worth opening the paper at; boxes that nobody knows are not
    made up."""
    found = reader.find_quote(
        "Ferritin fell by 12% in all groups of runners within a month of training."
    )[0]

    (place,) = reader.place(found.chunk_id, found.start, found.end)

    assert (place.page, place.boxes, place.is_exact) == (2, (), False)


def test_another_wording_than_the_pdfs_is_marked_as_its_paragraph(
    reader: Reader, world: World
) -> None:
    """Marking other words than the quoted ones would be worse than marking the paragraph."""
    section = next(
        one for one in reader.paper(DRAWN).sections if one.page_start
    )  # the title page has none
    unit = reader.chunk(section.chunk_ids[0]).units[0]
    write_pdf(world.paths.papers / f"{DRAWN}.pdf", [page_of("Another paper altogether.")])

    with opened(world) as changed:
        (place,) = changed.place(section.chunk_ids[0], unit.start, unit.end)

    assert not place.is_exact
    assert place.boxes


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("is_cropped", [False, True])
def test_marks_lie_on_the_words_of_turned_and_cropped_pages(
    tmp_path: Path, turn: int, is_cropped: bool
) -> None:
    """Scanners turn pages and publishers crop them; a mark beside the sentence sends the reader to
    the wrong one."""
    quote = "This sentence begins on one line and it ends on the line below."

    page = page_of(
        "What is before it does not matter. This sentence",
        "begins on one line and it ends on the line below. It",
        "is followed by others.",
    )
    path = write_pdf(tmp_path / "page.pdf", [page])
    with PdfDocument(path) as pdf:
        pdf[0].set_rotation(turn)
        if is_cropped:
            pdf[0].set_cropbox(40, 300, WIDTH - 50, HEIGHT - 60)
        pdf.save(tmp_path / "turned.pdf")

    boxes = find_on_pages(search(tmp_path / "turned.pdf", quote))

    assert len(boxes) == 2
    assert letters(words_under(tmp_path / "turned.pdf", boxes)) == letters(quote)


def test_of_a_repeated_sentence_the_one_with_the_same_surroundings_is_marked(
    tmp_path: Path,
) -> None:
    """Methods repeat themselves; the first occurrence may be another experiment."""
    page = page_of(
        f"Blood was drawn. {REPEATED} Then it rested.", f"Urine was kept. {REPEATED} Nobody looked."
    )
    path = write_pdf(tmp_path / "page.pdf", [page])

    (first,) = find_on_pages(
        search(path, REPEATED, before="Blood was drawn. ", after=" Then it rested.")
    )
    (second,) = find_on_pages(
        search(path, REPEATED, before="Urine was kept. ", after=" Nobody looked.")
    )

    assert first.bottom <= second.top


def test_a_sentence_over_a_page_end_is_marked_on_both_pages_but_not_between_them(
    tmp_path: Path,
) -> None:
    """Page numbers and running titles between its halves are no part of a sentence."""
    quote = "The longest sentence of the paper is interrupted by the end of the page and goes on behind it at the top."
    pages = [
        page_of("The longest sentence of the paper is interrupted by the", "Journal of Tests 118"),
        page_of("Lund and others", "end of the page and goes on behind it at the top. More."),
    ]
    path = write_pdf(tmp_path / "pages.pdf", pages)

    boxes = find_on_pages(search(path, quote, pages=(1, 2)))

    assert [box.page for box in boxes] == [1, 2]
    assert letters(words_under(path, boxes)) == letters(quote)


def test_words_that_stand_apart_all_over_the_page_are_not_marked(tmp_path: Path) -> None:
    """A quote that is not there must not light up its words one by one."""
    page = page_of("The samples of the year were frozen", "and the others were kept at once.")
    path = write_pdf(tmp_path / "page.pdf", [page])

    assert (
        find_on_pages(
            search(path, "The samples were never kept anywhere near the frozen others of the year.")
        )
        == ()
    )


def test_of_a_quote_that_ocr_read_its_lines_are_marked(reader: Reader, world: World) -> None:
    """A scan has no words to be found, and a mark around the whole paragraph does not show a wrong
    digit."""
    write_pdf(world.paths.papers / f"{DRAWN}.pdf", [picture])
    lines = [Box(1, 0.1, 0.1 * n, 0.9, 0.1 * n + 0.02) for n in range(3)]
    some = reader.chunk(reader.paper(DRAWN).sections[0].chunk_ids[0])
    spans = tuple(
        Span(20 * n, 20 * n + 20, 1, 1, (line,), is_by_ocr=True) for n, line in enumerate(lines)
    )
    chunk = replace(
        some, source=SourceFormat.PDF, text="Ferritin fell again." * 3, units=(), spans=spans
    )

    with opened(world) as changed:
        (place,) = changed._places.of(chunk, 22, 50)

    assert (place.boxes, place.is_exact) == ((lines[1], lines[2]), True)


def test_with_a_quoted_caption_its_figure_is_marked(reader: Reader, world: World) -> None:
    """A caption says little without its picture: the box the parser found for it is marked beside
    the words."""
    caption = "Figure 2: Yield of the mills by year."
    path = write_pdf(
        world.paths.papers / f"{DRAWN}.pdf", [page_of("An earlier line of the text.", caption)]
    )
    own, picture = Box(1, 0.05, 0.05, 0.9, 0.2), Box(1, 0.1, 0.3, 0.9, 0.6)
    some = reader.chunk(reader.paper(DRAWN).sections[0].chunk_ids[0])
    chunk = replace(
        some,
        source=SourceFormat.PDF,
        text=caption,
        units=(),
        spans=(Span(0, len(caption), 1, 1, (own, picture)),),
    )

    with opened(world) as changed:
        (place,) = changed._places.of(chunk, 0, len(caption))

    assert place.is_exact
    assert place.boxes[-1] == picture
    assert letters(words_under(path, place.boxes[:-1])) == letters(caption)
