"""One way through the page, from a question to the marked sentence and its link."""

import re

from playwright.sync_api import BrowserContext, Page, expect

from rag_assets_tests.faces.server.browser.drawn_papers import (
    HERON_QUESTION,
    HERON_SENTENCE,
    MOSS_QUESTION,
)
from rag_assets_tests.faces.server.browser.steps import ask, show_first_source


def test_a_link_shows_conversation_claim_and_page_again(
    page: Page, context: BrowserContext
) -> None:
    """A link in a message must show a colleague what the sender saw, evidence included."""
    ask(page, MOSS_QUESTION)
    turn = ask(page, HERON_QUESTION)
    show_first_source(page, turn)
    expect(page).to_have_url(re.compile(r"#c=.+&t=2&claim=1$"))

    other = context.new_page()
    other.goto(page.url)

    expect(other.locator(".turn")).to_have_count(2)
    again = other.locator(".turn").nth(1)
    expect(again.locator(".claim-text").first).to_contain_text(HERON_SENTENCE)
    read = again.get_by_text(re.compile(r"^What was read"))
    expect(read).to_have_text(turn.get_by_text(re.compile(r"^What was read")).inner_text())
    expect(other.locator("#reader .where")).to_have_text("p. 2")
    expect(other.locator("#reader .marking").first).to_be_in_viewport()
