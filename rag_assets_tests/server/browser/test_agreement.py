"""Papers that contradict each other, on the page."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from rag_assets_tests.end_to_end.world import World, made_once
from rag_assets_tests.server.browser.drawn_papers import MARKUP
from rag_assets_tests.server.browser.steps import ask, open_page
from rag_assets_tests.server.live import Live, served

QUESTION = "Within how many minutes did mussels of the outer reef close their shells when the water cooled?"
SLOW = "Mussels of the outer reef closed their shells within 11 minutes when the water cooled."
FAST = f"Mussels of the outer reef closed their shells within 4 minutes {MARKUP} when the water cooled."


@pytest.fixture(scope="session")
def live_reef(for_all_processes: Path, built_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A server over two papers that differ; one tries to run scripts."""

    def make(world: World) -> None:
        world.use_models(built_model)
        world.write_paper("slow", "Mussels in cold water", SLOW)
        world.write_paper("fast", "Shells and temperature", escape(FAST))
        outcome = world.run()
        assert outcome.is_success, outcome.failures or outcome.broken

    reef = made_once(for_all_processes / "reef", make)
    with served(reef.copy_to(tmp_path_factory.mktemp("live reef")).paths.data) as running:
        yield running


def test_both_quotes_stand_side_by_side_below_each_claim_and_open_in_the_reader(page: Page, live_reef: Live) -> None:
    """A reader who sees one claim of two that exclude each other would have to find the other one."""
    open_page(page, live_reef)

    turn = ask(page, QUESTION)

    groups = turn.locator(".agreement.contradict")
    expect(groups).to_have_count(2)
    expect(groups.first.locator("summary")).to_contain_text("Papers differ")
    assert sorted(groups.first.locator("blockquote").all_inner_texts()) == sorted([SLOW, FAST])
    expect(groups.first).to_contain_text("Shells and temperature")
    expect(turn.locator(".flag").filter(has_text="Papers seem to contradict each other")).to_have_count(1)
    groups.first.get_by_role("button", name="Mussels in cold water").click()
    expect(page.locator("#reader mark")).to_have_text(SLOW)
    assert page.evaluate("() => window.hacked") is None
