"""The evaluations so far, and whether the newest one is good enough: floors, and no fall against its own past."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rag_assets.core.checksums import CHECKSUM_KEY, keep_aside, sealed, unsealed
from rag_assets.core.incremental import write_atomically
from rag_assets.core.settings import Floors

N_RECENT = 5


def read_history(path: Path) -> list[dict[str, Any]]:
    """All earlier evaluations that are whole, oldest first; none when the file does not exist yet."""
    return [entry for line in _lines(path) if (entry := _entry(line)) is not None]


def append_history(path: Path, entry: Mapping[str, Any]) -> None:
    """Add one evaluation with its checksum; a reader, or a kill, sees all of it or nothing."""
    earlier = path.read_bytes() if path.exists() else b""
    write_atomically(path, earlier + json.dumps(sealed(entry), sort_keys=True).encode() + b"\n")


def set_damaged_aside(path: Path) -> None:
    """Move lines that are damaged to a file beside the history, which keeps the others."""
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
    """The entries before the newest evaluation, which was made from `inputs` and may be in the history already."""
    earlier = list(history)
    while earlier and earlier[-1]["inputs"] == inputs:
        earlier.pop()
    return earlier


def is_recorded(entry: Mapping[str, Any], history: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the newest entry says the same: made from the same inputs, with the same verdict."""
    return bool(history) and all(history[-1].get(key) == entry[key] for key in ("inputs", "accepted"))


def below_floor(metrics: Mapping[str, float | None], floors: Floors) -> list[dict[str, Any]]:
    """Metrics below their floor; a metric no question contributes to is not judged."""
    return [
        {"metric": name, "value": value, "floor": floor}
        for name, value in metrics.items()
        if value is not None and (floor := _floor_of(name, floors)) is not None and value < floor
    ]


def fallen(latest: Mapping[str, Any], history: Sequence[Mapping[str, Any]], *, max_drop: float) -> list[dict[str, Any]]:
    """Metrics more than `max_drop` below the median of their last five accepted values on the same questions."""
    offenders = []
    comparable = [entry for entry in history if entry["accepted"] and entry["questions"] == latest["questions"]]
    for name, value in latest["metrics"].items():
        past = [entry["metrics"][name] for entry in comparable if _has(entry, name)][-N_RECENT:]
        if value is not None and past and value < median(past) - max_drop:
            offenders.append({"metric": name, "value": value, "median_of_last_runs": median(past)})
    return offenders


def _has(entry: Mapping[str, Any], name: str) -> bool:
    return entry["metrics"].get(name) is not None


def _floor_of(metric: str, floors: Floors) -> float | None:
    """Floors of the ranking metrics hold for papers; pages are judged by the citations' page accuracy."""
    name = metric.removeprefix("paper_")
    floor: float | None = getattr(floors, name, None)
    return floor
