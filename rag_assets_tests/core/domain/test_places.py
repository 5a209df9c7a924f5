"""Where a stretch of a chunk stands in its paper."""

from rag_assets.core.domain import Box, Citation, Place, Span, Verification
from rag_assets_tests.answering.builders import chunk

FRONT, TURN, BACK = Box(3, 0, 0, 1, 1), Box(3, 0, 0.9, 1, 1), Box(4, 0, 0, 1, 0.1)
TEXT = "Ferritin fell.\nIron rose."
CUT = TEXT.index("Iron")
PAPER = chunk(
    "smith2020",
    TEXT,
    spans=(
        Span(0, CUT - 1, 3, 3, (FRONT, TURN), label_start="117", label_end="117"),
        Span(
            CUT, len(TEXT), 3, 4, (TURN, BACK), label_start="117", label_end="118", is_by_ocr=True
        ),
    ),
)


def test_a_place_has_the_pages_labels_and_boxes_of_its_own_text_only() -> None:
    """A reader who turns to the page that is named must find the sentence there."""
    own, both = Place.within(PAPER, 0, CUT - 1), Place.within(PAPER, CUT - 5, len(TEXT))

    assert (own.page_start, own.page_end, own.page_label, own.is_by_ocr) == (3, 3, "117", False)
    assert own.boxes == (FRONT, TURN)
    assert (both.page_start, both.page_end, both.page_label, both.is_by_ocr) == (
        3,
        4,
        "117-118",
        True,
    )
    assert both.boxes == (FRONT, TURN, BACK), "each box once"
    assert both.page_words == "pp. 3-4 (printed 117-118), read by OCR"


def test_a_place_that_ends_where_no_page_is_known_names_no_page() -> None:
    """A page that is half a guess is read as a fact."""
    source = chunk(
        "smith2020", TEXT, spans=(Span(0, CUT - 1, 3, 3), Span(CUT, len(TEXT), None, None))
    )

    place = Place.within(source, 0, len(TEXT))

    assert (place.page_end, place.page_words) == (None, "")


def test_a_citation_is_a_place_with_a_quote() -> None:
    """qa.jsonl promises the fields of a place beside the quote, not below it."""
    cited = Citation.within(PAPER, 0, 8, quote="Ferritin", verification=Verification.EXACT)

    assert (cited.paper_id, cited.chunk_id, cited.start, cited.end) == (
        "smith2020",
        PAPER.chunk_id,
        0,
        8,
    )
    assert (cited.quote, cited.page_words) == ("Ferritin", "p. 3 (printed 117)")
