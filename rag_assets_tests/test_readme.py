"""What the README shows must be what there is."""

import re

from typer.main import get_command
from typer.testing import CliRunner

from rag_assets.cli import app
from rag_assets_tests.settings_table import README, with_table

TEXT = README.read_text("utf-8")


def test_the_table_of_settings_is_current() -> None:
    """Run: python -m rag_assets_tests.settings_table"""
    assert with_table(TEXT) == TEXT


def test_every_command_the_readme_shows_exists_with_its_options() -> None:
    """The first thing a new user does is to paste one."""
    shown = re.findall(r"^\s*(?:\S+ )?(?:\.venv/bin/)?rag-assets ([^#\n`|]+)", TEXT, re.MULTILINE)
    assert len(shown) >= 10
    for line in shown:
        words = line.split()
        command = [word for word in words[:2] if word.isalpha()][: 2 if words[0] == "index" else 1]
        result = CliRunner().invoke(app, [*command, "--help"])
        assert result.exit_code == 0, line
        for option in re.findall(r"(?<!\w)(--?[a-z-]+)", line):
            assert option in result.output, f"{option} in: {line}"


def test_every_command_is_in_the_readme() -> None:
    """A command nobody reads about is not there."""
    for name in get_command(app).commands:  # type: ignore[attr-defined]
        assert f"rag-assets {name}" in TEXT, name
