"""Keyboard, small screens, dark mode, tokens: whoever reads, with whatever."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag_assets_testing.world import World
from rag_assets_tests.faces.server.browser.drawn_papers import (
    HERON_QUESTION,
    HERON_SENTENCE,
    KELP_QUESTION,
)
from rag_assets_tests.faces.server.browser.steps import (
    ask,
    open_page,
    press,
    show_first_source,
)
from rag_assets_tests.faces.server.live import Live, served

pytestmark = pytest.mark.whole

TOKEN = "a-token-of-enough-characters"
CONTRAST = """
() => {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const pixel = (colour, below) => {
    context.fillStyle = below;
    context.fillRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data;
  };
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return "white";
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const isSeen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (!hasText || !isSeen || element.matches(":disabled, .unseen *, .unseen")) continue;
    const ground = groundOf(element);
    const tones = [luminance(pixel(getComputedStyle(element).color, ground)), luminance(pixel(ground, ground))];
    const ratio = (Math.max(...tones) + 0.05) / (Math.min(...tones) + 0.05);
    if (ratio < 4.5) faint.push(`${ratio.toFixed(2)} ${element.className} ${element.textContent.slice(0, 40)}`);
  }
  return faint;
}
"""
"""Texts whose contrast to their ground is below 4.5:1, by the formula of WCAG 2.2 (1.4.3)."""
OVERFLOWING = """
() => [...document.querySelectorAll("html, .pane, .turns, .reader-body, .paper-list")]
  .filter((one) => one.scrollWidth > one.clientWidth)
  .map((one) => `${one.id || one.className}: ${one.scrollWidth} in ${one.clientWidth}`)
"""
"""Parts of the page that hold something wider than they are."""


def focus_on(page: Page) -> str:
    """Name of what has the focus, as assistive technology hears it."""
    name: str = page.evaluate(
        "() => document.activeElement.ariaLabel || document.activeElement.textContent.trim()"
    )
    return name


def tab_to(page: Page, name: str, key: str = "Tab") -> None:
    """Press Tab until the focus is on something so named."""
    for _ in range(80):
        page.keyboard.press(key)
        if focus_on(page).startswith(name):
            return
    raise AssertionError(f"the keyboard does not reach {name!r}")


def test_everything_works_with_the_keyboard_alone(page: Page) -> None:
    """Ask, open the source, turn pages, come back to the mark: without a mouse, and never losing
    the place."""

    page.keyboard.press("Tab")
    assert focus_on(page) == "Skip to the question"
    page.keyboard.press("Enter")
    page.keyboard.type(HERON_QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(".answer:not([aria-busy]) .claim").first).to_be_visible()
    tab_to(page, "Source 1: Herons at the winter coast, p. 2", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#reader-title")).to_be_focused()
    expect(page.locator("#reader .marking").first).to_be_in_viewport()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#reader .where")).to_have_text("p. 3")
    page.keyboard.press("Escape")

    expect(page.locator(".mark").first).to_be_focused()
    tab_to(page, "Copy text")
    tab_to(page, "History", "Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#history")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="History")).to_be_focused()


def test_arriving_claims_are_read_out(page: Page) -> None:
    """Someone who does not see the page hears that an answer comes, what it says and when it
    ends."""

    ask(page, HERON_QUESTION)

    announcer = page.get_by_role("log")
    expect(announcer).to_have_attribute("aria-live", "polite")
    expect(announcer).to_contain_text(HERON_SENTENCE)
    expect(announcer).to_contain_text("The answer is complete")


@pytest.mark.parametrize("width", [375, 900, 1440])
def test_nothing_is_wider_than_the_screen(browser: Browser, live_shelf: Live, width: int) -> None:
    """On a phone, a page that scrolls sideways cannot be read; long words of a paper must not hide
    the marks."""
    context = browser.new_context(viewport={"width": width, "height": 740}, has_touch=width == 375)
    page = context.new_page()
    open_page(page, live_shelf)

    ask(page, KELP_QUESTION)
    turn = ask(page, HERON_QUESTION)
    assert page.evaluate(OVERFLOWING) == []
    reader = show_first_source(page, turn)
    assert page.evaluate(OVERFLOWING) == []

    expect(reader.locator(".marking").first).to_be_in_viewport()
    context.close()


def test_a_phone_shows_one_pane_at_a_time_and_the_way_back(
    browser: Browser, live_shelf: Live
) -> None:
    """Three panes side by side would be three strips."""
    context = browser.new_context(viewport={"width": 375, "height": 740}, has_touch=True)
    page = context.new_page()
    open_page(page, live_shelf)
    turn = ask(page, HERON_QUESTION)
    expect(page.locator("#papers")).to_be_hidden()

    reader = show_first_source(page, turn)
    expect(page.locator("#conversation")).to_be_hidden()
    expect(reader.locator("mark")).to_have_text(HERON_SENTENCE)
    press(reader, "Answer")

    expect(turn).to_be_visible()
    expect(reader).to_be_hidden()
    press(page.get_by_role("navigation"), "Papers")
    expect(page.get_by_label("Find a paper by title")).to_be_visible()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_the_contrast_that_wcag_asks_for(page: Page, scheme: str) -> None:
    """Faint grey on white is unreadable in sunlight and for many eyes."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.emulate_media(reduced_motion="reduce")
    ask(page, "What starting dose of metformin is recommended for adults?")
    turn = ask(page, HERON_QUESTION)
    show_first_source(page, turn)
    page.get_by_text("Ask only some of it").click()

    assert page.evaluate(CONTRAST) == []
    ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(250, 249, 246)") == (scheme == "light")


def test_a_server_with_a_token_asks_for_it_once_and_shows_pages_too(
    page: Page, shelf: World, tmp_path: Path
) -> None:
    """Images cannot carry a token by themselves; a reader over the network would see broken
    ones."""
    with served(shelf.copy_to(tmp_path).paths.data, token=TOKEN) as guarded:
        page.goto(guarded.address)
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Token").fill(TOKEN)
        press(dialog, "Open")

        expect(page.locator("#papers-count")).to_have_text("4 papers")
        reader = show_first_source(page, ask(page, HERON_QUESTION))
        expect(reader.locator(".marking").first).to_be_visible()
        page.reload()
        expect(page.locator("#papers-count")).to_have_text("4 papers")
        expect(dialog).to_be_hidden()
