"""What a user does on the page, and what is then seen."""

from re import Pattern

from playwright.sync_api import Locator, Page, expect

from rag_assets_tests.faces.server.live import Live

PATIENCE_MS = 60_000.0
"""For anything that is waited for: the first question opens indexes and models."""
RUN_PATIENCE_MS = 300_000.0
"""For a run over the papers."""

expect.set_options(timeout=PATIENCE_MS)


def open_page(page: Page, live: Live, hash_: str = "") -> None:
    page.goto(f"{live.address}/{hash_}")
    expect(page.locator("#papers-count")).not_to_be_empty()


def press(place: Page | Locator, name: str | Pattern[str], *, exact: bool = False) -> None:
    """Click the button of that name."""
    place.get_by_role("button", name=name, exact=exact).click()


def ask(page: Page, question: str) -> Locator:
    """Ask and wait for the end of the answer; its turn."""
    before = page.locator(".turn").count()
    page.get_by_label("Question", exact=True).fill(question)
    press(page, "Ask", exact=True)
    turn = page.locator(".turn").nth(before)
    expect(turn.locator(".answer:not([aria-busy])")).to_have_count(1)
    return turn


def show_first_source(page: Page, turn: Locator) -> Locator:
    """Click the first mark; the reader, once it has loaded what it shows."""
    turn.locator(".mark").first.click()
    reader = page.locator("#reader")
    expect(reader.locator(".in-text .text")).to_be_attached()
    expect(reader.locator(".page[aria-busy]")).to_have_count(0)
    return reader
