"""Papers that come and go."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rag_assets_tests.faces.server.browser.drawn_papers import (
    HERON_QUESTION,
    HERON_SENTENCE,
    OTTER_QUESTION,
    OTTER_SENTENCE,
    OTTERS,
    draw_paper,
)
from rag_assets_tests.faces.server.browser.steps import (
    RUN_PATIENCE_MS,
    ask,
    open_page,
    press,
    show_first_source,
)
from rag_assets_tests.faces.server.live import Live, served

pytestmark = pytest.mark.whole


def test_a_paper_that_was_added_can_be_asked_about_and_read(
    page: Page, own_shelf: Live, tmp_path: Path
) -> None:
    """The whole way: a file from the desktop, the run, an answer, its page."""
    pdf = draw_paper(tmp_path / "otters.pdf", "Otters at an exposed coast", OTTERS)
    open_page(page, own_shelf)

    page.get_by_label("Add papers").set_input_files(pdf)

    expect(page.locator("#runs")).to_contain_text("Adding otters.pdf")
    expect(page.locator(".toast")).to_contain_text("otters.pdf was added", timeout=RUN_PATIENCE_MS)
    expect(page.locator("#runs")).to_be_empty()
    expect(page.locator('[data-paper="otters"]')).to_contain_text(
        re.compile(r"PDF · 1 page · \d+ chunk")
    )
    turn = ask(page, OTTER_QUESTION)
    expect(turn.locator(".claim-text").first).to_contain_text(OTTER_SENTENCE)
    expect(show_first_source(page, turn).locator(".marking").first).to_be_in_viewport()


def test_a_record_is_corrected_in_the_page(page: Page, own_shelf: Live) -> None:
    """What is wrong is seen here, and not in a file beside the papers."""
    open_page(page, own_shelf)
    paper = page.locator('[data-paper="herons"]')

    paper.hover()
    press(page, "Correct Herons at the winter coast")
    page.get_by_label("Authors, one a line").fill("Ada Lund\nBo Moe")
    page.locator("#correct-year").fill("1999")
    page.locator("#correct-doi").fill("unknown")
    page.locator("#correct-form button").click()
    expect(page.locator("#correct")).to_be_visible()  # what is no DOI is not sent
    page.locator("#correct-doi").fill("https://doi.org/10.1234/Heron.7")
    page.locator("#correct-form button").click()

    expect(page.locator(".toast")).to_contain_text("corrected", timeout=RUN_PATIENCE_MS)
    expect(paper).to_contain_text("Ada Lund, Bo Moe, 1999")
    press(page, "Correct Herons at the winter coast")
    expect(page.locator("#correct-doi")).to_have_value("10.1234/heron.7")


def test_a_paper_that_was_removed_is_answered_from_no_more_and_can_be_brought_back(
    page: Page, own_shelf: Live
) -> None:
    """A click on the wrong cross must cost nothing but a second run."""
    open_page(page, own_shelf)
    paper = page.locator('[data-paper="herons"]')

    paper.hover()
    press(page, "Remove Herons at the winter coast")  # asks, and a dialog is dismissed
    expect(paper).to_have_count(1)
    page.once("dialog", lambda dialog: dialog.accept())
    press(page, "Remove Herons at the winter coast")
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Removed: “Herons at the winter coast”")
    message, panes = toast.bounding_box(), page.locator(".panes").bounding_box()
    assert message["y"] + message["height"] <= panes["y"], "it covers no question"  # type: ignore[index]
    asked_meanwhile = ask(page, HERON_QUESTION)
    expect(asked_meanwhile.locator(".flag").first).to_contain_text(
        "Papers are being added or removed"
    )
    expect(page.locator("#runs")).to_be_empty(timeout=RUN_PATIENCE_MS)
    expect(paper).to_have_count(0)
    gone = ask(page, HERON_QUESTION)

    press(toast, "Undo")
    expect(toast).to_contain_text("Back again", timeout=RUN_PATIENCE_MS)
    expect(paper).to_have_count(1)
    back = ask(page, HERON_QUESTION)

    expect(gone.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(0)
    expect(back.locator(".claim-text", has_text=HERON_SENTENCE)).to_have_count(1)


def test_all_papers_are_removed_only_when_that_is_typed_and_can_be_brought_back(
    page: Page, own_shelf: Live
) -> None:
    """A second click on a button is no second thought, and nothing can be clicked in an empty
    list."""
    open_page(page, own_shelf)
    button, toast = page.get_by_role("button", name="Remove all papers"), page.locator(".toast")
    papers = page.locator("#paper-list").bounding_box()
    assert button.bounding_box()["y"] < papers["y"], "not beside the button that adds"  # type: ignore[index]

    page.once("dialog", lambda dialog: dialog.accept("yes"))
    button.click()
    expect(toast).to_contain_text("Nothing was deleted")
    expect(page.locator(".paper")).to_have_count(4)

    page.once("dialog", lambda dialog: dialog.accept("delete 4 papers"))
    button.click()
    expect(page.locator(".paper")).to_have_count(0, timeout=RUN_PATIENCE_MS)
    expect(page.locator("#papers-count")).to_contain_text("No papers yet")

    press(toast, "Undo")
    expect(page.locator(".paper")).to_have_count(4, timeout=RUN_PATIENCE_MS)


def test_a_dropped_file_that_is_no_paper_is_refused_with_the_reason(page: Page) -> None:
    """Dropping is how most people add files; what is wrong with one must stand where it was
    dropped."""
    transfer = page.evaluate_handle(
        """() => {
            const transfer = new DataTransfer();
            transfer.items.add(new File(["\\u007fELF\\u0002\\u0001\\u0001\\u0000"], "paper.pdf"));
            return transfer;
        }"""
    )

    page.dispatch_event("#papers", "drop", {"dataTransfer": transfer})

    expect(page.locator("#runs")).to_contain_text("paper.pdf was not added")
    expect(page.locator("#runs").get_by_role("alert")).to_contain_text("PDF")


def test_a_corpus_without_papers_says_what_to_do(page: Page, tmp_path: Path) -> None:
    """The first look at a fresh install is an empty page."""
    (tmp_path / "data" / "papers").mkdir(parents=True)
    with served(tmp_path / "data") as empty:
        open_page(page, empty)

        expect(page.locator("#papers-count")).to_contain_text("No papers yet")
        expect(page.locator(".welcome")).to_contain_text("nothing to ask yet")
        turn = ask(page, HERON_QUESTION)
        expect(turn.get_by_role("alert")).to_contain_text("rag-assets")
