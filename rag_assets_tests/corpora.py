"""Where third-party papers for tests lie, when they lie anywhere: beside the project, never inside
it."""

import os
from pathlib import Path

import pytest

_DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "corpora"


def corpus_path(name: str) -> Path:
    """The folder `name` of the shared corpora; skips the calling test where it is absent."""
    path = Path(os.environ.get("TEST_CORPORA", _DEFAULT)) / name
    if not path.exists():
        pytest.skip(f"the shared corpus {name} is not on this machine")
    return path
