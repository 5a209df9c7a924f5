"""What README and the pages in docs show must be what there is."""

import re
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from rag_assets.faces.cli import app
from rag_assets_tests.settings_table import SETTINGS_PAGE, with_table

PROJECT = SETTINGS_PAGE.parents[1]
TEXT = (PROJECT / "README.md").read_text("utf-8")
PAGES = [
    PROJECT / "README.md",
    *sorted((PROJECT / "docs").rglob("*.md")),
    *sorted((PROJECT / "benchmarks").rglob("*.md")),
]


def test_the_table_of_settings_is_current() -> None:
    """Run: python -m rag_assets_tests.settings_table"""
    page = SETTINGS_PAGE.read_text("utf-8")
    assert with_table(page) == page


def test_every_command_the_readme_shows_exists_with_its_options() -> None:
    """The first thing a new user does is to paste one."""
    shown = re.findall(
        r"(?:^\s*(?:\S+ )?|`)(?:\.venv/bin/)?rag-assets ([a-z][^#\n`|]+)", TEXT, re.MULTILINE
    )
    assert len(shown) >= 10
    for line in shown:
        words = line.split()
        command = [word for word in words[:2] if word.isalpha()][
            : 2 if words[0] in {"index", "eval", "questions"} else 1
        ]
        result = CliRunner().invoke(app, [*command, "--help"])
        assert result.exit_code == 0, line
        for option in re.findall(r"(?<!\w)(--?[a-z-]+)", line):
            assert option in result.output, f"{option} in: {line}"


def test_every_command_is_in_the_readme() -> None:
    """A command nobody reads about is not there."""
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert f"rag-assets {name}" in TEXT, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    """A page that was moved or a heading that was renamed leaves its readers at a dead end."""
    for target, anchor in re.findall(
        r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text("utf-8")
    ):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in {
                re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings
            }


def test_the_readme_has_one_title_and_shows_a_command_within_twenty_lines() -> None:
    """A reader who does not find how to run it at once goes elsewhere."""
    lines = TEXT.splitlines()
    assert sum(line.startswith("# ") and "```" not in line for line in _outside_code(lines)) == 1
    assert any(line.startswith("make run") for line in lines[:20])


def _outside_code(lines: list[str]) -> list[str]:
    kept, is_code = [], False
    for line in lines:
        is_code ^= line.startswith("```")
        if not is_code:
            kept.append(line)
    return kept
