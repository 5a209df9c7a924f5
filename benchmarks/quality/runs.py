"""A run: one variant asked the questions of some sets; a folder with `run.json` and one JSONL of
rows per set.

Rows are written as they are made, so a run that was stopped goes on where it was.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

RUN_FILE = "run.json"


@dataclass(frozen=True)
class Row:
    """What one question brought."""

    id: str
    question: str
    group: str
    half: str
    measures: dict[str, float]
    seconds: dict[str, float] = field(default_factory=dict)
    """clock and cpu, the first time the question is asked; empty where the answer was known."""
    seen: dict[str, Any] = field(default_factory=dict)
    """For reading: the first chunks with their pages, or the sentences said."""


class Run:
    """The folder of a run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def sets(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.jsonl"))

    @property
    def facts(self) -> dict[str, Any]:
        """What was asked: settings, code, versions; and of each set its sizes and seconds."""
        path = self.folder / RUN_FILE
        facts: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
        return facts

    def begin(self, variant: dict[str, Any], *, anew: bool) -> None:
        """Go on with the rows of this variant; those of another one are in the way unless they are
        to be deleted."""
        if anew:
            shutil.rmtree(self.folder, ignore_errors=True)
        known = self.facts.get("variant", variant)
        if known != variant:
            changed = [name for name in variant if known.get(name) != variant[name]]
            sys.exit(
                f"{self.folder} holds rows of other {' and '.join(changed)}: give --name, or --again to replace them."
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_facts({"sets": {}} | self.facts | {"variant": variant})

    def note(self, set_name: str, facts: dict[str, Any]) -> None:
        """Keep what is known of a set in `run.json`."""
        self._write_facts(self.facts | {"sets": self.facts["sets"] | {set_name: facts}})

    def rows(self, set_name: str) -> dict[str, Row]:
        """By question id. A last line that was cut off is left out."""
        return {row.id: row for row in _rows(self.folder / f"{set_name}.jsonl")}

    def open_rows(self, set_name: str) -> TextIO:
        """The file of a set's rows, open for more; a last line that was cut off is removed."""
        path = self.folder / f"{set_name}.jsonl"
        written = path.read_bytes() if path.is_file() else b""
        path.write_bytes(written[: written.rfind(b"\n") + 1])
        return path.open("a", encoding="utf-8")

    def _write_facts(self, facts: dict[str, Any]) -> None:
        (self.folder / RUN_FILE).write_text(json.dumps(facts, indent=1), "utf-8")


def write_row(lines: TextIO, row: Row) -> None:
    lines.write(json.dumps(asdict(row), ensure_ascii=False) + "\n")
    lines.flush()


def _rows(path: Path) -> Iterator[Row]:
    *whole, _cut_off = path.read_text("utf-8").split("\n") if path.is_file() else [""]
    return (Row(**json.loads(line)) for line in whole)
