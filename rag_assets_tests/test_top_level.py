"""The folders and files that a user is told to look for first."""

import subprocess
from pathlib import Path

import yaml

from rag_assets.pipeline.runs import ui

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {
    "rag_assets": Path.is_dir,
    "rag_assets_tests": Path.is_dir,
    "data": Path.is_dir,
    "docs/adr": Path.is_dir,
    "workspace.yaml": Path.is_file,
    "pyproject.toml": Path.is_file,
    "README.md": Path.is_file,
}


def test_what_users_look_for_is_at_the_top_level() -> None:
    """One of them was deleted as needless, and Dagster's own commands found nothing to load."""
    missing = [name for name, is_there in TOP_LEVEL.items() if not is_there(ROOT / name)]
    assert missing == []
    known = subprocess.run(["git", "check-ignore", *TOP_LEVEL], cwd=ROOT, capture_output=True)
    assert known.stdout == b"", "what git ignores is on nobody else's machine"


def test_the_workspace_loads_the_location_of_our_own_ui() -> None:
    """Another name would be another location: schedules and sensors begin anew, runs lose their
    link."""
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text("utf-8"))

    (loaded,) = workspace["load_from"]
    target = ui._DEFINITIONS
    assert loaded == {
        "python_module": {
            "module_name": target.module_name,
            "location_name": target.location_name,
        }
    }
