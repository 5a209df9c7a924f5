"""The file that keeps the figures of all evaluations, one JSON line with a checksum for each."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag_assets.core.checksums import CHECKSUM_KEY, keep_aside, sealed, unsealed
from rag_assets.core.incremental import write_atomically


def read_history(path: Path) -> list[dict[str, Any]]:
    """All undamaged evaluations, oldest first; an empty list before the first one."""
    return [entry for line in _lines(path) if (entry := _entry(line)) is not None]


def append_history(path: Path, entry: Mapping[str, Any]) -> None:
    """Add one evaluation with its checksum; a reader, or a kill, sees all of it or nothing."""
    earlier = path.read_bytes() if path.exists() else b""
    write_atomically(path, earlier + json.dumps(sealed(entry), sort_keys=True).encode() + b"\n")


def set_damaged_aside(path: Path) -> None:
    """Move damaged lines to a file beside the history."""
    lines = _lines(path)
    if damaged := [line for line in lines if _entry(line) is None]:
        keep_aside(path, damaged, kept=[line for line in lines if _entry(line) is not None])


def _lines(path: Path) -> list[bytes]:
    content = path.read_bytes() if path.exists() else b""
    return [line for line in content.split(b"\n") if line.strip()]


def _entry(line: bytes) -> dict[str, Any] | None:
    """One evaluation; None for a damaged line. Lines of earlier versions have no checksum."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    return unsealed(line) if CHECKSUM_KEY in found else found


def before(history: Sequence[Mapping[str, Any]], inputs: str) -> list[Mapping[str, Any]]:
    """The entries before the newest evaluation, which was made from `inputs` and may already be in the history."""
    earlier = list(history)
    while earlier and earlier[-1]["inputs"] == inputs:
        earlier.pop()
    return earlier


def is_recorded(entry: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the newest entry was made from the same inputs, with the same verdict."""
    return bool(history) and all(history[-1].get(key) == entry[key] for key in ("inputs", "accepted"))
