"""Which page a stretch of TEI text stands on: a page is proved or it is null."""

import re
from pathlib import Path

import pypdfium2 as pdfium
import pytest

from rag_assets.core.domain import Document, PageSource
from rag_assets.core.text.folding import Folded
from rag_assets.core.text.sentences import sentence_spans
from rag_assets.parsing.formats.tei.document import parse_tei
from rag_assets.parsing.formats.tei.elements import Area
from rag_assets.parsing.formats.tei.pages import Layout
from rag_assets_testing.papers.contents import read_content
from rag_assets_testing.papers.tei import SURFACES, WORDS, page_at, pages, parsed, tei
from rag_assets_tests.demo_papers import texts
from rag_assets_tests.parsing.drawn_paper import draw_paper


def ref(page: int, top: float, left: float = 100, text: str = "(Smith, 2020)") -> str:
    """A reference mark as GROBID writes it: 13 characters, 65 points wide and 9 high."""
    return f'<ref type="bibr" coords="{page},{left},{top},{5 * len(text)},9">{text}</ref>'


def lines(page: int, first_top: float, n: int) -> str:
    """Areas of so many full lines, the lines of a paragraph."""
    return ";".join(f"{page},50,{first_top + 12 * index},500,9" for index in range(n))


def on_surfaces(body: str, behind: str = "") -> Document:
    return parsed(tei(f"<div>{body}</div>{behind}", facsimile=SURFACES))


def test_a_break_inside_a_paragraph_splits_it_exactly() -> None:
    """A chunk that starts behind the break is cited with the page before, if the split is a word
    off."""
    body = f"<p>{WORDS}end of <pb n='iv'/>page one <hi>and<pb n='7'/></hi> more</p><p>last</p>"

    document = parsed(tei(body))

    paragraph, last = document.blocks
    assert pages(paragraph) == [(f"{WORDS}end of ", 1, 1), ("page one and ", 2, 2), ("more", 3, 3)]
    assert pages(last) == [("last", 3, 3)]
    assert (document.page_source, document.n_pages) == (PageSource.PB, 3)
    assert document.page_labels == (None, "iv", "7")


def test_a_title_before_the_first_break_has_no_page() -> None:
    """A heading before the first break may stand before that page or on it."""
    document = parsed(tei("<div><head>Part</head><pb/><p>a</p></div>", abstract=f"<p>{WORDS}</p>"))

    assert [block.page_start for block in document.blocks] == [None, None, 1]


def test_breaks_count_wherever_they_stand() -> None:
    """A break passed over inside a list, a note or the references shifts all pages behind it."""
    body = (
        f"<p>{WORDS}</p><list><item>a<pb/>b</item></list><p>c<note place='foot'>d<pb/>e</note> f</p>"
        "<table><row><cell>g<pb/></cell><cell>h</cell></row></table><fw>7<pb/></fw><p>i</p><eg>j<pb/></eg><p>k</p>"
    )

    document = parsed(tei(body, back="<listBibl><bibl><pb/></bibl></listBibl><div><p>l</p></div>"))

    assert [pages(block) for block in document.blocks[1:]] == [
        [("a", 1, 1), ("b", 2, 2)],
        [("c ", 2, 2), ("f", 3, 3)],
        [("d", 2, 2), ("e", 3, 3)],
        [("g | ", 3, 3), ("h", 4, 4)],
        [("i", 5, 5)],
        [("j", 5, 5)],
        [("k", 6, 6)],
        [("l", 7, 7)],
    ]
    assert document.n_pages == 7


def test_paragraph_areas_prove_page_and_boxes() -> None:
    """Boxes are fractions of the surface; the references GROBID leaves out of a line are part of
    it."""
    body = '<p coords="2,60,80,120,8;2,310,80,150,8">It fell in <ref coords="2,182,80,126,8">(Smith)</ref> winter.</p>'

    document = on_surfaces(body)

    (span,) = document.blocks[0].spans
    (box,) = span.boxes
    assert (span.page_start, span.page_end) == (2, 2)
    assert (box.page, box.left, box.top, box.right, box.bottom) == (
        2,
        0.1,
        0.1,
        pytest.approx(460 / 600, abs=1e-4),
        0.11,
    )
    assert (document.n_pages, document.page_source) == (5, PageSource.COORDS)


def test_boxes_count_from_the_corner_of_the_page() -> None:
    """A page whose corner is not 0, 0 would have all boxes shifted."""
    surface = '<surface n="1" ulx="-60" uly="40" lrx="540" lry="840"/>'

    document = parsed(tei('<div><p coords="1,0,120,300,80">It fell.</p></div>', facsimile=surface))

    (box,) = document.blocks[0].boxes
    assert (box.left, box.top, box.right, box.bottom) == (0.1, 0.1, 0.6, 0.2)


def test_without_surfaces_pages_are_known_and_boxes_are_not() -> None:
    """A box without the size of its page would point anywhere."""
    document = parsed(tei('<p coords="3,60,80,120,8">It fell.</p>'))

    assert (document.blocks[0].page_start, document.blocks[0].boxes, document.n_pages) == (3, (), 3)


@pytest.mark.parametrize("left", [60, 330])
@pytest.mark.parametrize("top", [90, 400, 690])
def test_a_page_turned_round_has_as_much_room_behind_a_place_as_it_had_before_it(
    left: float, top: float
) -> None:
    """With too little room below a reference, the words behind it would be proved for the wrong
    page."""
    page = Area(1, 0, 0, 600, 800)
    layout = Layout({1: page}, 0.1, 0.9, chars_per_line=100, line_height=12, n_columns=2)
    area = Area(1, left, top, 200, 9)
    turned = Area(1, 600 - area.right, 800 - area.bottom, area.width, area.height)

    assert layout.column_of(area) != layout.column_of(turned)
    assert layout.chars_after(area) == pytest.approx(layout.chars_before(turned))
    assert layout.chars_after(turned) == pytest.approx(layout.chars_before(area))


@pytest.mark.parametrize(
    "coords",
    ["", "x", "1,2", "0,1,1,9,9", "1.5,1,1,9,9", "nan,1,1,9,9", "1,1,1,-9,9", "99,1,1,9,9"],
)
def test_coordinates_that_make_no_sense_prove_nothing(coords: str) -> None:
    """A page that the document does not have breaks every link to the PDF."""
    document = on_surfaces(f'<p coords="{coords}">It fell.</p>')

    assert document.blocks[0].page_start is None


def test_references_prove_the_words_between_them() -> None:
    """Most GROBID files have coordinates on references alone."""
    body = f"<p>{WORDS}{ref(2, 300)}</p><p>{WORDS}</p><p>{ref(2, 500)} {WORDS}</p><p>{WORDS}{ref(3, 300)}{WORDS}</p>"

    document = on_surfaces(body)

    first, second, third, fourth = document.blocks
    assert (first.page_start, first.page_end) == (1, 2)
    assert pages(second) == [(second.text, 2, 2)]
    assert (page_at(third, "(Smith"), page_at(third, "Ferritin")) == ((2, 2), (2, 3))
    assert (page_at(fourth, "(Smith"), fourth.page_end) == ((3, 3), None)


def test_the_sign_after_a_reference_is_on_its_page() -> None:
    """A sentence that ends with a reference would be cited with the next page, too, for its full
    stop."""
    body = f"<p>{WORDS}{ref(1, 300)}. {WORDS}{ref(2, 300)}</p>"

    (block,) = on_surfaces(body).blocks

    assert pages(block) == [
        (f"{WORDS}(Smith, 2020).", 1, 1),
        (f" {WORDS}", 1, 2),
        ("(Smith, 2020)", 2, 2),
    ]


def test_a_reference_that_contradicts_its_neighbours_proves_nothing() -> None:
    """One wrong coordinate must not move a paragraph to a page it is not on."""
    body = f"<p>{ref(2, 300)}</p><p>{WORDS}{ref(5, 90)}{WORDS}</p><p>{ref(2, 500)}</p><p>{ref(3, 90)} {ref(3, 200)}</p>"

    document = on_surfaces(body)

    assert [block.page_start for block in document.blocks] == [2, None, 2, 3]


def test_a_reference_wrong_by_one_page_makes_no_page_go_back() -> None:
    """A quote "on pages 3 to 2" cannot be looked up, and the words around the wrong reference are
    on page 2."""
    body = (
        f"<p>{ref(2, 300)}</p><p>{WORDS}{ref(3, 90)}{WORDS}</p><p>{ref(2, 500)} {ref(2, 520)}</p>"
    )

    document = on_surfaces(body)

    assert [(block.page_start, block.page_end) for block in document.blocks] == [
        (2, 2),
        (None, None),
        (2, 2),
    ]
    assert page_at(document.blocks[1], "(Smith") == (None, None)


def test_paper_bounds_the_doubt_around_a_turn() -> None:
    """Two lines above a reference hold no 2,000 characters: those before stand on the page
    before."""
    above = "".join(f"{WORDS}{ref(1, 100 + 40 * line)} " for line in range(6))
    below = "".join(f"{ref(2, 80 + 12 * line)} " for line in range(6))
    body = f"<p>{above}</p><p>{WORDS * 30}{below}</p>"

    document = on_surfaces(body)

    turning = document.blocks[1]
    doubtful = [span for span in turning.spans if span.page_start != span.page_end]
    assert [(span.page_start, span.page_end) for span in turning.spans] == [(1, 1), (1, 2), (2, 2)]
    assert doubtful[0].end - doubtful[0].start < len(turning.text) / 3


def test_a_turn_inside_a_paragraph_is_found_by_its_lines() -> None:
    """Ten lines, seven of them on page 1: the turn is near 70 % of the text, and only there is
    doubt."""
    text = (WORDS * 10)[:1000].strip()
    body = f'<p coords="{lines(1, 700, 7)};{lines(2, 60, 3)}">{text}</p>'

    (block,) = on_surfaces(body).blocks

    first, doubt, last = block.spans
    assert [(span.page_start, span.page_end) for span in block.spans] == [(1, 1), (1, 2), (2, 2)]
    assert doubt.start < 700 < doubt.end
    assert doubt.end - doubt.start < 150
    assert {box.page for box in first.boxes} == {1}
    assert {box.page for box in last.boxes} == {2}
    assert doubt.boxes == ()


def test_references_narrow_the_turn_inside_a_paragraph() -> None:
    """What a reference proves is more than an estimate."""
    text = (WORDS * 10)[:1000].strip()
    body = f'<p coords="{lines(1, 700, 7)};{lines(2, 60, 3)}">{text[:690]} {ref(1, 772)} now {ref(2, 60)} {text[690:]}</p>'

    (block,) = on_surfaces(body).blocks

    doubtful = [
        block.text[span.start : span.end]
        for span in block.spans
        if span.page_start != span.page_end
    ]
    assert [text.strip() for text in doubtful] == ["now"]


def test_sentences_have_their_own_pages_and_boxes() -> None:
    """With areas on sentences, only the sentence that crosses the turn is in doubt."""
    body = f"""<p coords="{lines(1, 700, 2)};{lines(2, 60, 1)}"><s coords="{lines(1, 700, 1)}">It fell.</s>
      <s coords="{lines(1, 712, 1)};{lines(2, 60, 1)}">It rose again in spring.</s>
      <s coords="{lines(2, 72, 1)}">Done.</s></p>"""

    (block,) = on_surfaces(body).blocks

    assert [(text.strip(), first, last) for text, first, last in pages(block)] == [
        ("It fell.", 1, 1),
        ("It rose again in spring.", 1, 2),
        ("Done.", 2, 2),
    ]
    assert [len(span.boxes) for span in block.spans] == [1, 0, 1]
    assert "".join(text for text, _, _ in pages(block)) == block.text


@pytest.mark.parametrize(("heading", "last_page"), [("Conclusion", 2), ("Appendix A", None)])
def test_the_body_ends_before_its_references(heading: str, last_page: int | None) -> None:
    """References on page 2 leave no other page for the conclusion, but an appendix may follow
    them."""
    body = f"<div><p>{ref(2, 500)}</p></div><div><head>{heading}</head><p>{WORDS}</p></div>"
    back = "<listBibl><biblStruct coords='2,50,700,200,9'><title>Old Work</title></biblStruct></listBibl>"

    document = parsed(tei(body, back=back, facsimile=SURFACES))

    *_, conclusion, references = document.blocks
    assert (conclusion.page_start, references.page_start) == (last_page, 2)


def test_floats_go_where_they_stand_on_paper() -> None:
    """A table is cited with the section around it; its place must not prove the text's page."""
    body = f"""<div><head n="1" coords="1,50,80,90,9">Methods</head><p>{ref(1, 100)} {WORDS}</p>
      <p>{ref(1, 400)} {WORDS}</p></div><div><head n="2" coords="2,50,300,90,9">Results</head><p>{ref(2, 320)}</p></div>
      <figure xml:id="f" coords="2,50,80,400,150"><head>Figure 1</head><figDesc>Two cats.</figDesc></figure>
      <figure type="table"><head>Table 1</head>
      <table coords="2,50,500,400,150"><row><cell>a</cell></row></table></figure>
      <note place="foot" coords="1,50,760,300,8">By half.</note>"""

    document = parsed(tei(body, facsimile=SURFACES))

    assert [
        (block.kind.value, block.section_path[0], block.page_start, block.page_end)
        for block in document.blocks
    ] == [
        ("heading", "1 Methods", 1, 1),
        ("paragraph", "1 Methods", 1, 1),
        ("paragraph", "1 Methods", 1, 2),
        ("footnote", "1 Methods", 1, 1),
        ("figure", "1 Methods", 2, 2),
        ("heading", "2 Results", 2, 2),
        ("paragraph", "2 Results", 2, 2),
        ("table", "2 Results", 2, 2),
    ]
    assert document.blocks[4].boxes[0].page == 2


def test_a_picture_alone_proves_no_page_of_the_text() -> None:
    """A document that counts as paged is not aligned with its PDF, and its text would stay without
    pages."""
    figure = '<figure><head>Figure 1</head><graphic coords="3,50,80,400,150"/></figure>'

    document = parsed(tei(f"<div><p>{WORDS}</p></div>{figure}"))

    assert [block.page_start for block in document.blocks] == [None, 3]
    assert document.page_source is PageSource.NONE


def test_a_float_is_placed_by_column() -> None:
    """In two columns, the top of the right one is read after the foot of the left one."""
    left = [f"<p>Left {index}. {ref(1, 100 + 100 * index, 60)}</p>" for index in range(6)]
    right = [f"<p>Right {index}. {ref(1, 100 + 100 * index, 320)}</p>" for index in range(6)]
    note = '<note place="foot" coords="1,60,650,200,8">Left foot.</note>'
    figure = '<figure coords="1,320,250,200,40"><head>Figure 1</head></figure>'

    document = on_surfaces("".join(left + right), figure + note)

    order = [" ".join(block.text.split()[:2]) for block in document.blocks]
    assert order.index("Left foot.") == order.index("Left 5.") + 1
    assert order.index("Figure 1") == order.index("Right 1.") + 1


def folded_letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", Folded.of(text).text)


def test_the_pages_of_a_whole_paper_hold_its_words(tmp_path: Path) -> None:
    """The promise of a cited page: the first and last words of every sentence are on it, in the
    PDF."""
    tei_path, pdf_path = draw_paper(
        tmp_path, [part for text in texts().values() for part in text.split("\n\n")], "paragraphs"
    )
    n_exact, wrong = 0, []

    document = read_content(parse_tei, "x", tei_path.read_bytes())
    with pdfium.PdfDocument(pdf_path) as pdf:
        on_paper = [folded_letters(page.get_textpage().get_text_bounded()) for page in pdf]
    for block in document.blocks:
        for start, end in sentence_spans(block.text):
            words = block.text[start:end].split()
            for at, some in ((start, words[:6]), (end - 1, words[-3:])):
                quote = folded_letters(" ".join(some))
                first, last = next(
                    (span.page_start, span.page_end)
                    for span in block.spans
                    if span.start <= at < span.end
                )
                if len(quote) < 14 or not any(quote in page for page in on_paper):
                    continue
                assert first is not None
                assert last is not None
                n_exact += first == last
                if not any(quote in page for page in on_paper[first - 1 : last]):
                    wrong.append((first, last, " ".join(some)))

    assert wrong == []
    assert n_exact > 400
    assert len(on_paper) > 5
