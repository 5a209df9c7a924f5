"""A sentence of an answer, shown where it stands."""

import re
from typing import NamedTuple

import pypdfium2
import pytest
from playwright.sync_api import Locator, Page, expect

from rag_assets_testing.world import World
from rag_assets_tests.faces.server.browser.drawn_papers import (
    HERON_PAGE,
    HERON_QUESTION,
    HERON_SENTENCE,
    MOSS_QUESTION,
    MOSS_SENTENCE,
)
from rag_assets_tests.faces.server.browser.steps import (
    ask,
    open_page,
    press,
    show_first_source,
)
from rag_assets_tests.faces.server.live import Live

pytestmark = pytest.mark.whole


class Marking(NamedTuple):
    """A marked box, as fractions of the image it lies on."""

    left: float
    top: float
    right: float
    bottom: float


def markings(figure: Locator) -> list[Marking]:
    """The boxes as they lie on the screen, over the image as it lies there."""
    image = figure.locator("img").bounding_box()
    assert image
    boxes = [box.bounding_box() for box in figure.locator(".marking").all()]
    return [
        Marking(
            left=(box["x"] - image["x"]) / image["width"],
            top=(box["y"] - image["y"]) / image["height"],
            right=(box["x"] + box["width"] - image["x"]) / image["width"],
            bottom=(box["y"] + box["height"] - image["y"]) / image["height"],
        )
        for box in boxes
        if box
    ]


def words_under(boxes: list[Marking], page: pypdfium2.PdfPage) -> str:
    """What stands on the page of the PDF within the boxes, widened by what rounding to pixels takes
    away."""
    width, height = page.get_size()
    text = page.get_textpage()
    slack = 1.0
    parts = [
        text.get_text_bounded(
            left=box.left * width - slack,
            right=box.right * width + slack,
            top=(1 - box.top) * height + slack,
            bottom=(1 - box.bottom) * height - slack,
        )
        for box in sorted(boxes, key=lambda box: (round(box.top, 2), box.left))
    ]
    return " ".join(" ".join(parts).split())


def test_a_click_marks_the_sentence_on_its_page(page: Page, shelf: World) -> None:
    """The words under the mark are compared with the quote: a box beside the sentence would prove
    nothing."""
    turn = ask(page, HERON_QUESTION)

    reader = show_first_source(page, turn)

    figure = reader.locator(".page")
    pdf = pypdfium2.PdfDocument(shelf.paths.papers / "herons.pdf")
    expect(figure).to_have_count(1)
    expect(reader.locator(".where")).to_have_text(f"p. {HERON_PAGE}")
    expect(figure.locator("img")).to_have_js_property("complete", True)
    assert figure.locator("img").evaluate("image => image.naturalWidth") >= 600
    assert words_under(markings(figure), pdf[HERON_PAGE - 1]) == HERON_SENTENCE
    expect(figure.locator(".marking").first).to_be_in_viewport()
    pdf.close()


def test_the_place_of_a_page_says_that_its_image_is_on_its_way(
    page: Page, live_shelf: Live
) -> None:
    """A white box looks like an empty page."""
    page.route("**/pages/*.png*", lambda route: None)  # never answered
    open_page(page, live_shelf)

    ask(page, HERON_QUESTION).locator(".mark").first.click()

    sheet = page.locator("#reader .page[aria-busy] .sheet")
    expect(sheet).to_be_visible()
    assert "Loading" in sheet.evaluate("one => getComputedStyle(one, '::before').content")


def test_the_pages_beside_it_can_be_turned_to(page: Page) -> None:
    """What stands before and after a sentence decides what it means; the way back must not be
    lost."""
    reader = show_first_source(page, ask(page, HERON_QUESTION))

    press(reader, "Next page")
    expect(reader.locator(".where")).to_have_text("p. 3")
    expect(reader.get_by_role("button", name="Next page")).to_be_disabled()
    expect(reader.locator(".page:not([aria-busy]) img")).to_have_attribute("alt", "Image of page 3")
    expect(reader.locator(".marking")).to_have_count(0)

    press(reader, "To the quote")
    expect(reader.locator(".where")).to_have_text("p. 2")
    expect(reader.locator(".marking").first).to_be_visible()


def test_a_sentence_on_no_known_page_is_shown_in_its_text_and_said_to_be_so(page: Page) -> None:
    """A page that nobody proved must not be invented by leaving it out."""
    turn = ask(page, MOSS_QUESTION)
    expect(turn.locator(".sources").first).to_contain_text("page unknown")

    reader = show_first_source(page, turn)

    expect(reader.locator(".where")).to_have_text("page unknown")
    expect(reader.locator(".notice")).to_contain_text("Page unknown. Nothing in the file proves")
    expect(reader.locator("mark")).to_contain_text(MOSS_SENTENCE)
    expect(reader.locator("mark")).to_be_in_viewport()
    expect(reader.locator("img")).to_have_count(0)


def test_a_page_without_a_pdf_is_named_and_its_text_shown(page: Page) -> None:
    """A TEI file proves the page, and has no picture of it."""

    reader = show_first_source(page, ask(page, "How much did ferritin fall in runners?"))

    expect(reader.locator(".where")).to_have_text("p. 2")
    expect(reader.locator(".notice")).to_contain_text("no image of this page")
    expect(reader.locator("mark")).to_contain_text("Ferritin fell by 12%")


def test_a_paper_opens_from_the_list_with_its_sections(page: Page) -> None:
    """Reading on is what an answer is for."""

    press(page, "Herons at the winter coast", exact=True)

    reader = page.locator("#reader")
    expect(reader.locator(".where")).to_have_text("p. 1")
    press(reader, re.compile("Discussion"))
    expect(reader.locator(".where")).to_have_text("p. 3")
    expect(reader.locator(".page:not([aria-busy]) img")).to_have_attribute("alt", "Image of page 3")


def test_what_was_read_and_not_quoted_can_be_looked_at(page: Page) -> None:
    """A reader who doubts an answer wants to see what it was made from."""
    turn = ask(page, HERON_QUESTION)

    turn.get_by_text(re.compile(r"What was read \(\d+\)")).click()
    turn.get_by_role("button", name="Herons at the winter coast", exact=True).first.click()

    facts = page.locator("#reader .facts")
    expect(page.locator("#reader h2")).to_have_text("Herons at the winter coast")
    expect(facts).to_contain_text("no sentence of it is quoted here")
    expect(facts).to_contain_text(re.compile(r"Search: score \d\.\d\d, likeness \d+%"))
    turn.locator(".mark").first.click()
    expect(facts).to_contain_text("Word for word in the paper")
    expect(facts).to_contain_text(re.compile(r"Search: score \d\.\d\d, likeness \d+%"))


def test_mathematical_letters_before_a_quote_do_not_shift_its_mark(page: Page) -> None:
    """Servers count characters, browsers count UTF-16: each mathematical letter before a quote
    would shift its mark."""
    text = "𝑘 and 𝑏 and 𝑛: herons lost weight. Others did not."

    parts = page.evaluate(
        "async ([text, start, end]) => (await import('/static/dom.js')).parted(text, start, end)",
        [text, text.index("herons"), text.index(" Others")],
    )

    assert parts == ["𝑘 and 𝑏 and 𝑛: ", "herons lost weight.", " Others did not."]


def test_the_sentence_stands_in_its_text_below_the_page(page: Page) -> None:
    """Screen readers read no images, and small print is easier to read as text."""
    reader = show_first_source(page, ask(page, HERON_QUESTION))

    reader.get_by_text("The sentence in its text").click()

    expect(reader.locator("mark")).to_have_text(HERON_SENTENCE)
