"""The command line as a process: how it is started, and what is waited for."""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

COMMAND = [
    sys.executable,
    "-c",
    "from rag_assets.faces.cli import app; app(prog_name='rag-assets')",
]
DEADLINE_S = 600.0


def environment(data: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A data folder, no Dagster home, a tokenizer that is the same everywhere."""
    return {
        **os.environ,
        "DAGSTER_HOME": "",
        "RAG_ASSETS_DATA_DIR": str(data),
        "RAG_ASSETS_CHUNKING__TOKENIZER": "wordpiece",
        **(more or {}),
    }


def wait_until(happened: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not happened():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
