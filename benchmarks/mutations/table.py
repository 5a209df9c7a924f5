"""The mutations: a patch beside this file for each line of `tests.tsv`."""

import csv
import subprocess
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parents[1]


@dataclass(frozen=True)
class Mutation:
    """A small fault that a user would notice."""

    name: str
    fault: str
    """What goes wrong, in a sentence."""
    tests: tuple[str, ...]
    """Ids of the tests that fail because of it."""

    @property
    def patch(self) -> Path:
        return FOLDER / f"{self.name}.patch"

    @property
    def room(self) -> str:
        """The room of the package that it is in."""
        header = self.patch.read_text("utf-8").partition("\n")[0]
        return header.split("/")[2]

    def fits(self, project: Path) -> bool:
        """Whether the patch can be applied to the code of a project."""
        return self._git_apply(project, "--check")

    def put_into(self, project: Path) -> None:
        """Raises ValueError for a patch that does not fit the code."""
        if not self._git_apply(project):
            raise ValueError(f"{self.patch.name} does not fit the code any more. Write it anew.")

    def take_out_of(self, project: Path) -> None:
        self._git_apply(project, "--reverse")

    def _git_apply(self, project: Path, *options: str) -> bool:
        command = ["git", "apply", *options, str(self.patch)]
        return (
            subprocess.run(command, cwd=project, capture_output=True, check=False).returncode == 0
        )


def read_mutations() -> list[Mutation]:
    """All of them, in the order of the table."""
    with (FOLDER / "tests.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Mutation(row["name"], row["fault"], tuple(row["tests"].split("; "))) for row in rows]
