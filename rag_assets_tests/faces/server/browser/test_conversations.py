"""Follow-ups, history, links and copies."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from rag_assets_tests.faces.server.browser.drawn_papers import HERON_QUESTION, HERON_SENTENCE
from rag_assets_tests.faces.server.browser.steps import (
    ask,
    open_page,
    press,
)
from rag_assets_tests.faces.server.live import Live

pytestmark = pytest.mark.whole


def test_a_follow_up_shows_what_was_asked_in_its_place(page: Page) -> None:
    """A question that was read wrongly can only be mended by someone who sees how it was read."""
    ask(page, HERON_QUESTION)

    reworded = ask(page, "And in a mild winter?")
    restricted = ask(page, "And in that paper, which birds were affected first?")

    expect(reworded.locator(".asked")).to_contain_text(
        f"And in a mild winter? ({HERON_QUESTION.rstrip('?')})"
    )
    expect(reworded.locator(".asked")).to_contain_text("Asked together with the question before it")
    expect(restricted.locator(".asked")).to_have_text(
        '"that paper" is read as herons, cited by the answer before.'
    )


def test_a_conversation_is_found_in_the_history_and_deleted_there(
    page: Page, own_shelf: Live
) -> None:
    """Questions of last week are part of the work; deleting them must be as easy as asking."""
    open_page(page, own_shelf)
    ask(page, HERON_QUESTION)
    press(page, "New conversation")
    expect(page.locator(".welcome")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/$"))

    press(page, "History")
    press(page.locator("#history"), HERON_QUESTION, exact=True)
    expect(page.locator(".claim-text").first).to_contain_text(HERON_SENTENCE)

    press(page, "History")
    press(page, f"Delete {HERON_QUESTION}")  # asks, and a dialog is dismissed
    expect(page.locator("#history-list li .link")).to_have_count(1)
    page.once("dialog", lambda dialog: dialog.accept())
    press(page, f"Delete {HERON_QUESTION}")
    expect(page.locator("#history-list li .link")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator(".welcome")).to_be_visible()


def test_an_answer_is_copied_with_its_citations(page: Page, context: BrowserContext) -> None:
    """A quote without paper and page cannot be cited."""
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn = ask(page, HERON_QUESTION)

    press(turn, "Copy text")
    expect(page.locator(".toast")).to_contain_text("Answer copied")
    text = page.evaluate("() => navigator.clipboard.readText()")
    press(turn, "Copy Markdown")
    expect(page.locator(".toast")).to_contain_text("Markdown copied")
    markdown = page.evaluate("() => navigator.clipboard.readText()")

    assert text.startswith(f"{HERON_QUESTION}\n\n{HERON_SENTENCE}")
    assert f"[1] Herons at the winter coast (herons), p. 2: “{HERON_SENTENCE}" in text
    assert markdown.startswith(f"## {HERON_QUESTION}\n\n{HERON_SENTENCE}")
    assert "1. *Herons at the winter coast* (herons), p. 2" in markdown
    assert f"   > {HERON_SENTENCE}" in markdown


def test_markdown_keeps_the_papers_characters_from_becoming_markup(page: Page) -> None:
    """A copied answer is pasted where Markdown is rendered, HTML and links included."""
    answer = {
        "refused": False,
        "claims": [{"text": "*x* <b>[a](javascript:b)</b>\n# c", "citations": []}],
        "missing_names": [],
        "unanswered": [],
    }

    markdown = page.evaluate(
        "async (answer) => (await import('/static/copy.js')).asMarkdown('?', answer, (id) => id)",
        answer,
    )

    assert r"\*x\* \<b\>\[a\](javascript:b)\</b\> \# c" in markdown
