"""A browser, and a server over papers that can be looked at."""

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from rag_assets_testing.world import World, made_once
from rag_assets_tests.faces.server.browser.drawn_papers import (
    HERONS,
    KELP_SENTENCE,
    MARKUP,
    MOSS_ABSTRACT,
    MOSS_SENTENCE,
    draw_paper,
)
from rag_assets_tests.faces.server.browser.steps import PATIENCE_MS, open_page
from rag_assets_tests.faces.server.live import Live, served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Headless Chromium. One per module: while it is open, no other test of this process can run an
    event loop."""
    executable = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if executable is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt install chromium)")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable)
        yield opened
        opened.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own, on a large screen."""
    opened = browser.new_context(viewport={"width": 1440, "height": 900})
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, live_shelf: Live) -> Iterator[Page]:
    """A tab with the page of the shared server. Errors of scripts and refusals of the
    Content-Security-Policy fail the test."""
    errors: list[str] = []
    tab = context.new_page()
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.extend(policy_refusals(message)))
    open_page(tab, live_shelf)
    yield tab
    assert errors == []


def policy_refusals(message: ConsoleMessage) -> list[str]:
    return (
        [message.text]
        if "Content Security Policy" in message.text or "Trusted" in message.text
        else []
    )


@pytest.fixture(scope="session")
def shelf(for_all_processes: Path, built_model: Path) -> World:
    """A PDF, papers without pages, and one that tries to run scripts; built once. Not to be
    changed."""

    def make(world: World) -> None:
        world.use_models(built_model)
        draw_paper(world.paths.papers / "herons.pdf", "Herons at the winter coast", HERONS)
        world.write_paper("kelp", escape(f"Kelp {MARKUP}"), escape(KELP_SENTENCE))
        world.write_paper(
            "ferritin", "Ferritin in athletes", "Ferritin fell by 12% in all groups of runners."
        )
        moss = f"Abstract\n\n{MOSS_ABSTRACT}\n\nResults\n\n{MOSS_SENTENCE} Nobody had watered it before."
        (world.paths.papers / "moss.txt").write_text(f"Moss in the herbarium\n\n{moss}\n", "utf-8")
        outcome = world.run()
        assert outcome.is_success, outcome.failures or outcome.broken

    return made_once(for_all_processes / "shelf", make)


@pytest.fixture(scope="session")
def live_shelf(shelf: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over those papers, which stay as they are; conversations come and go."""
    with served(shelf.copy_to(tmp_path_factory.mktemp("live shelf")).paths.data) as running:
        yield running


@pytest.fixture
def own_shelf(shelf: World, tmp_path: Path) -> Iterator[Live]:
    """A server over a copy of those papers, to be changed."""
    with served(shelf.copy_to(tmp_path).paths.data) as running:
        yield running
