"""Papers that carry markup: it is shown as the text it is."""

from playwright.sync_api import Page, expect

from rag_assets_tests.faces.server.browser.drawn_papers import KELP_QUESTION, KELP_SENTENCE, MARKUP
from rag_assets_tests.faces.server.browser.steps import ask, open_page, show_first_source
from rag_assets_tests.faces.server.live import Live


def test_a_paper_that_tries_to_run_scripts_is_only_read(page: Page, live_shelf: Live) -> None:
    """Whoever sends a reader a paper could otherwise read all others, and ask and delete in the
    reader's name."""
    asked_for: list[str] = []
    page.on("request", lambda request: asked_for.append(request.url))
    open_page(page, live_shelf)
    expect(page.locator("#paper-list")).to_contain_text(MARKUP)

    turn = ask(page, KELP_QUESTION)
    turn.locator(".mark").first.hover()
    expect(page.get_by_role("tooltip")).to_contain_text(MARKUP)
    reader = show_first_source(page, turn)

    expect(turn.locator(".claim-text").first).to_contain_text(KELP_SENTENCE)
    expect(reader.locator("mark")).to_have_text(KELP_SENTENCE)
    expect(reader.locator("h2")).to_contain_text(MARKUP)
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("img:not(.page-image), script:not([src='/static/main.js'])").count() == 0
    assert all(
        url.startswith((live_shelf.address, "blob:")) and not url.endswith("/x")
        for url in asked_for
    )


def test_a_question_with_markup_is_shown_as_text(page: Page) -> None:
    """Questions come back in conversations, links and histories."""

    turn = ask(page, MARKUP)

    expect(turn.locator("h3")).to_have_text(MARKUP)
    assert page.evaluate("() => window.hacked") is None
